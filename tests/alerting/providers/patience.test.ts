import { expect, test } from "bun:test";
import { pagerduty } from "../../../src/alerting/providers/pagerduty.ts";
import { pushover } from "../../../src/alerting/providers/pushover.ts";
import { webhook } from "../../../src/alerting/providers/webhook.ts";
import { now, retryVerdict, judgeReply, plainBody } from "../../support/alert-receiver.ts";
import { replyWith } from "../../support/target.ts";

const settings = { url: "http://bot.lan/hook", secret: null, headers: {}, ...plainBody };
const busy = "The receiver responded with HTTP 503 (Service Unavailable).";
const formatTime = (ms: number) => new Date(ms).toUTCString();

test.each<[string, number | undefined]>([
  ["17", 17],
  ["0", 0],
  ["999999999", 999_999_999],
  ["9".repeat(20), 1e20],
  ["9".repeat(400), Infinity],
  [formatTime(now + 60_100), 61],
  ["Friday, 20-Nov-26 23:03:08 GMT", 61],
  ["Fri Nov 20 23:03:08 2026", 61],
  ["Tue Dec  1 00:00:00 2026", 867_473],
  ["Fri, 20 Nov 2026 23:02:60 GMT", 53],
  ["Friday, 20-Nov-76 23:02:07 GMT", Math.ceil((Date.UTC(2076, 10, 20, 23, 2, 7) - now) / 1_000)],
  ["Friday, 20-Nov-76 23:02:08 GMT", undefined],
  ["Sunday, 06-Nov-94 08:49:37 GMT", undefined],
  ["Sun Nov  6 08:49:37 1994", undefined],
  ["Fri Nov 20 23:03:08 26", undefined],
  ["Friday, 20-Nov-2026 23:03:08 GMT", undefined],
  ["Fri, 20 Nov 2026 23:03:08", undefined],
  ["Fri, 20 nov 2026 23:03:08 GMT", undefined],
  [formatTime(now), undefined],
  [formatTime(now - 86_400_000), undefined],
  ["Sat, 31 Feb 2026 99:00:00 GMT", undefined],
  ["-5", undefined],
  ["1.5", undefined],
  ["1e9", undefined],
  ["soon", undefined],
  ["2026-11-21", undefined],
  ["", undefined],
])("Retry-After: %s", async (value, seconds) => {
  const reply = replyWith(503, "", { "retry-after": value });
  expect(await judgeReply(reply, webhook, settings)).toEqual(retryVerdict(busy, seconds));
});

test("Retry-After is honored for all errors that each service defines", async () => {
  const patient = { retryAfterSeconds: 17 };
  const replyWithDelay = (status: number) =>
    replyWith(status, '{"status":0}', { "retry-after": "17" });
  expect(
    await judgeReply(replyWithDelay(429), pushover, {
      userKey: "u",
      apiToken: "t",
      priority: 1,
      retry: 60,
      expire: 60,
      template: null,
    }),
  ).toMatchObject(patient);
  expect(
    await judgeReply(replyWithDelay(429), pagerduty, { routingKey: "r", region: "us" }),
  ).toMatchObject(patient);
});
