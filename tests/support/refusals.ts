/** Runs in a separate process inside a `network()`: prints the check result of each address. */
import { monitorKinds, type MonitorType } from "../../src/monitoring/monitors/kinds-schema.ts";
import { getFreePort } from "./binary.ts";
import { runCheckOfType } from "./check-runs.ts";
import { fakes } from "./fakes/all.ts";

const [noNeighbor = "", noService = "", noRoute = ""] = process.argv.slice(2);
const tcp = { port: getFreePort() };

const found: [string, string][] = [];
for (const host of [noNeighbor, noService, noRoute])
  found.push([host, (await runCheckOfType("tcp", { host, ...tcp })).message]);
for (const [type, fake] of Object.entries(fakes)) {
  const at = fake.at?.(noRoute, tcp.port, false) ?? { host: noRoute, ...tcp };
  found.push([type, (await runCheckOfType(type, { ...at, ...fake.fields })).message]);
}
const plain: MonitorType[] = ["http", "tls"];
for (const type of plain) {
  const fields =
    "url" in monitorKinds[type].fields ? { url: `http://${noRoute}/` } : { host: noRoute };
  found.push([type, (await runCheckOfType(type, fields)).message]);
}
console.log(JSON.stringify(found));
process.exit(0);
