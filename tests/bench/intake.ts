/**
 * Measures 500 reports per second in the format of each tool: lost and doubled reports, and the effect on other
 * requests.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { sourceBounds } from "../../src/core/limits.ts";
import { getFreePort } from "../support/binary.ts";
import { createMachineWithKey, createServerClient, expectSuccess } from "../support/machine.ts";
import { isMail, type Sender, senders, type SentRequest } from "../support/senders.ts";
import { measureLatencies } from "./faults.ts";
import { countResults } from "./heartbeats.ts";
import { computeQuantile, readResidentMb } from "./process.ts";

const seconds = Number(process.env["INTAKE_SECONDS"] ?? 60);
/** Mails have a limit of connections per network and minute. */
const getRatePerSecond = (sender: Sender) => (isMail(sender) ? 100 : 500);
const control = { monitors: 20, interval: 5 };
/** Each problem starts, is repeated twice, ends, and its end is repeated. Problems of different chains overlap. */
const steps = [false, false, false, true, true];
const chains = 100;

/** Sends reports of each kind except those of Amazon SNS, whose signatures only Amazon can create. */
export async function benchIntake() {
  console.log(
    `intake: ${seconds} s of reports of each kind, with ${control.monitors} other monitors\n`,
  );
  for (const [name, sender] of Object.entries(senders))
    console.log(`  ${name}: ${await measure(sender)}`);
}

async function measure(sender: Sender): Promise<string> {
  await using box = await createMachineWithKey();
  const smtpPort = getFreePort();
  const server = await box.serve({ flags: ["--smtp-port", String(smtpPort)] });
  const pid = server.child.pid;
  const api = createServerClient(server.url, box.key);
  using target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("fine") });
  for (let number = 0; number < control.monitors; number++)
    await api("POST", "/api/v1/monitors", {
      type: "http",
      name: `Control ${number}`,
      url: `${target.url.href}ok`,
      interval: control.interval,
    });
  const keys = ["keys", "create", "--org", "acme", "--name", "Jobs", "--scope", "ping"];
  const pingKey =
    sender.receiver === "job with a ping key" ? await expectSuccess(box.run(keys)) : null;
  const tokens = await createReceivers(api, sender, pingKey);
  const deliver = isMail(sender) ? createMailer(smtpPort) : createPoster(server.url);
  const idle = await measureLatencies(() => Bun.sleep(2_000), `${server.url}/healthz`);
  const from = Date.now();
  let memory = 0;
  const watch = setInterval(() => (memory = Math.max(memory, readResidentMb(pid))), 200);
  let sent = { acknowledged: 0, rejected: 0, problems: 0, latencies: [0] };
  const health = await measureLatencies(async () => {
    sent = await send(sender, tokens, deliver);
  }, `${server.url}/healthz`);
  clearInterval(watch);
  await server.stop();
  const file = join(box.dataDir, "signalbox.db");
  const checks = countResults(file, from, control.interval, "healthy");
  return [
    `${sent.acknowledged} accepted, ${sent.rejected} rejected, ${describeStored(file, sender, sent)}`,
    `p99 ${computeQuantile(sent.latencies, 0.99).toFixed(0)} ms, /healthz ${health.text} (idle ${idle.text})`,
    `other checks: gap most ${checks.gapMax} ms, ${checks.failed} failed; at most ${memory.toFixed(0)} MB`,
  ].join("; ");
}

type Api = ReturnType<typeof createServerClient>;

/** Creates as many receivers as the limits of one need. Returns their tokens. */
async function createReceivers(api: Api, sender: Sender, pingKey: string | null) {
  const isJob = sender.receiver.startsWith("job");
  const perSource = (isMail(sender) ? sourceBounds.mails : sourceBounds.loggedRequests).value * 0.8;
  const count = isJob ? 25 : Math.ceil((getRatePerSecond(sender) * seconds) / perSource);
  const tokens: string[] = [];
  for (let number = 0; number < count; number++) {
    const common = { name: `Receiver ${number}`, alertChannelIds: [], ...sender.fields };
    if (isJob) {
      const slug = `job-${number}`;
      const job = { ...common, type: "push", interval: 86_400, slug };
      const { pushUrl } = (await api("POST", "/api/v1/monitors", job)).json.data;
      tokens.push(pingKey === null ? pushUrl.split("/").at(-1) : `${pingKey}/${slug}`);
    } else {
      const source = { ...common, type: sender.receiver };
      const { address } = (await api("POST", "/api/v1/alert-sources", source)).json.data;
      tokens.push(/\+(\w+)@|\/in\/(\w+)$/.exec(address)?.slice(1).join("") ?? "");
    }
  }
  return tokens;
}

type Deliver = (sent: SentRequest) => Promise<boolean>;

const createPoster =
  (url: string): Deliver =>
  async ({ method, path, body, headers }) => {
    const type = path.startsWith("/push") ? "application/x-www-form-urlencoded" : "text/plain";
    const response = await fetch(url + path, {
      method,
      ...(method === "POST" && { body, headers: { "Content-Type": type, ...headers } }),
    });
    await response.bytes();
    return response.ok;
  };

function createMailer(port: number): Deliver {
  const options = { host: "127.0.0.1", port, pool: true, maxConnections: 8, maxMessages: 90 };
  const transport = createTransport(options);
  return async ({ path, body }) => {
    await transport.sendMail({ raw: body, envelope: { from: "nas@lan.example", to: path } });
    return true;
  };
}

/** Sends reports at a fixed rate, regardless of latency, and those about one problem in their order. */
async function send(sender: Sender, tokens: readonly string[], deliver: Deliver) {
  const result = { acknowledged: 0, rejected: 0, problems: 0, latencies: [] as number[] };
  const last = Array.from({ length: chains }, () => Promise.resolve());
  const [rate, startedAt] = [getRatePerSecond(sender), performance.now()];
  const total = Math.ceil((rate * seconds) / (chains * steps.length)) * chains * steps.length;
  const sendOne = async (index: number, dueAt: number) => {
    const problem = Math.floor(index / (chains * steps.length)) * chains + (index % chains);
    const isOver = steps[Math.floor(index / chains) % steps.length] ?? false;
    const token = tokens[problem % tokens.length] ?? "";
    const times = {
      startedAt: Date.UTC(2026, 0, 1) + problem * 1_000,
      at: Date.UTC(2026, 0, 2) + index,
    };
    const report = sender.write(token, { problem: `disk-${problem}`, isOver, ...times });
    const isAccepted = await deliver(report).catch(() => false);
    result[isAccepted ? "acknowledged" : "rejected"] += 1;
    result.latencies.push(performance.now() - dueAt);
  };
  for (let index = 0; index < total; index++) {
    const dueAt = startedAt + (index * 1_000) / rate;
    if (dueAt > performance.now()) await Bun.sleep(Math.max(1, dueAt - performance.now()));
    const chain = index % chains;
    last[chain] = (last[chain] ?? Promise.resolve()).then(() => sendOne(index, dueAt));
  }
  await Promise.all(last);
  result.problems = total / steps.length;
  return result;
}

/** Compares the stored rows with the accepted reports. */
function describeStored(
  file: string,
  sender: Sender,
  { acknowledged, problems }: { acknowledged: number; problems: number },
): string {
  using database = new Database(file, { readonly: true });
  const read = (text: string) => Number(database.query(`select ${text}`).values()[0]?.[0] ?? 0);
  if (sender.receiver.startsWith("job")) {
    const stored =
      read(`count(*) from heartbeats where monitor_key in (select key from monitor_states
      s join monitors m on m.id = s.monitor_id where m.type = 'push')`);
    return `${stored} stored (${stored === acknowledged ? "right" : "WRONG"})`;
  }
  const stored = read("sum(count) from alert_source_requests where status = 200");
  const [opened, resolved] = ["opened", "resolved"].map((verb) =>
    read(`count(*) from events where type = 'source-alert.${verb}'`),
  );
  const isRight = stored === acknowledged && opened === problems && resolved === problems;
  return `${stored} stored, ${opened} of ${problems} alerts opened, ${resolved} resolved (${isRight ? "right" : "WRONG"})`;
}
