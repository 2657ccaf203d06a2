import type { Command } from "commander";
import { environment } from "../config.ts";
import type { ConfigChange, ConfigResult } from "../configuration/schema.ts";
import { AppError } from "../core/errors.ts";
import { onTarget, type TargetOptions, withTarget } from "./config-target.ts";
import { Exit } from "./exit.ts";

type Flags = TargetOptions & {
  file: string;
  dryRun?: boolean;
  prune?: boolean;
  yes?: boolean;
  adopt?: boolean;
};

/** There is something to change, or was. */
const changesExitCode = 10;
const invalidExitCode = 2;

export function addApply(program: Command) {
  onTarget(program.command("apply"))
    .description(
      "make an organization as YAML files say: channels, groups, monitors, windows, pages",
    )
    .requiredOption("-f, --file <path>", "a YAML file, or a folder of them")
    .option("--dry-run", "say what would change, and change nothing")
    .option("--prune", "delete what the same source has made and does not name any more")
    .option("--yes", "let --prune delete more than 20 % of that")
    .option("--adopt", "take over records of the same name that nobody manages")
    .addHelpText(
      "after",
      "\nExits with 0 where nothing changes, 10 where something does or did, 2 where the files can't be taken.",
    )
    .action(apply);
}

export function addExport(program: Command) {
  onTarget(program.command("export"))
    .description("write an organization as YAML that `apply` takes")
    .option("--secrets-as-variables", "read secrets from variables, instead of leaving them out")
    .action(async (flags: TargetOptions & { secretsAsVariables?: boolean }) => {
      const exported = await withTarget(flags, (target) => target.export());
      const { yamlOf } = await import("../configuration/files/write.ts");
      process.stdout.write(
        flags.json
          ? `${JSON.stringify(exported, null, 2)}\n`
          : await yamlOf(exported, flags.secretsAsVariables === true),
      );
    });
}

async function apply(flags: Flags) {
  const { readConfigurations } = await import("../configuration/files/read.ts");
  const { InvalidFiles } = await import("../configuration/files/yaml.ts");
  try {
    const configurations = await readConfigurations(flags.file, environment());
    const results = await withTarget(flags, async (target) => {
      const all: ConfigResult[] = [];
      for (const { document, organization, issuesOf } of configurations)
        try {
          all.push(await target.apply(document, optionsOf(flags), organization));
        } catch (error) {
          throw isOfFiles(error) ? issuesOf(error) : error;
        }
      return all;
    });
    report(results, flags);
    if (results.some(({ changes }) => changes.length > 0)) throw new Exit(changesExitCode);
  } catch (error) {
    if (error instanceof InvalidFiles) throw new Exit(invalidExitCode, error.message);
    throw error;
  }
}

/** Whether it says where in the files it is. */
const isOfFiles = (error: unknown): error is AppError =>
  error instanceof AppError && error.details !== undefined;

const optionsOf = ({ dryRun, prune, yes, adopt }: Flags) => ({
  dryRun: dryRun === true,
  prune: prune === true,
  yes: yes === true,
  adopt: adopt === true,
});

function report(results: readonly ConfigResult[], { json }: Flags) {
  const text = json
    ? `${JSON.stringify(results, null, 2)}\n`
    : results.map((result) => `${linesOf(result).join("\n")}\n`).join("\n");
  process.stdout.write(text);
}

const signs = { create: "+", adopt: "~", update: "~", delete: "-", release: "-" };
const notes: Partial<Record<ConfigChange["action"], string>> = {
  adopt: " (taken over)",
  release: " (kept, but no longer managed)",
};

/** A plan as people read it. */
export function linesOf({ source, applied, changes, unchanged }: ConfigResult): string[] {
  const lines = changes.flatMap(({ section, key, name, action, fields }) => [
    `${signs[action]} ${section}.${key}  ${name.replace(/\p{Cc}/gu, " ")}${notes[action] ?? ""}`,
    ...fields.map(({ field, secret, before, after }) =>
      secret || before === null || after === null
        ? `    ${field}: changed`
        : `    ${field}: ${before} → ${after}`,
    ),
  ]);
  const count = (...actions: ConfigChange["action"][]) =>
    changes.filter(({ action }) => actions.includes(action)).length;
  const sums = `${count("create")} to make, ${count("update", "adopt")} to change, ${count("delete", "release")} to remove, ${unchanged} as they are`;
  const end = applied
    ? "Applied"
    : changes.length === 0
      ? "Nothing to change"
      : "Nothing was changed";
  return [...lines, `${source}: ${sums}. ${end}.`];
}
