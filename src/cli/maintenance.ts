import type { Command } from "commander";
import { invalid } from "../core/validation.ts";
import { type ClientOptions, connect, dataOf, onServer } from "./support/client.ts";
import { durationMs } from "./support/input.ts";
import { printCreated, printJson, say } from "./support/output.ts";
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

  onServer(maintenance.command("start").argument("<title>", "what is done"))
    .description("begin maintenance now, which holds alerts of its monitors, and print its id")
    .requiredOption("--for <duration>", "how long it lasts, such as 30m or 2h")
    .option("--monitor <monitor...>", "monitors, by id, name or the beginning of a name")
    .option("--group <group...>", "groups with all their monitors, by the same")
    .option("--description <text>", "what is being done, as Markdown")
    .option("--internal", "keep it off the status pages")
    .action(async (title: string, options: StartOptions) => {
      const { monitor = [], group = [], description = "", internal = false } = options;
      const lengthMs = durationMs("--for", options.for, {
        examples: "30m, 2h or 3d",
        maxMs: maxLengthMs,
      });
      if (monitor.length + group.length === 0) throw invalid("--monitor", "or --group is needed");
      const client = await connect(options);
      const monitors = await findMonitors(client, monitor);
      const groups = await Promise.all(group.map((words) => findGroup(client, words)));
      const now = client.now();
      const started = await dataOf(
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

  onServer(
    maintenance
      .command("end")
      .argument("<window>", "id, or title or start of a title that no other under way has"),
  )
    .description("end maintenance under way before its time")
    .action(async (words: string, options: ClientOptions) => {
      const client = await connect(options);
      const { id, title, startsAt, rrule, state } = await findWindow(client, words);
      if (state !== "running") throw new Error(`${title} is not under way.`);
      if (rrule !== null)
        throw new Error(`${title} repeats: change it in the admin page, or delete it.`);
      // An end has to be after its start, which may be of this second.
      const endsAt = Math.max(client.now(), Date.parse(startsAt) + 1);
      const ended = await dataOf(
        client.v1["maintenance-windows"]({ id }).patch({ endsAt: new Date(endsAt).toISOString() }),
      );
      if (options.json) printJson(ended);
      else say(`${title} has ended.`);
    });
}
