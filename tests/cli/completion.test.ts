import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Command } from "commander";
import { createCommandLine } from "../../src/cli/support/command-line.ts";

const main = join(import.meta.dir, "../../src/main.ts");

/** Suggestions for a command line with these words typed, without their descriptions. */
async function complete(...words: string[]): Promise<string[]> {
  const { stdout } = Bun.spawn([process.execPath, main, "complete", "--", ...words]);
  const lines = (await new Response(stdout).text()).trim().split("\n");
  return lines.slice(0, -1).map((line) => line.split("\t")[0] ?? "");
}

const listNames = (command: Command) =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((child) => child.name());

test.each([
  { words: ["incid"], suggestions: ["incident"] },
  { words: ["incident", ""], suggestions: ["open", "update", "resolve", "help"] },
  {
    words: ["incident", "open", "Down", "--severity", ""],
    suggestions: ["minor", "major", "critical"],
  },
  { words: ["incident", "update", "--status", "re"], suggestions: ["resolved"] },
  { words: ["incident", "open", "--message", ""], suggestions: [] },
  { words: ["incident", "open", "--sev"], suggestions: ["--severity"] },
  { words: ["completion", "z"], suggestions: ["zsh"] },
])("$words is completed", async ({ words, suggestions }) => {
  expect(await complete(...words)).toEqual([...suggestions]);
});

test("every command that help lists is completed", async () => {
  expect((await complete("")).toSorted()).toEqual(listNames(await createCommandLine()).toSorted());
});
