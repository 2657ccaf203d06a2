/** Performs recipes of docs/development/recipes.md in a copy of the code, and compares them with the compiler's errors. */
import { expect, test } from "bun:test";
import { Glob } from "bun";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..");

/** First steps of recipes, by their heading: a file, a text in it, and its replacement. */
const firstSteps: Record<string, [file: string, text: string, replacement: string]> = {
  "A monitor type": [
    "src/monitoring/monitors/kinds-schema.ts",
    "  push: defineMonitorKind({",
    '  fax: defineMonitorKind({ name: "Fax", upWhen: "it responds.", fields: { host: Host } }),\n$&',
  ],
  "An alert channel type": [
    "src/alerting/channels/kinds/push-schema.ts",
    "  gotify: defineChannelKind({",
    `  fax: defineChannelKind({ name: "Fax", summary: "Fax", help: "", fields: { token: secret(), template },
      labels: { token: { label: "Token" } }, secrets: { token: fixedDestination }, address: null }),\n$&`,
  ],
  "An alert source type": ["src/alerting/sources/schema.ts", '  "aws-sns",', '  "fax",\n$&'],
  "A value on the public status page": [
    "src/status-pages/formats/public-data.ts",
    "export type PublicMonitor = {",
    "$& region: string;",
  ],
  "A role": ["src/core/statuses.ts", '["viewer", ', '$&"auditor", '],
  "A limit": [
    "src/core/limits.ts",
    '  "monitor-groups": {',
    '  faxes: { value: 5, unit: "rows", per: "organization", effect: conflictText },\n$&',
  ],
  "An error code": ["src/core/errors.ts", '  | "INTERNAL"', '$& | "TEAPOT"'],
  "An audit event": ["src/events/catalog.ts", '"postmortem-published",', '"archived", $&'],
};

const recipesText = await Bun.file(join(root, "docs/development/recipes.md")).text();

const sortFiles = (files: string[]) =>
  [...new Set(files)].toSorted((one, other) => one.localeCompare(other));

/** Files that a recipe marks as reported by the compiler. */
function listMarkedFiles(recipe: string): string[] {
  const items = recipe.split(/\n(?=\d+\. |- |\n)/).filter((item) => item.includes("(compiler)"));
  return items.flatMap((item) =>
    [...item.matchAll(/`((?:src|web|tests)\/[\w./-]+\.tsx?)`/g)].map(([, file = ""]) => file),
  );
}

test("recipes name exactly the files that the compiler reports", async () => {
  const recipes = new Map(
    recipesText
      .split("\n## ")
      .map((part) => [part.split("\n", 1)[0] ?? "", part.slice(part.indexOf("\n"))]),
  );
  const copy = mkdtempSync(join(tmpdir(), "signalbox-recipes-"));
  try {
    for (const name of ["src", "web", "tests", "release", "package.json", "tsconfig.json"])
      cpSync(join(root, name), join(copy, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    for (const [file, from, to] of Object.values(firstSteps)) {
      const path = join(copy, file);
      const before = await Bun.file(path).text();
      expect([file, before.includes(from)]).toEqual([file, true]);
      await Bun.write(path, before.replace(from, to));
    }
    const check = Bun.spawn([process.execPath, "check", "--all"], { cwd: copy, stderr: "pipe" });
    const output =
      (await new Response(check.stdout).text()) + (await new Response(check.stderr).text());
    const reported = [...output.matchAll(/^(\S+\.tsx?)\(\d+,\d+\): error/gm)].map(
      ([, file = ""]) => file,
    );
    const marked = Object.keys(firstSteps).flatMap((name) =>
      listMarkedFiles(recipes.get(name) ?? ""),
    );
    expect(sortFiles(reported)).toEqual(sortFiles(marked));
  } finally {
    rmSync(copy, { recursive: true });
  }
});

test("recipes name functions and components that exist", async () => {
  const names = new Set(
    [...recipesText.matchAll(/`([a-z]\w*[A-Z]\w*|[A-Z]\w*[a-z]\w*)(?=[(.`])/g)].map(
      ([, name = ""]) => name,
    ),
  );
  for (const file of new Glob("{src,web}/**/*.{ts,tsx}").scanSync(root)) {
    const text = await Bun.file(join(root, file)).text();
    for (const name of names) if (text.includes(name)) names.delete(name);
  }
  expect([...names]).toEqual([]);
});
