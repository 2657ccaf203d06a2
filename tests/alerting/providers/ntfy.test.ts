import { expect, test } from "bun:test";
import { ntfy } from "../../../src/alerting/providers/ntfy.ts";
import { alertOf, receiver, telling } from "../../support/delivering.ts";
import { services } from "./services.ts";

const { settings } = services.ntfy;

test("without a login there is no Authorization", async () => {
  await using to = await receiver();
  await to.deliver(ntfy, settings, telling(alertOf("test")));
  expect(to.last().headers.authorization).toBeUndefined();
});

test("the access token is sent, if there is one", async () => {
  await using to = await receiver();
  await to.deliver(ntfy, { ...settings, token: "tk_7f3a" }, telling(alertOf("test")));
  expect(to.last().headers.authorization).toBe("Bearer tk_7f3a");
});

test("a user name and its password are sent, if there are any", async () => {
  await using to = await receiver();
  const login = { username: "phil", password: "my:päss" };
  await to.deliver(ntfy, { ...settings, ...login }, telling(alertOf("test")));
  const [scheme, pair = ""] = to.last().headers.authorization?.split(" ") ?? [];
  expect([scheme, Buffer.from(pair, "base64").toString()]).toEqual(["Basic", "phil:my:päss"]);
});

test("the channel's tags follow the icon", async () => {
  await using to = await receiver();
  await to.deliver(ntfy, { ...settings, tags: ["shop", "eu"] }, telling(alertOf("monitor.up")));
  expect(to.body().tags).toEqual(["white_check_mark", "shop", "eu"]);
});

test.each([
  [1, 1, 1],
  [3, 3, 3],
  [5, 5, 3],
])(
  "the priority of outages is %d, and at most 3 for everything else",
  async (priority, ofDown, ofUp) => {
    await using to = await receiver();
    const sent = [];
    for (const type of ["monitor.down", "monitor.up"] as const) {
      await to.deliver(ntfy, { ...settings, priority }, telling(alertOf(type)));
      sent.push(to.body().priority);
    }
    expect(sent).toEqual([ofDown, ofUp]);
  },
);

test("slowness is a warning", async () => {
  await using to = await receiver();
  const slow = { message: "Answered in 1812 ms, more than 500 ms.", latencyMs: 1_812 };
  await to.deliver(ntfy, settings, telling(alertOf("monitor.degraded", slow)));
  expect(to.body()).toMatchObject({ tags: ["warning"], priority: 3 });
  expect(to.body().message).toStartWith("Answered in 1,812 ms, more than 500 ms.\n");
  expect(to.body().message).toContain("\nLatency: 1,812 ms\n");
});
