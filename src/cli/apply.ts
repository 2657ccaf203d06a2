/** `signalbox apply` and `export`: apply configuration files, and write a configuration to files. */
import { type Command, Option } from "commander";
import { getEnvironment } from "../config.ts";
import type { ConfigChange, ConfigResult } from "../configuration/schema.ts";
import { addTargetOptions, type TargetOptions, useTarget } from "./support/config-target.ts";
import { Exit, exitCodes } from "./support/exit.ts";
import { type ExportFormat, exportFormats } from "../imports/exporting/formats.ts";
import { cleanLine, printJson, printMessage } from "./support/output.ts";
import { countChanges } from "../configuration/rules.ts";

type Flags = TargetOptions & {
  file: string;
  dryRun?: boolean;
  prune?: boolean;
  yes?: boolean;
  adopt?: boolean;
};

export function addApply(program: Command) {
  addTargetOptions(program.command("apply"))
    .description(
      "change an organization to match YAML files: channels, groups, monitors, windows, pages",
    )
    .requiredOption("-f, --file <path>", "a YAML file, or a folder of YAML files")
    .option("--dry-run", "show the changes without applying them")
    .option("--prune", "delete records that this source created and no longer contains")
    .option("--yes", "let --prune delete more than 20 % of them")
    .option("--adopt", "manage existing unmanaged records of the same name")
    .addHelpText(
      "after",
      "\nExits with 0 if nothing changes, 10 if something changes or would change, 2 if the files are invalid.",
    )
    .action(applyFiles);
}

export function addExport(program: Command) {
  addTargetOptions(program.command("export"))
    .description("write an organization as YAML for `apply`")
    .option("--secrets-as-variables", "write variables for secrets instead of omitting them")
    .addOption(
      new Option(
        "--as <format>",
        "write its monitors for another program, with a report on stderr of what has no equivalent there",
      ).choices(exportFormats),
    )
    .action(async (flags: ExportFlags) => {
      const exported = await useTarget(flags, (target) => target.export());
      if (flags.as !== undefined) {
        const { exportAs } = await import("../imports/exporting/export.ts");
        const { text, report } = await exportAs(flags.as, exported);
        if (flags.json) return printJson({ text, report });
        process.stdout.write(text);
        return printMessage(report.map(cleanLine).join("\n"));
      }
      const { formatYaml } = await import("../configuration/files/write.ts");
      if (flags.json) printJson(exported);
      else process.stdout.write(await formatYaml(exported, flags.secretsAsVariables === true));
    });
}

type ExportFlags = TargetOptions & { secretsAsVariables?: boolean; as?: ExportFormat };

async function applyFiles(flags: Flags) {
  const { dryRun, prune, yes, adopt } = flags;
  const options = { dryRun, prune, yes, adopt };
  const { readConfigurations } = await import("../configuration/files/read.ts");
  const { InvalidFiles } = await import("../core/text/yaml.ts");
  try {
    const configurations = await readConfigurations(flags.file, getEnvironment());
    const results: ConfigResult[] = [];
    try {
      await useTarget(flags, async (target) => {
        for (const { document, organization, located } of configurations)
          try {
            results.push(await target.apply(document, options, organization));
          } catch (error) {
            throw located(error);
          }
      });
    } finally {
      // Sources before a failed one stay applied.
      if (results.length > 0) printReport(results, flags);
    }
    if (results.some(({ changes }) => changes.length > 0)) throw new Exit(exitCodes.changed);
  } catch (error) {
    if (error instanceof InvalidFiles) throw new Exit(exitCodes.wrongUsage, error.message);
    throw error;
  }
}

function printReport(results: readonly ConfigResult[], { json }: Flags) {
  if (json) printJson(results);
  else
    process.stdout.write(results.map((result) => `${formatPlan(result).join("\n")}\n`).join("\n"));
}

const signs = { create: "+", adopt: "~", update: "~", delete: "-", release: "-" };
const notes: Partial<Record<ConfigChange["action"], string>> = {
  adopt: " (taken over)",
  release: " (not deleted, but no longer managed)",
};

/** Renders the result of an apply as lines for people. */
function formatPlan({ source, applied, changes, unchanged }: ConfigResult): string[] {
  const lines = changes.flatMap(({ section, key, name, action, fields }) => [
    `${signs[action]} ${section}.${key}  ${name}${notes[action] ?? ""}`,
    ...fields.map(({ field, secret, before, after }) =>
      secret || before === null || after === null
        ? `    ${field}: changed`
        : `    ${field}: ${before} → ${after}`,
    ),
  ]);
  const { created, changed, removed } = countChanges(changes);
  const sums = `${created} to create, ${changed} to change, ${removed} to remove, ${unchanged} unchanged`;
  const end = applied
    ? "Applied"
    : changes.length === 0
      ? "Nothing to change"
      : "Nothing was changed";
  return [...lines, `${source}: ${sums}. ${end}.`].map(cleanLine);
}
