import { existsSync } from "node:fs";

// `bun run verify`: formatting, types, lint, build and all tests; ends with `N passed, N failed`.

const steps: [string, string[]][] = [
  ["formatting", ["bun", "fmt", "--check"]],
  ["types", ["bun", "check"]],
  ["lint", ["bun", "x", "oxlint", "--type-aware", "--deny-warnings"]],
  ["build", ["bun", "build.ts"]],
];

await installChromium();
for (const [name, command] of steps) {
  const { exitCode } = Bun.spawnSync(command, { stdout: "inherit", stderr: "inherit" });
  if (exitCode !== 0) {
    console.log(`\n${name} failed\n0 passed, 1 failed`);
    process.exit(1);
  }
}

const report = "dist/tests.xml";
const tests = Bun.spawnSync(["bun", "test", "--reporter=junit", `--reporter-outfile=${report}`], {
  stdout: "inherit",
  stderr: "inherit",
});
const suite = /<testsuites [^>]*>/.exec(await Bun.file(report).text())?.[0] ?? "";
const count = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
const skipped = count("skipped");
const failed = count("failures") + (tests.exitCode !== 0 && count("failures") === 0 ? 1 : 0);
const passed = count("tests") - count("failures") - skipped;
console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

/** The reference page is tested in a real browser; where none can be installed, those tests say so. */
async function installChromium() {
  if (existsSync("/usr/bin/chromium") || Bun.which("apt-get") === null || process.getuid?.() !== 0)
    return;
  const quiet = { stdout: "ignore", stderr: "inherit" } as const;
  Bun.spawnSync(["apt-get", "update", "-qq"], quiet);
  Bun.spawnSync(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], {
    ...quiet,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
}
