/** `signalbox status`: shows the monitors and open incidents of a server. */
import type { Command } from "commander";
import { monitorStatuses } from "../core/statuses.ts";
import { formatDuration } from "../core/text/formatting.ts";
import { formatDateTime } from "../core/time/times.ts";
import {
  fetchAllPages,
  type Client,
  type ClientOptions,
  connectToServer,
  addServerOptions,
  unwrapPage,
} from "./support/client.ts";
import { printJson, printTable } from "./support/output.ts";

export function addStatus(program: Command) {
  addServerOptions(program.command("status"))
    .description(
      "show monitors that are down and since when, open incidents and current maintenance; exits with 1 if a monitor is down",
    )
    .action(async (options: ClientOptions) => {
      const client = await connectToServer(options);
      const status = await fetchStatus(client);
      if (options.json) printJson(status);
      else printStatus(status, client.now());
      const { down } = status.monitors;
      if (down > 0)
        throw new Error(down === 1 ? "A monitor is down." : `${down} monitors are down.`);
    });
}

type Status = Awaited<ReturnType<typeof fetchStatus>>;

async function fetchStatus({ v1 }: Client) {
  const counts = monitorStatuses.map(async (status) => {
    const { meta } = await unwrapPage(v1.monitors.get({ query: { status, per_page: 1 } }));
    return [status, meta.total] as const;
  });
  const [monitors, down, incidents, maintenance] = await Promise.all([
    Promise.all(counts),
    fetchAllPages((page) => v1.monitors.get({ query: { ...page, status: "down" } })),
    fetchAllPages((page) => v1.incidents.get({ query: { ...page, open: "true" } })),
    fetchAllPages((page) =>
      v1["maintenance-windows"].get({ query: { ...page, state: "running" } }),
    ),
  ]);
  // The requests are not simultaneous. The list of down monitors is used for both, so that they
  // agree.
  const total = Object.fromEntries(monitors) as Record<(typeof monitorStatuses)[number], number>;
  return { monitors: { ...total, down: down.length }, down, incidents, maintenance };
}

function printStatus({ monitors, down, incidents, maintenance }: Status, now: number) {
  const counts = monitorStatuses.filter((status) => monitors[status] > 0);
  process.stdout.write(
    counts.length === 0
      ? "No monitors\n"
      : `${counts.map((status) => `${monitors[status]} ${status}`).join(", ")}\n`,
  );
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const formatMoment = (at: string) => formatDateTime(timeZone, Date.parse(at), now);
  const formatSince = (at: string) =>
    `${formatMoment(at)} (${formatDuration((now - Date.parse(at)) / 1_000)})`;
  const parts: Record<string, Record<string, string | null>[]> = {
    Down: down.map(({ name, statusSince, lastMessage }) => ({
      name,
      since: formatSince(statusSince),
      why: lastMessage,
    })),
    "Open incidents": incidents.map(({ id, title, severity, status, createdAt }) => ({
      title,
      severity,
      status,
      since: formatSince(createdAt),
      id,
    })),
    "Maintenance under way": maintenance.map(({ id, title, current }) => ({
      title,
      until: current && formatMoment(current.endsAt),
      id,
    })),
  };
  for (const [heading, rows] of Object.entries(parts))
    if (rows.length > 0) {
      process.stdout.write(`\n${heading}\n`);
      printTable(rows);
    }
}
