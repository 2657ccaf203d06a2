/** `signalbox maintenance`: starts and ends maintenance on a server. */
import type { Command } from "commander";
import { invalidFieldError } from "../core/validation.ts";
import {
  type ClientOptions,
  connectToServer,
  unwrapData,
  addServerOptions,
} from "./support/client.ts";
import { parseDurationMs } from "./support/input.ts";
import { printCreated, printJson, printMessage } from "./support/output.ts";
import { maxLengthMs } from "../monitoring/maintenance/rules.ts";
import { findGroup, findMonitors, findWindow } from "./support/records.ts";

type StartOptions = ClientOptions & {
  for: string;
  monitor?: string[];
  group?: string[];
  description?: string;
  internal?: boolean;
};

export function addMaintenance(program: Command) {
  const maintenance = program.command("maintenance").description("planned work on a server");

  addServerOptions(maintenance.command("start").argument("<title>", "title"))
    .description("start maintenance now, hold the alerts of its monitors, and print its id")
    .requiredOption("--for <duration>", "duration, such as 30m or 2h")
    .option("--monitor <monitor...>", "monitors, by id, name or start of a name")
    .option("--group <group...>", "groups with all their monitors, by id, name or start of a name")
    .option("--description <text>", "description, as Markdown")
    .option("--internal", "hide it from status pages")
    .action(async (title: string, options: StartOptions) => {
      const { monitor = [], group = [], description = "", internal = false } = options;
      const lengthMs = parseDurationMs("--for", options.for, {
        examples: "30m, 2h or 3d",
        maxMs: maxLengthMs,
      });
      if (monitor.length + group.length === 0)
        throw invalidFieldError("--monitor", "or --group is needed");
      const client = await connectToServer(options);
      const monitors = await findMonitors(client, monitor);
      const groups = await Promise.all(group.map((words) => findGroup(client, words)));
      const now = client.now();
      const started = await unwrapData(
        client.v1["maintenance-windows"].post({
          title,
          description,
          startsAt: new Date(now).toISOString(),
          endsAt: new Date(now + lengthMs).toISOString(),
          monitorIds: monitors.map(({ id }) => id),
          groupIds: groups.map(({ id }) => id),
          public: !internal,
        }),
      );
      printCreated(started, options);
    });

  addServerOptions(
    maintenance.command("end").argument("<window>", "id, title or unique start of a title"),
  )
    .description("end current maintenance early")
    .action(async (words: string, options: ClientOptions) => {
      const client = await connectToServer(options);
      const { id, title, startsAt, rrule, state } = await findWindow(client, words);
      if (state !== "running") throw new Error(`${title} is not under way.`);
      if (rrule !== null)
        throw new Error(`${title} repeats: change it in the admin page, or delete it.`);
      // The end must be after the start, which can be within this second.
      const endsAt = Math.max(client.now(), Date.parse(startsAt) + 1);
      const ended = await unwrapData(
        client.v1["maintenance-windows"]({ id }).patch({ endsAt: new Date(endsAt).toISOString() }),
      );
      if (options.json) printJson(ended);
      else printMessage(`${title} has ended.`);
    });
}
