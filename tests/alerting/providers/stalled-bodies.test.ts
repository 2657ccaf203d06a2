import { expect, test } from "bun:test";
import type { Verdict } from "../../../src/alerting/provider.ts";
import { providers } from "../../../src/alerting/providers.ts";
import {
  createAlert,
  createChannel,
  startReceiver,
  createMessage,
  typesWithoutHttp,
} from "../../support/alert-receiver.ts";
import type { Reply } from "../../support/target.ts";

/** Delivers one message, and returns the channel's verdict on this response. */
async function deliverAndJudge(type: string, reply: Reply): Promise<Verdict> {
  await using to = await startReceiver(reply);
  const { provider, settings } = createChannel(type);
  const message = createMessage(createAlert("monitor.down"));
  const verdict = await to.deliver(provider, settings, message, { timeoutMs: 10_000 });
  expect(to.asked).toHaveLength(1);
  return verdict;
}

/** A body that never ends. */
const replyEndlessly =
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
  "a body that is shorter than announced": replyEndlessly(200, "ok", { "content-length": "100" }),
  "a body that never starts": replyEndlessly(200, "", { "content-length": "100" }),
  "endless chunks": replyEndlessly(200, "ok"),
  "a stream of events": replyEndlessly(202, ": hello\n\n", { "content-type": "text/event-stream" }),
  "a byte at a time": drip,
};

const overHttp = Object.keys(providers).filter((type) => !typesWithoutHttp.includes(type));

/** Trackers list their issues before they open one, so a stalled list delivered nothing. */
const trackers = ["github", "gitlab", "gitea"];

// Concurrently, because each request lasts as long as the timeout of bodies.
test("every service counts as delivered after a 2xx status, even if its body stalls", async () => {
  const posting = overHttp.filter((type) => !trackers.includes(type));
  const all = posting.flatMap((type) =>
    Object.entries(unfinished).map(async ([name, reply]) => {
      const { outcome } = await deliverAndJudge(type, reply);
      return [type, name, outcome];
    }),
  );
  expect((await Promise.all(all)).filter(([, , outcome]) => outcome !== "delivered")).toEqual([]);
});

test("an issue is opened later if the list of issues stalls", async () => {
  const verdicts = trackers.map((type) => deliverAndJudge(type, replyEndlessly(200, "[")));
  for (const verdict of await Promise.all(verdicts))
    expect(verdict).toMatchObject({
      outcome: "failed",
      reason: expect.stringMatching(/ did not send its open issues in time\.$/),
    });
});

test("every service fails at once with an error status, even if its body stalls", async () => {
  const reply = replyEndlessly(500, "x", { "content-length": "100" });
  for (const verdict of await Promise.all(overHttp.map((type) => deliverAndJudge(type, reply))))
    expect(verdict).toMatchObject({
      outcome: "failed",
      reason: "The receiver responded with HTTP 500 (Internal Server Error).",
    });
});

test("a 2xx whose body reports an error is not delivered, even if the body stalls", async () => {
  const errors = [
    ["slack", '{"ok":false,"error":"no_service"}'],
    ["slack", '{"ok":false}'],
    ["telegram", '{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked"}'],
    ["telegram", '{"ok":false}'],
    ["pushover", '{"status":0,"user":"invalid"}'],
    ["teams", "Webhook message delivery failed with error: returned HTTP error 413"],
  ] as const;
  await Promise.all(
    errors.map(async ([type, body]) => {
      const ended = await deliverAndJudge(
        type,
        (response) => void response.writeHead(200).end(body),
      );
      expect(ended.outcome).toBe("failed");
      expect(await deliverAndJudge(type, replyEndlessly(200, body))).toEqual(ended);
    }),
  );
});
