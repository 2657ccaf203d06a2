/** Random deletions and restorations of linked records, compared with the data before. */
import { describe, expect, test } from "bun:test";
import { getTableName } from "drizzle-orm";
import fc from "fast-check";
import { listRemovedTables, momentaryTables } from "../../../src/database/deleted-records.ts";
import { type DeletableNoun, deletableNouns } from "../../../src/core/deletable-nouns.ts";
import { dumpTables } from "../../support/appliance.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { limitTries } from "../../support/property-runs.ts";

const paths: Record<DeletableNoun, string> = {
  monitor: "monitors",
  group: "monitor-groups",
  "alert-channel": "alert-channels",
  "alert-source": "alert-sources",
  "status-page": "status-pages",
  incident: "incidents",
  maintenance: "maintenance-windows",
};

/** Two or more records of each noun, with links between all that can have them. */
async function createWorld() {
  const board = await createDashboard();
  const { api, channel, monitor, group, database } = board;
  const post = async (path: string, body: object): Promise<string> => {
    const { status, json, text } = await api("POST", `/api/v1/${path}`, { body });
    expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
    return json.data.id;
  };
  const channels: string[] = [
    (await channel({ name: "Mail" })).id,
    (await channel({ name: "Chat", type: "slack", webhookUrl: "https://hooks.team.example/x" })).id,
  ];
  const monitors: string[] = [];
  for (const name of ["Shop", "Pay", "Search", "Job"])
    monitors.push(
      (
        await monitor({
          name,
          alertChannelIds: channels,
          ...(name === "Job" && { type: "push" }),
          ...(name === "Pay" && {
            type: "http",
            url: "https://pay.team.example",
            bearerToken: "canary",
          }),
        })
      ).id,
    );
  const [shop = "", pay = "", search = ""] = monitors;
  const groups: string[] = [
    (await group({ name: "Front", monitorIds: [search, shop], alertChannelIds: channels })).id,
    (await group({ name: "Back", monitorIds: [pay] })).id,
  ];
  const sections = [
    { groupId: groups[0], monitors: [{ id: shop, name: "The shop" }] },
    { name: "Payments", monitors: [{ id: search }, { id: pay }] },
    { groupId: groups[1] },
  ];
  const pages = [
    await post("status-pages", {
      slug: "one",
      title: "One",
      hosts: ["one.team.example"],
      sections,
    }),
    await post("status-pages", { slug: "two", title: "Two", sections }),
  ];
  await post(`status-pages/${pages[0]}/subscribers`, {
    type: "webhook",
    url: "https://hooks.team.example/status",
  });
  const found = [
    await post("incidents", { title: "Slow", monitorIds: [pay, shop] }),
    await post("incidents", { title: "Down", monitorIds: [search] }),
  ];
  await api("POST", `/api/v1/incidents/${found[0]}/notes`, { body: { message: "A note." } });
  await api("PATCH", `/api/v1/incidents/${found[0]}`, { body: { status: "identified" } });
  const sources = [
    await post("alert-sources", {
      name: "Prometheus",
      type: "alertmanager",
      alertChannelIds: channels,
    }),
    await post("alert-sources", { name: "Grafana", type: "grafana" }),
  ];
  const window = {
    startsAt: "2026-11-22T02:00:00.000Z",
    endsAt: "2026-11-22T04:00:00.000Z",
    monitorIds: [shop, pay],
    groupIds: groups,
  };
  const windows = [
    await post("maintenance-windows", { title: "Firmware", ...window }),
    await post("maintenance-windows", { title: "Move", ...window }),
  ];
  database.run(
    `insert into heartbeats (monitor_key, at, status, latency_ms, seconds)
      select key, ${board.time.now} - 60000, 0, 12, 60 from monitor_states`,
  );
  const all: Record<DeletableNoun, readonly string[]> = {
    monitor: monitors,
    group: groups,
    "alert-channel": channels,
    "alert-source": sources,
    "status-page": pages,
    incident: found,
    maintenance: windows,
  };
  const records = deletableNouns.flatMap((noun) => all[noun].map((id) => ({ noun, id })));
  return { ...board, records };
}

/** Columns that a restoration changes: versions of the records and of those that they are linked to, and state changes. */
const changing = new Set(["version", "updated_at", "epoch", "since"]);
const logs = new Set([
  "events",
  "audit_entries",
  "sqlite_sequence",
  "idempotent_answers",
  "followers",
  "write_markers",
]);

/** All rows except logs and changing columns. */
function dump({ database }: Awaited<ReturnType<typeof createWorld>>): Record<string, string[]> {
  const tables = database
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table'")
    .all()
    .filter(({ name }) => !logs.has(name));
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      database
        .query<Record<string, unknown>, []>(`select * from "${name}"`)
        .all()
        .map((row) =>
          JSON.stringify(Object.entries(row).filter(([column]) => !changing.has(column))),
        )
        .sort(),
    ]),
  );
}

/** Columns with the ID of a record that can be restored. */
const columnsOfRecords: Record<string, DeletableNoun> = {
  monitor_id: "monitor",
  group_id: "group",
  channel_id: "alert-channel",
  source_id: "alert-source",
  page_id: "status-page",
  incident_id: "incident",
  window_id: "maintenance",
};

/** Columns of rows that stay in their tables, or return in another way. */
const staying: Record<string, string> = {
  "monitors.group_id": "returns as a membership",
  "incidents.monitor_id": "returns with its affected monitors",
  "alert_source_requests.source_id": "log",
  "source_alerts.incident_id": "a restored incident is no longer that of an alert",
  "alerts.monitor_id": "log",
  "alerts.incident_id": "log",
  "escalation_targets.channel_id": "a channel in a policy can't be deleted",
  "published_places.page_id": "its files are removed, and written again after a restoration",
  "alert_memory.monitor_id": "alerting forgets a deleted monitor",
};

describe("deleted records", () => {
  test("every table that refers to a record is restored with it, or stays for a listed reason", async () => {
    const { database } = await createDashboard();
    const columns = database
      .query<{ place: string; tableName: string; name: string }, []>(
        `select t.name || '.' || c.name as place, t.name as tableName, c.name
          from sqlite_schema t join pragma_table_info(t.name) c where t.type = 'table'`,
      )
      .all()
      .filter(({ name }) => name in columnsOfRecords);
    expect(columns.length).toBeGreaterThan(20);
    const momentary = momentaryTables.map((table) => getTableName(table));
    const forgotten = columns.filter(({ place, tableName, name }) => {
      const noun = columnsOfRecords[name]!;
      const isRemoved = listRemovedTables(noun).some((taken) => taken.name === tableName);
      return !isRemoved && !(place in staying) && !momentary.includes(tableName);
    });
    expect(forgotten.map(({ place }) => place)).toEqual([]);
  });

  test("restoring deleted records in any order returns all their rows and links", async () => {
    const world = await createWorld();
    const { api, records } = world;
    const before = dump(world);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(records.length - 1), { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(1_000), { minLength: 12, maxLength: 12 }),
        async (steps, order) => {
          const deleted = new Set<(typeof records)[number]>();
          const toggle = async (record: (typeof records)[number]) => {
            const path = `/api/v1/${paths[record.noun]}/${record.id}`;
            if (deleted.delete(record)) {
              const { status, text } = await api("POST", `${path}/restore`, {});
              expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
              expect((await api("GET", path)).status).toBe(200);
            } else {
              deleted.add(record);
              expect((await api("DELETE", path)).status).toBe(200);
              expect((await api("GET", path)).status).toBe(404);
            }
          };
          for (const step of steps) await toggle(records[step]!);
          const rest = [...deleted].map((record, index) => ({ record, place: order[index] ?? 0 }));
          rest.sort((a, b) => a.place - b.place);
          for (const { record } of rest) await toggle(record);
          expect(dump(world)).toEqual(before);
        },
      ),
      { ...limitTries(40), endOnFailure: true },
    );
  }, 120_000);

  test("a deletion or restoration that fails at its last statement changes nothing", async () => {
    const world = await createWorld();
    const { api, records, database } = world;
    const failAtEnd = async (method: string, path: string) => {
      const before = dumpTables(world);
      database.run(
        "create trigger fails before insert on events begin select raise(abort, 'killed'); end",
      );
      expect((await api(method, path)).status).toBeGreaterThanOrEqual(500);
      database.run("drop trigger fails");
      expect(dumpTables(world)).toBe(before);
    };
    for (const noun of deletableNouns) {
      const path = `/api/v1/${paths[noun]}/${records.find((one) => one.noun === noun)?.id}`;
      await failAtEnd("DELETE", path);
      expect((await api("DELETE", path)).status).toBe(200);
      await failAtEnd("POST", `${path}/restore`);
      expect((await api("POST", `${path}/restore`)).status).toBe(200);
    }
  });
});
