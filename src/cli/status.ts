/** `signalbox status`: shows the monitors and open incidents of a server. */
import type { Command } from "commander";
import { monitorStatuses } from "../core/statuses.ts";
import { durationInWords } from "../core/text/words.ts";
import { momentIn } from "../core/time/times.ts";
import {
  allOf,
  type Client,
  type ClientOptions,
  connect,
  onServer,
  pageOf,
} from "./support/client.ts";
import { printJson, printTable } from "./support/output.ts";

export function addStatus(program: Command) {
  onServer(program.command("status"))
    .description(
      "show monitors that are down and since when, open incidents and current maintenance; exits with 1 if a monitor is down",
    )
    .action(async (options: ClientOptions) => {
      const client = await connect(options);
      const status = await statusOf(client);
      if (options.json) printJson(status);
      else show(status, client.now());
      const { down } = status.monitors;
      if (down > 0)
        throw new Error(down === 1 ? "A monitor is down." : `${down} monitors are down.`);
    });
}

type Status = Awaited<ReturnType<typeof statusOf>>;

async function statusOf({ v1 }: Client) {
  const counts = monitorStatuses.map(async (status) => {
    const { meta } = await pageOf(v1.monitors.get({ query: { status, per_page: 1 } }));
    return [status, meta.total] as const;
  });
  const [monitors, down, incidents, maintenance] = await Promise.all([
    Promise.all(counts),
    allOf((page) => v1.monitors.get({ query: { ...page, status: "down" } })),
    allOf((page) => v1.incidents.get({ query: { ...page, open: "true" } })),
    allOf((page) => v1["maintenance-windows"].get({ query: { ...page, state: "running" } })),
  ]);
  // The requests are not simultaneous. The list of down monitors is used for both, so that they
  // agree.
  const total = Object.fromEntries(monitors) as Record<(typeof monitorStatuses)[number], number>;
  return { monitors: { ...total, down: down.length }, down, incidents, maintenance };
}

function show({ monitors, down, incidents, maintenance }: Status, now: number) {
  const counts = monitorStatuses.filter((status) => monitors[status] > 0);
  process.stdout.write(
    counts.length === 0
      ? "No monitors\n"
      : `${counts.map((status) => `${monitors[status]} ${status}`).join(", ")}\n`,
  );
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const moment = (at: string) => momentIn(timeZone, Date.parse(at), now);
  const since = (at: string) =>
    `${moment(at)} (${durationInWords((now - Date.parse(at)) / 1_000)})`;
  const parts: Record<string, Record<string, string | null>[]> = {
    Down: down.map(({ name, statusSince, lastMessage }) => ({
      name,
      since: since(statusSince),
      why: lastMessage,
    })),
    "Open incidents": incidents.map(({ id, title, severity, status, createdAt }) => ({
      title,
      severity,
      status,
      since: since(createdAt),
      id,
    })),
    "Maintenance under way": maintenance.map(({ id, title, current }) => ({
      title,
      until: current && moment(current.endsAt),
      id,
    })),
  };
  for (const [heading, rows] of Object.entries(parts))
    if (rows.length > 0) {
      process.stdout.write(`\n${heading}\n`);
      printTable(rows);
    }
}
