import { createServerClient, createMachineWithKey, type ServerClient } from "../support/machine.ts";
import { readCpuSeconds, computeQuantile } from "./process.ts";

const rounds = 3;
const seconds = 5;
const monitors = 1_000;
const load = { checksPerSecond: 200, writesPerSecond: 350 };

/** Measures lists of 20 during checks and writes, and the same bytes from a bare route under the same load. */
export async function measureUnderLoad(wrk: string) {
  using target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("fine") });
  await using box = await createMachineWithKey();
  const server = await box.serve({ flags: ["--rate-limit", "0"] });
  const api = createServerClient(server.url, box.key);
  const interval = monitors / load.checksPerSecond;
  for (let number = 0; number < monitors; number++)
    await api("POST", "/api/v1/monitors", {
      type: "http",
      name: `Service ${number}`,
      url: `${target.url.href}${number}`,
      interval,
    });
  for (let number = 0; number < 100; number++)
    await api("POST", "/api/v1/incidents", { title: `Incident ${number}` });
  await Bun.sleep(2 * interval * 1_000);
  const headers = { Authorization: `Bearer ${box.key}` };
  for (const noun of ["monitors", "incidents"]) {
    const url = `${server.url}/api/v1/${noun}`;
    const bytes = await (await fetch(url, { headers })).bytes();
    using baseline = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      routes: { "/": new Response(bytes, { headers: { "Content-Type": "application/json" } }) },
    });
    const found: (Measured & { baseline: number; written: number; microseconds: number })[] = [];
    for (let round = 0; round < rounds; round++) {
      const writing = startWriters(api);
      const begin = readCpuSeconds(server.child.pid);
      const product = await measure(wrk, url, box.key);
      const requestCount = readCpuSeconds(server.child.pid);
      const { requests } = await measure(wrk, baseline.url.href, box.key);
      // The second half has only the checks and the writes.
      const cpu = requestCount - begin - (readCpuSeconds(server.child.pid) - requestCount);
      const microseconds = (cpu / (product.requests * seconds)) * 1e6;
      found.push({ ...product, baseline: requests, written: await writing.stop(), microseconds });
    }
    const getMedian = (of: keyof (typeof found)[number]) =>
      computeQuantile(
        found.map((one) => one[of]),
        0.5,
      );
    console.log(
      `${noun}, 20 a page, with ${load.checksPerSecond} checks/s and ${getMedian("written").toFixed(0)} writes/s: ` +
        `${getMedian("requests").toFixed(0)} req/s (goal ≥ 5,000) = ${((getMedian("requests") / getMedian("baseline")) * 100).toFixed(0)} % ` +
        `of a static route's ${getMedian("baseline").toFixed(0)}, p99 ${getMedian("p99").toFixed(1)} ms, ` +
        `${getMedian("microseconds").toFixed(0)} µs of processor time each`,
    );
  }
  await server.stop();
}

/** Writes at a fixed rate until stopped; returns the writes per second. */
function startWriters(api: ServerClient) {
  const startedAt = performance.now();
  let isStopped = false;
  let written = 0;
  const clients = 16;
  const all = Array.from({ length: clients }, async (_, index) => {
    for (let turn = 0; !isStopped; turn++) {
      const at = startedAt + ((turn * clients + index) * 1_000) / load.writesPerSecond;
      await Bun.sleep(Math.max(0, at - performance.now()));
      await api("POST", "/api/v1/incidents", { title: `Written ${index} ${turn}` });
      written++;
    }
  });
  return {
    async stop() {
      const seconds = (performance.now() - startedAt) / 1_000;
      const perSecond = written / seconds;
      isStopped = true;
      await Promise.all(all);
      return perSecond;
    },
  };
}

type Measured = { requests: number; p99: number };

async function measure(wrk: string, url: string, key: string): Promise<Measured> {
  const args = [
    "-t1",
    "-c32",
    `-d${seconds}s`,
    "--latency",
    "-H",
    `Authorization: Bearer ${key}`,
    url,
  ];
  const text = await new Response(Bun.spawn([wrk, ...args]).stdout).text();
  if (/Non-2xx/.test(text)) throw new Error(text);
  const [, p99 = "", unit = ""] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? [];
  const inMs = { us: 0.001, ms: 1, s: 1_000 };
  return {
    requests: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]),
    p99: Number(p99) * inMs[unit as keyof typeof inMs],
  };
}
