import { expect, test } from "bun:test";
import { texts } from "../support/text-schemas.ts";

const samples = ["Shop", "a".repeat(12), "https://shop.example/a", "$.a", "Ann <ann@team.example>"];

test("every single-line text rejects characters that change the writing direction", () => {
  const open: string[] = [];
  let refusing = 0;
  let lines = 0;
  for (const [name, text] of texts) {
    const accepts = (sample: string) => text.safeParse(sample).success;
    const sample = samples.find(accepts);
    // Multi-line texts can be in any script, and are shown in separate paragraphs.
    if (sample === undefined || accepts(`${sample}\nb`)) continue;
    lines += 1;
    for (const control of "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
      if (accepts(`${sample}${control}b`)) open.push(`${name}: ${escape(control)}`);
    if (!open.some((one) => one.startsWith(name))) refusing += 1;
  }
  expect(open).toEqual([]);
  expect([lines > 100, refusing]).toEqual([true, lines]);
});

test("right-to-left scripts are accepted", () => {
  const name = texts.find(([name]) => name.endsWith("/monitor-groups/ name"))?.[1];
  for (const good of ["متجر", "חנות Shop", "a\u200fb", "👩‍👩‍👧"])
    expect([good, name?.safeParse(good).success]).toEqual([good, true]);
  for (const bad of ["Shop\u202eexe", "\u2067Shop"])
    expect([bad, name?.safeParse(bad).success]).toEqual([bad, false]);
});
