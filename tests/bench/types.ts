import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorKinds, type MonitorType } from "../../src/monitoring/monitors/kinds-schema.ts";
import type { Fake } from "../support/fakes/fake.ts";
import { fakes } from "../support/fakes/all.ts";
import { startFake } from "../support/fakes/start-fake.ts";
import { getFreePort, runSignalbox, startServer, waitUntilHealthy } from "../support/binary.ts";
import { createServerClient, expectSuccess } from "../support/machine.ts";
import { newMonitors } from "../support/samples.ts";
import { checkTarget, measurePacedBaselineMs } from "./checks.ts";
import { countResults } from "./heartbeats.ts";
import { readCpuSeconds } from "./process.ts";

const interval = 10;
const [good, hanging, many] = [200, 300, 2_000];

/** Fields of a monitor of this type for a port on loopback; null for types without a port. */
function buildFields(type: MonitorType, port: number): object | null {
  const has = (name: string) => name in monitorKinds[type].fields;
  if (type === "dns") return { host: "hangs.test", resolver: `127.0.0.1:${port}` };
  if (type === "websocket") return { url: `ws://127.0.0.1:${port}/` };
  if (type === "http") return { url: `http://127.0.0.1:${port}/` };
  if (!has("host") || !has("port")) return null;
  return { ...newMonitors[type], host: "127.0.0.1", port, ...(type === "tcp" && { expect: "x" }) };
}

/** Measures healthy monitors next to hanging ones of every type, then the cost of many next to other types. */
export async function benchTypes() {
  const port = getFreePort();
  const silent = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
  const mute = await Bun.udpSocket({ hostname: "127.0.0.1", port, socket: { data() {} } });
  const okPort = getFreePort();
  const target = checkTarget(String(okPort));
  try {
    await waitUntilHealthy(`http://127.0.0.1:${okPort}`, "/ok");
    const all = Object.keys(monitorKinds) as MonitorType[];
    const hangers = all.flatMap((type) => {
      const fields = buildFields(type, port);
      return fields === null ? [] : [{ type, ...fields }];
    });
    const left = all.filter((type) => buildFields(type, port) === null);
    const monitorFields = [
      ...Array.from({ length: hanging }, (_, index) => hangers[index % hangers.length]),
      ...buildHttpMonitors(good, okPort),
    ];
    const alone = await measure(monitorFields.slice(hanging));
    const mixed = await measure(monitorFields);
    console.log(
      `${good} good http monitors @ ${interval} s: gap p99 ${alone.gap99} ms, most ${alone.gapMax} ms\n` +
        `with ${hanging} hanging ones of ${hangers.length} types (not ${left.join(", ")}): ` +
        `gap p99 ${mixed.gap99} ms (goal ≤ ${interval * 1000 + 100}), most ${mixed.gapMax} ms, ` +
        `false failures ${mixed.failed} (goal 0), without a result a period ${mixed.starved} (goal 0)`,
    );
    await benchMany(okPort);
  } finally {
    target.kill();
    silent.stop(true);
    mute.close();
  }
}

const buildHttpMonitors = (count: number, port: number) =>
  Array.from({ length: count }, () => ({ type: "http", url: `http://127.0.0.1:${port}/ok` }));

/** Measures many http monitors, alone and with monitors of every type that has a fake server. */
async function benchMany(port: number) {
  // A domain is queried once a day.
  const answered = (Object.entries(fakes) as [MonitorType, Fake][]).filter(
    ([type]) => type !== "domain",
  );
  await using servers = new AsyncDisposableStack();
  const others: object[] = [];
  for (const [type, fake] of answered) {
    const server = servers.use(await startFake(fake));
    others.push({
      type,
      ...(fake.at?.("127.0.0.1", server.port, false) ?? { host: "127.0.0.1", port: server.port }),
      ...fake.fields,
    });
  }
  const baselineMs = await measurePacedBaselineMs(port, many / interval);
  const alone = await measure(buildHttpMonitors(many, port));
  const mixed = await measure([
    ...buildHttpMonitors(many, port),
    ...Array.from({ length: good }, (_, index) => others[index % others.length]),
  ]);
  const figuresOf = ({ cpu, checks, gap99 }: typeof mixed) =>
    `${((cpu / checks) * 1000).toFixed(3)} ms a check = ${((cpu / checks / baselineMs) * 1000).toFixed(2)}× the baseline, gap p99 ${gap99} ms`;
  console.log(
    `baseline: a bare loop of ${many / interval} fetches a second, ${baselineMs.toFixed(3)} ms of processor a request\n` +
      `${many} http monitors @ ${interval} s: ${figuresOf(alone)}\n` +
      `with ${good} of ${others.length} other types: ${figuresOf(mixed)} (goal ≤ 2×, ≤ ${interval * 1000 + 100}), ` +
      `false failures ${mixed.failed} (goal 0), without a result a period ${mixed.starved} (goal 0), not up: ${mixed.down}`,
  );
}

/** Results of the healthy monitors for five intervals after the first round. */
async function measure(wanted: readonly (object | undefined)[]) {
  const directory = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  const dataDir = join(directory, "data");
  await expectSuccess(runSignalbox(["orgs", "create", "Bench", "--data-dir", dataDir]));
  const args = ["keys", "create", "--org", "bench", "--name", "bench", "--data-dir", dataDir];
  const key = await expectSuccess(runSignalbox(args));
  const server = await startServer({ dataDir, flags: ["--rate-limit", "0"] });
  try {
    const request = createServerClient(server.url, key);
    for (const [index, fields] of wanted.entries()) {
      const body = { name: `Monitor ${index}`, interval, timeout: interval, ...fields };
      const { status, json } = await request("POST", "/api/v1/monitors", body);
      if (status !== 201) throw new Error(`${JSON.stringify(fields)}: ${JSON.stringify(json)}`);
    }
    await Bun.sleep(2 * interval * 1000);
    const [from, cpuBefore] = [Date.now(), readCpuSeconds(server.child.pid)];
    await Bun.sleep(5 * interval * 1000);
    const cpu = readCpuSeconds(server.child.pid) - cpuBefore;
    await server.stop();
    const file = join(dataDir, "signalbox.db");
    const { checks, down } = countResults(file, from, interval);
    return { ...countResults(file, from, interval, "good"), checks, down, cpu };
  } finally {
    await server.stop("SIGKILL");
    rmSync(directory, { recursive: true });
  }
}
