/** An escalation on two nodes: first the database loses its leader, then one node dies. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createVault } from "../../src/core/security/secrets.ts";
import { RqliteClient } from "../../src/database/rqlite/client.ts";
import { defaultPatience } from "../../src/database/rqlite/connection.ts";
import { createRqliteStore } from "../../src/database/rqlite/store.ts";
import { addOrganization, createAppliance } from "../support/appliance.ts";
import { loadMigrated } from "../support/engines.ts";
import { createNodeFactory } from "../support/nodes.ts";
import {
  buildClusterAddress,
  findLeader,
  hasRqlite,
  type RqliteNode,
  startCluster,
} from "../support/rqlite.ts";
import { replyWith, startTarget } from "../support/target.ts";

describe.skipIf(!hasRqlite)("an escalation on a cluster", () => {
  let databases: RqliteNode[];
  beforeAll(async () => {
    databases = await startCluster();
    await loadMigrated(databases[0]!);
  });
  afterAll(() => Promise.all(databases.map((one) => one.kill())));

  test("goes on after the leader of the database and a node were killed, and exactly one node sends each step", async () => {
    const time = { now: Date.parse("2026-11-20T10:00:00.000Z") };
    const clock = () => time.now;
    // On a busy machine an election takes longer.
    const patience = { ...defaultPatience, tryMs: 60_000, resolveMs: 60_000, silentMs: 300 };
    const start = (id: string) => {
      const client = new RqliteClient(buildClusterAddress(...databases), patience);
      const store = createRqliteStore(client, clock);
      const node = createNodeFactory(store, time)(id);
      const vault = createVault(new Uint8Array(32).fill(7));
      return { node, ...createAppliance({ store, clock, vault, leases: node }) };
    };
    const engines = [start("a"), start("b")] as const;
    type Server = (typeof engines)[number];
    const advance = async (seconds: number, servers: readonly Server[]) => {
      for (const end = time.now + seconds * 1_000; time.now < end;) {
        time.now += 2_000;
        for (const { node } of servers) await node.runOnce();
        await Promise.all(servers.map(({ alerts }) => alerts.runOnce()));
      }
    };
    await using phone = await startTarget(replyWith());
    // A message whose end could not be stored is repeated with its ID.
    const readSent = () => new Set(phone.asked.map(({ headers }) => headers["webhook-id"])).size;

    const [{ appliance, app }] = engines;
    const { api } = await addOrganization(appliance, app, "Ours");
    const create = async (path: string, body: object) =>
      (await api("POST", `/api/v1/${path}`, { body })).json.data;
    await advance(8, engines);
    const hook = { type: "webhook", name: "Phone", url: phone.at("/"), incidents: false };
    const { id } = await create("alert-channels", hook);
    const targets = [{ type: "channel", id }];
    await create("escalation-policies", {
      name: "Shop",
      incidentSeverities: ["critical"],
      steps: [0, 1, 2, 3].map((afterMinutes) => ({ afterMinutes, targets })),
    });
    await create("incidents", { title: "Slow", severity: "critical" });
    const startedAt = time.now;
    const advanceTo = (seconds: number, servers: readonly Server[]) =>
      advance((startedAt - time.now) / 1_000 + seconds, servers);
    await advance(8, engines);
    expect(phone.asked).toHaveLength(1);

    time.now = startedAt + 58_000;
    const leader = await findLeader(databases);
    await Promise.all([advanceTo(70, engines), leader.kill()]);
    expect(readSent()).toBe(2);
    const before = phone.asked.length;

    const sender = engines.find(({ node }) => node.findNamed("alerting") !== null);
    const survivors = engines.filter((one) => one !== sender);
    expect(survivors).toHaveLength(1);
    await advanceTo(140, survivors);
    expect(phone.asked).toHaveLength(before + 1);
    // The other one is back, and finds its lease lost.
    await advanceTo(170, engines);
    expect(phone.asked).toHaveLength(before + 1);
    await advanceTo(190, engines);
    expect(phone.asked).toHaveLength(before + 2);
    expect(readSent()).toBe(4);
  });
});
