import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { runSignalbox } from "../support/binary.ts";
import { startInbox } from "../support/inbox.ts";
import { createServerClient, createMachineWithKey, expectSuccess } from "../support/machine.ts";
import { sampleBodies } from "../support/records.ts";
import { runAlertRound } from "../support/contract-round.ts";
import { recordAnswers } from "./answers.ts";

// `bun tests/released/make.ts`, for a release: fills a data directory with the executable in dist/,
// and stores it with the API responses. Tests then prove that later versions read it unchanged.

const [version = ""] = (await expectSuccess(runSignalbox(["version"]))).split(" ").slice(-1);
const folder = join(import.meta.dir, Bun.argv[2] ?? version);
await using machine = await createMachineWithKey();
const server = await machine.serve();
const api = createServerClient(server.url, machine.key);

async function create(
  noun: string,
  fields: object = sampleBodies[noun]?.create ?? {},
): Promise<string> {
  const { status, json } = await api("POST", `/api/v1/${noun}`, fields);
  if (status !== 201) throw new Error(`${noun}: ${JSON.stringify(json)}`);
  return json.data.id;
}

await using hook = await startInbox();
const groupId = await create("monitor-groups");
const channel = await create("alert-channels", {
  type: "webhook",
  name: "Chat",
  url: hook.at("/chat"),
  secret: `whsec_${Buffer.alloc(24, "s").toString("base64")}`,
});
const alertChannelIds = [channel, await create("alert-channels")];
const job = { type: "push", name: "Backup", interval: 86_400, retries: 0 };
const monitor = await create("monitors", { ...job, groupId, alertChannelIds, tags: ["nightly"] });
const monitors = [monitor, await create("monitors")];
const { pushUrl } = (await api("GET", `/api/v1/monitors/${monitor}`)).json.data;
for (const status of ["up", "down", "up", "down"]) await fetch(`${pushUrl}?status=${status}`);
await hook.waitUntilArrived((all) => all.length > 0);
const incident = await create("incidents", {
  title: "Ausfall",
  monitorId: monitor,
  severity: "major",
});
await api("PATCH", `/api/v1/incidents/${incident}`, {
  status: "identified",
  message: "Disk — 満杯",
});
await api("POST", `/api/v1/incidents/${await create("incidents")}/resolve`);
await create("maintenance-windows", {
  ...sampleBodies["maintenance-windows"]?.create,
  monitorIds: monitors,
});
await create("status-pages");
await runAlertRound(api);

// An active monitor would be overdue when a test reads this.
for (const id of monitors) await api("PATCH", `/api/v1/monitors/${id}`, { paused: true });

await Bun.write(join(folder, "answers.json"), JSON.stringify(await recordAnswers(api), null, 2));
await server.stop();
mkdirSync(folder, { recursive: true });
const backup = join(machine.directory, "backup");
await expectSuccess(machine.run(["backup", backup]));
await Bun.write(join(folder, "signalbox.db.gz"), Bun.gzipSync(await Bun.file(backup).bytes()));
await Bun.write(join(folder, "secret.key"), Bun.file(join(machine.dataDir, "secret.key")));
await Bun.write(join(folder, "api.key"), machine.key);
