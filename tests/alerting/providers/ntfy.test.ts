import { expect, test } from "bun:test";
import { ntfy } from "../../../src/alerting/providers/ntfy.ts";
import { createAlert, startReceiver, createMessage } from "../../support/alert-receiver.ts";
import { services } from "./services.ts";

const { settings } = services.ntfy;

test("without a login there is no Authorization", async () => {
  await using to = await startReceiver();
  await to.deliver(ntfy, settings, createMessage(createAlert("test")));
  expect(to.lastRequest().headers.authorization).toBeUndefined();
});

test("the access token is sent, if there is one", async () => {
  await using to = await startReceiver();
  await to.deliver(ntfy, { ...settings, token: "tk_7f3a" }, createMessage(createAlert("test")));
  expect(to.lastRequest().headers.authorization).toBe("Bearer tk_7f3a");
});

test("a user name and its password are sent, if there are any", async () => {
  await using to = await startReceiver();
  const login = { username: "phil", password: "my:päss" };
  await to.deliver(ntfy, { ...settings, ...login }, createMessage(createAlert("test")));
  const [scheme, pair = ""] = to.lastRequest().headers.authorization?.split(" ") ?? [];
  expect([scheme, Buffer.from(pair, "base64").toString()]).toEqual(["Basic", "phil:my:päss"]);
});

test("the channel's tags follow the icon", async () => {
  await using to = await startReceiver();
  await to.deliver(
    ntfy,
    { ...settings, tags: ["shop", "eu"] },
    createMessage(createAlert("monitor.up")),
  );
  expect(to.parseLastBody().tags).toEqual(["white_check_mark", "shop", "eu"]);
});

test.each([
  [1, 1, 1],
  [3, 3, 3],
  [5, 5, 3],
])(
  "the priority of outages is %d, and at most 3 for everything else",
  async (priority, ofDown, ofUp) => {
    await using to = await startReceiver();
    const sent = [];
    for (const type of ["monitor.down", "monitor.up"] as const) {
      await to.deliver(ntfy, { ...settings, priority }, createMessage(createAlert(type)));
      sent.push(to.parseLastBody().priority);
    }
    expect(sent).toEqual([ofDown, ofUp]);
  },
);

test("slowness is a warning", async () => {
  await using to = await startReceiver();
  const slow = { message: "Answered in 1812 ms, more than 500 ms.", latencyMs: 1_812 };
  await to.deliver(ntfy, settings, createMessage(createAlert("monitor.degraded", slow)));
  expect(to.parseLastBody()).toMatchObject({ tags: ["warning"], priority: 3 });
  expect(to.parseLastBody().message).toStartWith("Answered in 1,812 ms, more than 500 ms.\n");
  expect(to.parseLastBody().message).toContain("\nLatency: 1,812 ms\n");
});
