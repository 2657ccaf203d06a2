import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { binary, runSignalbox } from "../support/binary.ts";
import { startInbox } from "../support/inbox.ts";
import {
  createServerClient,
  createMachine,
  createMachineWithKey,
  expectSuccess,
} from "../support/machine.ts";
import { runAlertRound, runContractRound } from "../support/contract-round.ts";
import { replyWith, hang } from "../support/target.ts";
import { defineTestWith } from "../support/real-targets.ts";
import { writeUntilClosed } from "../support/writers.ts";
import { waitUntil } from "../support/poll.ts";

// With several organizations, loopback is blocked for checks and alerts.
const open = ["--rate-limit", "0", "--allow-target", "127.0.0.0/8"];

/** A stopped machine with an organization of this name, a key, and a secret that its `secret.key` opens. */
async function createFilledMachine(name: string) {
  const box = createMachine();
  const slug = await expectSuccess(box.run(["orgs", "create", name]));
  const key = await expectSuccess(box.run(["keys", "create", "--org", slug, "--name", "Script"]));
  const server = await box.serve();
  await createServerClient(server.url, key)("POST", "/api/v1/monitors", {
    type: "push",
    name: "Job",
  });
  await server.stop();
  return { ...box, key };
}

/** Every row of every table. */
function readRows(file: string) {
  using database = new Database(file, { readonly: true });
  const tables = database
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all();
  return Object.fromEntries(
    tables.map(({ name }) => [name, database.query(`SELECT * FROM "${name}"`).values()]),
  );
}

test("a backup taken during 12 writers' work is restored on another machine, equal in every row, and serves", async () => {
  await using box = await createFilledMachine("Acme");
  await using other = createMachine();
  await using late = await startInbox(hang);
  await expectSuccess(box.run(["orgs", "create", "Beta"]));
  const theirs = ["keys", "create", "--org", "beta", "--name", "Script"];
  const stranger = await expectSuccess(box.run(theirs));
  const server = await box.serve({ flags: open });
  const readRounds = async (url: string) => {
    await runContractRound(createServerClient(url, box.key), createServerClient(url, stranger));
    await runAlertRound(createServerClient(url, box.key));
  };
  await readRounds(server.url);
  const api = createServerClient(server.url, box.key);
  const to = { type: "webhook", name: "Late", url: late.at("/hook"), incidents: false };
  const alertChannelIds = [(await api("POST", "/api/v1/alert-channels", to)).json.data.id];
  const job = { type: "push", name: "Late", interval: 86_400, retries: 0, alertChannelIds };
  const { pushUrl } = (await api("POST", "/api/v1/monitors", job)).json.data;
  for (const status of ["up", "down"]) await fetch(`${pushUrl}?status=${status}`);
  await late.waitUntilRequested(1);

  let acknowledged = 0;
  const enough = Promise.withResolvers<void>();
  const onAcknowledged = () => {
    if (++acknowledged === 200) enough.resolve();
  };
  const work = { url: server.url, key: box.key, onAcknowledged };
  const writers = Array.from({ length: 12 }, (_, index) =>
    writeUntilClosed({ ...work, name: `Writer ${index}` }),
  );
  await enough.promise;
  const file = join(box.directory, "backup.db");
  const before = acknowledged;
  await expectSuccess(box.run(["backup", file]));
  expect(acknowledged).toBeGreaterThan(before);
  await server.stop("SIGKILL");
  await Promise.all(writers);
  late.behave(replyWith());
  const requestCount = late.asked.length;

  const key = join(box.dataDir, "secret.key");
  const text = await expectSuccess(other.run(["restore", file, "--key", key]));
  expect(text).toBe(`Restored to ${other.dataDir}: 2 organizations, 2 monitors.`);
  const rows = readRows(join(other.dataDir, "signalbox.db"));
  expect(rows).toEqual(readRows(file));
  // Each acknowledged write is an entry of a timeline.
  expect(rows["incident_updates"]?.length).toBeGreaterThanOrEqual(before);
  const again = await other.serve({ flags: open });
  await readRounds(again.url);
  const { data } = (await createServerClient(again.url, box.key)("GET", "/api/v1/monitors")).json;
  expect(data.map(({ name }: { name: string }) => name).toSorted()).toEqual(["Job", "Late"]);
  expect(await again.stop()).toBe(0);
  // Waiting deliveries of the backup are not sent: they can have been sent after the backup.
  expect(late.asked).toHaveLength(requestCount);
});

test("a restored machine repeats no alert and has no signed-in sessions", async () => {
  await using box = await createMachineWithKey();
  await using other = createMachine();
  await using hook = await startInbox();
  const ada = ["--org", "acme", "--email", "ada@acme.example", "--name", "Ada", "--json"];
  const { email, password } = JSON.parse(await expectSuccess(box.run(["users", "create", ...ada])));
  const server = await box.serve();
  const api = createServerClient(server.url, box.key);
  const channel = { type: "webhook", name: "Hook", url: hook.at("/hook") };
  const { id } = (await api("POST", "/api/v1/alert-channels", channel)).json.data;
  const job = { type: "push", name: "Job", interval: 86_400, retries: 0, alertChannelIds: [id] };
  const { pathname } = new URL((await api("POST", "/api/v1/monitors", job)).json.data.pushUrl);
  await fetch(`${server.url}${pathname}?status=up`);
  await fetch(`${server.url}${pathname}?status=down`);
  await hook.waitUntilArrived((all) => all.length === 1);
  const headers = { "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json" };
  const body = JSON.stringify({ email, password });
  const signIn = await fetch(`${server.url}/dashboard/sign-in`, { method: "POST", headers, body });
  const Cookie = signIn.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
  const requestWithSession = async (url: string) =>
    (await fetch(`${url}/dashboard/api/v1/monitors`, { headers: { ...headers, Cookie } })).status;
  expect(await requestWithSession(server.url)).toBe(200);
  // Only the outbox knows that the delivery was stored as delivered.
  const isStored = async () =>
    (await api("GET", `/api/v1/alert-channels/${id}/deliveries`)).json.data[0].status;
  await waitUntil(async () => (await isStored()) === "delivered", 20);
  const file = join(box.directory, "backup.db");
  await expectSuccess(box.run(["backup", file]));
  await server.stop("SIGKILL");

  await expectSuccess(other.run(["restore", file, "--key", join(box.dataDir, "secret.key")]));
  const restored = await other.serve();
  expect(await requestWithSession(restored.url)).toBe(401);
  await fetch(`${restored.url}${pathname}?status=up`);
  await hook.waitUntilArrived((all) => all.some(({ type }) => type === "monitor.up"));
  expect(hook.listArrived().map(({ type }) => type)).toEqual(["monitor.down", "monitor.up"]);
});

test("a restore under a running server is rejected, and the server continues", async () => {
  await using box = await createMachineWithKey();
  const file = join(box.directory, "backup.db");
  await expectSuccess(box.run(["backup", file]));
  const { url } = await box.serve();
  expect(await box.run(["restore", file])).toEqual({
    exitCode: 5,
    stdout: "",
    stderr: `signalbox: Another Signalbox is running on ${box.dataDir}.\n`,
  });
  expect((await createServerClient(url, box.key)("GET", "/api/v1/incidents")).status).toBe(200);
});

test("a rejected backup exits with 2, 3 or 4 and one sentence, also as a dry run", async () => {
  await using box = await createMachineWithKey();
  const file = join(box.directory, "backup.db");
  await expectSuccess(box.run(["backup", file]));
  const bytes = readFileSync(file);
  const part = join(box.directory, "part.db");
  await Bun.write(part, bytes.subarray(0, bytes.length / 2));
  const newer = join(box.directory, "newer.db");
  await Bun.write(newer, bytes.subarray(0, -48));
  const database = new Database(newer);
  database.run("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', 1)");
  database.close();
  for (const [refused, code] of [
    [part, 3],
    [newer, 4],
    [`${file}.gone`, 2],
    [box.directory, 3],
  ] as const)
    for (const flags of [[], ["--dry-run"]]) {
      const { exitCode, stdout, stderr } = await box.run(["restore", refused, ...flags]);
      expect([refused, exitCode, stdout]).toEqual([refused, code, ""]);
      expect(stderr).toMatch(/^signalbox: [^\n]+\n$/);
    }
  const dry = JSON.parse(await expectSuccess(box.run(["restore", file, "--dry-run", "--json"])));
  expect(dry).toMatchObject({ dryRun: true, organizations: 1, secrets: "none" });
});

test("a backup is encrypted and restored with a passphrase from a file, a variable or standard input, never from an argument", async () => {
  await using box = await createFilledMachine("Acme");
  await using other = createMachine();
  const words = join(box.directory, "passphrase");
  await Bun.write(words, "correct horse battery\n");
  const file = join(box.directory, "backup.age");
  expect((await box.run(["backup", file, "--include-key"])).exitCode).toBe(2);
  await expectSuccess(box.run(["backup", file, "--include-key", "--passphrase-file", words]));
  expect((await Bun.file(file).bytes()).includes(0)).toBe(true);
  const refused = await other.run(["restore", file]);
  expect([refused.exitCode, refused.stderr.includes("--passphrase-file")]).toEqual([3, true]);
  const env = { ...process.env, SIGNALBOX_PASSPHRASE_FILE: words };
  expect(await expectSuccess(other.run(["restore", file], { env }))).toContain("1 monitor");
  const piped = [binary, "restore", file, "--passphrase-file", "-", "--data-dir", other.dataDir];
  const child = Bun.spawn(piped, { stdin: Buffer.from("correct horse battery"), stdout: "pipe" });
  expect([await child.exited, await new Response(child.stdout).text()]).toEqual([
    0,
    expect.stringContaining("The previous data is in"),
  ]);
  const server = await other.serve();
  const { json } = await createServerClient(server.url, box.key)("GET", "/api/v1/monitors");
  expect(json.data[0].pushUrl).toContain("/push/");
  expect(
    await box.run(["backup", `${file}.2`, "--passphrase", "correct horse battery"]),
  ).toMatchObject({ exitCode: 2 });
});

/** Every file below a directory and its content, without times and new ids. */
function readContent(directory: string): string {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).toSorted();
  const contents = names.map((name) => {
    const path = join(directory, name);
    const { size } = statSync(path);
    const isMade = name.endsWith("instance.json");
    return statSync(path).isFile()
      ? `${name} ${isMade ? size : Bun.hash(readFileSync(path))}`
      : name;
  });
  return contents.join("\n").replaceAll(/\d{4}-\d\d-\d\d-\d{6}/g, "time");
}

/** System calls with which a restore changes the disk. */
const calls = ["mkdir", "write", "pwrite64", "fsync", "rename", "link", "unlink", "unlinkat"];

defineTestWith(
  ["strace"],
  "a restore that is killed at any step leaves the old data or the new, with its key",
  async () => {
    await using old = await createFilledMachine("Old");
    await using fresh = await createFilledMachine("New");
    // Its last write is only in SQLite's log.
    const server = await old.serve();
    const second = { type: "push", name: "Second job" };
    await createServerClient(server.url, old.key)("POST", "/api/v1/monitors", second);
    await server.stop("SIGKILL");
    expect(statSync(join(old.dataDir, "signalbox.db-wal")).size).toBeGreaterThan(0);
    const file = join(fresh.directory, "backup.db");
    await expectSuccess(fresh.run(["backup", file]));
    const args = ["restore", file, "--key", join(fresh.dataDir, "secret.key"), "--data-dir"];
    const dataDir = join(old.directory, "trial");
    const outcomes: Record<string, number> = {};
    /** Results by the files on disk: most kills leave the same files. */
    const judged = new Map<string, Awaited<ReturnType<typeof judge>>>();
    const judge = async () => {
      const request = async (command: string[]) =>
        JSON.parse((await runSignalbox([...command, "--json", "--data-dir", dataDir])).stdout);
      const slugs: string[] = (await request(["orgs", "list"])).map(
        (one: { slug: string }) => one.slug,
      );
      const verdicts = new Map(
        (await request(["doctor", "--offline"])).map(
          ({ subject, verdict }: Record<string, string>) => [subject, verdict],
        ),
      );
      const { monitors = [] } = readRows(join(dataDir, "signalbox.db"));
      return { slugs, verdicts, monitors: monitors.length };
    };
    for (const call of calls)
      for (let modifiedAt = 1; ; modifiedAt++) {
        cpSync(old.dataDir, dataDir, { recursive: true });
        const inject = `inject=${call}:signal=SIGKILL:when=${modifiedAt}`;
        const traced = ["strace", "-f", "-qq", "-e", `trace=${call}`, "-e", inject, binary];
        const run = Bun.spawn([...traced, ...args, dataDir], {
          stdout: "ignore",
          stderr: "ignore",
        });
        const wasKilled = (await run.exited) !== 0;
        const content = readContent(dataDir);
        const found = judged.get(content) ?? (await judge());
        judged.set(content, found);
        const { slugs, verdicts, monitors } = found;
        const dataVerdicts = ["integrity", "references", "secrets"].map((name) =>
          verdicts.get(name),
        );
        expect([call, modifiedAt, dataVerdicts, verdicts.has("restore")]).toEqual([
          call,
          modifiedAt,
          ["ok", "ok", "ok"],
          false,
        ]);
        expect([
          [["old"], 2],
          [["new"], 1],
        ]).toContainEqual([slugs, monitors]);
        const [slug = ""] = slugs;
        outcomes[slug] = (outcomes[slug] ?? 0) + 1;
        rmSync(dataDir, { recursive: true });
        if (!wasKilled) {
          expect(slugs).toEqual(["new"]);
          break;
        }
      }
    expect(outcomes["old"]).toBeGreaterThan(10);
    expect(outcomes["new"]).toBeGreaterThan(10);
    expect(existsSync(join(old.dataDir, "signalbox.db"))).toBe(true);
  },
  300_000,
);
