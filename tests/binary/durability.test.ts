import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createServerClient, createMachineWithKey } from "../support/machine.ts";
import { defineTestWith } from "../support/real-targets.ts";
import { dialPort, buildRequestHead } from "../support/raw-connection.ts";
import { findWrongIncidents, writeUntilClosed } from "../support/writers.ts";

const unlimited = ["--rate-limit", "0"];

/** Runs twelve writers and sends `signal` after this many acknowledgements. */
async function killDuringWrites(
  signal: "SIGKILL" | "SIGTERM",
  after: number,
  box: Awaited<ReturnType<typeof createMachineWithKey>>,
) {
  const { url, child } = await box.serve({ flags: unlimited });
  let acknowledged = 0;
  const onAcknowledged = () => {
    if (++acknowledged === after) child.kill(signal);
  };
  const writers = Array.from({ length: 12 }, (_, index) =>
    writeUntilClosed({ url, key: box.key, name: `After ${after}, ${index}`, onAcknowledged }),
  );
  const told = (await Promise.all(writers)).flat();
  return { told, exitCode: await child.exited };
}

test("eight kills during twelve writers' work lose no acknowledged write and tear none", async () => {
  await using box = await createMachineWithKey();
  const told = [];
  for (const after of [1, 40, 100, 160, 220, 280, 340, 400])
    told.push(...(await killDuringWrites("SIGKILL", after, box)).told);
  const server = await box.serve({ flags: unlimited });
  expect(await findWrongIncidents(createServerClient(server.url, box.key), told)).toEqual([]);
  expect(await server.stop()).toBe(0);

  const database = new Database(join(box.dataDir, "signalbox.db"), { readonly: true });
  const readValue = (sql: string) => database.query(sql).values()[0]?.[0];
  expect(readValue("PRAGMA integrity_check")).toBe("ok");
  expect(database.query("PRAGMA foreign_key_check").all()).toEqual([]);
  const updates = readValue("SELECT count(*) FROM incident_updates");
  expect(readValue("SELECT count(*) FROM events WHERE type LIKE 'incident.%'")).toBe(updates);
  expect(readValue("SELECT count(*) FROM audit_entries WHERE action LIKE 'incident.%'")).toBe(
    updates,
  );
  database.close();
});

test("a stop during twelve writers' work exits with 0 and loses no acknowledged write", async () => {
  await using box = await createMachineWithKey();
  const { told, exitCode } = await killDuringWrites("SIGTERM", 100, box);
  expect(exitCode).toBe(0);
  const { url } = await box.serve({ flags: unlimited });
  expect(await findWrongIncidents(createServerClient(url, box.key), told)).toEqual([]);
});

test("a request that is half received at a stop still gets its response", async () => {
  await using box = await createMachineWithKey();
  const { port, child } = await box.serve();
  const [begin, end] = ['{"title":', '"Slow"}'];
  const headers = [
    "Host: localhost",
    "Content-Type: application/json",
    `Content-Length: ${begin.length + end.length}`,
    "Expect: 100-continue",
  ];
  const line = await dialPort(port);
  line.send(buildRequestHead("POST /api/v1/incidents", box.key, headers) + begin);
  await line.waitForText(/100 Continue/);
  child.kill("SIGTERM");
  await waitUntilRefused(port);
  line.send(end);
  expect(await line.waitUntilClosed()).toContain("HTTP/1.1 201 Created");
  expect(await child.exited).toBe(0);
  const { url } = await box.serve();
  const { json } = await createServerClient(url, box.key)("GET", "/api/v1/incidents");
  expect(json.data.map(({ title }: { title: string }) => title)).toEqual(["Slow"]);
});

defineTestWith(["strace"], "the log is synced between a commit and its response", async () => {
  await using box = await createMachineWithKey();
  const { url, child } = await box.serve({ flags: unlimited });
  const api = createServerClient(url, box.key);
  const trace = join(box.directory, "trace");
  const calls = "trace=pwrite64,fsync,fdatasync,sendto,sendmsg,write,writev";
  const strace = Bun.spawn(
    ["strace", "-y", "-s", "64", "-e", calls, "-o", trace, "-p", String(child.pid)],
    { stderr: "pipe" },
  );
  const said = strace.stderr.getReader();
  for (let text = ""; !text.includes("attached");)
    text += new TextDecoder().decode((await said.read()).value);
  for (let number = 0; number < 20; number++)
    expect((await api("POST", "/api/v1/incidents", { title: "Slow" })).status).toBe(201);
  strace.kill("SIGINT");
  await strace.exited;

  let isWritten = false;
  let isSynced = false;
  let answers = 0;
  for (const line of (await Bun.file(trace).text()).split("\n")) {
    if (/pwrite64\(\d+<[^>]*-wal>/.test(line)) [isWritten, isSynced] = [true, false];
    if (/f(data)?sync\(\d+<[^>]*-wal>\)\s+= 0/.test(line)) isSynced = isWritten;
    if (!line.includes("HTTP/1.1 201")) continue;
    expect([answers++, isWritten, isSynced]).toEqual([answers - 1, true, true]);
    [isWritten, isSynced] = [false, false];
  }
  expect(answers).toBe(20);
});

async function waitUntilRefused(port: number) {
  for (;;) {
    const line = await dialPort(port).catch(() => null);
    if (line === null) return;
    line.hangUp();
  }
}
