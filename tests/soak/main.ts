import { Database } from "bun:sqlite";
import { closeSync, openSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { binary, getFreePort, waitUntilHealthy } from "../support/binary.ts";
import { startInbox, createMoodyReply } from "../support/inbox.ts";
import { createServerClient, createMachineWithKey, expectSuccess } from "../support/machine.ts";
import { createSmallDisk } from "../support/small-disk.ts";
import {
  replyWith,
  replyForever,
  hang,
  replyWithRedirect,
  type Reply,
  reset,
  startTarget,
} from "../support/target.ts";
import { type Notified, findWrongIncidents, writeUntilClosed } from "../support/writers.ts";
import { createRandom } from "../support/seeded.ts";
import { readResidentMb } from "../bench/process.ts";
import { runClusterSoak } from "./cluster.ts";
import { findWrongAlerts, findWrongGroups, findWrongRows } from "./invariants.ts";
import type { Json } from "../support/json.ts";

// `bun run soak [--cluster [--runs N]] --minutes N [--seed S]`: load, faults and kills in a seeded order, on the
// executable; then checks of the invariants. Exits with 1 if one is violated.

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string" },
    cluster: { type: "boolean", default: false },
    runs: { type: "string", default: "1" },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? crypto.getRandomValues(new Uint32Array(1))[0]);
if (!(minutes > 0 && minutes <= 240) || !Number.isSafeInteger(seed))
  throw new Error("--minutes is a number up to 240, --seed a whole number.");

// Each part has its own random numbers, independent of the others' progress.
const createDice = (part: number) => createRandom(seed + part);
const pickBetween = (random: () => number, from: number, to: number) =>
  from + random() * (to - from);
const oneOf = <T>(random: () => number, list: readonly T[]) =>
  list[Math.floor(random() * list.length)] as T;

const counts: Record<string, number> = {};
const count = (what: string) => void (counts[what] = (counts[what] ?? 0) + 1);
const wrong: string[] = [];
const startedAt = performance.now();
const formatElapsed = () => `${((performance.now() - startedAt) / 1000).toFixed(1).padStart(7)} s`;
const log = (text: string) => console.log(`${formatElapsed()}  ${text}`);
function recordViolation(text: string) {
  wrong.push(text);
  log(`WRONG: ${text}`);
}

/** Prints which invariants held and which were violated. */
function conclude(checks: Record<string, string[]>, again: string) {
  for (const [name, found] of Object.entries(checks)) {
    console.log(`${found.length === 0 ? "passed" : "FAILED"}  ${name}`);
    for (const one of found.slice(0, 20)) console.log(`          ${one}`);
  }
  const failed = Object.values(checks).filter((found) => found.length > 0).length;
  console.log(`\n${Object.keys(checks).length - failed} passed, ${failed} failed`);
  if (failed > 0) console.log(`Again: bun run soak ${again}--minutes ${minutes} --seed ${seed}`);
  process.exitCode = failed > 0 ? 1 : 0;
}

if (values.cluster) {
  const runs = Number(values.runs);
  const all: Record<string, string[]> = {};
  for (let run = 0; run < runs; run++) {
    const runSeed = seed + run;
    log(`seed ${runSeed}, ${minutes} minutes, two servers on a cluster, ${run + 1} of ${runs}`);
    for (const [name, found] of Object.entries(
      await runClusterSoak({ minutes, seed: runSeed, log }),
    ))
      (all[name] ??= []).push(...found.map((one) => (runs > 1 ? `seed ${runSeed}: ${one}` : one)));
  }
  conclude(all, `--cluster ${runs > 1 ? `--runs ${runs} ` : ""}`);
  process.exit();
}

/** Memory limit of a process: promise P31 of docs/promises.md. */
const maxResidentMb = 400;
/** Longest duration of a stop: promise P15. */
const stopMs = 10_000;
/** After this long without faults nothing may be missing. */
const healMs = 120_000;
/** A monitor that changes more often within half an hour counts as flapping. */
const changesOfOne = 8;

using disk = createSmallDisk(512);
await using box = await createMachineWithKey(disk?.path);
const logFile = join(box.directory, "serve.log");
const port = getFreePort();
const url = `http://127.0.0.1:${port}`;
const api = createServerClient(url, box.key);

let isEnding = false;
let child: Bun.Subprocess | null = null;
let expectedExit: number | null = null;
/** Its disk cannot be unmounted while it runs. */
await using _ = {
  async [Symbol.asyncDispose]() {
    expectedExit = 137;
    child?.kill("SIGKILL");
    await child?.exited;
  },
};
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    child?.kill("SIGKILL");
    disk?.[Symbol.dispose]();
    process.exit(130);
  });

async function start() {
  expectedExit = null;
  const output = openSync(logFile, "w");
  const args = ["--data-dir", box.dataDir, "--host", "127.0.0.1", "--port", String(port)];
  const started = Bun.spawn([binary, "serve", ...args, "--rate-limit", "0"], {
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  child = started;
  const isUp = await Promise.race([
    waitUntilHealthy(url).then(() => true),
    started.exited.then(() => false),
  ]);
  if (!isUp) throw new Error(`serve ended with ${started.exitCode}: ${readTail()}`);
  count("starts");
  void started.exited.then((code) => {
    if (expectedExit === null)
      recordViolation(`serve exited unexpectedly with ${code}: ${readTail()}`);
    return null;
  });
}

const readTail = () => readFileSync(logFile, "utf8").split("\n").slice(-8).join("\n");

async function stop(signal: "SIGTERM" | "SIGKILL") {
  const running = child;
  if (running === null) return;
  expectedExit = signal === "SIGTERM" ? 0 : 137;
  const notifiedAt = performance.now();
  running.kill(signal);
  const code = await running.exited;
  const ms = performance.now() - notifiedAt;
  if (code !== expectedExit)
    recordViolation(`After ${signal} it exited with ${code}: ${readTail()}`);
  if (ms > stopMs) recordViolation(`After ${signal} it took ${Math.round(ms)} ms to exit.`);
  count(signal);
}

/** Repeats the action until the end of the soak; retries when no server responds. */
async function repeat(pauseMs: () => number, work: () => Promise<unknown>) {
  while (!isEnding) {
    await work().catch((error: Error) => {
      // Kills close the connections of clients.
      if (error.message.startsWith("WRONG")) recordViolation(error.message);
    });
    await Bun.sleep(pauseMs());
  }
}

/** Acceptable responses; 503 is allowed for a full disk and a stop. */
async function ask(method: string, path: string, body?: unknown) {
  const answered = await api(method, path, body);
  if (answered.status >= 500 && answered.status !== 503)
    throw new Error(`WRONG: ${method} ${path} was answered with ${answered.status}`);
  count(`${method} answered`);
  return answered;
}

async function createRecord(path: string, body: object): Promise<Json> {
  const { status, json } = await ask("POST", `/api/v1/${path}`, body);
  if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
  return json.data;
}

await start();
const person = ["users", "create", "--org", "acme", "--email", "ada@acme.example", "--name", "Ada"];
const { email, password } = JSON.parse(await expectSuccess(box.run([...person, "--json"])));
const signIn = await fetch(`${url}/dashboard/sign-in`, {
  method: "POST",
  headers: { "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json" },
  body: JSON.stringify({ email, password }),
});
const Cookie = signIn.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";

const moods = createDice(1);
await using hook = await startInbox(createMoodyReply(moods));
const hung = await startTarget(hang);
await using shop = await startTarget();
const hookOf = (name: string, to: string) =>
  createRecord("alert-channels", { type: "webhook", name, url: to, incidents: false });
const channel = (await hookOf("Moody", hook.at("/hook"))).id;
const hangs = (await hookOf("Hangs", hung.at("/hook"))).id;

/** Expected alerts of each monitor. */
const changes = new Map<string, string[]>();
const watched = { interval: 5, retries: 0, timeout: 4, alertChannelIds: [channel, hangs] };
for (let number = 0; number < 10; number++) {
  const { id } = await createRecord("monitors", {
    ...watched,
    // The target is this process, which a busy machine can delay.
    interval: 10,
    timeout: 10,
    retries: 5,
    type: "http",
    name: `Steady ${number}`,
    url: shop.at(`/steady/${number}`),
  });
  changes.set(id, []);
}
const closed = getFreePort();
for (let number = 0; number < 5; number++) {
  const at = `http://127.0.0.1:${closed}/${number}`;
  const { id } = await createRecord("monitors", {
    ...watched,
    type: "http",
    name: `Gone ${number}`,
    url: at,
  });
  changes.set(id, ["monitor.down"]);
}
const fickle = createDice(2);
const replies: (() => Reply)[] = [
  () => replyWith(),
  () => replyWith(),
  () => replyWith(500),
  () => hang,
  () => reset,
  () => replyForever,
  () => replyWithRedirect(shop.at("/steady/0")),
];
for (let number = 0; number < 20; number++)
  shop.setReply((response) => oneOf(fickle, replies)()(response), `/fickle/${number}`);
for (let number = 0; number < 20; number++)
  await createRecord("monitors", {
    ...watched,
    alertChannelIds: [],
    type: "http",
    name: `Fickle ${number}`,
    url: shop.at(`/fickle/${number}`),
  });

/** Jobs that report their changes in order, each until it is acknowledged. */
async function runJob(part: number) {
  const random = createDice(100 + part);
  for (let number = 0; !isEnding; number++) {
    const name = `Job ${part}.${number}`;
    const body = { type: "push", name, interval: 86_400, retries: 0, alertChannelIds: [channel] };
    const monitor = await createRecord("monitors", body).catch(() => null);
    if (monitor === null) {
      await Bun.sleep(200);
      continue;
    }
    const told: string[] = [];
    changes.set(monitor.id, told);
    await reportUntilAccepted(monitor.pushUrl, "up");
    for (let change = 0; change < changesOfOne && !isEnding; change++) {
      const status = change % 2 === 0 ? "down" : "up";
      await reportUntilAccepted(monitor.pushUrl, status);
      told.push(`monitor.${status}`);
      await Bun.sleep(pickBetween(random, 50, 3_000));
    }
  }
}

/** Resolves when the report is acknowledged, possibly after the next start. */
async function reportUntilAccepted(pushUrl: string, status: string) {
  for (;;) {
    const answered = await fetch(`${pushUrl}?status=${status}`).catch(() => null);
    await answered?.text().catch(() => "");
    if (answered?.ok === true) return count("reports");
    if (answered !== null && answered.status !== 503)
      recordViolation(`A report was answered with ${answered.status}`);
    await Bun.sleep(50);
  }
}

let acknowledged = 0;
const incidents: Notified[] = [];
async function runWriter(number: number) {
  for (let life = 0; !isEnding; life++) {
    const onAcknowledged = () => void acknowledged++;
    const work = { url, key: box.key, name: `Writer ${number}.${life}`, onAcknowledged };
    incidents.push(...(await writeUntilClosed({ ...work, pauseMs: 30 })));
    await Bun.sleep(100);
  }
}

const groups: string[] = [];
for (let number = 0; number < 10; number++)
  groups.push((await createRecord("monitor-groups", { name: `Group ${number}` })).id);
const grouped: string[] = [];
for (let number = 0; number < 50; number++)
  grouped.push((await createRecord("monitors", { type: "push", name: `Member ${number}` })).id);
const dice = createDice(3);
const move = () => {
  const monitorIds = grouped.filter(() => dice() < 0.2);
  return ask("PATCH", `/api/v1/monitor-groups/${oneOf(dice, groups)}`, { monitorIds });
};

const reading = createDice(4);
async function read() {
  const path = oneOf(reading, ["/status/acme", "/status/acme.json", "/status/acme/badge.svg", "/"]);
  const { status } = await fetch(`${url}${path}`);
  if (status >= 500 && status !== 503)
    throw new Error(`WRONG: ${path} was answered with ${status}`);
  count("pages read");
}

async function listen() {
  const live = await fetch(`${url}/dashboard/live`, { headers: { Cookie } });
  if (live.status >= 500 && live.status !== 503) throw new Error(`WRONG: live: ${live.status}`);
  count("streams");
  for await (const _ of live.body ?? []) if (isEnding) return;
}

/** A client that never finishes its request. */
async function drip() {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  const ended = new Promise((resolve) => socket.on("close", resolve));
  socket.write(
    "POST /api/v1/incidents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",
  );
  const timer = setInterval(() => socket.write("x"), 500);
  await Promise.race([ended, Bun.sleep(20_000)]);
  clearInterval(timer);
  socket.destroy();
}

let backups = 0;
async function backUp() {
  const file = join(
    disk === null ? box.directory : "/tmp",
    `signalbox-soak-${process.pid}-${backups++}.db`,
  );
  const before = acknowledged;
  const { exitCode, stderr } = await box.run(["backup", file]);
  if (exitCode !== 0) return recordViolation(`A backup failed: ${stderr}`);
  const found = findWrongRows(file);
  using database = new Database(file, { readonly: true });
  const [[rows] = []] = database.query("select count(*) from incident_updates").values();
  if (Number(rows) < before) found.push(`It lacks ${before - Number(rows)} acknowledged updates.`);
  for (const one of found) recordViolation(`In a backup: ${one}`);
  await Promise.all(
    [file, `${file}.sha256`].map((one) =>
      Bun.file(one)
        .delete()
        .catch(() => {}),
    ),
  );
  count("backups");
}

async function look() {
  const { data } = (await api("GET", "/api/v1/monitor-groups")).json;
  // Monitors only while none is moved, because they are listed in pages.
  return findWrongGroups(data, isEnding ? await listMonitors() : []);
}

async function listMonitors() {
  const found: { id: string; groupId: string | null }[] = [];
  for (let page = 1; ; page++) {
    const { data } = (await api("GET", `/api/v1/monitors?per_page=100&page=${page}`)).json;
    found.push(...data);
    if (data.length < 100) return found;
  }
}

const faults: Record<string, () => Promise<void>> = {
  async kill() {
    await stop("SIGKILL");
    await start();
  },
  async "stop and start"() {
    await stop("SIGTERM");
    await start();
  },
  async "stand still"() {
    child?.kill("SIGSTOP");
    await Bun.sleep(pickBetween(chance, 500, 8_000));
    child?.kill("SIGCONT");
  },
  async "second instance"() {
    const { exitCode } = await box.run(["serve", "--port", "0"]);
    if (exitCode !== 5) recordViolation(`A second instance exited with ${exitCode}.`);
  },
  async "receiver hangs"() {
    hook.behave(hang);
    await Bun.sleep(pickBetween(chance, 1_000, 12_000));
    hook.behave(createMoodyReply(moods));
  },
  backup: backUp,
  ...(disk !== null && {
    async "full disk"() {
      disk.fill();
      await Bun.sleep(pickBetween(chance, 500, 4_000));
      // A stop on a full disk also exits with 0; the next start needs free space.
      const isStopped = chance() < 0.5;
      if (isStopped) await stop(chance() < 0.5 ? "SIGTERM" : "SIGKILL");
      disk.free();
      if (isStopped) await start();
    },
  }),
};
const chance = createDice(5);

async function causeTrouble(until: number) {
  while (performance.now() < until) {
    await Bun.sleep(pickBetween(chance, 2_000, 8_000));
    const name = oneOf(chance, Object.keys(faults));
    log(name);
    count(`fault: ${name}`);
    await faults[name]?.();
    for (const one of await look()) recordViolation(`After “${name}”: ${one}`);
  }
}

let mostMb = 0;
let stoodStillMs = 0;
let sampledAt = performance.now();
const sampling = setInterval(() => {
  stoodStillMs = Math.max(stoodStillMs, performance.now() - sampledAt - 500);
  sampledAt = performance.now();
  // A process that has just exited has no figures.
  if (child !== null && child.exitCode === null && child.signalCode === null)
    mostMb = Math.max(mostMb, readResidentMb(child.pid) || 0);
}, 500);

log(
  `seed ${seed}, ${minutes} minutes, ${disk === null ? "NO full disk: only root can mount one" : "a disk of 512 MB"}`,
);
const work = [
  ...Array.from({ length: 20 }, (_, part) => runJob(part)),
  ...Array.from({ length: 6 }, (_, number) => runWriter(number)),
  ...Array.from({ length: 4 }, () => repeat(() => 100, move)),
  ...Array.from({ length: 4 }, () => repeat(() => 50, read)),
  ...Array.from({ length: 5 }, () => repeat(() => 500, listen)),
  ...Array.from({ length: 50 }, () => repeat(() => 1_000, drip)),
];
await causeTrouble(startedAt + minutes * 60_000);
log("the end: all targets recover, and the remaining alerts are sent");
isEnding = true;
// Writers continue until no server responds, and reports until they are acknowledged.
await stop("SIGTERM");
await start();
await Promise.all(work);
hook.behave(replyWith());
hook.release();
const healedAt = performance.now();
// The appliance also sends alerts about itself.
const listArrived = () => hook.listArrived().filter(({ type }) => type.startsWith("monitor."));
const findMissing = () => findWrongAlerts(listArrived(), changes);
for (let number = 0; performance.now() - healedAt < healMs; number++) {
  if (findMissing().length === 0) break;
  // A new alert makes failed deliveries retry at once, instead of minutes later.
  const body = { type: "push", name: `News ${number}`, retries: 0, alertChannelIds: [channel] };
  const { id, pushUrl } = await createRecord("monitors", { ...body, interval: 86_400 });
  changes.set(id, ["monitor.down"]);
  await reportUntilAccepted(pushUrl, "down");
  for (let wait = 0; wait < 50 && findMissing().length > 0; wait++) await Bun.sleep(200);
}
clearInterval(sampling);

const [lost, alerts, moved] = [
  await findWrongIncidents(api, incidents),
  findMissing(),
  await look(),
];
await stop("SIGTERM");
const checks: Record<string, string[]> = {
  "while it ran: answers, exits, backups": wrong,
  "nothing acknowledged is lost or half done (P1)": lost,
  "alerts: none missing, none out of order, none under two ids, none made up (P3, P5)": alerts,
  "a monitor is in one group at most (P27)": moved,
  [`memory: ${mostMb.toFixed(0)} MB at most (P31)`]:
    mostMb > maxResidentMb ? [`More than ${maxResidentMb} MB.`] : [],
  "the database is whole, sums equal the results, no state twice in a row (P8, P24)": findWrongRows(
    join(box.dataDir, "signalbox.db"),
  ),
};
await Promise.all([hung[Symbol.asyncDispose](), hook[Symbol.asyncDispose]()]);

console.log(
  `\n${Object.entries(counts)
    .map(([what, times]) => `${times} ${what}`)
    .join(", ")}`,
);
console.log(
  `${acknowledged} writes acknowledged, ${listArrived().length} alerts arrived; this process stood still for ${Math.round(stoodStillMs)} ms at most\n`,
);
conclude(checks, "");
