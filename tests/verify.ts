import { audit } from "../release/audit.ts";
import { have, packages, programs } from "./support/real-targets.ts";
import { type Failure, type Outcome, outcomeOf, verdict } from "./support/verdict.ts";

// `bun run verify`: formatting, types, lint, build and all tests; ends with all that is red and `N passed, N failed`.
// With `--update-timings` it notes how long each file takes, for the order of later runs.

// Each thread of the linter would infer the same types anew, and what it collects it needs to the end.
const lintEnv = { GOMAXPROCS: "1", GOGC: "off", GOMEMLIMIT: "3GiB" };
const checks: [string, string[], Record<string, string>?][] = [
  ["formatting", ["bun", "fmt", "--check"]],
  ["types", ["bun", "check"]],
  ["lint", ["bun", "x", "oxlint", "--type-aware", "--deny-warnings"], lintEnv],
  ["build", ["bun", "build.ts"]],
];

let red: Failure[] = [];
let tests: Bun.Subprocess<"ignore", "inherit", "pipe"> | undefined;
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
  process.on(signal, () => stop(`was ended by ${signal}`));
process.on("uncaughtException", (error) => stop(Bun.inspect(error)));

// The linter takes one core for as long as types and build take the other; programs mostly wait for the network.
const [checked] = await Promise.all([Promise.all(checks.map(run)), installPrograms()]);
red = checked.filter(({ ok }) => !ok);
for (const { text } of red) console.log(text);
if (red.length > 0) end({ passed: 0, skipped: 0, failures: red });

// What others find out about a dependency stops a release, and no work on anything else.
const audited = await audit();
if (audited.state === "vulnerable") console.warn(`VULNERABLE DEPENDENCIES\n${audited.output}`);
if (audited.state === "skipped")
  console.warn(`NOT AUDITED: the registry tells nothing: ${audited.output}`);

const report = Bun.file("dist/tests.xml");
await report.delete().catch(() => undefined);
// Most tests wait for something outside: what takes long on a busy machine is no failure. A test that is
// timed out loses its processes, so what it waits for gives up before.
// Many wait, so more of them run than there are cores; a worker that reads all modules anew for each
// file spends a fifth of its time on that. The longest come first: a last one would run alone.
const order = ["--timings=tests/timings.json", ...process.argv.slice(2)];
const options = ["--parallel=5", "--no-isolate", "--timeout=240000", ...order];
tests = Bun.spawn(
  ["bun", "test", ...options, "--reporter=junit", `--reporter-outfile=${report.name}`],
  {
    // Workers end before the last of the engine's compilers pays off.
    env: { ...process.env, SCREENSHOTS: "no", BUN_JSC_useFTLJIT: "0" },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "pipe",
  },
);
const output = passOn(tests.stderr);
const code = await tests.exited;
// What a test left behind may hold the other end.
await Promise.race([output, Bun.sleep(5_000)]);
const ended = code === 0 ? undefined : `ended by ${tests.signalCode ?? code}`;
end(outcomeOf((await report.exists()) ? await report.text() : undefined, ended));

/** The report is written at the end: who ends a run before still hears what was red. */
async function passOn(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
  let rest = "";
  let file = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    await Bun.write(Bun.stderr, text);
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      file = /^(\S+\.test\.tsx?):$/.exec(line)?.[1] ?? file;
      if (/^(\(fail\)|✗) /.test(line)) red.push({ name: `${file} > ${line}`, text: "" });
    }
  }
}

function stop(text: string) {
  tests?.kill();
  end({ passed: 0, skipped: 0, failures: [{ name: "verify", text }, ...red] });
}

function end(outcome: Outcome): never {
  console.log(verdict(outcome));
  process.exit(outcome.failures.length === 0 ? 0 : 1);
}

async function run([name, command, env = {}]: (typeof checks)[number]) {
  const child = Bun.spawn(command, {
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const texts = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
  const text = (await Promise.all(texts)).join("");
  return { name, text, ok: (await child.exited) === 0 };
}

/** What is tested against real programs; where one can't be installed, tests do without or are skipped. */
async function installPrograms() {
  const missing = () => programs.filter((program) => !have(program));
  const mayInstall = Bun.which("apt-get") !== null && process.getuid?.() === 0;
  // Where there is no systemd, as in containers, packages start no services in this run level.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  // What a power cut would cost is installed again.
  const quick = ["-qq", "-o", "Dpkg::Options::=--force-unsafe-io"];
  const apt = (...args: string[]) =>
    Bun.spawn(["apt-get", ...quick, ...args], { stdout: "ignore", stderr: "inherit", env }).exited;
  if (mayInstall && missing().length > 0) {
    await apt("update");
    const install = (names: readonly string[]) =>
      apt("install", "-y", "--no-install-recommends", ...names);
    const isKnown = (name: string) =>
      Bun.spawnSync(["apt-cache", "show", name], { stdout: "ignore", stderr: "ignore" }).success;
    // All at once takes half the time; then one by one, as one that fails takes the others with it.
    await install([...new Set(missing().map((program) => packages[program]))].filter(isKnown));
    for (const program of missing()) await install([packages[program]]);
  }
  for (const program of missing())
    console.warn(`NOT INSTALLED: ${program}; apt-get install ${packages[program]} brings it.`);
}
