import { type Command, Option } from "commander";
import { getOrganization } from "../accounts/organizations/service.ts";
import { type ExportFormat, exportFormats } from "../operations/audit-log/schema.ts";
import { exportLines } from "../operations/audit-log/service.ts";
import { type DataOptions, addDataOptions, withData } from "./support/with-data.ts";

export function addAuditLog(program: Command) {
  const log = program.command("audit-log").description("who changed what");

  addDataOptions(log.command("export"))
    .description("print an organization's audit log, oldest first")
    .requiredOption("--org <slug>", "slug of the organization")
    .addOption(
      new Option("--format <format>", "output format; jsonl is JSON Lines")
        .choices(Object.keys(exportFormats))
        .default("csv"),
    )
    .action((options: DataOptions & { org: string; format: ExportFormat }) =>
      withData(options, async ({ store }) => {
        const format = options.json ? "jsonl" : options.format;
        const { id: organizationId } = await getOrganization(store, options.org);
        const lines = exportLines({ store, organizationId }, format);
        if (options.json) {
          const entries = (await Array.fromAsync(lines)).join("").trimEnd().replaceAll("\n", ",\n");
          process.stdout.write(`[${entries}]\n`);
        } else for await (const portion of lines) await Bun.write(Bun.stdout, portion);
      }),
    );
}
