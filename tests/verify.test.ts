import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createScratch } from "./support/scratch-directories.ts";
import { parseOutcome, formatVerdict } from "./support/test-report.ts";

const directory = createScratch();

test("a red run ends with each red test and the first lines of its error", async () => {
  const text = await ending({
    "a/one.test.ts": `
      test("is well", () => {});
      describe("outer", () => describe("inner", () => {
        test("breaks > \\x1b[31m \\ufffe", () => {
          throw new Error(Array.from({ length: 99 }, (_, line) => "line " + line).join("\\n"));
        });
        test.skip("is left out", () => {});
      }));`,
    "a/two.test.ts": `
      beforeAll(() => { throw new Error("no world"); });
      test("has no world", () => {});`,
    "a/three.test.ts": `test("takes the process along", () => process.kill(process.pid, "SIGKILL"));`,
  });
  const lines = text.split("\n").map((line) => line.trim());
  const red = lines.filter((line) => line.startsWith("FAILED ")).sort();
  expect(red[0]).toStartWith("FAILED a/one.test.ts > outer > inner > breaks > ");
  expect(red.slice(1)).toEqual([
    "FAILED a/three.test.ts > (worker crashed)",
    "FAILED a/two.test.ts > (unnamed)",
  ]);
  expect(lines).toEqual(expect.arrayContaining(["Error: no world", "line 14"]));
  expect(lines).not.toContain("line 15");
  expect(lines.slice(-2)).toEqual(["1 skipped", "1 passed, 3 failed"]);
});

test("a green run ends with only its count", () => {
  const report = `<testsuites><testsuite name="a.test.ts"><testcase name="is well"/></testsuite></testsuites>`;
  expect(formatVerdict(parseOutcome(report))).toBe("\n1 passed, 0 failed");
  expect(formatVerdict(parseOutcome(report, "ended by 1"))).toBe(
    "\nFAILED bun test\n    ended by 1, without a red test\n1 passed, 1 failed",
  );
});

test.each([
  [undefined, "ended by SIGKILL", "ended by SIGKILL, without a report"],
  ["<testsuites/>", undefined, "ran no test"],
] as const)("a run that did not complete is red: %p, %p", (report, ended, why) => {
  expect(formatVerdict(parseOutcome(report, ended))).toBe(
    `\nFAILED bun test\n    ${why}\n0 passed, 1 failed`,
  );
});

/** The end of the output for these test files. */
async function ending(files: Record<string, string>) {
  const cwd = directory();
  mkdirSync(join(cwd, "a"));
  const names = "import { beforeAll, describe, test } from 'bun:test';";
  for (const [path, text] of Object.entries(files)) await Bun.write(join(cwd, path), names + text);
  const report = ["--reporter=junit", "--reporter-outfile=report.xml"];
  const command = [process.execPath, "test", "--parallel=2", ...report];
  const run = Bun.spawn(command, { cwd, stdout: "ignore", stderr: "ignore" });
  expect(await run.exited).toBe(1);
  return formatVerdict(parseOutcome(await Bun.file(join(cwd, "report.xml")).text(), "ended by 1"));
}
