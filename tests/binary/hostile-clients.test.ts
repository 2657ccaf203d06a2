import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { getFreePort } from "../support/binary.ts";
import { openManyConnections } from "../support/many-connections.ts";
import { copyMonitor } from "../support/many-monitors.ts";
import { generateMutatedRequests, readStatusLine } from "../support/mutated-requests.ts";
import { createServerClient, createMachineWithKey } from "../support/machine.ts";
import { createRandom } from "../support/seeded.ts";

const unlimited = ["--rate-limit", "0"];

test("1,000 silent and 1,000 dripping connections delay neither other clients nor a stop", async () => {
  await using box = await createMachineWithKey();
  const server = await box.serve();
  using dripping = await openManyConnections(server.port, 1_000, { drips: true });
  expect(dripping.countAccepted()).toBe(1_000);
  using idle = await openManyConnections(server.port, 1_000);
  expect(idle.countAccepted()).toBe(1_000);
  const api = createServerClient(server.url, box.key);
  for (let round = 0; round < 20; round++) {
    dripping.drip();
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    expect((await api("POST", "/api/v1/incidents", { title: "Slow" })).status).toBe(201);
    expect((await fetch(`${server.url}/status/acme`)).status).toBe(200);
  }
  expect(await server.stop()).toBe(0);
});

/** Tables that the appliance writes on its own schedule. */
const bookkeeping = ["housekeeping", "followers"];

/** Every row of the other tables. */
function dumpDatabase(dataDir: string) {
  using database = new Database(join(dataDir, "signalbox.db"), { readonly: true });
  const tables = database
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table'")
    .all();
  const others = tables.filter(({ name }) => !bookkeeping.includes(name));
  return Object.fromEntries(
    others.map(({ name }) => [name, database.query(`select * from "${name}"`).values()]),
  );
}

test("2,000 mutated requests get no 5xx, and without a valid key they change no row", async () => {
  await using box = await createMachineWithKey();
  const { port, url } = await box.serve({ flags: unlimited });
  const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  const wrong: string[] = [];
  const statuses: Record<string, number> = {};
  const send = async (key: string, count: number) => {
    const requests = generateMutatedRequests(key, createRandom(seed));
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let sent = 0; sent < count / 16; sent++) {
          const request = requests.next().value as string;
          const line = await readStatusLine(port, request);
          const [, status = "closed"] = line.split(" ");
          statuses[status] = (statuses[status] ?? 0) + 1;
          // 505 is the response to a protocol other than HTTP/1.1.
          if (!/^(HTTP\/1\.1 ([234]\d\d|505) .*)?$/.test(line))
            wrong.push(`seed ${seed}: ${line}: ${JSON.stringify(request.slice(0, 500))}`);
        }
      }),
    );
  };
  const before = dumpDatabase(box.dataDir);
  await send(`${box.key.slice(0, -4)}abcd`, 1_000);
  expect(dumpDatabase(box.dataDir)).toEqual(before);
  await send(box.key, 1_000);
  expect(wrong).toEqual([]);
  // Otherwise the test would prove only that every request is rejected.
  for (const status of ["200", "401", "404", "422"]) expect(statuses[status]).toBeGreaterThan(0);
  expect((await createServerClient(url, box.key)("GET", "/api/v1/incidents")).status).toBe(200);
});

describe("1,800 connections that ask for a page of 3.6 MB and read nothing", () => {
  const monitors = 5_000;
  /** A public page of many monitors with 20 days of bars each. */
  async function createLargePage() {
    const box = await createMachineWithKey();
    const first = await box.serve();
    const api = createServerClient(first.url, box.key);
    const group = (await api("POST", "/api/v1/monitor-groups", { name: "All" })).json.data;
    const body = { name: "Shop", type: "http", url: "http://shop.example", paused: true };
    const { id } = (await api("POST", "/api/v1/monitors", body)).json.data;
    await api("PATCH", `/api/v1/monitor-groups/${group.id}`, { monitorIds: [id] });
    const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
    const sections = [{ groupId: group.id }];
    await api("PATCH", `/api/v1/status-pages/${page.id}`, { sections });
    await first.stop();
    using database = new Database(join(box.dataDir, "signalbox.db"));
    copyMonitor(database, id, monitors - 1, { name: "'A shop with a long name, number ' || i" });
    const publicPort = getFreePort();
    const server = await box.serve({ flags: ["--public-port", String(publicPort)] });
    return Object.assign(box, { server, publicPort, path: `/status/${page.slug}` });
  }

  const readResidentMemory = async (pid: number) => {
    const [, pages = "0"] = (await Bun.file(`/proc/${pid}/statm`).text()).split(" ");
    return (Number(pages) * 4_096) / 1_048_576;
  };

  test("use little memory and leave an honest visitor served, in every encoding", async () => {
    await using box = await createLargePage();
    const { server, publicPort, path } = box;
    const read = async (port: number, encoding: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { "Accept-Encoding": encoding },
      });
      expect(response.status).toBe(200);
      return (await response.bytes()).length;
    };
    const length = await read(server.port, "identity");
    expect(length).toBeGreaterThan(3_000_000);
    const attack = (port: number, count: number, suffix: string, encoding: string) => {
      const head = `GET ${path}${suffix} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${encoding}\r\n\r\n`;
      return openManyConnections(port, count, { sends: head, reads: false });
    };
    using connections = new DisposableStack();
    for (const port of [server.port, publicPort])
      for (const [count, encoding, suffix] of [
        // Without compression, each takes megabytes of socket buffers.
        [100, "identity", ""],
        [400, "gzip", ".json"],
        [400, "br", ""],
      ] as const)
        connections.use(await attack(port, count, suffix, encoding));
    for (const port of [server.port, publicPort])
      for (const encoding of ["identity", "gzip", "br"])
        expect([encoding, await read(port, encoding)]).toEqual([encoding, length]);
    // Garbage of sent pieces is collected within seconds. Queued pages would stay.
    for (
      let polls = 0;
      polls < 100 && (await readResidentMemory(server.child.pid)) >= 400;
      polls++
    ) {
      await Bun.sleep(100);
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    }
    expect(await readResidentMemory(server.child.pid)).toBeLessThan(400);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});
