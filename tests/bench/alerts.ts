import { join } from "node:path";
import { createServerClient, createMachineWithKey, type ServerClient } from "../support/machine.ts";
import { benchDeciding } from "./deciding.ts";
import { countResults } from "./heartbeats.ts";
import { computeQuantile } from "./process.ts";

const monitors = 1_000;
const interval = 5;

/**
 * Measures how alerts affect everything else: a storm of 1,000, receivers that never respond, and what dependencies and
 * policies add.
 */
export async function benchAlerts() {
  await benchDeciding();
  console.log(`alerts: ${monitors} http monitors @ ${interval} s on loopback\n`);
  await measureStorm();
  const [without, withHung] = [await measureGaps("well"), await measureGaps("hang")];
  console.log(
    `gap p99 of checks: ${withHung.gap99} ms while a receiver hangs (60 s), ${without.gap99} ms while it answers; ` +
      `most ${withHung.gapMax} ms and ${without.gapMax} ms; ${withHung.asked} requests hung`,
  );
}

/** A target and receivers in this process, with scripted behavior. */
function startSurroundings() {
  let isUp = true;
  const digests: { at: number; alerts: number }[] = [];
  let requestCount = 0;
  const startTarget = () =>
    Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response("ok", { status: isUp ? 200 : 500 }),
    });
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 255,
    async fetch(request) {
      requestCount++;
      if (new URL(request.url).pathname === "/hang") return new Promise<Response>(() => {});
      const { type, data } = (await request.json()) as { type: string; data: { alerts: [] } };
      digests.push({ at: performance.now(), alerts: type === "digest" ? data.alerts.length : 1 });
      return new Response();
    },
  });
  return {
    target: startTarget(),
    receiver,
    digests,
    asked: () => requestCount,
    fall: () => (isUp = false),
    flip: () => (isUp = !isUp),
  };
}

async function createMonitors(api: ServerClient, target: string, channels: readonly string[]) {
  const alertChannelIds: string[] = [];
  for (const url of channels) {
    const { json } = await api("POST", "/api/v1/alert-channels", {
      type: "webhook",
      name: url,
      url,
    });
    alertChannelIds.push(json.data.id);
  }
  for (let number = 0; number < monitors; number++)
    await api("POST", "/api/v1/monitors", {
      type: "http",
      name: `Monitor ${number}`,
      url: target,
      interval,
      timeout: 4,
      retries: 0,
      alertChannelIds,
    });
  const countPending = async () =>
    (await api("GET", "/api/v1/monitors?status=pending")).json.meta.total;
  while ((await countPending()) > 0) await Bun.sleep(100);
}

async function measureStorm() {
  const around = startSurroundings();
  await using box = await createMachineWithKey();
  const { url } = await box.serve({ flags: ["--rate-limit", "0"] });
  const api = createServerClient(url, box.key);
  await createMonitors(api, around.target.url.href, [`${around.receiver.url.href}hook`]);
  const fellAt = performance.now();
  around.fall();
  const lists: number[] = [];
  const summarize = () => around.digests.reduce((sum, { alerts }) => sum + alerts, 0);
  while (summarize() < monitors && performance.now() - fellAt < 60_000) {
    const askedAt = performance.now();
    await api("GET", "/api/v1/monitors?per_page=100");
    lists.push(performance.now() - askedAt);
    await Bun.sleep(20);
  }
  const sent = around.digests.map(
    ({ at, alerts }) => `${alerts} alerts after ${((at - fellAt) / 1000).toFixed(1)} s`,
  );
  console.log(
    `${monitors} monitors go down at once: ${sent.join(", ")} (goal all within 15 s), ` +
      `REST list p99 ${computeQuantile(lists, 0.99).toFixed(1)} ms meanwhile (goal ≤ 100 ms)`,
  );
  await Promise.all([around.target.stop(true), around.receiver.stop(true)]);
}

/** The gaps between checks for a minute in which the target flips four times. */
async function measureGaps(path: "hang" | "well") {
  const around = startSurroundings();
  await using box = await createMachineWithKey();
  const server = await box.serve({ flags: ["--rate-limit", "0"] });
  await createMonitors(createServerClient(server.url, box.key), around.target.url.href, [
    `${around.receiver.url.href}${path}`,
  ]);
  await Bun.sleep(interval * 1_000);
  const from = Date.now();
  for (let round = 0; round < 4; round++) {
    around.flip();
    await Bun.sleep(15_000);
  }
  await server.stop();
  const found = countResults(join(box.dataDir, "signalbox.db"), from, interval);
  await Promise.all([around.target.stop(true), around.receiver.stop(true)]);
  return { ...found, asked: around.asked() };
}
