/** `signalbox incident`: opens, updates and resolves incidents of a server. */
import { type Command, Option } from "commander";
import { incidentStatuses, severities } from "../core/statuses.ts";
import type { IncidentPatch, NewIncident } from "../incidents/schema.ts";
import { invalidFieldError } from "../core/validation.ts";
import {
  type ClientOptions,
  connectToServer,
  unwrapData,
  addServerOptions,
} from "./support/client.ts";
import { printCreated, printJson, printMessage } from "./support/output.ts";
import { findIncident, findMonitors } from "./support/records.ts";

type OpenOptions = ClientOptions &
  Pick<NewIncident, "severity" | "message"> & { monitor?: string[]; internal?: boolean };
type UpdateOptions = ClientOptions &
  Pick<IncidentPatch, "title" | "severity" | "status" | "message">;

const incidentArgumentHelp = "id, title or unique start of the title of an open incident";
const createSeverityOption = () =>
  new Option("--severity <severity>", "severity").choices(severities);
const messageOption = ["--message <text>", "text of the update, as Markdown"] as const;

export function addIncident(program: Command) {
  const incident = program.command("incident").description("incidents of a server");

  addServerOptions(incident.command("open").argument("<title>", "title"))
    .description("open an incident and print its id")
    .addOption(createSeverityOption().default("minor"))
    .option(...messageOption)
    .option("--monitor <monitor...>", "affected monitors, by id, name or start of a name")
    .option("--internal", "hide it from status pages")
    .action(async (title: string, options: OpenOptions) => {
      const { severity, message, monitor = [], internal = false } = options;
      const client = await connectToServer(options);
      const monitors = await findMonitors(client, monitor);
      const opened = await unwrapData(
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

  addServerOptions(incident.command("update").argument("<incident>", incidentArgumentHelp))
    .description("post an update to an incident, or correct it")
    .addOption(new Option("--status <status>", "the new status").choices(incidentStatuses))
    .option(...messageOption)
    .addOption(createSeverityOption())
    .option("--title <title>", "title")
    .action(async (words: string, options: UpdateOptions) => {
      const { status, message, severity, title } = options;
      if ([status, message, severity, title].every((value) => value === undefined))
        throw invalidFieldError("--status", "or --message, --severity or --title is needed");
      const client = await connectToServer(options);
      const { id } = await findIncident(client, words);
      const patch = { status, message, severity, title };
      printIncident(
        await unwrapData(client.v1.incidents({ id }).patch(omitUndefined(patch))),
        options,
      );
    });

  addServerOptions(incident.command("resolve").argument("<incident>", incidentArgumentHelp))
    .description("resolve an incident")
    .option(...messageOption)
    .action(async (words: string, options: ClientOptions & { message?: string }) => {
      const client = await connectToServer(options);
      const { id } = await findIncident(client, words);
      const patch = { status: "resolved" as const, message: options.message };
      printIncident(
        await unwrapData(client.v1.incidents({ id }).patch(omitUndefined(patch))),
        options,
      );
    });
}

/** Removes undefined fields. */
const omitUndefined = <T extends object>(value: T) =>
  JSON.parse(JSON.stringify(value)) as { [K in keyof T]?: Exclude<T[K], undefined> };

function printIncident(incident: { title: string; status: string }, { json }: ClientOptions) {
  if (json) printJson(incident);
  else printMessage(`${incident.title}: ${incident.status}.`);
}
