import type { Command } from "commander";
import { deleteOrganization } from "../operations/appliance/service.ts";
import { systemClock } from "../core/clock.ts";
import { invalid } from "../core/validation.ts";
import {
  createOrganization,
  getOrganization,
  listOrganizations,
} from "../accounts/organizations/service.ts";
import { commandLineScope, type DataOptions, onData, print, withData } from "./with-data.ts";

export function addOrgs(program: Command) {
  const orgs = program.command("orgs").description("organizations");

  onData(orgs.command("create").argument("<name>", "name of the organization"))
    .description("create an organization and print its slug")
    .action((name: string, options: DataOptions) =>
      withData(options, async ({ store }) => {
        const organization = await createOrganization(store, systemClock, name);
        process.stdout.write(
          options.json ? `${JSON.stringify(organization)}\n` : `${organization.slug}\n`,
        );
      }),
    );

  onData(orgs.command("list"))
    .description("list the organizations")
    .action((options: DataOptions) =>
      withData(options, async ({ store }) => {
        const rows = await listOrganizations(store);
        print(
          rows.map(({ slug, name, createdAt }) => ({ slug, name, createdAt })),
          options.json,
        );
      }),
    );

  onData(orgs.command("delete").argument("<slug>", "slug of the organization"))
    .description("delete an organization with everything in it, for good")
    .option("--yes", "confirm the deletion")
    .action((slug: string, options: DataOptions & { yes?: boolean }) =>
      withData(options, async (data) => {
        const { id, name } = await getOrganization(data.store, slug);
        if (options.yes !== true)
          throw invalid("--yes", `is needed to delete ${name} with everything in it, for good`);
        await deleteOrganization(commandLineScope(data, id), id);
        if (options.json) process.stdout.write(`${JSON.stringify({ id, slug, deleted: true })}\n`);
        else process.stderr.write(`${name} is deleted.\n`);
      }),
    );
}
