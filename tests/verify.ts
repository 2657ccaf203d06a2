import { audit } from "../release/audit.ts";
import { have, packages, programs } from "./support/real-targets.ts";

// `bun run verify`: formatting, types, lint, build and all tests; ends with `N passed, N failed`.
// With `--update-timings` it notes how long each file takes, for the order of later runs.

const checks: [string, string[]][] = [
  ["formatting", ["bun", "fmt", "--check"]],
  ["types", ["bun", "check"]],
  ["lint", ["bun", "x", "oxlint", "--type-aware", "--deny-warnings"]],
  ["build", ["bun", "build.ts"]],
];

installPrograms();
// The linter takes one core for as long as types and build take the other.
const failures = (await Promise.all(checks.map(run))).filter(({ ok }) => !ok);
for (const { name, output } of failures) console.log(`${output}\n${name} failed`);
if (failures.length > 0) {
  console.log(`\n0 passed, ${failures.length} failed`);
  process.exit(1);
}

// What others find out about a dependency stops a release, and no work on anything else.
const { state, output } = await audit();
if (state === "vulnerable") console.warn(`VULNERABLE DEPENDENCIES\n${output}`);
if (state === "skipped") console.warn(`NOT AUDITED: the registry tells nothing: ${output}`);

const report = "dist/tests.xml";
// Most tests wait for something outside: what takes long on a busy machine is no failure. A test that is
// timed out loses its processes, so what it waits for gives up before.
// Many wait, so more of them run than there are cores; a worker that reads all modules anew for each
// file spends a fifth of its time on that. The longest come first: a last one would run alone.
const order = ["--timings=tests/timings.json", ...process.argv.slice(2)];
const options = ["--parallel=4", "--no-isolate", "--timeout=120000", ...order];
const tests = Bun.spawnSync(
  ["bun", "test", ...options, "--reporter=junit", `--reporter-outfile=${report}`],
  { stdout: "inherit", stderr: "inherit" },
);
const suite = /<testsuites [^>]*>/.exec(await Bun.file(report).text())?.[0] ?? "";
const count = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
const skipped = count("skipped");
const failed = count("failures") + (tests.exitCode !== 0 && count("failures") === 0 ? 1 : 0);
const passed = count("tests") - count("failures") - skipped;
console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

async function run([name, command]: [string, string[]]) {
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const texts = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
  const output = (await Promise.all(texts)).join("");
  return { name, output, ok: (await child.exited) === 0 };
}

/** What is tested against real programs; where one can't be installed, tests do without or are skipped. */
function installPrograms() {
  const missing = () => programs.filter((program) => !have(program));
  const mayInstall = Bun.which("apt-get") !== null && process.getuid?.() === 0;
  // Where there is no systemd, as in containers, packages start no services in this run level.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const apt = (...args: string[]) =>
    Bun.spawnSync(["apt-get", "-qq", ...args], { stdout: "ignore", stderr: "inherit", env });
  if (mayInstall && missing().length > 0) {
    apt("update");
    // One by one: a package that this system lacks takes no other with it.
    for (const program of missing())
      apt("install", "-y", "--no-install-recommends", packages[program]);
  }
  for (const program of missing())
    console.warn(`NOT INSTALLED: ${program}; apt-get install ${packages[program]} brings it.`);
}
