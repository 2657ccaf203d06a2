/** Moving all data to an rqlite cluster and back. */
import { afterEach, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createOrganization, listOrganizations } from "../../src/accounts/organizations/service.ts";
import { maxSharedBytes, replaceAll } from "../../src/database/rqlite/cluster-image.ts";
import { exportFromCluster, importToCluster } from "../../src/database/rqlite/cluster-move.ts";
import { type Content, readContent, listDifferences } from "../../src/database/backup/content.ts";
import { openDataDirectory } from "../../src/database/file/data-directory.ts";
import { openData } from "../../src/database/data.ts";
import { RqliteClient } from "../../src/database/rqlite/client.ts";
import { defaultPatience } from "../../src/database/rqlite/connection.ts";
import { restore } from "../../src/database/backup/restore.ts";
import { getBuiltMigrations, copyMigrationsBefore } from "../support/migration-folder.ts";
import { buildClusterAddress, hasRqlite, createNodeStarters } from "../support/rqlite.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();
const clock = Date.now;
const usual = { migrations: getBuiltMigrations(), clock };
const { oneNode, cluster: threeNodes } = createNodeStarters();
const proxies: { stop(): unknown }[] = [];

afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
});

/** A data directory with these organizations, and values of all kinds. */
async function createFilledDirectory(...names: string[]): Promise<string> {
  const directory = newDirectory();
  const data = openDataDirectory(directory, usual);
  for (const name of names) await createOrganization(data.store, clock, name);
  data.database.run("create table kinds (a integer, b real, c text, d text) strict");
  for (const row of [
    [Number.MAX_SAFE_INTEGER, 0.1, "ü ' \n 😀", null],
    [-1, 1e300, "", "x".repeat(20_000)],
  ])
    data.database.run("insert into kinds values (?, ?, ?, ?)", row as never);
  // Their numbers are not reused.
  data.database.run("delete from events");
  data.close();
  return directory;
}

function readDirectoryContent(directory: string): Content {
  const data = openDataDirectory(directory, usual);
  const content = readContent(data.database);
  data.close();
  return content;
}

const listNames = async (data: { store: Parameters<typeof listOrganizations>[0] }) =>
  (await listOrganizations(data.store)).map(({ name }) => name).toSorted();

const moveUp = (dataDir: string, hosts: readonly { host: string }[], replace = false) =>
  importToCluster({
    ...usual,
    dataDir,
    cluster: buildClusterAddress(...hosts),
    replace,
    print() {},
  });

const moveDown = (dataDir: string, ...hosts: { host: string }[]) =>
  exportFromCluster({ ...usual, dataDir, cluster: buildClusterAddress(...hosts), print() {} });

const readRejection = (moving: Promise<unknown>) =>
  moving.then(
    () => null,
    ({ code, message }: Error & { code?: string }) => ({ code, message }),
  );

/** A directory for a machine of a cluster: it has the key, and no database. */
function createDirectoryWithKey(other: string): string {
  const directory = newDirectory();
  copyFileSync(join(other, "secret.key"), join(directory, "secret.key"));
  return directory;
}

/**
 * A proxy in front of a node that responds to `path` with `response`, and forwards everything else.
 */
function startProxy(
  node: { host: string },
  path: string,
  response: (pass: (body?: BodyInit) => Promise<Response>) => Promise<Response>,
) {
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const given = request.method === "POST" ? await request.bytes() : undefined;
      const forwardRequest = (body: BodyInit | undefined = given) =>
        fetch(`http://${node.host}${pathname}${search}`, {
          method: request.method,
          ...(body && { body }),
        });
      return pathname === path ? response(forwardRequest) : forwardRequest();
    },
  });
  proxies.push(proxy);
  return { host: `127.0.0.1:${proxy.port}` };
}

describe.skipIf(!hasRqlite)("moving to a cluster and back", () => {
  test("three nodes accept all data and return it: the same rows, and secrets that can be decrypted", async () => {
    const cluster = await threeNodes();
    const directory = await createFilledDirectory("Ours", "Theirs");
    const before = readDirectoryContent(directory);
    const moved = await moveUp(directory, cluster);
    expect(moved.rows).toBeGreaterThan(2);
    expect(readdirSync(directory).toSorted()).toEqual(
      ["instance.json", "secret.key", "signalbox.lock", basename(moved.keptAside)].toSorted(),
    );
    const database = `rqlite://${cluster.map(({ host }) => host).join(",")}`;
    const clusterData = await openData({ dataDir: directory, database }, usual);
    expect(await listNames(clusterData)).toEqual(["Ours", "Theirs"]);
    await clusterData.close();
    // No secret is stored yet; even so no other key is accepted.
    const stranger = await readRejection(openData({ dataDir: newDirectory(), database }, usual));
    expect(stranger?.message).toContain("secret.key is missing");

    // More than the nodes' log accepts, which would make the leader lose the lead.
    const image = join(newDirectory(), "large.db");
    writeFileSync(image, "");
    truncateSync(image, maxSharedBytes + 1);
    const large = { image, wanted: before, before: image };
    const client = new RqliteClient(buildClusterAddress(...cluster));
    expect(await readRejection(replaceAll(client, large))).toMatchObject({
      code: "DATA_UNUSABLE",
      message: expect.stringContaining("several nodes take at most 268 MB at once"),
    });

    const back = createDirectoryWithKey(directory);
    await moveDown(back, ...cluster);
    expect(listDifferences(before, readDirectoryContent(back))).toEqual([]);
    expect(readdirSync(back).filter((name) => name.includes("backup"))).toEqual([]);
    // It does not count as a restored copy, whose sessions end and whose alerts are skipped.
    const data = openDataDirectory(back, usual);
    expect(data.database.query("pragma user_version").values()).toEqual([[0]]);
    data.close();

    // An unreachable machine is shown at its last address.
    const hosts = cluster.map(({ host }) => host).toSorted();
    const follower = (await client.listNodes()).find(({ isLeader }) => !isLeader)?.host;
    await cluster.find(({ host }) => host === follower)?.kill();
    const left = await client.listNodes();
    expect(left.map(({ host }) => host).toSorted()).toEqual(hosts);
    expect(left.find(({ isReachable }) => !isReachable)?.host).toBe(follower);
  });

  test("an import that was interrupted after the load is finished by the same command", async () => {
    const node = await oneNode();
    const directory = await createFilledDirectory("Ours");
    const { keptAside } = await moveUp(directory, [node]);
    copyFileSync(keptAside, join(directory, "signalbox.db"));
    expect((await moveUp(directory, [node])).previousCopy).toBeNull();
    expect(existsSync(join(directory, "signalbox.db"))).toBe(false);
  });

  test("a backup is retried for a while if a node is just creating a snapshot", async () => {
    const node = await oneNode();
    let requestCount = 0;
    const buildConflict = () =>
      new Response('CAS conflict: currently held by "snapshot"', { status: 500 });
    const busyOnce = startProxy(node, "/db/backup", async (pass) =>
      ++requestCount === 1 ? buildConflict() : pass(),
    );
    const backup = await new RqliteClient(buildClusterAddress(busyOnce)).sendRaw("/db/backup");
    expect((await backup.text()).slice(0, 15)).toBe("SQLite format 3");
    expect(requestCount).toBe(2);
    const busy = startProxy(node, "/db/backup", async () => buildConflict());
    const impatient = new RqliteClient(buildClusterAddress(busy), {
      ...defaultPatience,
      tryMs: 60,
    });
    expect(await readRejection(impatient.sendRaw("/db/backup"))).toMatchObject({
      code: "UNAVAILABLE",
    });
  });

  test("a cluster with data is only overwritten on request, and its data is preserved", async () => {
    const node = await oneNode();
    const first = await createFilledDirectory("First");
    await moveUp(first, [node]);
    const second = await createFilledDirectory("Second");
    expect(await readRejection(moveUp(second, [node]))).toMatchObject({
      code: "DATA_UNUSABLE",
      message: expect.stringMatching(/is not empty: it has rows in .*organizations.*--replace/),
    });
    const { previousCopy } = await moveUp(second, [node], true);
    const back = createDirectoryWithKey(second);
    await moveDown(back, node);
    const data = openDataDirectory(back, usual);
    expect(await listNames(data)).toEqual(["Second"]);
    data.close();
    const [file, dataDir, key] = [previousCopy ?? "", newDirectory(), join(first, "secret.key")];
    expect((await restore({ ...usual, dataDir, file, key })).organizations).toBe(1);
    const restored = openDataDirectory(dataDir, usual);
    expect(await listNames(restored)).toEqual(["First"]);
    restored.close();
  });

  test("data that can't be moved is rejected, and nothing changes", async () => {
    const node = await oneNode();
    const directory = await createFilledDirectory("Ours");
    const before = readDirectoryContent(directory);
    const empty = newDirectory();
    expect((await readRejection(moveUp(empty, [node])))?.message).toContain("There is no database");
    expect(readdirSync(empty)).toEqual([]);

    const running = openDataDirectory(directory, { ...usual, isExclusive: true });
    for (const moving of [() => moveUp(directory, [node]), () => moveDown(directory, node)])
      expect((await readRejection(moving()))?.code).toBe("ALREADY_RUNNING");
    running.close();

    const older = newDirectory();
    const migrations = copyMigrationsBefore(newDirectory(), "index_statistics");
    openDataDirectory(older, { ...usual, migrations }).close();
    expect((await readRejection(moveUp(older, [node])))?.code).toBe("MIGRATION_REFUSED");

    await moveUp(await createFilledDirectory("Others"), [node]);
    expect((await readRejection(moveDown(directory, node)))?.message).toContain("exists already");
    expect((await readRejection(moveDown(newDirectory(), node)))?.message).toContain(
      "There is no key",
    );
    await node.kill();
    expect((await readRejection(moveUp(directory, [node])))?.message).toContain(
      "No node of the database",
    );
    expect(listDifferences(before, readDirectoryContent(directory))).toEqual([]);
  });

  test("nothing is moved while a Signalbox runs on the cluster", async () => {
    const node = await oneNode();
    const directory = await createFilledDirectory("Ours");
    await moveUp(directory, [node]);
    // Its clock is a minute ahead, so that its lease lasts longer than this test.
    const insert = `insert into nodes (id, run, name, version, started_at, beats, beat_at)
      values ('one', 'first', 'https://one.lan', '1', '', 7, ${clock() + 60_000})`;
    await fetch(`http://${node.host}/db/execute`, {
      method: "POST",
      body: JSON.stringify([insert]),
    });
    const others = await createFilledDirectory("Others");
    const moves = [() => moveDown(directory, node), () => moveUp(others, [node], true)];
    for (const move of moves)
      expect(await readRejection(move())).toMatchObject({
        code: "ALREADY_RUNNING",
        message: expect.stringContaining("https://one.lan"),
      });
  });

  test("a key that can't decrypt the secrets exports nothing", async () => {
    const node = await oneNode();
    const directory = await createFilledDirectory("Ours");
    const data = openDataDirectory(directory, usual);
    const [{ id } = { id: "" }] = await listOrganizations(data.store);
    const sealed = JSON.stringify({ password: data.vault.seal("x", `${id}/settings/password`) });
    const update = "update organization_settings set secrets = ? where organization_id = ?";
    await data.store.atomic([{ text: update, parameters: [sealed, id] }]);
    data.close();
    await moveUp(directory, [node]);
    const other = newDirectory();
    writeFileSync(join(other, "secret.key"), "08".repeat(32));
    expect((await readRejection(moveDown(other, node)))?.message).toContain(
      "is another key than that",
    );
    expect(readdirSync(other).toSorted()).toEqual(["secret.key", "signalbox.lock"]);
    await moveDown(directory, node);
  });

  test.each<[string, (pass: (body?: BodyInit) => Promise<Response>) => Promise<Response>, RegExp]>([
    [
      "is rejected",
      async () => new Response("no room", { status: 500 }),
      /is unchanged: 500 no room/,
    ],
    [
      "stores another database than the sent one",
      async (pass) => pass(await readImage(await createFilledDirectory("Wrong"))),
      /differs from the loaded data \(.*organizations.*previous data was restored/,
    ],
  ])("a load that %s leaves the cluster and the directory unchanged", async (_, response, why) => {
    const node = await oneNode();
    await moveUp(await createFilledDirectory("Before"), [node]);
    const directory = await createFilledDirectory("Ours");
    const before = readDirectoryContent(directory);
    let loads = 0;
    const proxy = startProxy(node, "/boot", (pass) => (loads++ === 0 ? response(pass) : pass()));
    expect(await readRejection(moveUp(directory, [proxy], true))).toMatchObject({
      code: "DATA_UNUSABLE",
      message: expect.stringMatching(why),
    });
    expect(listDifferences(before, readDirectoryContent(directory))).toEqual([]);
    expect(readdirSync(directory).filter((name) => /replaced|backup/.test(name))).toEqual([]);
    const names = await fetch(
      `http://${node.host}/db/query?q=select%20name%20from%20organizations`,
    );
    expect(await names.json()).toMatchObject({ results: [{ values: [["Before"]] }] });
  });

  test("a load without a response is found to have succeeded", async () => {
    const node = await oneNode();
    const proxy = startProxy(node, "/boot", async (pass) => {
      await pass();
      return new Response("lost", { status: 502 });
    });
    expect((await moveUp(await createFilledDirectory("Ours"), [proxy])).rows).toBeGreaterThan(0);
  });

  test("a write to the cluster during an export makes it fail", async () => {
    const node = await oneNode();
    const directory = await createFilledDirectory("Ours");
    await moveUp(directory, [node]);
    const text = "insert into kinds values (3, 3, '', '')";
    const proxy = startProxy(node, "/db/backup", async (pass) => {
      const copy = await (await pass()).bytes();
      await fetch(`http://${node.host}/db/execute`, {
        method: "POST",
        body: JSON.stringify([text]),
      });
      return new Response(copy);
    });
    expect(await readRejection(moveDown(directory, proxy))).toMatchObject({
      code: "ALREADY_RUNNING",
      message: expect.stringContaining(
        "Another client has written to the cluster meanwhile (kinds)",
      ),
    });
    expect(existsSync(join(directory, "signalbox.db"))).toBe(false);
  });
});

const readImage = (directory: string) => Bun.file(join(directory, "signalbox.db")).bytes();
