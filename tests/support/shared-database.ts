import { createVault } from "../../src/core/security/secrets.ts";
import { createAppliance, addOrganization } from "./appliance.ts";
import { createMigratedStore } from "./engines.ts";
import { createNodeFactory } from "./nodes.ts";

type Settings = Parameters<typeof createAppliance>[1];

const beatMs = 2_000;

/** Two appliances that share one database and a clock that the test sets. */
export async function createSharing(settings: Settings = {}) {
  const { store, database } = await createMigratedStore();
  const time = { now: Date.parse("2026-11-20T10:00:00.000Z") };
  const start = (id: string, own: { now: number } = time) => {
    const node = createNodeFactory(store, own)(id);
    const clock = () => own.now;
    const vault = createVault(new Uint8Array(32).fill(7));
    const appliance = createAppliance({ store, clock, vault, leases: node }, settings);
    return Object.assign(appliance, { id, node, time: own, beatAt: -Infinity });
  };
  type Server = ReturnType<typeof start>;

  /** One turn of these appliances: a heartbeat every 2 s and their due work. */
  async function run(servers: readonly Server[]) {
    for (const server of servers) {
      const { node, maintenance, engine, alerts } = server;
      if (time.now - server.beatAt >= beatMs) {
        server.beatAt = time.now;
        await node.runOnce();
      }
      await maintenance.runOnce();
      await engine.runOnce();
      await alerts.runOnce();
    }
  }

  /** Advances these appliances by a number of seconds; the others do nothing. */
  async function advance(seconds: number, servers: readonly Server[]) {
    for (const end = time.now + seconds * 1_000; time.now < end;) {
      time.now = Math.min(time.now + 250, end);
      await run(servers);
    }
  }

  const engines = [start("a"), start("b")] as const;
  const [{ appliance, app }] = engines;
  const ours = await addOrganization(appliance, app, "Ours");
  await advance(8, engines);
  return { store, database, time, start, advance, both: engines, ours };
}

export type Sharing = Awaited<ReturnType<typeof createSharing>>;
