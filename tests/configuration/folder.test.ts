import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createConfigurationFiles } from "../../src/configuration/files/apply.ts";
import { testAppliance } from "../support/appliance.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

/** Applies a folder with these files at a start, and returns the log. */
async function applyFolder(files: Record<string, string>): Promise<string> {
  const { appliance, logged } = await testAppliance();
  const folder = newDirectory();
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, name), `organization: ours\n${text}`);
  const configurations = createConfigurationFiles(appliance, {});
  configurations.apply(folder);
  await configurations.waitUntilApplied();
  return logged.join("");
}

const valid = "source: first\nmonitors:\n  job: { type: push }\n";
const invalid = "source: second\nmonitors:\n  job: { type: push, intervall: 30 }\n";

test("a folder whose second source is invalid logs that the first one stays applied", async () => {
  const log = await applyFolder({ "a.yaml": valid, "b.yaml": invalid });
  expect(log).toContain("the configuration was applied");
  expect(log).toContain("a configuration was not applied; the ones before it were");
  expect(log).not.toContain("nothing was changed");
});

test("a folder whose only source is invalid logs that nothing was changed", async () => {
  const log = await applyFolder({ "b.yaml": invalid });
  expect(log).toContain("the configuration was not applied, and nothing was changed");
  expect(log).not.toContain("the configuration was applied");
});
