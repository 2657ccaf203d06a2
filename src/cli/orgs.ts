/** `signalbox orgs`: manages organizations in the data directory. */
import type { Command } from "commander";
import { deleteOrganization } from "../operations/appliance/service.ts";
import { readSystemClock } from "../core/time/clock.ts";
import { invalidFieldError } from "../core/validation.ts";
import {
  createOrganization,
  getOrganization,
  listOrganizations,
  type Organization,
} from "../accounts/organizations/service.ts";
import { printJson, printRows, printMessage } from "./support/output.ts";
import {
  createCommandLineScope,
  type DataOptions,
  addDataOptions,
  withData,
  useNewData,
} from "./support/with-data.ts";

export function addOrgs(program: Command) {
  const orgs = program.command("orgs").description("organizations");

  addDataOptions(orgs.command("create").argument("<name>", "name of the organization"))
    .description("create an organization and print its slug")
    .action((name: string, options: DataOptions) =>
      useNewData(options, async ({ store }) => {
        const others = await listOrganizations(store);
        const organization = await createOrganization(store, readSystemClock, name);
        for (const sentence of listNotices(organization, others)) printMessage(sentence);
        if (options.json) printJson(organization);
        else process.stdout.write(`${organization.slug}\n`);
      }),
    );

  addDataOptions(orgs.command("list"))
    .description("list the organizations")
    .action((options: DataOptions) =>
      withData(options, async ({ store }) => {
        const rows = await listOrganizations(store);
        printRows(
          rows.map(({ slug, name, createdAt }) => ({ slug, name, createdAt })),
          options,
        );
      }),
    );

  addDataOptions(orgs.command("delete").argument("<slug>", "slug of the organization"))
    .description("permanently delete an organization with all its data")
    .option("--yes", "confirm the deletion")
    .action((slug: string, options: DataOptions & { yes?: boolean }) =>
      withData(options, async (data) => {
        const { id, name } = await getOrganization(data.store, slug);
        if (options.yes !== true)
          throw invalidFieldError(
            "--yes",
            `is needed to delete ${name} permanently, with all its data`,
          );
        await deleteOrganization(createCommandLineScope(data, id), id);
        if (options.json) printJson({ id, slug, deleted: true });
        else printMessage(`${name} is deleted.`);
      }),
    );
}

/** Returns notices for the person who created an organization, depending on the other organizations. */
function listNotices({ name, slug }: Organization, others: readonly Organization[]): string[] {
  const namesake = others.find((other) => other.name === name);
  return [
    ...(namesake === undefined
      ? []
      : [
          `There already was an organization named ${name} (${namesake.slug}). The new one is ${slug}.`,
        ]),
    ...(others.length === 1
      ? [
          "This appliance now has two organizations. From now on, monitors and alerts of both can't reach " +
            "this machine's own loopback addresses. `serve --allow-target 127.0.0.0/8 ::1/128` opens them again.",
        ]
      : []),
  ];
}
