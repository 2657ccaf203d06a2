import { expect, test } from "bun:test";
import { discord } from "../../../src/alerting/providers/discord.ts";
import {
  createAlert,
  monitor,
  startReceiver,
  createMessage,
  retryVerdict,
  judgeReply,
} from "../../support/alert-receiver.ts";
import { replyWith } from "../../support/target.ts";
import { services } from "./services.ts";

const { settings } = services.discord;

test("a title can be as long as Discord accepts", async () => {
  await using to = await startReceiver();
  const named = { ...monitor, name: "x".repeat(255) };
  await to.deliver(
    discord,
    settings,
    createMessage(createAlert("monitor.down", { monitor: named })),
  );
  expect(to.parseLastBody().embeds[0].title).toBe(`${"x".repeat(255)}…`);
});

test("the longest values stay within each limit and the total limit", async () => {
  await using to = await startReceiver();
  const named = { ...monitor, name: "_".repeat(255), groupName: "*".repeat(255) };
  const message = "_".repeat(5_000);
  const up = createAlert("monitor.up", { monitor: named, message, downSeconds: 9e9 });
  await to.deliver(discord, settings, createMessage(up));
  const [{ title, description, fields }] = to.parseLastBody().embeds;
  expect(title).toMatch(/^(\\_){100,}…$/);
  expect(title.length).toBeLessThanOrEqual(256);
  expect(description).toMatch(/^(\\_){1800,}…$/);
  expect(description.length).toBeLessThanOrEqual(4_096);
  const lengths = fields.map(
    ({ name, value }: { name: string; value: string }) => name.length + value.length,
  );
  expect(fields.at(-1)).toEqual({ name: "Group", value: "\\*".repeat(255), inline: false });
  expect(lengths.reduce((sum: number, length: number) => sum + length)).toBeLessThanOrEqual(
    6_000 - title.length - description.length,
  );
});

test("the wait in the body of a rate limit overrides Retry-After, unless it is not a number", async () => {
  const reason = "The receiver responded with HTTP 429 (Too Many Requests).";
  for (const [seconds, expected] of [
    ["64.57", 65],
    ['"soon"', 7],
  ] as const) {
    const reply = replyWith(429, `{"retry_after":${seconds}}`, { "retry-after": "7" });
    expect(await judgeReply(reply, discord, settings)).toEqual(retryVerdict(reason, expected));
  }
});
