import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import ICAL from "ical.js";
import { parseMarkdown, renderText } from "../../src/core/text/markdown.ts";
import { type Visitor, createVisitor } from "../support/visitor.ts";

const window = { startsAt: "2026-11-22T02:00:00.000Z", endsAt: "2026-11-22T04:00:00.000Z" };

async function plan({ api }: Visitor, fields: object = {}): Promise<string> {
  const body = { title: "Firmware", ...window, ...fields };
  const { status, json } = await api("POST", "/api/v1/maintenance-windows", { body });
  expect(status).toBe(201);
  return json.data.id;
}

/** Events of the calendar, read by a calendar parser. */
async function readEvents(visitor: Visitor) {
  await visitor.restart();
  const { text, type } = await visitor.readHtml("/status/ours/maintenance.ics");
  expect(type).toBe("text/calendar; charset=utf-8");
  for (const line of text.split("\r\n")) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
  return new ICAL.Component(ICAL.parse(text)).getAllSubcomponents("vevent").map((one) => {
    const event = new ICAL.Event(one);
    return {
      uid: event.uid,
      summary: event.summary,
      description: event.description,
      from: event.startDate.toJSDate().toISOString(),
      to: event.endDate.toJSDate().toISOString(),
      stamp: String(one.getFirstPropertyValue("dtstamp")),
    };
  });
}

describe("the calendar", () => {
  test("without planned work has one component and no event", async () => {
    await using visitor = await createVisitor();
    expect(await readEvents(visitor)).toEqual([]);
    const { text } = await visitor.readHtml("/status/ours/maintenance.ics");
    const components = new ICAL.Component(ICAL.parse(text)).getAllSubcomponents();
    expect(components.map(({ name }) => name)).toEqual(["vtimezone"]);
  });

  test("has an event for each occurrence with a stable id; its stamp is the last change", async () => {
    await using visitor = await createVisitor();
    const id = await plan(visitor);
    await plan(visitor, { title: "Weekly", rrule: "FREQ=WEEKLY" });
    const before = await readEvents(visitor);
    expect(before.map(({ summary }) => summary).sort()).toEqual([
      "Firmware",
      ...Array(3).fill("Weekly"),
    ]);
    expect(new Set(before.map(({ uid }) => uid)).size).toBe(4);
    const once = before.find(({ summary }) => summary === "Firmware");
    expect(once).toMatchObject({
      uid: `${id}@signalbox`,
      from: window.startsAt,
      to: window.endsAt,
      stamp: "2026-11-20T10:00:00Z",
    });
    visitor.time.now += 60_000;
    expect(await readEvents(visitor)).toEqual(before);
    const moved = { startsAt: "2026-11-23T02:00:00.000Z", endsAt: "2026-11-23T03:00:00.000Z" };
    await visitor.api("PATCH", `/api/v1/maintenance-windows/${id}`, { body: moved });
    expect((await readEvents(visitor)).find(({ uid }) => uid === once?.uid)).toMatchObject({
      from: moved.startsAt,
      to: moved.endsAt,
      stamp: "2026-11-20T10:01:00Z",
    });
  });

  test("contains people's text unchanged", async () => {
    await using visitor = await createVisitor();
    const id = await plan(visitor);
    const line = fc
      .array(
        fc.oneof(
          fc.constantFrom("\\n", ";", ",", ":", '"', "\\", "END:VEVENT", "  ", "é", "漢字", "👩‍👩‍👧"),
          fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
        ),
        { minLength: 1, maxLength: 5 },
      )
      .map((parts) => `x${parts.join("").replace(/\p{Cc}|\p{Cf}|\p{Cs}/gu, "")}x`);
    const paragraphs = fc
      .array(line, { minLength: 1, maxLength: 3 })
      .map((all) => all.join("\n\t"));
    await fc.assert(
      fc.asyncProperty(line, paragraphs, async (title, description) => {
        const body = { title, description };
        const { status } = await visitor.api("PATCH", `/api/v1/maintenance-windows/${id}`, {
          body,
        });
        expect(status).toBe(200);
        expect(await readEvents(visitor)).toMatchObject([
          { summary: title, description: renderText(parseMarkdown(description)) },
        ]);
      }),
      { numRuns: 30 },
    );
  });
});
