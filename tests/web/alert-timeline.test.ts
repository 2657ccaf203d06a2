import { expect, test } from "bun:test";
import { foldTimeline, type TimelineEntry } from "../../web/pages/alerts/timeline-rules.ts";

const start = Date.parse("2026-11-20T23:00:00.000Z");
const channels = ["Chat", "Mail", "Pager"];

const entry = (
  seconds: number,
  type: TimelineEntry["type"],
  fields: { message?: string; channel?: string } = {},
): TimelineEntry => ({
  at: new Date(start + seconds * 1_000).toISOString(),
  type,
  message: fields.message ?? null,
  actor: null,
  channel: fields.channel === undefined ? null : { id: fields.channel, name: fields.channel },
});

/** Each line as text, such as `delivered Chat, Mail: Shop is down`. */
const describeLines = (timeline: TimelineEntry[]) =>
  foldTimeline(timeline).map((entries) => {
    const [{ type, title, message }] = entries;
    const names = entries.flatMap(({ channel }) => channel?.name ?? []).join(", ");
    const texts = [title, message].filter((text) => text !== null).join("; ");
    return `${type} ${names}: ${texts}`;
  });

test("a message to several channels and its outcomes are one line per outcome", () => {
  const message = "Shop is down";
  expect(
    describeLines([
      entry(0, "opened", { message }),
      ...channels.map((channel) => entry(1, "sent", { message, channel })),
      entry(2, "delivered", { channel: "Chat" }),
      entry(3, "failed", { channel: "Mail", message: "HTTP 500" }),
      entry(4, "delivered", { channel: "Pager" }),
    ]),
  ).toEqual([
    "opened : Shop is down",
    "delivered Chat, Pager: Shop is down",
    "failed Mail: Shop is down; HTTP 500",
  ]);
});

test("a message without an outcome within a minute has a line of its own, and so has each reminder", () => {
  const message = "Shop is still down";
  expect(
    describeLines([
      entry(0, "sent", { message, channel: "Chat" }),
      entry(90, "delivered", { channel: "Chat" }),
      entry(3_600, "sent", { message, channel: "Chat" }),
      entry(3_601, "delivered", { channel: "Chat" }),
      entry(7_200, "sent", { message, channel: "Chat" }),
      entry(7_201, "delivered", { channel: "Chat" }),
    ]),
  ).toEqual([
    "sent Chat: Shop is still down",
    "delivered Chat: ",
    "delivered Chat: Shop is still down",
    "delivered Chat: Shop is still down",
  ]);
});

test("equal entries about no channel are not joined", () => {
  const note = { message: "Looking." };
  expect(describeLines([entry(0, "noted", note), entry(1, "noted", note)])).toHaveLength(2);
});
