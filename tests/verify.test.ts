import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { createScratch } from "./support/scratch-directories.ts";
import { pollUntil } from "./support/poll.ts";
import { parseOutcome, formatVerdict } from "./support/test-report.ts";
import manifest from "../package.json" with { type: "json" };

const directory = createScratch();
const root = join(import.meta.dir, "..");

test("a red run ends with each red test and the first lines of its error", async () => {
  const text = await runFiles({
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

/** Writes an executable script for `sh` that appends its name and arguments to `calls`. */
function writeProgram(folder: string, name: string, then: string) {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\necho ${name} "$@" >> '${join(folder, "calls")}'\n${then}\n`);
  chmodSync(file, 0o755);
}

describe.skipIf(process.getuid?.() !== 0)("verify as root", () => {
  test.each([
    [[], []],
    [["--install"], ["apt-get -qq", "apt-cache show", "apt-get -qq"]],
  ])("with the options %p calls %p", async (options, expected) => {
    const folder = directory();
    // Ends the run before its tests.
    writeProgram(folder, "bun", "exit 1");
    writeProgram(folder, "apt-get", "exit 0");
    writeProgram(folder, "apt-cache", "exit 0");
    const command = [process.execPath, join(import.meta.dir, "verify.ts"), ...options];
    const env = { PATH: folder, TMPDIR: folder };
    const run = Bun.spawn(command, { env, stdout: "ignore", stderr: "ignore" });
    expect(await run.exited).toBe(1);
    const calls = readFileSync(join(folder, "calls"), "utf8").split("\n");
    const kinds = calls
      .filter((call) => call.startsWith("apt"))
      .map((call) => call.split(" ", 2).join(" "));
    expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual(expected);
  });
});

test("the README and the gate name the option that installs packages", () => {
  for (const file of ["README.md", ".ci/run"])
    expect(readFileSync(join(root, file), "utf8")).toContain("run verify --install");
});

test("no test has a fixed name in the folder for temporary files, where another user's would be in the way", () => {
  const found = [...new Glob("tests/**/*.ts").scanSync(root)].filter((file) => {
    const text = readFileSync(join(root, file), "utf8").replace(
      /mkdtemp(Sync)?\(\s*join\([^)]*\)/g,
      "",
    );
    return /join\(\s*tmpdir\(\),\s*("|`[^$`]*`)/.test(text);
  });
  expect(found).toEqual([]);
});

test("bun run dev builds the page before it serves, and again after a change in web/", async () => {
  const cwd = directory();
  for (const name of ["src", "web", "migrations"]) mkdirSync(join(cwd, name));
  // Relative paths: they replace the real build and the real server.
  const record =
    'import { appendFileSync } from "node:fs"; appendFileSync("calls", process.argv.slice(2).join(" ") + "\\n");';
  writeFileSync(join(cwd, "build.ts"), record);
  writeFileSync(join(cwd, "src/main.ts"), `${record} setInterval(() => {}, 1_000);`);
  const build = join(root, manifest.scripts.dev.replace(/^bun (\S+) .*/, "$1"));
  const [, ...options] = manifest.scripts.dev.split(" ").slice(1);
  const run = Bun.spawn([process.execPath, build, ...options, "--port", "1"], { cwd });
  const round = "--page\nserve --port 1\n";
  const calls = () =>
    existsSync(join(cwd, "calls")) ? readFileSync(join(cwd, "calls"), "utf8") : "";
  await pollUntil(
    async () => calls(),
    (text) => text === round,
  );
  writeFileSync(join(cwd, "web", "main.tsx"), "");
  await pollUntil(
    async () => calls(),
    (text) => text === round + round,
  );
  run.kill();
  expect(await run.exited).toBe(0);
});

/** Runs these test files, and returns the end of the output. */
async function runFiles(files: Record<string, string>) {
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
