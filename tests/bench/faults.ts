import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { loadavg } from "node:os";
import { join } from "node:path";
import { hang } from "../support/target.ts";
import { startInbox } from "../support/inbox.ts";
import { openManyConnections } from "../support/many-connections.ts";
import { generateMutatedRequests, readStatusLine } from "../support/mutated-requests.ts";
import { createServerClient, createMachineWithKey, expectSuccess } from "../support/machine.ts";
import { createRandom } from "../support/seeded.ts";
import { writeUntilClosed } from "../support/writers.ts";
import { findWrongRows } from "../soak/invariants.ts";
import { computeQuantile, readResidentMb } from "./process.ts";

const unlimited = ["--rate-limit", "0"];

/** Measures the figures of docs/promises.md under the faults that they name. */
export async function benchFaults() {
  console.log(`faults: load of the machine before ${loadavg()[0]?.toFixed(1)}\n`);
  for (const measure of [
    measureBackups,
    measureSecondInstance,
    stopUnderLoad,
    measureMutatedRequests,
    measureDrippingClients,
    measureIdleConnections,
    measureGuessing,
    measureDistributedGuessing,
  ])
    console.log(`  ${await measure()}`);
}

const formatMs = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

/** Latencies of responses from `url` during `work`. */
export async function measureLatencies(work: () => Promise<unknown>, url: string, key?: string) {
  const script = join(import.meta.dir, "ask-in-turn.ts");
  const child = Bun.spawn([process.execPath, script, url, ...(key ? [key] : [])], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  await work();
  await child.stdin.end();
  const latencies = JSON.parse(await new Response(child.stdout).text()) as number[];
  return {
    p99: computeQuantile(latencies, 0.99),
    text: `p99 ${formatMs(computeQuantile(latencies, 0.99))}, most ${formatMs(Math.max(...latencies))} of ${latencies.length}`,
  };
}

async function measureBackups() {
  await using box = await createMachineWithKey();
  const { url } = await box.serve({ flags: unlimited });
  const api = createServerClient(url, box.key);
  let acknowledged = 0;
  let isEnding = false;
  const from = performance.now();
  let sent = 0;
  // At a fixed rate, regardless of latency.
  const pace = setInterval(() => {
    for (; !isEnding && sent < (performance.now() - from) / 5; sent++)
      void api("POST", "/api/v1/incidents", { title: "Slow" }).then(
        ({ status }) => status === 201 && acknowledged++,
      );
  }, 5);
  let whole = 0;
  for (let number = 0; number < 100; number++) {
    const file = join(box.directory, `backup-${number}.db`);
    const before = acknowledged;
    await expectSuccess(box.run(["backup", file]));
    const wrong = findWrongRows(file);
    using database = new Database(file, { readonly: true });
    const [[rows] = []] = database.query("select count(*) from incidents").values();
    if (wrong.length === 0 && Number(rows) >= before) whole++;
    rmSync(file);
  }
  isEnding = true;
  clearInterval(pace);
  const rate = (acknowledged * 1_000) / (performance.now() - from);
  return `P11  100 backups at ${Math.round(rate)} writes/s: ${whole} whole, with every row acknowledged before (goal 100)`;
}

async function measureSecondInstance() {
  await using box = await createMachineWithKey();
  await box.serve();
  const times = [];
  for (let round = 0; round < 10; round++) {
    const startedAt = performance.now();
    const { exitCode } = await box.run(["serve", "--port", "0"]);
    times.push(performance.now() - startedAt);
    if (exitCode !== 5) throw new Error(`A second instance exited with ${exitCode}.`);
  }
  return `P14  a second instance exits with 5 after ${formatMs(Math.max(...times))} at most, of 10 (goal ≤ 1 s)`;
}

async function stopUnderLoad() {
  const times = [];
  for (let round = 0; round < 5; round++) {
    await using box = await createMachineWithKey();
    await using hung = await startInbox(hang);
    const server = await box.serve({ flags: unlimited });
    const api = createServerClient(server.url, box.key);
    const hook = { type: "webhook", name: "Hangs", url: hung.at("/hook"), default: true };
    await api("POST", "/api/v1/alert-channels", hook);
    for (let number = 0; number < 30; number++)
      await api("POST", "/api/v1/monitors", {
        type: "http",
        name: `Hangs ${number}`,
        url: hung.at(`/${number}`),
        timeout: 60,
        interval: 60,
      });
    let acknowledged = 0;
    const enough = Promise.withResolvers<void>();
    const onAcknowledged = () => void (++acknowledged === 500 && enough.resolve());
    const work = { url: server.url, key: box.key, onAcknowledged };
    const writers = Array.from({ length: 12 }, (_, index) =>
      writeUntilClosed({ ...work, name: `Writer ${index}` }),
    );
    await enough.promise;
    const notifiedAt = performance.now();
    const code = await server.stop();
    times.push(performance.now() - notifiedAt);
    if (code !== 0) throw new Error(`It exited with ${code}.`);
    await Promise.all(writers);
  }
  return `P15  SIGTERM under 12 writers, 30 hanging checks and a hanging receiver: exit 0 after ${formatMs(Math.max(...times))} at most, of 5 (goal ≤ 10 s)`;
}

async function measureMutatedRequests() {
  await using box = await createMachineWithKey();
  const { url, port } = await box.serve({ flags: unlimited });
  const requests = generateMutatedRequests(box.key, createRandom(1));
  const until = performance.now() + 10_000;
  let sent = 0;
  const send = async () => {
    while (performance.now() < until) {
      const line = await readStatusLine(port, requests.next().value as string);
      if (/ 50[0-4] /.test(line)) throw new Error(line);
      sent++;
    }
  };
  const sendAll = () => Promise.all(Array.from({ length: 16 }, send));
  const { text } = await measureLatencies(sendAll, `${url}/healthz`);
  return `P16  /healthz under ${sent} mutated requests in 10 s: ${text} (goal p99 ≤ 100 ms)`;
}

async function measureDrippingClients() {
  await using box = await createMachineWithKey();
  const { url, port } = await box.serve({ flags: unlimited });
  using clients = await openManyConnections(port, 2_000, { drips: true });
  let open = 0;
  const waitForWork = async () => {
    await Bun.sleep(10_000);
    open = clients.open();
  };
  const { text } = await measureLatencies(waitForWork, `${url}/api/v1/incidents`, box.key);
  return `P17  a list while ${open} clients drip: ${text} (goal p99 ≤ 250 ms)`;
}

async function measureIdleConnections() {
  await using box = await createMachineWithKey();
  const { url, port, child } = await box.serve({ flags: unlimited });
  const script = join(import.meta.dir, "hold-connections.ts");
  const each = 9_500;
  const holders = Array.from({ length: 2 }, () =>
    Bun.spawn([process.execPath, script, String(port), String(each)], {
      stdin: "pipe",
      stdout: "pipe",
    }),
  );
  let open = 0;
  const waitForWork = async () => {
    for (const { stdout } of holders) {
      const { value } = await stdout.getReader().read();
      open += Number(new TextDecoder().decode(value));
    }
    await Bun.sleep(5_000);
  };
  const { text } = await measureLatencies(waitForWork, `${url}/healthz`);
  const mb = readResidentMb(child.pid);
  for (const { stdin } of holders) await stdin.end();
  return `P17  /healthz while ${open} silent connections come and stay: ${text}; ${mb.toFixed(0)} MB`;
}

type Box = Awaited<ReturnType<typeof createMachineWithKey>>;

async function createOwner(box: Box) {
  const ada = ["--org", "acme", "--email", "ada@acme.example", "--name", "Ada", "--json"];
  const { email, password } = JSON.parse(await expectSuccess(box.run(["users", "create", ...ada])));
  return { email, password } as { email: string; password: string };
}

/** Signs in from an address of loopback, and returns the status. */
function signIn(port: number, from: string, person: { email: string; password: string }) {
  const body = JSON.stringify(person);
  const head = [
    "POST /dashboard/sign-in HTTP/1.1",
    "Host: localhost",
    "Sec-Fetch-Site: same-origin",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Connection: close",
  ];
  return new Promise<number>((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: from });
    let response = "";
    socket.on("data", (bytes) => (response += bytes.toString("latin1")));
    socket.on("error", () => {});
    socket.on("close", () => resolve(Number(response.split(" ")[1] ?? 0)));
    socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  });
}

async function measureGuessing() {
  await using box = await createMachineWithKey();
  const person = await createOwner(box);
  const { port } = await box.serve({ flags: unlimited });
  const guess = { ...person, password: "a wrong password" };
  let left = 1_000;
  const guessRepeatedly = async () => {
    while (left-- > 0) await signIn(port, "127.0.7.1", guess);
  };
  const guessers = Array.from({ length: 20 }, guessRepeatedly);
  const askedAt = performance.now();
  const status = await signIn(port, "127.0.8.1", person);
  const took = performance.now() - askedAt;
  await Promise.all(guessers);
  if (status !== 200) throw new Error(`The owner was answered with ${status}.`);
  return `P28  the owner signs in during 1,000 guesses from one address: ${formatMs(took)} (goal ≤ 1 s)`;
}

async function measureDistributedGuessing() {
  await using box = await createMachineWithKey();
  const person = await createOwner(box);
  const { port, url } = await box.serve({ flags: unlimited });
  // The owner has signed in from this network before.
  await signIn(port, "127.0.8.1", person);
  const guess = { ...person, password: "a wrong password" };
  let isEnding = false;
  const guessers = Array.from({ length: 200 }, async (_, number) => {
    while (!isEnding) await signIn(port, `127.${10 + number}.1.1`, guess);
  });
  let took = 0;
  const waitForWork = async () => {
    await Bun.sleep(3_000);
    const askedAt = performance.now();
    const status = await signIn(port, "127.0.8.1", person);
    took = performance.now() - askedAt;
    if (status !== 200) throw new Error(`The owner was answered with ${status}.`);
    await Bun.sleep(3_000);
  };
  const { text } = await measureLatencies(waitForWork, `${url}/healthz`);
  isEnding = true;
  await Promise.all(guessers);
  return `P30  during guesses from 200 networks the owner signs in after ${formatMs(took)} (goal ≤ 1 s), /healthz ${text} (goal p99 ≤ 100 ms)`;
}
