import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { buildContains } from "../../src/database/search.ts";

const database = new Database(":memory:");
function contains(text: string, part: string): boolean {
  const found = buildContains("text", part);
  const row = database
    .query<{ found: number }, string[]>(`SELECT ${found.text} AS found FROM (SELECT ? AS text)`)
    .get(...found.parameters, text);
  return row?.found === 1;
}

test("a search finds a text in any case, in any alphabet", () => {
  const found = [
    ["Für Österreich", "für österreich"],
    ["ÉTÉ à Paris", "été À"],
    ["Оплата не проходит", "оПЛАТА"],
    ["ΟΔΟΣ", "οδος"],
    ["Größe", "GRÖß"],
    ["Straße", "straße"],
    ["𐐀bc", "𐐨BC"],
  ] as const;
  for (const [text, part] of found)
    expect([text, part, contains(text, part)]).toEqual([text, part, true]);
});

const awkward = Array.from("aA*?[]^-%_\\'öÖ😀");

test("a search has no wildcards, and finds exactly the texts that contain the query", () => {
  const text = fc.string({ unit: fc.constantFrom(...awkward), maxLength: 8 });
  const part = fc.string({
    unit: fc.constantFrom(...awkward),
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(text, part, text, (before, middle, after) => {
      expect(contains(before + middle + after, middle.toUpperCase())).toBe(true);
      expect(contains(before, middle)).toBe(before.toLowerCase().includes(middle.toLowerCase()));
    }),
    { numRuns: 2_000 },
  );
});
