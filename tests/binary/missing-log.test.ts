import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runSignalbox, startServer } from "../support/binary.ts";
import { createServerClient, createMachineWithKey, expectSuccess } from "../support/machine.ts";

type Box = Awaited<ReturnType<typeof createMachineWithKey>>;

/** A machine whose last write is only in the write-ahead log. */
async function createMachineWithUnsavedLog() {
  const box = await createMachineWithKey();
  const server = await box.serve();
  const api = createServerClient(server.url, box.key);
  await api("POST", "/api/v1/incidents", { title: "Only in the log" });
  return { box, server };
}

const logOf = ({ dataDir }: Box) => join(dataDir, "signalbox.db-wal");

async function serveAndListTitles(box: Box, flags: string[] = []) {
  const server = await box.serve({ flags });
  const { data } = (await createServerClient(server.url, box.key)("GET", "/api/v1/incidents")).json;
  expect(await server.stop()).toBe(0);
  return (data as { title: string }[]).map(({ title }) => title);
}

test("a copy of a running data directory without its log is rejected by name, and starts only with a flag", async () => {
  const { box, server } = await createMachineWithUnsavedLog();
  await using _ = box;
  const copy = join(box.directory, "copy");
  mkdirSync(copy);
  for (const name of ["signalbox.db", "secret.key", "instance.json"])
    cpSync(join(box.dataDir, name), join(copy, name));
  await server.stop("SIGKILL");
  const before = readFileSync(join(copy, "signalbox.db"));
  for (const args of [
    ["serve", "--port", "0"],
    ["orgs", "list"],
    ["backup", join(box.directory, "b")],
  ]) {
    const run = await runSignalbox([...args, "--data-dir", copy]);
    expect([args, run.exitCode]).toEqual([args, 3]);
    expect(run.stderr).toContain("signalbox.db-wal is missing");
    expect(run.stderr).toContain("--accept-missing-log");
  }
  expect(readFileSync(join(copy, "signalbox.db")).equals(before)).toBe(true);
  const accepted = await startServer({ dataDir: copy, flags: ["--accept-missing-log"] });
  expect(await accepted.stop()).toBe(0);
  expect((await runSignalbox(["orgs", "list", "--data-dir", copy])).exitCode).toBe(0);
});

test("a killed server starts again with every write, even after a command in between", async () => {
  for (const between of [false, true]) {
    const { box, server } = await createMachineWithUnsavedLog();
    await using _ = box;
    await server.stop("SIGKILL");
    expect(existsSync(logOf(box))).toBe(true);
    // The last process that closes the database merges and removes the log.
    if (between) await expectSuccess(box.run(["orgs", "list"]));
    expect(await serveAndListTitles(box)).toEqual(["Only in the log"]);
  }
});

test("finished runs, restores over killed runs, and data of older versions need no flag", async () => {
  const { box, server } = await createMachineWithUnsavedLog();
  await using _ = box;
  const backup = join(box.directory, "backup");
  await expectSuccess(box.run(["backup", backup]));
  expect(await server.stop()).toBe(0);
  expect(existsSync(logOf(box))).toBe(false);
  const again = await box.serve();
  await again.stop("SIGKILL");
  await expectSuccess(box.run(["restore", backup]));
  expect(await serveAndListTitles(box)).toEqual(["Only in the log"]);
  writeFileSync(join(box.dataDir, "instance.json"), '{"createdAt":"2026-01-01T00:00:00.000Z"}\n');
  expect(await serveAndListTitles(box)).toEqual(["Only in the log"]);
  expect(JSON.parse(readFileSync(join(box.dataDir, "instance.json"), "utf8"))).toEqual({
    createdAt: "2026-01-01T00:00:00.000Z",
    running: false,
  });
});

test("a start that fails on a used port does not block the next one", async () => {
  const { box, server } = await createMachineWithUnsavedLog();
  await using _ = box;
  expect(await server.stop()).toBe(0);
  const taken = Bun.listen({ hostname: "0.0.0.0", port: 0, socket: { data() {} } });
  const run = await box.run(["serve", "--port", String(taken.port)]);
  expect(run.exitCode).not.toBe(0);
  expect(await serveAndListTitles(box)).toEqual(["Only in the log"]);
  taken.stop();
});
