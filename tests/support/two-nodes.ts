/** Two servers in the test's process on one rqlite database. */
import type { Database } from "bun:sqlite";
import { createVault } from "../../src/core/security/secrets.ts";
import { RqliteClient } from "../../src/database/rqlite/client.ts";
import { defaultPatience } from "../../src/database/rqlite/connection.ts";
import { createRqliteStore } from "../../src/database/rqlite/store.ts";
import { createNetworkLimit } from "../../src/http/access/rate-limit.ts";
import { createPageLock } from "../../src/status-pages/site/lock.ts";
import { createStatusSite } from "../../src/status-pages/site/status-site.ts";
import { createSubscriptions } from "../../src/status-pages/subscribers/visits.ts";
import {
  createAppliance,
  createApplianceClient,
  addOrganization,
  type TestAppliance,
} from "./appliance.ts";
import { loadMigrated } from "./engines.ts";
import { buildClusterAddress, type RqliteNode } from "./rqlite.ts";
import { openSynchronousDatabase } from "./synchronous.ts";

type Settings = Parameters<typeof createAppliance>[1];

/** Two independent servers on one rqlite database, with their pages and streams. */
export async function createTwoNodes(databases: readonly RqliteNode[], settings: Settings = {}) {
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
  const clientPatience = { ...defaultPatience, silentMs: 300, probeMs: 300 };
  const start = async () => {
    const clock = () => time.now;
    const store = createRqliteStore(
      new RqliteClient(buildClusterAddress(...databases), clientPatience),
      clock,
    );
    const vault = createVault(new Uint8Array(32).fill(7));
    const started = createAppliance({ store, vault, clock }, settings);
    const { appliance, live } = started;
    const createLimit = () => createNetworkLimit(10_000, clock);
    const getVisitorAddress = () => "192.168.1.7";
    const site = createStatusSite({
      ...appliance,
      store: store.relaxed(),
      renderLimit: createLimit(),
      addressOf: getVisitorAddress,
      lock: createPageLock(store, vault, clock, createLimit(), getVisitorAddress),
      subscriptions: createSubscriptions({
        services: appliance,
        signUps: createLimit(),
        addressOf: getVisitorAddress,
      }),
    });
    await site.start();
    await live.start();
    return { ...started, store, vault, site, stop: () => Promise.all([live.stop(), site.stop()]) };
  };
  const nodes = [await start(), await start()] as const;
  const [{ appliance, app }] = nodes;

  /** Our organization and theirs, as in tests of one server, seen through one of the two. */
  async function createWorld() {
    const [ours, theirs] = [
      await addOrganization(appliance, app, "Ours"),
      await addOrganization(appliance, app, "Theirs"),
    ];
    const viewThrough = (node: (typeof nodes)[number]): TestAppliance & typeof node => {
      const createNodeClient = (key: string | null) => createApplianceClient(node.app, key);
      const viewOrganization = <T extends typeof ours>(organization: T): T => ({
        ...organization,
        api: createNodeClient(organization.writeKey.key),
        reader: createNodeClient(organization.readKey.key),
      });
      return {
        ...node,
        time,
        client: createNodeClient,
        stranger: createNodeClient(null),
        ours: viewOrganization(ours),
        theirs: viewOrganization(theirs),
        database: openSynchronousDatabase(database.host) as unknown as Database,
      };
    };
    return [viewThrough(nodes[0]), viewThrough(nodes[1])] as const;
  }

  return {
    time,
    world: createWorld,
    stop: () => Promise.all(nodes.map((node) => node.stop())),
  };
}

type Node = Awaited<ReturnType<Awaited<ReturnType<typeof createTwoNodes>>["world"]>>[number];

/** The public response to an anonymous visitor; null for other paths. */
export async function requestPublished({ site }: Pick<Node, "site">, path: string) {
  const headers = { Host: "signalbox.lan:3210" };
  const response = await site.handleRequest(
    new Request(`http://signalbox.lan:3210${path}`, { headers }),
  );
  return response && { status: response.status, text: await response.text() };
}
