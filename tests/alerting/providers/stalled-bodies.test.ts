import { expect, test } from "bun:test";
import type { ChannelSettings, ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import { NewAlertChannel } from "../../../src/alerting/channels/schema.ts";
import type { Provider, Verdict } from "../../../src/alerting/provider.ts";
import { providers } from "../../../src/alerting/providers.ts";
import { alertOf, receiver, telling } from "../../support/delivering.ts";
import { newChannels } from "../../support/samples.ts";
import type { Reply } from "../../support/target.ts";

/** What a channel of this type makes of a receiver, which it sends a single request. */
async function verdictOn(type: string, reply: Reply): Promise<Verdict> {
  await using to = await receiver(reply);
  const { secrets, others } = newChannels[type] ?? { secrets: {}, others: {} };
  const settings = NewAlertChannel.parse({ type, name: type, ...others, ...secrets });
  const provider = providers[type as ChannelType] as Provider<ChannelType>;
  const verdict = await to.deliver(
    provider,
    settings as unknown as ChannelSettings<ChannelType>,
    telling(alertOf("monitor.down")),
    { timeoutMs: 10_000 },
  );
  expect(to.asked).toHaveLength(1);
  return verdict;
}

/** A body that begins like this and never ends. */
const stalled =
  (status: number, start: string, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, headers).flushHeaders();
    if (start !== "") response.write(start);
  };

const drip: Reply = (response) => {
  response.writeHead(200).flushHeaders();
  const timer = setInterval(() => response.write("."), 50);
  response.on("close", () => clearInterval(timer));
};

const unfinished: Record<string, Reply> = {
  "a body that is shorter than announced": stalled(200, "ok", { "content-length": "100" }),
  "a body that never begins": stalled(200, "", { "content-length": "100" }),
  "chunks without an end": stalled(200, "ok"),
  "a stream of events": stalled(202, ": hello\n\n", { "content-type": "text/event-stream" }),
  "a byte at a time": drip,
};

const overHttp = Object.keys(providers).filter((type) => type !== "email");

test.each(overHttp)(
  "%s is delivered once the receiver said 2xx, whatever its body does",
  async (type) => {
    await Promise.all(
      Object.entries(unfinished).map(async ([name, reply]) => {
        const { outcome } = await verdictOn(type, reply);
        expect([name, outcome]).toEqual([name, "delivered"]);
      }),
    );
  },
);

test.each(overHttp)(
  "%s fails at once by a status that says so, whatever the body does",
  async (type) => {
    const verdict = await verdictOn(type, stalled(500, "x", { "content-length": "100" }));
    expect(verdict).toMatchObject({
      outcome: "failed",
      reason: "The receiver answered HTTP 500 (Internal Server Error).",
    });
  },
);

test.each([
  ["slack", '{"ok":false,"error":"no_service"}'],
  ["slack", '{"ok":false}'],
  ["telegram", '{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked"}'],
  ["telegram", '{"ok":false}'],
  ["pushover", '{"status":0,"user":"invalid"}'],
  ["teams", "Webhook message delivery failed with error: returned HTTP error 413"],
])("%s is not delivered where the body of a 2xx is %s", async (type, body) => {
  const whole: Reply = (response) => void response.writeHead(200).end(body);
  const [ended, open] = await Promise.all([
    verdictOn(type, whole),
    verdictOn(type, stalled(200, body)),
  ]);
  expect(ended.outcome).toBe("failed");
  expect(open).toEqual(ended);
});
