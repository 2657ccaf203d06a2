import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { createOrganization } from "../../../src/accounts/organizations/service.ts";
import { getBuiltMigrations } from "../../support/migration-folder.ts";
import { hourMs } from "../../../src/core/time/clock.ts";
import type { ProblemName } from "../../../src/core/problems.ts";
import { recordProblem } from "../../../src/events/problems.ts";
import { getDataFiles } from "../../../src/database/file/data-files.ts";
import { lockDirectory } from "../../../src/database/file/directory-lock.ts";
import { openDataDirectory } from "../../../src/database/file/data-directory.ts";
import { examinePorts, examineProblems } from "../../../src/operations/diagnostics/server.ts";
import { getFreePort } from "../../support/binary.ts";
import { createScratch } from "../../support/scratch-directories.ts";

const newDirectory = createScratch();
const host = "127.0.0.1";

/** A server that responds like ours, or differently. */
const startServer = (headers: Record<string, string>) =>
  Bun.serve({ port: 0, hostname: host, fetch: () => Response.json({}, { headers }) });

const readVerdicts = async (
  settings: { port: number; publicPort?: number; host?: string },
  path = newDirectory(),
) =>
  (await examinePorts({ host, ...settings }, path)).map(({ subject, verdict, message, advice }) => [
    `${subject}: ${verdict}`,
    `${message} ${advice}`,
  ]);

test("free ports are ok, and so is one that the system chooses", async () => {
  const found = await readVerdicts({ port: getFreePort(), publicPort: 0 });
  expect(found.map(([what]) => what)).toEqual(["port: ok", "public port: ok"]);
});

test("a port in use is reported with its program", async () => {
  const other = startServer({});
  const [found] = await readVerdicts({ port: other.port ?? 0 });
  expect(found).toEqual(["port: problem", expect.stringContaining("Stop that program")]);
  if (process.platform === "linux") expect(found?.[1]).toContain(`(pid ${process.pid})`);
  await other.stop(true);
});

test("an address that this machine does not have is reported", async () => {
  const [found] = await readVerdicts({ port: getFreePort(), host: "192.0.2.1" });
  expect(found).toEqual(["port: problem", expect.stringContaining("Change --host.")]);
});

test("the running server may use its ports, and is asked for a response", async () => {
  const path = newDirectory();
  const unlock = lockDirectory(path);
  const server = startServer({ "x-request-id": "1" });
  const port = server.port ?? 0;
  writeFileSync(getDataFiles(path).address, `http://${host}:${port}\n`);
  const listVerdicts = async (settings: { port: number; publicPort?: number }) =>
    (await readVerdicts(settings, path)).map(([what]) => what);
  expect(await listVerdicts({ port, publicPort: port })).toEqual([
    "server: ok",
    "port: ok",
    "public port: ok",
  ]);
  // The running server has another port than the examined settings.
  expect(await listVerdicts({ port: getFreePort() })).toEqual(["server: ok", "port: skipped"]);
  await server.stop(true);
  expect((await listVerdicts({ port }))[0]).toBe("server: problem");
  unlock();
  // Its stale address file has no effect.
  expect(await listVerdicts({ port })).toEqual(["port: ok"]);
});

test("open problems of the server are reported again", async () => {
  const now = Date.now();
  const data = openDataDirectory(newDirectory(), {
    migrations: getBuiltMigrations(),
    clock: () => now,
  });
  const { id } = await createOrganization(data.store, () => now, "Acme");
  const problem = { stage: "", severity: "error", message: "What happened waits." } as const;
  const recordOpen = (name: ProblemName, until: number | null) =>
    recordProblem([id], { ...problem, name, until }, now - hourMs);
  await data.store.atomic([
    ...recordOpen("events", null),
    ...recordOpen("loop", now - 1),
    ...recordOpen("disk", null),
  ]);
  expect(await examineProblems(data.store, () => now)).toMatchObject([
    { verdict: "warning", subject: "events", advice: expect.stringContaining("journalctl") },
  ]);
  data.close();
});
