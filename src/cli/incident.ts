/** `signalbox incident`: opens, updates and resolves incidents of a server. */
import { type Command, Option } from "commander";
import { incidentStatuses, severities } from "../core/statuses.ts";
import type { IncidentPatch, NewIncident } from "../incidents/schema.ts";
import { invalid } from "../core/validation.ts";
import { type ClientOptions, connect, dataOf, onServer } from "./support/client.ts";
import { printCreated, printJson, say } from "./support/output.ts";
import { findIncident, findMonitors } from "./support/records.ts";

type OpenOptions = ClientOptions &
  Pick<NewIncident, "severity" | "message"> & { monitor?: string[]; internal?: boolean };
type UpdateOptions = ClientOptions &
  Pick<IncidentPatch, "title" | "severity" | "status" | "message">;

const whichIncident = "id, title or unique start of the title of an open incident";
const severity = () => new Option("--severity <severity>", "severity").choices(severities);
const message = ["--message <text>", "text of the update, as Markdown"] as const;

export function addIncident(program: Command) {
  const incident = program.command("incident").description("incidents of a server");

  onServer(incident.command("open").argument("<title>", "title"))
    .description("open an incident and print its id")
    .addOption(severity().default("minor"))
    .option(...message)
    .option("--monitor <monitor...>", "affected monitors, by id, name or start of a name")
    .option("--internal", "hide it from status pages")
    .action(async (title: string, options: OpenOptions) => {
      const { severity, message, monitor = [], internal = false } = options;
      const client = await connect(options);
      const monitors = await findMonitors(client, monitor);
      const opened = await dataOf(
        client.v1.incidents.post({
          title,
          severity,
          public: !internal,
          monitorIds: monitors.map(({ id }) => id),
          ...(message !== undefined && { message }),
        }),
      );
      printCreated(opened, options);
    });

  onServer(incident.command("update").argument("<incident>", whichIncident))
    .description("post an update to an incident, or correct it")
    .addOption(new Option("--status <status>", "the new status").choices(incidentStatuses))
    .option(...message)
    .addOption(severity())
    .option("--title <title>", "title")
    .action(async (words: string, options: UpdateOptions) => {
      const { status, message, severity, title } = options;
      if ([status, message, severity, title].every((value) => value === undefined))
        throw invalid("--status", "or --message, --severity or --title is needed");
      const client = await connect(options);
      const { id } = await findIncident(client, words);
      const patch = { status, message, severity, title };
      told(await dataOf(client.v1.incidents({ id }).patch(defined(patch))), options);
    });

  onServer(incident.command("resolve").argument("<incident>", whichIncident))
    .description("resolve an incident")
    .option(...message)
    .action(async (words: string, options: ClientOptions & { message?: string }) => {
      const client = await connect(options);
      const { id } = await findIncident(client, words);
      const patch = { status: "resolved" as const, message: options.message };
      told(await dataOf(client.v1.incidents({ id }).patch(defined(patch))), options);
    });
}

/** Removes undefined fields. */
const defined = <T extends object>(value: T) =>
  JSON.parse(JSON.stringify(value)) as { [K in keyof T]?: Exclude<T[K], undefined> };

function told(incident: { title: string; status: string }, { json }: ClientOptions) {
  if (json) printJson(incident);
  else say(`${incident.title}: ${incident.status}.`);
}
