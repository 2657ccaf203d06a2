import type { Command } from "commander";
import { invalid } from "../core/validation.ts";
import { getOrganization } from "../accounts/organizations/service.ts";
import { type ExportFormat, exportFormats } from "../operations/audit-log/schema.ts";
import { exportedLines } from "../operations/audit-log/service.ts";
import { type DataOptions, onData, withData } from "./with-data.ts";

const isFormat = (text: string): text is ExportFormat => Object.hasOwn(exportFormats, text);

export function addAuditLog(program: Command) {
  const log = program.command("audit-log").description("who changed what");

  onData(log.command("export"))
    .description("print an organization's audit log, oldest first")
    .requiredOption("--org <slug>", "slug of the organization")
    .option("--format <format>", "csv, or jsonl for JSON Lines", "csv")
    .action((options: DataOptions & { org: string; format: string }) =>
      withData(options, async ({ store }) => {
        const format = options.json ? "jsonl" : options.format;
        if (!isFormat(format)) throw invalid("--format", "must be csv or jsonl");
        const { id: organizationId } = await getOrganization(store, options.org);
        const lines = exportedLines({ store, organizationId }, format);
        if (options.json) {
          const entries = (await Array.fromAsync(lines)).join("").trimEnd().replaceAll("\n", ",\n");
          process.stdout.write(`[${entries}]\n`);
        } else for await (const some of lines) await Bun.write(Bun.stdout, some);
      }),
    );
}
