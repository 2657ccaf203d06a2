import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, getFreePort, type Run } from "../support/binary.ts";
import { readFirstLines, createMachine, createMachineWithKey } from "../support/machine.ts";
import { createSmallDisk } from "../support/small-disk.ts";

/** Programmers' words that do not help a person. */
const foreign = /\b(E[A-Z]{4,}|SQLITE_\w+|Bun|btree\w*|errno|syscall|undefined)\b|\*\*\*|\.\.\n/;

function expectSentence({ stdout, stderr }: Run, ...parts: string[]) {
  expect(stdout).toBe("");
  for (const part of parts) expect(stderr).toContain(part);
  expect(stderr).not.toMatch(foreign);
  expect(stderr.trim().split("\n")).toHaveLength(1);
}

test("every message of a failing command has the cause and the next step, in one line", async () => {
  await using box = await createMachineWithKey();
  const resolvePath = (name: string) => join(box.directory, name);
  writeFileSync(resolvePath("file"), "text");
  const config = resolvePath("nowhere.conf");
  const cases: [args: string[], exitCode: number, ...parts: string[]][] = [
    [
      ["backup", resolvePath("no/x.db")],
      1,
      `The folder ${resolvePath("no")} does not exist`,
      "choose another file",
    ],
    [["backup", resolvePath("file")], 1, "exists already"],
    [["keys", "create", "--org", "acme", "--name", "x", "--expires", "30x"], 2, "12h, 30d or 8w"],
    ...["gatus", "uptime-kuma", "healthchecks"].map((from): (typeof cases)[number] => [
      ["import", from, config, "--org", "acme"],
      2,
      `here: ${config}`,
    ]),
  ];
  for (const [args, exitCode, ...parts] of cases) {
    const run = await box.run(args);
    expect([args, run.exitCode]).toEqual([args, exitCode]);
    expectSentence(run, ...parts);
  }
  const client = ["--server", "http://127.0.0.1:1", "--key", `sbx_${"a".repeat(43)}`];
  const others: typeof cases = [
    [
      ["serve", "--data-dir", resolvePath("file")],
      3,
      `${resolvePath("file")} exists already and is not a folder`,
    ],
    [["serve", "--host", "nope"], 1, "--host must be an IP address of this machine"],
    [["serve", "--host", "192.0.2.77"], 1, "this machine does not have that address"],
    [["serve", "--database", "rqlite://127.0.0.1:1"], 1, "The connection was refused", "rqlited"],
    [["serve", "--url", "https://a.example/x?y"], 2, "--url must have no query"],
    [["serve", "--config", config], 2, `${config} does not exist`],
    [["login", "--server", client[1]!, "--key-file", config], 2, `${config} does not exist`],
    [["apply", "-f", config, ...client], 2, `${config} does not exist`],
    [
      ["maintenance", "start", "x", "--for", "30x", "--monitor", "m", ...client],
      2,
      "30m, 2h or 3d",
    ],
    [["maintenance", "start", "x", "--for", "8w", "--monitor", "m", ...client], 2, "at most 31 d"],
    [["incident", "update", "x", ...client], 2, "--status or --message"],
  ];
  for (const [args, exitCode, ...parts] of others) {
    const run = await runIn(box.directory, args);
    expect([args, run.exitCode]).toEqual([args, exitCode]);
    expectSentence(run, ...parts);
  }
  const level = await runIn(box.directory, ["serve", "--log-level", "loud"]);
  expect([level.exitCode, level.stderr]).toEqual([
    2,
    expect.stringContaining("Allowed choices are debug, info, warn, error"),
  ]);
  const noKey = await runIn(box.directory, ["login", "--server", "http://127.0.0.1:1"]);
  expectSentence(noKey, "The key is missing", "--key-file");
  const unit = await runIn(box.directory, ["service", "print", "--", "--config", config]);
  expect([unit.exitCode, unit.stdout.includes(config)]).toEqual([0, true]);
});

test("a server warns about a mistyped variable and about options that name nothing, and doctor reports them", async () => {
  await using box = await createMachineWithKey();
  const env = { ...process.env, SIGNALBOX_PROT: "8080" };
  const flags = ["--browser", "nope", "--allow-commands", "nope", "--apply", "nope"];
  const server = await box.serve({ flags, env });
  await server.stop();
  const log = await new Response(server.child.stderr).text();
  expect(log).toContain(
    "SIGNALBOX_PROT is no setting and has no effect; did you mean SIGNALBOX_PORT?",
  );
  for (const option of ["--browser", "--allow-commands"]) expect(log).toContain(`${option}: `);
  expect(log).toContain("The configuration nope does not exist");
  const doctor = await box.run(["doctor", "--offline", "--port", "0", ...flags], { env });
  expect(doctor.exitCode).toBe(1);
  for (const text of [...flags.filter((flag) => flag.startsWith("--")), "SIGNALBOX_PROT"])
    expect(doctor.stdout).toContain(text);
});

test("a damaged database is reported in one line", async () => {
  await using box = await createMachineWithKey();
  const file = join(box.dataDir, "signalbox.db");
  const bytes = await Bun.file(file).bytes();
  bytes.fill(0xff, 8_192, 20_480);
  writeFileSync(file, bytes);
  const run = await box.run(["orgs", "list"]);
  expect(run.exitCode).toBe(3);
  expect(run.stderr).toContain("is damaged (");
  expect(run.stderr.trim().split("\n")).toHaveLength(1);
  expect(run.stderr).not.toContain("***");
});

const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", binary];
const canBeNobody =
  process.getuid?.() === 0 && Bun.spawnSync([...asNobody, "version"]).exitCode === 0;

test.skipIf(!canBeNobody)("data of another account gets a remedy, and exits with 3", async () => {
  await using box = await createMachineWithKey();
  const serve = [...asNobody, "serve", "--port", `${getFreePort()}`, "--data-dir", box.dataDir];
  for (const isFolderOpen of [false, true]) {
    for (const folder of isFolderOpen ? [box.directory, box.dataDir] : []) chmodSync(folder, 0o755);
    const { exitCode, stdout, stderr } = Bun.spawnSync(serve, { stdin: "ignore" });
    expect(exitCode).toBe(3);
    expectSentence(
      { exitCode, stdout: stdout.toString(), stderr: stderr.toString() },
      "the account that owns it",
    );
  }
});

const disk = createSmallDisk(8);

test.skipIf(disk === null)("a full disk is reported by a backup and by a first start", async () => {
  using full = disk!;
  await using box = await createMachineWithKey();
  full.fill(64);
  const backup = await box.run(["backup", join(full.path, "x.db")]);
  expect(backup.exitCode).toBe(1);
  expectSentence(backup, `The disk of ${full.path} is full`);
  const start = await runIn(box.directory, ["serve", "--data-dir", join(full.path, "data")]);
  expect(start.exitCode).toBe(1);
  expectSentence(start, full.path, "full");
});

test("the set-up link can be opened from another machine", async () => {
  await using box = createMachine();
  const url = "https://status.team.example";
  const server = await box.serve({ flags: ["--url", url] });
  const text = await readFirstLines(server.child);
  const token = (await Bun.file(join(box.dataDir, "set-up-token")).text()).trim();
  expect(text).toMatch(
    new RegExp(`Set it up +${url}/set-up#${token}\\n +or +http://127\\.0\\.0\\.1`),
  );
});

test("a data directory for the service can contain blanks", async () => {
  await using box = createMachine();
  mkdirSync(box.dataDir);
  const print = ["service", "print", "--", "--data-dir", "/var/lib/my data"];
  expect((await runIn(box.directory, print)).stdout).toContain('StateDirectory="my data"');
});

async function runIn(cwd: string, args: string[]): Promise<Run> {
  const child = Bun.spawn([binary, ...args], {
    cwd,
    env: { ...process.env, HOME: cwd, XDG_CONFIG_HOME: cwd },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const outputs = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
  const [stdout = "", stderr = ""] = await Promise.all(outputs);
  return { exitCode: await child.exited, stdout, stderr };
}
