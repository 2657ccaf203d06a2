import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clientOf, machineWithKey } from "../support/outside.ts";

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
  "a lost key file": (file) => rmSync(file.replace("signalbox.db", "secret.key")),
};

/** Leaves the header as it is. */
async function flipBits(file: string) {
  const bytes = await Bun.file(file).bytes();
  for (let at = 4096; at < bytes.length; at += 64) bytes[at] = ~(bytes[at] ?? 0);
  writeFileSync(file, bytes);
}

/** Hashes of the files that hold something; the shared memory and the lock are bookkeeping. */
async function contentOf(dataDir: string) {
  const kept = readdirSync(dataDir).filter((name) => !/-shm$|\.lock(-journal)?$/.test(name));
  const hashes = kept.map(async (name) => {
    const bytes = await Bun.file(join(dataDir, name)).bytes();
    return [name, Bun.CryptoHasher.hash("sha256", bytes, "hex")] as const;
  });
  return Object.fromEntries(await Promise.all(hashes));
}

describe("unusable data exits with 3, says so in one line, and is left as it was", () => {
  for (const [name, damage] of Object.entries(damages))
    test(name, async () => {
      await using box = await machineWithKey();
      await damage(join(box.dataDir, "signalbox.db"));
      const before = await contentOf(box.dataDir);
      for (const command of [["serve", "--port", "0"], ["orgs", "create", "Beta"], ["migrate"]]) {
        const { exitCode, stdout, stderr } = await box.run(command);
        expect([command, exitCode, stdout]).toEqual([command, 3, ""]);
        expect(stderr).toMatch(/^signalbox: [^\n]+\n$/);
      }
      expect((await box.run(["doctor"])).exitCode).toBe(3);
      expect(await contentOf(box.dataDir)).toMatchObject(before);
    });

  test("a database damaged after a kill, with its last writes still in the log", async () => {
    await using box = await machineWithKey();
    const server = await box.serve();
    await clientOf(server.url, box.key)("POST", "/api/v1/incidents", { title: "Slow" });
    await server.stop("SIGKILL");
    const file = join(box.dataDir, "signalbox.db");
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    await flipBits(file);
    const before = await contentOf(box.dataDir);
    expect((await box.run(["serve", "--port", "0"])).exitCode).toBe(3);
    expect(await contentOf(box.dataDir)).toEqual(before);
  });
});

test("--init begins again where the database is empty and keeps the empty file aside", async () => {
  await using box = await machineWithKey();
  truncateSync(join(box.dataDir, "signalbox.db"));
  const { url } = await box.serve({ flags: ["--init"] });
  expect((await clientOf(url, box.key)("GET", "/api/v1/incidents")).status).toBe(401);
  expect(readdirSync(box.dataDir).filter((name) => /\.empty-\d+$/.test(name))).toHaveLength(1);
});

test("--init does not replace data that is there", async () => {
  await using box = await machineWithKey();
  const { url } = await box.serve({ flags: ["--init"] });
  expect((await clientOf(url, box.key)("GET", "/api/v1/incidents")).status).toBe(200);
});
