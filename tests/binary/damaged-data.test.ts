import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMachine, createMachineWithKey, createServerClient } from "../support/machine.ts";

type Damage = (file: string) => void | Promise<void>;

const damages: Record<string, Damage> = {
  "a database overwritten with garbage": (file) => writeFileSync(file, "not a database".repeat(99)),
  "a database of another program": (file) => {
    rmSync(file);
    const foreign = new Database(file, { create: true });
    foreign.run("CREATE TABLE recipes (name TEXT)");
    foreign.close();
  },
  "a database cut short": (file) => truncateSync(file, statSync(file).size / 2),
  "a database with flipped bits": flipBits,
  "an empty database": (file) => truncateSync(file),
  "a lost database": (file) => rmSync(file),
  "a folder instead of the database": (file) => {
    rmSync(file);
    mkdirSync(file);
  },
  "a lost key file": (file) => rmSync(file.replace("signalbox.db", "secret.key")),
};

/** Damages a file after its header. */
async function flipBits(file: string) {
  const bytes = await Bun.file(file).bytes();
  for (let at = 4096; at < bytes.length; at += 64) bytes[at] = ~(bytes[at] ?? 0);
  writeFileSync(file, bytes);
}

/** Hashes of the data files, without shared memory and lock. */
async function readContent(dataDir: string) {
  const stored = readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !/-shm$|\.lock(-journal)?$/.test(entry.name))
    .map(({ name }) => name);
  const hashes = stored.map(async (name) => {
    const bytes = await Bun.file(join(dataDir, name)).bytes();
    return [name, Bun.CryptoHasher.hash("sha256", bytes, "hex")] as const;
  });
  return Object.fromEntries(await Promise.all(hashes));
}

describe("unusable data exits with 3 and one line, and stays unchanged", () => {
  for (const [name, damage] of Object.entries(damages))
    test(name, async () => {
      await using box = await createMachineWithKey();
      await damage(join(box.dataDir, "signalbox.db"));
      const before = await readContent(box.dataDir);
      const commands = [["serve", "--port", "0"], ["orgs", "create", "Beta"], ["migrate"]];
      // A backup needs no key.
      if (name !== "a lost key file") commands.push(["backup", join(box.directory, "copy.db")]);
      for (const command of commands) {
        const { exitCode, stdout, stderr } = await box.run(command);
        expect([command, exitCode, stdout]).toEqual([command, 3, ""]);
        expect(stderr).toMatch(/^signalbox: [^\n]+\n$/);
      }
      expect((await box.run(["doctor", "--offline"])).exitCode).toBe(3);
      expect(await readContent(box.dataDir)).toMatchObject(before);
    });

  test("a database damaged after a kill, with its last writes still in the log", async () => {
    await using box = await createKilledMachine();
    const file = join(box.dataDir, "signalbox.db");
    await flipBits(file);
    const before = await readContent(box.dataDir);
    expect((await box.run(["serve", "--port", "0"])).exitCode).toBe(3);
    expect(await readContent(box.dataDir)).toEqual(before);
  });

  const logDamages: Record<string, Damage> = {
    "a log cut short": (file) => truncateSync(file, statSync(file).size / 2),
    "a log with one flipped bit": (file) => {
      const bytes = readFileSync(file);
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      writeFileSync(file, bytes);
    },
    "a log overwritten with garbage": (file) => writeFileSync(file, "not a log".repeat(99)),
    "an empty log": (file) => truncateSync(file),
    "a lost log": (file) => rmSync(file),
  };
  for (const [name, damage] of Object.entries(logDamages))
    test(name, async () => {
      await using box = await createKilledMachine();
      await damage(join(box.dataDir, "signalbox.db-wal"));
      const before = await readContent(box.dataDir);
      const copy = join(box.directory, "copy.db");
      for (const command of [
        ["backup", copy],
        ["serve", "--port", "0"],
        ["orgs", "list"],
        ["doctor", "--offline"],
      ]) {
        const { exitCode, stderr } = await box.run(command);
        expect([command, exitCode]).toEqual([command, 3]);
        expect(stderr).toMatch(/^signalbox: [^\n]+\n$/);
      }
      expect(await readContent(box.dataDir)).toEqual(before);
    });
});

let killedOnce: Promise<{ key: string; before: number }> | undefined;
const killedData = mkdtempSync(join(tmpdir(), "signalbox-killed-"));
afterAll(() => rmSync(killedData, { recursive: true }));

/** A killed machine with writes in its log; a copy of one that was killed once. */
async function createKilledMachine() {
  killedOnce ??= killOne();
  const { key, before } = await killedOnce;
  const box = createMachine();
  cpSync(killedData, box.dataDir, { recursive: true });
  return { ...box, key, before };
}

async function killOne() {
  await using box = await createMachineWithKey();
  const server = await box.serve();
  const api = createServerClient(server.url, box.key);
  let before = 0;
  for (const title of ["First", "Second"]) {
    before = statSync(join(box.dataDir, "signalbox.db-wal")).size;
    await api("POST", "/api/v1/incidents", { title });
  }
  await server.stop("SIGKILL");
  cpSync(box.dataDir, killedData, { recursive: true });
  return {
    key: box.key,
    /** Length of its log before the last write. */
    before,
  };
}

test("without its index, a damaged log is used up to the damage", async () => {
  await using box = await createKilledMachine();
  const file = join(box.dataDir, "signalbox.db");
  truncateSync(`${file}-wal`, box.before + 1);
  expect((await box.run(["serve", "--port", "0"])).stderr).toContain(`remove ${file}-shm`);
  rmSync(`${file}-shm`);
  const { url } = await box.serve();
  const { json } = await createServerClient(url, box.key)("GET", "/api/v1/incidents");
  expect(json.data.map(({ title }: { title: string }) => title)).toEqual(["First"]);
});

test("damage under a running server is reported, never copied, and rejected at the next start", async () => {
  await using box = await createMachineWithKey();
  let server = await box.serve();
  let api = createServerClient(server.url, box.key);
  const { id } = (await api("POST", "/api/v1/incidents", { title: "Slow" })).json.data;
  await server.stop();
  server = await box.serve();
  api = createServerClient(server.url, box.key);
  // Available without the database.
  await api("GET", "/api/v1/monitors");
  const file = join(box.dataDir, "signalbox.db");
  await flipBits(file);
  const before = await Bun.file(file).bytes();
  const requests = [
    await api("GET", `/api/v1/incidents/${id}`),
    await api("POST", "/api/v1/incidents", { title: "Slower" }),
    await api("PATCH", `/api/v1/incidents/${id}`, { title: "Slower" }),
  ];
  const damaged = { code: "UNAVAILABLE", message: expect.stringContaining("damaged") };
  for (const { status, json } of requests)
    expect([status, json.error]).toEqual([503, expect.objectContaining(damaged)]);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(await server.stop()).toBe(0);
  expect(Buffer.compare(before, await Bun.file(file).bytes())).toBe(0);
  expect((await box.run(["serve", "--port", "0"])).exitCode).toBe(3);
});

test("--init starts over with an empty database and sets the empty file aside", async () => {
  await using box = await createMachineWithKey();
  truncateSync(join(box.dataDir, "signalbox.db"));
  const { url } = await box.serve({ flags: ["--init"] });
  expect((await createServerClient(url, box.key)("GET", "/api/v1/incidents")).status).toBe(401);
  expect(readdirSync(box.dataDir).filter((name) => /\.empty-\d+$/.test(name))).toHaveLength(1);
});

test("--init does not replace existing data", async () => {
  await using box = await createMachineWithKey();
  const { url } = await box.serve({ flags: ["--init"] });
  expect((await createServerClient(url, box.key)("GET", "/api/v1/incidents")).status).toBe(200);
});
