/** Two servers in the test's process on one rqlite database. */
import type { Database } from "bun:sqlite";
import { vaultOf } from "../../src/core/security/secrets.ts";
import { RqliteClient } from "../../src/database/rqlite/client.ts";
import { usualPatience } from "../../src/database/rqlite/connection.ts";
import { rqliteStore } from "../../src/database/rqlite/store.ts";
import { networkLimit } from "../../src/http/access/rate-limit.ts";
import { pageLock } from "../../src/status-pages/site/lock.ts";
import { statusSite } from "../../src/status-pages/site/status-site.ts";
import { subscriptionsOf } from "../../src/status-pages/subscribers/visits.ts";
import { applianceOn, clientOf, newOrganization, type TestAppliance } from "./appliance.ts";
import { loadMigrated } from "./engines.ts";
import { addressOf, type RqliteNode } from "./rqlite.ts";
import { synchronousDatabase } from "./synchronous.ts";

type Settings = Parameters<typeof applianceOn>[1];

/** Two independent servers on one rqlite database, with their pages and streams. */
export async function twoNodes(databases: readonly RqliteNode[], settings: Settings = {}) {
  const [database] = databases as readonly [RqliteNode];
  await loadMigrated(database);
  const time = {
    /** Offset of both clocks from the machine's. */
    ahead: 0,
    /** Frozen time of the machine for both servers, if set. */
    heldAt: null as number | null,
    get now() {
      return (this.heldAt ?? Date.now()) + this.ahead;
    },
  };
  const patience = { ...usualPatience, silentMs: 300, probeMs: 300 };
  const start = async () => {
    const clock = () => time.now;
    const store = rqliteStore(new RqliteClient(addressOf(...databases), patience), clock);
    const vault = vaultOf(new Uint8Array(32).fill(7));
    const made = applianceOn({ store, vault, clock }, settings);
    const { appliance, live } = made;
    const limit = () => networkLimit(10_000, clock);
    const visitorAddress = () => "192.168.1.7";
    const site = statusSite({
      ...appliance,
      store: store.relaxed(),
      makingLimit: limit(),
      addressOf: visitorAddress,
      lock: pageLock(vault, clock, limit(), visitorAddress),
      subscriptions: subscriptionsOf({
        services: appliance,
        signUps: limit(),
        addressOf: visitorAddress,
      }),
    });
    await site.start();
    await live.start();
    return { ...made, store, vault, site, stop: () => Promise.all([live.stop(), site.stop()]) };
  };
  const nodes = [await start(), await start()] as const;
  const [{ appliance, app }] = nodes;

  /** Our organization and theirs, as in tests of one server, seen through one of the two. */
  async function world() {
    const [ours, theirs] = [
      await newOrganization(appliance, app, "Ours"),
      await newOrganization(appliance, app, "Theirs"),
    ];
    const through = (node: (typeof nodes)[number]): TestAppliance & typeof node => {
      const client = (key: string | null) => clientOf(node.app, key);
      const seen = <T extends typeof ours>(organization: T): T => ({
        ...organization,
        api: client(organization.writeKey.key),
        reader: client(organization.readKey.key),
      });
      return {
        ...node,
        time,
        client,
        stranger: client(null),
        ours: seen(ours),
        theirs: seen(theirs),
        database: synchronousDatabase(database.host) as unknown as Database,
      };
    };
    return [through(nodes[0]), through(nodes[1])] as const;
  }

  return {
    time,
    world,
    stop: () => Promise.all(nodes.map((node) => node.stop())),
  };
}

type Node = Awaited<ReturnType<Awaited<ReturnType<typeof twoNodes>>["world"]>>[number];

/** The public response to an anonymous visitor; null for other paths. */
export async function published({ site }: Pick<Node, "site">, path: string) {
  const headers = { Host: "signalbox.lan:3210" };
  const response = await site.answer(new Request(`http://signalbox.lan:3210${path}`, { headers }));
  return response && { status: response.status, text: await response.text() };
}
