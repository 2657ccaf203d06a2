/** `bun run verify`: checks formatting, types and lint, builds, runs all tests, and ends with all failures and a count. */
import { auditPackages } from "../release/audit.ts";
import { hasPrograms, packages, programs } from "./support/real-targets.ts";
import { createRunFolder, removeRunFolder } from "./support/run-folder.ts";
import { type Failure, type Outcome, parseOutcome, formatVerdict } from "./support/test-report.ts";

const help = `bun run verify [--install] [--update-timings] [TEST FILE OR FOLDER]…

Checks formatting, types and lint, builds the executable and runs all tests, or those that you name.

  --install          as root on Debian: first install the packages that tests use (servers, browsers, tools).
                     Without them, their tests are skipped, and the output names each package.
  --update-timings   record how long each test file takes in tests/timings.json, which orders later runs`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(help);
  process.exit(0);
}

// More threads would each infer the same types again, and a garbage collection frees nothing before
// the end.
const lintEnv = { GOMAXPROCS: "1", GOGC: "off", GOMEMLIMIT: "3GiB" };
type Check = { name: string; command: string[]; env?: Record<string, string>; advice?: string };
const checks: Check[] = [
  {
    name: "formatting",
    command: ["bun", "fmt", "--check"],
    advice: "`npx --yes bun@1.4.5 fmt` formats the files.",
  },
  { name: "types", command: ["bun", "check"] },
  { name: "build", command: ["bun", "build.ts"] },
];
const lint: Check = {
  name: "lint",
  command: ["bun", "x", "oxlint", "--type-aware", "--deny-warnings"],
  env: lintEnv,
};

const runFolder = createRunFolder();
let passed = 0;
let failures: Failure[] = [];
let tests: Bun.Subprocess<"ignore", "inherit", "pipe"> | undefined;
const running = new Set<Bun.Subprocess>();
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
  process.on(signal, () => void stop({ name: "verify", text: `was ended by ${signal}` }));
process.on("uncaughtException", (error) => {
  void stop({ name: "verify", text: Bun.inspect(error) });
});

// Installing uses one core at most, and only tests need the programs.
const installing = args.includes("--install") ? installPrograms() : Promise.resolve();
// The linter takes longest. It uses one core while types and build use the other, and continues during the
// tests.
const linting = runCheck(lint).then(async (flaw) => {
  if (flaw !== undefined) await stop(flaw);
});
const auditing = reportAudit();
const results = await Promise.all(checks.map(runCheck));
// A package manager that is stopped midway leaves broken packages.
await installing;
listMissingPrograms();
failures = results.filter((failure) => failure !== undefined);
if (failures.length > 0) finish({ passed: 0, skipped: 0, failures });
await auditing;
const outcome = await runTests();
await linting;
finish(outcome);

/** Publicly known vulnerabilities stop a release, but no other work. */
async function reportAudit() {
  const { state, output } = await auditPackages();
  if (state === "vulnerable") console.warn(`VULNERABLE DEPENDENCIES\n${output}`);
  if (state === "skipped")
    console.warn(
      `NOT AUDITED: the package registry returned no list of vulnerabilities (${output}). Nothing for you to do.`,
    );
}

async function runTests(): Promise<Outcome> {
  const report = Bun.file("dist/tests.xml");
  await report.delete().catch(() => undefined);
  // Most tests wait for a process or a socket, so more workers than cores run. The longest files start
  // first: started last, one would run alone. Loading all modules again for each file takes a fifth of
  // the time, so files share a worker. A test that times out loses its child processes, hence 240 s.
  const order = ["--timings=tests/timings.json", ...args.filter((arg) => arg !== "--install")];
  const options = ["--parallel=5", "--no-isolate", "--timeout=240000", ...order];
  tests = Bun.spawn(
    ["bun", "test", ...options, "--reporter=junit", `--reporter-outfile=${report.name}`],
    {
      env: {
        ...process.env,
        TMPDIR: runFolder,
        TEST_RUN_FOLDER: runFolder,
        SCREENSHOTS: "no",
        // Workers end before the last of the engine's compilers pays off.
        BUN_JSC_useFTLJIT: "0",
      },
      stdin: "ignore",
      stdout: "inherit",
      stderr: "pipe",
    },
  );
  const output = forwardOutput(tests.stderr);
  const code = await tests.exited;
  // A process that a test left running can hold the pipe open.
  await Promise.race([output, Bun.sleep(5_000)]);
  const ended = code === 0 ? undefined : `ended by ${tests.signalCode ?? code}`;
  return parseOutcome((await report.exists()) ? await report.text() : undefined, ended);
}

/** Prints the output of the tests and counts results. The report is written at the end, too late for a stopped run. */
async function forwardOutput(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
  let rest = "";
  let file = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    await Bun.write(Bun.stderr, text);
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      file = /^(\S+\.test\.tsx?):$/.exec(line)?.[1] ?? file;
      if (/^(\(pass\)|✓) /.test(line)) passed++;
      if (/^(\(fail\)|✗) /.test(line)) failures.push({ name: `${file} > ${line}`, text: "" });
    }
  }
}

async function stop(failure: Failure) {
  tests?.kill();
  await Promise.race([tests?.exited, Bun.sleep(5_000)]);
  finish({ passed, skipped: 0, failures: [failure, ...failures] });
}

function finish(outcome: Outcome): never {
  for (const child of running) child.kill();
  removeRunFolder(runFolder);
  console.log(formatVerdict(outcome));
  process.exit(outcome.failures.length === 0 ? 0 : 1);
}

/** Runs one check; returns its output if it failed. */
async function runCheck({ name, command, env = {}, advice }: Check): Promise<Failure | undefined> {
  const child = Bun.spawn(command, {
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  running.add(child);
  const outputs = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
  const text = (await Promise.all(outputs)).join("");
  const code = await child.exited;
  running.delete(child);
  if (code === 0) return undefined;
  return { name, text: [text.trim(), advice].filter(Boolean).join("\n") };
}

/** Installs the Debian packages of missing programs; tests without their program are skipped. */
async function installPrograms() {
  const listMissing = () => programs.filter((program) => !hasPrograms(program));
  if (Bun.which("apt-get") === null || process.getuid?.() !== 0) {
    console.warn("--install needs root and apt-get: nothing is installed.");
    return;
  }
  if (listMissing().length === 0) return;
  console.warn(`Installing packages for ${listMissing().join(", ")} …`);
  // Without systemd, as in containers, packages start no services in this run level.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const runApt = (...more: string[]) =>
    Bun.spawn(["apt-get", "-qq", "-o", "Dpkg::Options::=--force-unsafe-io", ...more], {
      stdout: "ignore",
      stderr: "inherit",
      env,
    }).exited;
  const install = (names: readonly string[]) =>
    runApt("install", "-y", "--no-install-recommends", ...names);
  const isKnown = (name: string) =>
    Bun.spawnSync(["apt-cache", "show", name], { stdout: "ignore", stderr: "ignore" }).success;
  await runApt("update");
  // One call for all takes half the time; then one by one, because one failure fails the whole call.
  await install([...new Set(listMissing().map((program) => packages[program]))].filter(isKnown));
  for (const program of listMissing()) await install([packages[program]]);
}

function listMissingPrograms() {
  for (const program of programs.filter((each) => !hasPrograms(each)))
    console.warn(
      `NOT INSTALLED: ${program}. Install it with: apt-get install ${packages[program]}`,
    );
}
