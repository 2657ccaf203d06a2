import type { Command } from "commander";
import { systemClock } from "../base/clock.ts";
import { createOrganization, listOrganizations } from "../organizations/service.ts";
import { type DataOptions, onData, print, withData } from "./with-data.ts";

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
}
