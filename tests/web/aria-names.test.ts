import { expect, test } from "bun:test";
import { Glob } from "bun";
import axe from "axe-core";

test("every ARIA attribute in the source exists, because the compiler accepts any name with a hyphen", async () => {
  const known = new Set(Object.keys(axe.utils.getStandards().ariaAttrs));
  const used = new Set<string>();
  for (const folder of ["web", "src"])
    for await (const file of new Glob("**/*.{ts,tsx,js,css,html}").scan(folder))
      for (const [name] of (await Bun.file(`${folder}/${file}`).text()).matchAll(/\baria-[a-z]+/g))
        used.add(name);
  expect(used.size).toBeGreaterThan(10);
  expect([...used].filter((name) => !known.has(name))).toEqual([]);
});
