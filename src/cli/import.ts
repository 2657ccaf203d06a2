/** `signalbox import`: imports monitors from other programs. */
import type { Command } from "commander";
import { formatCount, formatPercent } from "../core/text/formatting.ts";
import { getOrganization } from "../accounts/organizations/service.ts";
import { parseConfig, getEnvironment } from "../config.ts";
import type { ImportItem, ImportReport, ImportSource } from "../imports/schema.ts";
import { cleanLine, printJson } from "./support/output.ts";
import {
  createCommandLineScope,
  type DataOptions,
  addDataOptions,
  withData,
} from "./support/with-data.ts";
import { titleOf } from "../imports/rules.ts";

type Flags = DataOptions & { org: string; dryRun?: boolean; paused?: boolean };

export function addImport(program: Command) {
  const imports = program
    .command("import")
    .description("import monitors, channels, status pages and history from another tool");

  addImportFlags(
    imports
      .command("uptime-kuma")
      .argument(
        "<source>",
        "its data directory, kuma.db, a JSON backup of 1.x, or mysql://user@host/database",
      ),
  )
    .description("import from Uptime Kuma 1 or 2; the server can keep running")
    .action((from: string, flags: Flags) => runCommandImport("uptime-kuma", from, flags));

  addImportFlags(
    imports.command("gatus").argument("<source>", "config.yaml, or a folder of YAML files"),
  )
    .description("import endpoints and channels from a Gatus configuration")
    .action((from: string, flags: Flags) => runCommandImport("gatus", from, flags));

  addImportFlags(
    imports
      .command("healthchecks")
      .argument("<source>", "JSON of /api/v3/checks/, read with a read-write key"),
  )
    .description("import checks from Healthchecks as push monitors with the same UUIDs")
    .action((from: string, flags: Flags) => runCommandImport("healthchecks", from, flags));
}

function addImportFlags(command: Command): Command {
  return addDataOptions(command)
    .requiredOption("--org <slug>", "slug of the organization")
    .option("--dry-run", "show what would be imported, without changing anything")
    .option("--paused", "import all monitors paused, while the other tool still alerts");
}

function runCommandImport(source: ImportSource, from: string, flags: Flags) {
  return withData(flags, async (data) => {
    const { id } = await getOrganization(data.store, flags.org);
    const scope = createCommandLineScope(data, id);
    const { keepResults, keepHours } = parseConfig(flags);
    const { openSource } = await import("../imports/reading/open.ts");
    const { runImport } = await import("../imports/service.ts");
    const { plan, history, picture, close } = await openSource(source, from, {
      workIn: data.path,
      now: Date.now(),
      variables: getEnvironment(),
      limits: scope.limits,
      readsNamedFiles: true,
    });
    try {
      const { report } = await runImport(scope, plan, history, {
        keepResults,
        keepHours,
        ...(flags.dryRun !== undefined && { dryRun: flags.dryRun }),
        ...(flags.paused !== undefined && { paused: flags.paused }),
        ...(picture && { picture }),
        progress: createProgressBar(),
      });
      if (flags.json) printJson(report);
      else
        for (const line of formatImportReport(report, flags.dryRun === true))
          process.stdout.write(`${line}\n`);
    } finally {
      await close?.();
    }
  });
}

/** Creates a progress bar, which is drawn only on a terminal, at most ten times per second. */
function createProgressBar() {
  let shownAt = 0;
  return (done: number, total: number) => {
    const now = performance.now();
    if (!process.stderr.isTTY || total === 0 || (now - shownAt < 100 && done < total)) return;
    shownAt = now;
    const width = 30;
    const filled = Math.round((width * Math.min(done, total)) / total);
    const bar = "█".repeat(filled) + "░".repeat(width - filled);
    const progressText = `${formatCount(done)} of ${formatCount(total)} results`;
    process.stderr.write(
      `\r${bar} ${formatPercent(Math.min(1, done / total))} ${progressText}${done >= total ? "\n" : ""}`,
    );
  };
}

const signs = { created: "+", updated: "~", unchanged: "=", "not-taken": "-" };

function formatImportReport(
  { product, items, hints, history }: ImportReport,
  isDry: boolean,
): string[] {
  const lines = [`From ${product}${isDry ? ": what an import would do" : ""}`];
  for (const [noun, nounItems] of Map.groupBy(items, (item) => titleOf(item.noun)))
    lines.push("", `${noun} (${summarizeItems(nounItems)})`, ...nounItems.flatMap(formatItem));
  if (hints.length > 0) lines.push("", "To know", ...hints.map((hint) => `  ${hint}`));
  if (!isDry)
    lines.push(
      "",
      `History: ${formatCount(history.heartbeats)} heartbeats, ${formatCount(history.hours)} sums of hours, ${formatCount(history.days)} of days.`,
    );
  lines.push("", isDry ? "Nothing was changed." : "Done.");
  return lines;
}

const summarizeItems = (items: readonly ImportItem[]) =>
  [...Map.groupBy(items, ({ decision }) => decision)]
    .map(([decision, items]) => `${items.length} ${decision.replace("-", " ")}`)
    .join(", ");

const formatItem = ({ decision, name, notes }: ImportItem) => [
  `  ${signs[decision]} ${cleanLine(name)}`,
  ...notes.map((note) => `      ${cleanLine(note)}`),
];
