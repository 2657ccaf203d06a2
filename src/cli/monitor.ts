/** `signalbox monitor`: lists, pauses and checks monitors of a server. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { monitorStatuses, type MonitorStatus } from "../core/statuses.ts";
import { formatLatency } from "../core/text/formatting.ts";
import type { Heartbeat } from "../monitoring/uptime/schema.ts";
import {
  fetchAllPages,
  type ClientOptions,
  connectToServer,
  unwrapData,
  addServerOptions,
} from "./support/client.ts";
import { findMonitors } from "./support/records.ts";
import { cleanLine, printJson, printTable, printMessage } from "./support/output.ts";

type ListOptions = ClientOptions & { status?: MonitorStatus; tag?: string; search?: string };

type SetOptions = ClientOptions & { message?: string; until?: string };

const manualStatuses = ["up", "degraded", "down"] as const;
type ManualStatus = (typeof manualStatuses)[number];

function parseManualStatus(text: string): ManualStatus {
  const status = manualStatuses.find((one) => one === text);
  if (status === undefined)
    throw new InvalidArgumentError(`It must be one of: ${manualStatuses.join(", ")}.`);
  return status;
}

const monitorArgumentHelp = "id, name or unique start of a name";

export function addMonitor(program: Command) {
  const monitor = program.command("monitor").description("monitors of a server");

  addServerOptions(monitor.command("list"))
    .description("list the monitors")
    .addOption(
      new Option("--status <status>", "only monitors in this state").choices(monitorStatuses),
    )
    .option("--tag <tag>", "only monitors with this tag")
    .option("--search <text>", "only monitors whose name contains this text (case-insensitive)")
    .action(async ({ status, tag, search: q, ...options }: ListOptions) => {
      const { v1 } = await connectToServer(options);
      const query = { ...(status && { status }), ...(tag && { tag }), ...(q && { q }) };
      const found = await fetchAllPages((page) =>
        v1.monitors.get({ query: { ...page, ...query } }),
      );
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
    addServerOptions(monitor.command(verb).argument("<monitor...>", monitorArgumentHelp))
      .description(`${verb} monitors`)
      .action(async (words: string[], options: ClientOptions) => {
        const client = await connectToServer(options);
        const changed = [];
        for (const { id } of await findMonitors(client, words))
          changed.push(await unwrapData(client.v1.monitors({ id }).patch({ paused })));
        if (options.json) printJson(changed);
        else
          for (const { name } of changed)
            printMessage(`${name} is ${paused ? "paused" : "resumed"}.`);
      });

  addSet(monitor);

  addServerOptions(monitor.command("check").argument("<monitor...>", monitorArgumentHelp))
    .description("check monitors now; exits with 1 unless all are up")
    .action(async (words: string[], options: ClientOptions) => {
      const client = await connectToServer(options);
      const checks = [];
      for (const { id, name } of await findMonitors(client, words)) {
        const heartbeat = await unwrapData(client.v1.monitors({ id }).check.post());
        checks.push({ id, name, ...heartbeat });
        if (!options.json) process.stdout.write(`${describeHeartbeat(name, heartbeat)}\n`);
      }
      if (options.json) printJson(checks);
      const failed = checks.filter((heartbeat) => !hasPassed(heartbeat));
      if (failed.length > 0)
        throw new Error(`Not up: ${failed.map(({ name }) => name).join(", ")}.`);
    });
}

function addSet(monitor: Command) {
  addServerOptions(
    monitor
      .command("set")
      .argument("<status>", manualStatuses.join(", "), parseManualStatus)
      .argument("<monitor...>", monitorArgumentHelp),
  )
    .description("set the status of manual monitors")
    .option("--message <text>", "reason, for the organization")
    .option("--until <time>", "when it is up again, such as 2026-11-20T18:40:00Z")
    .action(async (status: ManualStatus, words: string[], options: SetOptions) => {
      const client = await connectToServer(options);
      const manual = {
        manualStatus: status,
        manualMessage: options.message ?? null,
        manualUntil: options.until ?? null,
      };
      const changed = [];
      for (const { id } of await findMonitors(client, words))
        changed.push(await unwrapData(client.v1.monitors({ id }).patch(manual)));
      if (options.json) printJson(changed);
      else for (const { name } of changed) printMessage(`${name} is set to ${status}.`);
    });
}

/** Whether a check succeeded. During maintenance, only a failed check has a message. */
const hasPassed = ({ status, message }: Heartbeat) =>
  ["up", "degraded"].includes(status) || (status === "maintenance" && message === null);

function describeHeartbeat(name: string, { status, latencyMs, message }: Heartbeat): string {
  const latency = latencyMs === null ? "" : ` in ${formatLatency(latencyMs)}`;
  return cleanLine(`${name}: ${status}${latency}${message === null ? "" : `: ${message}`}`);
}
