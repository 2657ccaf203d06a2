/** Load that visitors can cause: renders per second, limits per network, and sizes. */
import { describe, expect, test } from "bun:test";
import { copyMonitor } from "../support/many-monitors.ts";
import { partPaths } from "../support/public-paths.ts";
import { signInMember } from "../support/people.ts";
import { buildSection, type Visitor, createVisitor } from "../support/visitor.ts";

/** Returns a counter of page reads: each read queries the names of its groups once. */
function countReadings({ store }: Visitor) {
  let count = 0;
  const query = store.query.bind(store);
  store.query = (text, parameters) => {
    if (text.startsWith("select g.id, g.name from json_each")) count++;
    return query(text, parameters);
  };
  return () => count;
}

const createRandomIds = (count: number) => Array.from({ length: count }, () => Bun.randomUUIDv7());

test("requests for unknown or unpublished records cause no read of the page", async () => {
  await using visitor = await createVisitor();
  const { get, group, createIncident, monitor, createPage, theirs } = visitor;
  const { id: monitorId } = await monitor();
  const { id: groupId } = await group({ name: "Inside", monitorIds: [monitorId] });
  await createPage({ slug: "payments", sections: [{ groupId }] });
  const elsewhere = await monitor();
  const hidden = [
    (await createIncident({ public: false })).id,
    (await createIncident({ monitorId: elsewhere.id })).id,
    (await theirs.api("POST", "/api/v1/incidents", { body: { title: "Theirs" } })).json.data.id,
  ];
  const readings = countReadings(visitor);
  const paths = [
    ...[...hidden, ...createRandomIds(100)].map((id) => `/status/payments/incidents/${id}`),
    ...Array.from({ length: 100 }, (_, year) => `/status/ours/history?month=${1900 + year}-07`),
    "/status/ours/history?month=2027-01",
    ...createRandomIds(20).map((id) => `/badge/monitor/${id}/status.svg`),
    ...createRandomIds(20).map((id) => `/status/${id.slice(0, 8)}`),
  ];
  for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 404]);
  expect(readings()).toBe(0);
  const incident = await createIncident({ monitorId });
  for (const slug of ["payments", "ours"])
    expect((await get(`/status/${slug}/incidents/${incident.id}`)).status).toBe(200);
  expect(readings()).toBe(2);
});

test("all outputs of a page share one read per second, for all visitors", async () => {
  await using visitor = await createVisitor();
  const { get, createIncident, createJob, publish, restart, time } = visitor;
  const { id } = await createJob();
  await publish({ sections: [buildSection("Jobs", id)], hosts: ["status.team.example"] });
  const incidents = [await createIncident(), await createIncident(), await createIncident()];
  await visitor.api("PATCH", "/api/v1/settings", {
    body: { smtp: { host: "mail.team.example", from: "status@team.example" } },
  });
  await restart();
  const readings = countReadings(visitor);
  const parts = [
    "",
    ".json",
    "/feed.rss",
    "/feed.atom",
    "/maintenance.ics",
    "/subscribe",
    "/history",
  ];
  const all = [
    ...[...parts, "/api/v2/summary.json"].map((part) => get(`/status/ours${part}`)),
    ...incidents.map((one) => get(`/status/ours/incidents/${one.id}`)),
    ...["status", "uptime"].map((kind) => get(`/badge/monitor/${id}/${kind}.svg`)),
    get("/", { host: "status.team.example" }),
    ...["", "nobody"].map((email) =>
      get("/status/ours/subscribe", { method: "POST", form: { email } }),
    ),
  ];
  const statuses = (await Promise.all(all)).map(({ status }) => status);
  expect(statuses).toEqual([...Array(14).fill(200), 422, 422]);
  expect(readings()).toBe(1);
  time.now += 1_000;
  await get("/status/ours/incidents.json");
  await get(`/badge/monitor/${id}/latency.svg`);
  expect(readings()).toBe(2);
});

test("a network has a limit of uncached renders per minute; cached pages and other networks are not affected", async () => {
  const from = { address: "2001:db8:0:7::1" };
  await using visitor = await createVisitor({ rendersPerMinute: 3, addressOf: () => from.address });
  const { get, createIncident, publish, time } = visitor;
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) ids.push((await createIncident()).id);
  const paths = ids.map((id) => `/status/ours/incidents/${id}`);
  const readStatuses = async () => {
    const all: number[] = [];
    for (const path of paths) {
      // The whole /64 is one network.
      from.address = `${from.address.slice(0, from.address.indexOf("::"))}::${all.length + 1}`;
      all.push((await get(path)).status);
    }
    return all;
  };
  expect(await readStatuses()).toEqual([200, 200, 200, 429, 429]);
  const refused = await get(paths[4] ?? "");
  expect(refused.headers.get("retry-after")).toBe("60");
  expect(refused.headers.get("cache-control")).toBe("no-store");
  const signUp = { method: "POST", form: { email: "ann@team.example" } };
  expect((await get("/status/ours/subscribe", signUp)).status).toBe(429);
  expect((await get("/status/ours/logo?v=1")).status).toBe(429);
  for (const part of ["", ".json", "/feed.rss", "/history", "/api/v2/status.json"])
    expect((await get(`/status/ours${part}`)).status).toBe(200);
  from.address = "2001:db8:0:8::1";
  expect(await readStatuses()).toEqual(Array(5).fill(200));
  from.address = "2001:db8:0:7::1";
  expect(await readStatuses()).toEqual(Array(5).fill(200));
  time.now += 60_000;
  await publish({ title: "Renamed" });
  await visitor.restart();
  expect(await readStatuses()).toEqual([200, 200, 200, 429, 429]);
});

test("a person has a limit of previews per minute, for pages and incidents together", async () => {
  await using visitor = await createVisitor({ previewsPerMinute: 2 });
  const { page } = await signInMember(visitor, "member");
  const { page: another } = await signInMember(visitor, "member");
  const { id } = await visitor.defaultPage();
  const previewPage = (one = page) =>
    one("POST", `/dashboard/status-pages/${id}/preview`, { body: {} });
  const previewIncident = () =>
    page("POST", "/dashboard/incident-preview", { body: { title: "Slow" } });
  expect([(await previewPage()).status, (await previewIncident()).status]).toEqual([200, 200]);
  for (const { status, json, headers } of [await previewPage(), await previewIncident()])
    expect([status, json.error.code, headers.get("retry-after")]).toEqual([
      429,
      "RATE_LIMITED",
      "60",
    ]);
  expect((await previewPage(another)).status).toBe(200);
});

/** Copies the last update of an incident `count` times, with a number in each message. */
function addUpdates({ database }: Visitor, id: string, count: number, more = "") {
  const { seq } = database
    .query<{ seq: number }, [string]>(
      "SELECT max(seq) AS seq FROM incident_updates WHERE incident_id = ?",
    )
    .get(id) ?? { seq: 0 };
  const names = database
    .query<{ name: string }, []>("SELECT name FROM pragma_table_info('incident_updates')")
    .all()
    .map(({ name }) => name);
  const values: Record<string, string> = { seq: "?", id: "?", message: "?", automatic: "NULL" };
  const add = database.query(
    `INSERT INTO incident_updates (${names.join(", ")})
     SELECT ${names.map((name) => values[name] ?? name).join(", ")} FROM incident_updates
     WHERE incident_id = ? AND seq = ?`,
  );
  const order = names.filter((name) => ["seq", "id", "message"].includes(name));
  database.transaction(() => {
    for (let number = 1; number <= count; number++) {
      const updateRow: Record<string, string | number> = {
        seq: seq + number,
        id: Bun.randomUUIDv7(),
        message: `Update ${number}. ${more}`,
      };
      add.run(...order.map((name) => updateRow[name] ?? ""), id, seq);
    }
  })();
}

test("outputs show an incident's last ten updates; its own page shows all, a hundred at a time", async () => {
  await using visitor = await createVisitor();
  const { get, createIncident } = visitor;
  const { id } = await createIncident();
  addUpdates(visitor, id, 1_500);
  const findUpdates = (text: string) => [
    ...new Set(text.replace(/<head>.*<\/head>/s, "").match(/Update \d+\./g) ?? []),
  ];
  const lastTen = Array.from({ length: 10 }, (_, index) => `Update ${1_500 - index}.`);
  for (const part of ["", ".json", "/feed.rss", "/feed.atom", "/api/v2/incidents.json"])
    expect([part, findUpdates((await get(`/status/ours${part}`)).text)]).toEqual([part, lastTen]);
  const page = (await get("/status/ours")).text;
  expect(page).toContain("1,500 earlier updates");
  expect(page).toContain(`<a href="/status/ours/incidents/${id}">1,491 earlier updates →</a>`);
  expect((await get("/status/ours.json")).json().incidents[0].earlierUpdates).toBe(1_491);
  expect((await get("/status/ours/feed.atom")).text).toContain("1,491 earlier updates");

  const first = `/status/ours/incidents/${id}`;
  const read: string[] = [];
  for (let path: string | undefined = first; path !== undefined;) {
    const { status, text } = await get(path);
    expect(status).toBe(200);
    const updates = findUpdates(text);
    expect(updates.length).toBeLessThanOrEqual(100);
    expect(text.includes("Latest updates")).toBe(path !== first);
    read.push(...updates);
    path = /href="([^"]+\?before=[^"]+)"/.exec(text)?.[1];
  }
  expect(read).toEqual(Array.from({ length: 1_500 }, (_, index) => `Update ${1_500 - index}.`));
  for (const before of [Bun.randomUUIDv7(), id])
    expect((await get(`${first}?before=${before}`)).status).toBe(404);
});

describe("outputs of at most a megabyte", () => {
  const mebibyte = 1024 * 1024;
  const texts = {
    "Markdown that becomes much HTML": "- *a*\n".repeat(166),
    "characters that are escaped": "<&\"'>".repeat(990),
    "characters of three bytes": "漢".repeat(4_990),
  };
  for (const [what, written] of Object.entries(texts))
    test(`are complete, with any text: ${what}`, async () => {
      await using visitor = await createVisitor();
      const { get, createIncident, api } = visitor;
      const ids: string[] = [];
      for (let count = 0; count < 40; count++) ids.push((await createIncident({ title: "T" })).id);
      for (const id of ids) addUpdates(visitor, id, 12, written);
      addUpdates(visitor, ids[0] ?? "", 300, written);
      for (let count = 0; count < 60; count++) {
        const body = {
          title: "Work",
          description: written.slice(0, 2_000),
          startsAt: "2026-11-21T09:00:00.000Z",
          endsAt: "2026-11-21T10:00:00.000Z",
          rrule: "FREQ=DAILY;COUNT=3",
        };
        expect((await api("POST", "/api/v1/maintenance-windows", { body })).status).toBe(201);
      }
      await visitor.restart();
      for (const path of partPaths.filter((path) => !/logo|image|favicon|font|style/.test(path))) {
        const { status, text } = await get(`/status/ours${path.replace(":id", ids[0] ?? "")}`);
        const bytes = Buffer.byteLength(text);
        expect([path, status, bytes, bytes <= mebibyte]).toEqual([path, 200, bytes, true]);
      }
    });
});

test("a page shows all monitors of its groups in their order, also very many", async () => {
  await using visitor = await createVisitor();
  const { get, group, monitor, createPage, database } = visitor;
  const { id } = await monitor({ name: "Shop 0" });
  const { id: few } = await monitor({ name: "Alone" });
  const { id: large } = await group({ name: "Shops", monitorIds: [id] });
  const { id: small } = await group({ name: "Others", monitorIds: [few] });
  const copies = { name: "'Shop ' || i", position: "i" };
  copyMonitor(database, id, 2_100, copies);
  await createPage({ slug: "shops", sections: [{ groupId: large }, { groupId: small }] });
  const { sections } = (await get("/status/shops.json")).json();
  const monitorNames = sections.map(({ monitors }: { monitors: { name: string }[] }) =>
    monitors.map(({ name }) => name),
  );
  expect(monitorNames).toEqual([Array.from({ length: 2_101 }, (_, i) => `Shop ${i}`), ["Alone"]]);
});
