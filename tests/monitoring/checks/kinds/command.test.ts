import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCheckOfType, runUntilTimedOut } from "../../../support/check-runs.ts";
import { createDashboard } from "../../../support/dashboard.ts";
import { waitUntil } from "../../../support/poll.ts";

const outside = mkdtempSync(join(tmpdir(), "signalbox-test-"));
const folder = join(outside, "commands");
mkdirSync(folder, { mode: 0o755 });
afterAll(() => rmSync(outside, { recursive: true }));

let count = 0;

/** Creates a program with this shell script; returns its name. */
function writeProgram(text: string, mode = 0o755): string {
  const name = `program-${count++}.sh`;
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, name), mode);
  return name;
}

const run = (
  command: string,
  circumstances: Parameters<typeof runCheckOfType>[2] = {},
  more = {},
) => runCheckOfType("command", { command, ...more }, { commandFolder: folder, ...circumstances });

/** Resolves when the process has ended or is a zombie. */
async function waitUntilGone(pid: string) {
  const isThere = () =>
    existsSync(`/proc/${pid}/stat`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  await waitUntil(() => !isThere());
}

test("a program that exits with 0 is up, and its first line is its message", async () => {
  const name = writeProgram('echo; echo "OK - 3 files\t|\x1b[31m x=1"; echo more');
  expect(await run(name)).toEqual({
    status: "up",
    message: expect.stringMatching(/^It exited with 0 after \d+ ms\.$/),
    serverText: "OK - 3 files | [31m x=1",
    latencyMs: expect.any(Number),
    details: { output: "OK - 3 files | [31m x=1" },
  });
  expect(await run(writeProgram("exit 0"))).not.toHaveProperty("serverText");
  const long = await run(writeProgram("head -c 5000 /dev/zero | tr '\\0' x"));
  expect(long.serverText).toHaveLength(250);
});

test("any other exit code is down and is named", async () => {
  expect(await run(writeProgram("echo CRITICAL; exit 2"))).toMatchObject({
    status: "down",
    message: expect.stringMatching(/^It exited with 2 after \d+ ms\.$/),
    serverText: "CRITICAL (it exited with 2)",
  });
  expect(await run(writeProgram("echo no disk >&2; exit 3"))).toMatchObject({
    serverText: "no disk (it exited with 3)",
  });
  expect(await run(writeProgram("kill -TERM $$"))).toMatchObject({
    status: "down",
    message: expect.stringMatching(/^It was ended by SIGTERM after/),
  });
});

test("arguments are passed unchanged, in an environment without ours", async () => {
  const args = ["$HOME", "; echo no", "", "a b", "*"];
  const listed = await run(writeProgram('printf "<%s>" "$@"'), {}, { arguments: args });
  expect(listed.serverText).toBe("<$HOME><; echo no><><a b><*>");
  const names = await run(writeProgram("env | cut -d= -f1 | grep -v _ | sort | tr '\\n' ' '; pwd"));
  expect(names.serverText).toBe(`PATH PWD ${folder}`);
});

test("at the timeout it is killed with its children, and at its end with the remaining ones", async () => {
  const file = join(outside, "pids");
  const hanging = writeProgram(
    `sleep 1000 & echo $! $$ > ${file}.new; mv ${file}.new ${file}; wait`,
  );
  const canceling = new AbortController();
  const running = run(hanging, { signal: canceling.signal, timeoutMs: 60_000 });
  await waitUntil(() => existsSync(file));
  canceling.abort();
  expect((await running).status).toBe("unknown");
  for (const pid of readFileSync(file, "utf8").trim().split(" ")) await waitUntilGone(pid);

  const message = "Timed out while waiting for the response.";
  expect(
    await runUntilTimedOut(message, (timeoutMs) => run(writeProgram("sleep 1000"), { timeoutMs })),
  ).toMatchObject({ status: "down", message });

  const leaving = await run(writeProgram('sleep 1000 & echo "$!"'));
  expect(leaving.status).toBe("up");
  await waitUntilGone(leaving.serverText ?? "");
});

test("a program with endless output is killed", async () => {
  expect(await run(writeProgram("yes"))).toMatchObject({
    status: "down",
    message: "It prints more than 64 KiB.",
  });
});

test("a program outside the folder, or writable by others, is not run", async () => {
  const trace = join(outside, "trace");
  const text = `touch ${trace}`;
  writeFileSync(join(outside, "elsewhere.sh"), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  symlinkSync(join(outside, "elsewhere.sh"), join(folder, "link.sh"));
  symlinkSync(outside, join(folder, "link"));
  mkdirSync(join(folder, "open"));
  writeFileSync(join(folder, "open", "x.sh"), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  chmodSync(join(folder, "open"), 0o777);
  const inFolder = "in the folder of --allow-commands.";
  const refused: [string, string][] = [
    ["missing.sh", `There is no such program ${inFolder}`],
    ["link.sh", `The program is not ${inFolder}`],
    ["link/elsewhere.sh", `The program is not ${inFolder}`],
    [".", `The program is not ${inFolder}`],
    ["open/x.sh", "The folder of the program may be written by others."],
    [writeProgram(text, 0o777), "The program may be written by others."],
    [writeProgram(text, 0o775), "The program may be written by others."],
    [writeProgram(text, 0o644), "The program is not executable."],
    ["program-0.sh/x", `There is no such program ${inFolder}`],
  ];
  for (const [command, message] of refused)
    expect([command, await run(command)]).toEqual([
      command,
      expect.objectContaining({ status: "down", message, isFinal: true }),
    ]);
  chmodSync(join(folder, "open"), 0o755);
  symlinkSync(join(folder, "open", "x.sh"), join(folder, "within.sh"));
  expect((await run("open")).message).toBe("The program is not a file.");
  expect(existsSync(trace)).toBe(false);
  expect((await run("within.sh")).status).toBe("up");
  expect(existsSync(trace)).toBe(true);
});

test("nothing is run without --allow-commands, or when several organizations share the machine", async () => {
  const name = writeProgram("exit 0");
  const buildUnknown = (message: string) => ({ status: "unknown", message });
  expect(await run(name, { commandFolder: undefined })).toMatchObject(
    buildUnknown(
      "Not judged: to run programs is not allowed: it needs serve --allow-commands DIR.",
    ),
  );
  const shared = "is not allowed where several organizations share this machine";
  expect(await run(name, { isShared: true })).toMatchObject(
    buildUnknown(`Not judged: to run programs ${shared}.`),
  );
  expect(await run(name, { commandFolder: join(outside, "nowhere") })).toMatchObject(
    buildUnknown("Not judged: the folder of --allow-commands can't be read."),
  );

  const body = { type: "command", name: "Backup", command: name };
  const path = "/api/v1/monitors";
  const without = await createDashboard({ commandFolder: null });
  const refused = await without.api("POST", path, { body });
  expect([refused.status, refused.json.error.details]).toEqual([
    422,
    [{ path: "type", message: "is not allowed: it needs serve --allow-commands DIR" }],
  ]);
  let isShared = false;
  const { api, monitor, changeMonitor } = await createDashboard({
    commandFolder: folder,
    isShared: () => isShared,
  });
  const { id } = await monitor(body);
  expect((await api("POST", `${path}/${id}/check`)).json.data.status).toBe("up");
  isShared = true;
  for (const response of [
    await api("POST", path, { body }),
    await changeMonitor(id, { command: "other.sh" }),
    await changeMonitor(id, { arguments: ["-a"] }),
  ])
    expect([response.status, response.json.error.details]).toEqual([
      422,
      [{ path: "type", message: shared }],
    ]);
  expect((await changeMonitor(id, { paused: true })).status).toBe(200);
});
