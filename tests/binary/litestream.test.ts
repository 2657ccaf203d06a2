import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  createServerClient,
  createMachine,
  createMachineWithKey,
  expectSuccess,
} from "../support/machine.ts";
import { writeUntilClosed } from "../support/writers.ts";
import { waitUntil } from "../support/poll.ts";

const root = join(import.meta.dir, "..", "..");

/** The package's program for this machine; null if there is none. */
function findLitestream(): string | null {
  const name = `@flydotio/litestream-${process.platform}-${process.arch}`;
  try {
    return join(Bun.resolveSync(`${name}/package.json`, root), "..", "litestream");
  } catch {
    console.warn(`\nNOT TESTED: continuous copies; there is no ${name}\n`);
    return null;
  }
}
const litestream = findLitestream();

/** The documented configuration, with the paths of a test. */
function buildConfig(dataDir: string, replica: string): string {
  const [, block = ""] =
    /```yaml\n(dbs:\n[^`]*)```/.exec(readFileSync(join(root, "docs", "operations.md"), "utf8")) ??
    [];
  const config = block
    .replace("/var/lib/signalbox", dataDir)
    .replace("/backups/litestream", replica);
  expect(config).toContain(dataDir);
  expect(config).toContain(replica);
  return config;
}

const readEvents = (file: string) => {
  using database = new Database(file, { readonly: true });
  return database.query("SELECT * FROM events ORDER BY seq").values();
};

test.skipIf(litestream === null)(
  "a continuous copy is restored as of one moment, and completely if no write was running",
  async () => {
    await using box = await createMachineWithKey();
    const config = join(box.directory, "litestream.yml");
    await Bun.write(config, buildConfig(box.dataDir, join(box.directory, "replica")));
    const source = join(box.dataDir, "signalbox.db");
    const run = (...args: string[]) =>
      Bun.spawn([litestream ?? "", ...args], { stdout: "ignore", stderr: "ignore" });
    const copy = join(box.directory, "copy.db");
    /** Content of the copy; null before the first one. */
    const copyParts = async () => {
      rmSync(copy, { force: true });
      const taken = run("restore", "-config", config, "-o", copy, source);
      return (await taken.exited) === 0 ? readEvents(copy) : null;
    };

    const server = await box.serve({ flags: ["--rate-limit", "0"] });
    let copying = run("replicate", "-config", config);
    await waitUntil(async () => (await copyParts()) !== null, 50);
    let acknowledged = 0;
    const enough = Promise.withResolvers<void>();
    const writers = [1, 2, 3, 4].map((number) =>
      writeUntilClosed({
        url: server.url,
        key: box.key,
        name: `Writer ${number}`,
        onAcknowledged: () => void (++acknowledged === 1_000 && enough.resolve()),
      }),
    );
    await enough.promise;
    await waitUntil(async () => (await copyParts())?.length !== 0, 50);
    copying.kill("SIGKILL");
    await Promise.all([server.stop("SIGKILL"), copying.exited, ...writers]);
    const all = readEvents(source);
    const saved = (await copyParts()) ?? [];
    const readEventTime = (event: unknown[] | undefined) => Date.parse(String(event?.[2]));
    console.log(
      `litestream: ${all.length - saved.length} of ${all.length} events lost, ${readEventTime(all.at(-1)) - readEventTime(saved.at(-1))} ms`,
    );
    expect(saved.length).toBeGreaterThan(0);
    expect(saved).toEqual(all.slice(0, saved.length));

    copying = run("replicate", "-config", config);
    await waitUntil(async () => (await copyParts())?.length === all.length, 50);
    copying.kill("SIGKILL");
    await copying.exited;
    await using other = createMachine();
    const key = join(box.dataDir, "secret.key");
    await expectSuccess(other.run(["restore", copy, "--key", key]));
    expect(readEvents(join(other.dataDir, "signalbox.db"))).toEqual(all);
    const again = await other.serve();
    const { status } = await createServerClient(again.url, box.key)("GET", "/api/v1/incidents");
    expect(status).toBe(200);
  },
);
