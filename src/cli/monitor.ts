/** `signalbox monitor`: lists, pauses and checks monitors of a server. */
import { type Command, Option } from "commander";
import { monitorStatuses, type MonitorStatus } from "../core/statuses.ts";
import { latencyInWords } from "../core/text/words.ts";
import type { Heartbeat } from "../monitoring/uptime/schema.ts";
import { allOf, type ClientOptions, connect, dataOf, onServer } from "./support/client.ts";
import { findMonitors } from "./support/records.ts";
import { plain, printJson, printTable, say } from "./support/output.ts";

type ListOptions = ClientOptions & { status?: MonitorStatus; tag?: string; search?: string };

const whichMonitor = "id, name or unique start of a name";

export function addMonitor(program: Command) {
  const monitor = program.command("monitor").description("monitors of a server");

  onServer(monitor.command("list"))
    .description("list the monitors")
    .addOption(
      new Option("--status <status>", "only monitors in this state").choices(monitorStatuses),
    )
    .option("--tag <tag>", "only monitors with this tag")
    .option("--search <text>", "only monitors whose name contains this text (case-insensitive)")
    .action(async ({ status, tag, search: q, ...options }: ListOptions) => {
      const { v1 } = await connect(options);
      const query = { ...(status && { status }), ...(tag && { tag }), ...(q && { q }) };
      const found = await allOf((page) => v1.monitors.get({ query: { ...page, ...query } }));
      if (options.json) printJson(found);
      else
        printTable(
          found.map(({ id, name, type, status, statusSince }) => ({
            name,
            type,
            status,
            since: statusSince,
            id,
          })),
        );
    });

  for (const [verb, paused] of [
    ["pause", true],
    ["resume", false],
  ] as const)
    onServer(monitor.command(verb).argument("<monitor...>", whichMonitor))
      .description(`${verb} monitors`)
      .action(async (words: string[], options: ClientOptions) => {
        const client = await connect(options);
        const changed = [];
        for (const { id } of await findMonitors(client, words))
          changed.push(await dataOf(client.v1.monitors({ id }).patch({ paused })));
        if (options.json) printJson(changed);
        else for (const { name } of changed) say(`${name} is ${paused ? "paused" : "resumed"}.`);
      });

  onServer(monitor.command("check").argument("<monitor...>", whichMonitor))
    .description("check monitors now; exits with 1 unless all are up")
    .action(async (words: string[], options: ClientOptions) => {
      const client = await connect(options);
      const checks = [];
      for (const { id, name } of await findMonitors(client, words)) {
        const heartbeat = await dataOf(client.v1.monitors({ id }).check.post());
        checks.push({ id, name, ...heartbeat });
        if (!options.json) process.stdout.write(`${sentenceOf(name, heartbeat)}\n`);
      }
      if (options.json) printJson(checks);
      const failed = checks.filter((heartbeat) => !hasPassed(heartbeat));
      if (failed.length > 0)
        throw new Error(`Not up: ${failed.map(({ name }) => name).join(", ")}.`);
    });
}

/** Whether a check succeeded. During maintenance, only a failed check has a message. */
const hasPassed = ({ status, message }: Heartbeat) =>
  ["up", "degraded"].includes(status) || (status === "maintenance" && message === null);

function sentenceOf(name: string, { status, latencyMs, message }: Heartbeat): string {
  const latency = latencyMs === null ? "" : ` in ${latencyInWords(latencyMs)}`;
  return plain(`${name}: ${status}${latency}${message === null ? "" : `: ${message}`}`);
}
