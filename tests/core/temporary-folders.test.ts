import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeLeftovers } from "../../src/core/system/temporary-folders.ts";
import { createScratch } from "../support/scratch-directories.ts";

const folder = createScratch();

test("folders that a killed appliance left an hour ago are removed, and no others", () => {
  const [directory, elsewhere] = [folder(), folder()];
  writeFileSync(join(elsewhere, "kept"), "");
  const now = Date.parse("2026-11-24T12:00:00Z");
  for (const [name, minutes] of [
    ["signalbox-check-old", 61],
    ["signalbox-check-new", 59],
    ["of-others", 600],
  ] as const) {
    const path = join(directory, name);
    mkdirSync(path);
    writeFileSync(join(path, "file"), "");
    if (name !== "of-others") symlinkSync(elsewhere, join(path, "link"));
    utimesSync(path, now / 1000, now / 1000 - minutes * 60);
  }
  removeLeftovers(directory, now);
  expect(readdirSync(directory).sort()).toEqual(["of-others", "signalbox-check-new"]);
  expect(readdirSync(elsewhere)).toEqual(["kept"]);
  removeLeftovers(join(directory, "gone"), now);
});
