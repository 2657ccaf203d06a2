import { expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";
import { searchSections, sections } from "../../web/pages/settings/sections.ts";

const find = (text: string) =>
  searchSections(sections, text).map(({ section, settings }) => [section.label, ...settings]);

test("the settings are found by the name of a section or of a setting, regardless of case", () => {
  expect(find("time ZONE")).toEqual([
    ["Organization", "Time zone"],
    ["My profile", "Time zone"],
  ]);
  expect(find("backup")).toEqual([["Backup", "Download backup"]]);
  expect(find(" kuma ")).toEqual([["Import", "Uptime Kuma"]]);
  expect(find("nothing of this name")).toEqual([]);
  expect(find("")).toHaveLength(sections.length);
});

test("every switch and selection of the settings can be found", async () => {
  const folder = join(import.meta.dir, "../../web/pages/settings");
  const known = new Set(sections.flatMap(({ settings }) => settings));
  const missing: string[] = [];
  for (const file of new Glob("*/*.tsx").scanSync(folder)) {
    const text = await Bun.file(join(folder, file)).text();
    for (const [, label = ""] of text.matchAll(/<(?:Switch|Select)\b[^>]*?\slabel="([^"]+)"/g))
      if (!known.has(label)) missing.push(`${file}: ${label}`);
  }
  expect(missing).toEqual([]);
});
