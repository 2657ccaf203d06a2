import type { Command } from "commander";
import { countInWords, percent } from "../core/text.ts";
import { getOrganization } from "../accounts/organizations/service.ts";
import { configOf, environment } from "../config.ts";
import type { History, Plan } from "../imports/plan.ts";
import type { ImportItem, ImportReport } from "../imports/schema.ts";
import type { ImportOptions } from "../imports/prepare.ts";
import { plain } from "./output.ts";
import { commandLineScope, type DataOptions, onData, withData } from "./with-data.ts";

type Flags = DataOptions & { org: string; dryRun?: boolean; paused?: boolean };

type Opened = {
  plan: Plan;
  history: History | null;
  picture?: NonNullable<ImportOptions["picture"]>;
  close?: () => void | Promise<void>;
};

export function addImport(program: Command) {
  const imports = program
    .command("import")
    .description("import monitors, channels, status pages and history from another tool");

  withFlags(
    imports
      .command("uptime-kuma")
      .argument(
        "<source>",
        "its data directory, kuma.db, a JSON backup of 1.x, or mysql://user@host/database",
      ),
  )
    .description("import from Uptime Kuma 1 or 2, also while a server runs here")
    .action((source: string, flags: Flags) =>
      run(flags, async (workIn) => {
        const { openKuma } = await import("../imports/kuma/open.ts");
        const { planOf } = await import("../imports/kuma/plan.ts");
        const opened = await openKuma(source, workIn);
        return {
          plan: planOf(opened, Date.now()),
          history: opened.history,
          picture: (path) => opened.picture(path),
          close: () => opened.close(),
        };
      }),
    );

  withFlags(
    imports
      .command("gatus")
      .argument("<source>", "its config.yaml, or the folder of its YAML files"),
  )
    .description("import the endpoints and channels of Gatus' configuration")
    .action((source: string, flags: Flags) =>
      run(flags, async () => {
        const { gatusPlan } = await import("../imports/gatus/plan.ts");
        return { plan: await gatusPlan(source, environment()), history: null };
      }),
    );
}

function withFlags(command: Command): Command {
  return onData(command)
    .requiredOption("--org <slug>", "slug of the organization")
    .option("--dry-run", "say what would be imported, and change nothing")
    .option("--paused", "import every monitor paused, while the other one still alerts");
}

function run(flags: Flags, open: (workIn: string) => Promise<Opened>) {
  return withData(flags, async (data) => {
    const { id } = await getOrganization(data.store, flags.org);
    const { keepResults, keepHours } = configOf(flags);
    const { runImport } = await import("../imports/service.ts");
    const opened = await open(data.path);
    try {
      const { report } = await runImport(commandLineScope(data, id), opened.plan, opened.history, {
        keepResults,
        keepHours,
        ...(flags.dryRun !== undefined && { dryRun: flags.dryRun }),
        ...(flags.paused !== undefined && { paused: flags.paused }),
        ...(opened.picture && { picture: opened.picture }),
        progress: progressBar(),
      });
      if (flags.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
      else
        for (const line of linesOf(report, flags.dryRun === true))
          process.stdout.write(`${line}\n`);
    } finally {
      await opened.close?.();
    }
  });
}

/** On a terminal alone, and no more than ten times a second. */
function progressBar() {
  let shownAt = 0;
  return (done: number, total: number) => {
    const now = performance.now();
    if (!process.stderr.isTTY || total === 0 || (now - shownAt < 100 && done < total)) return;
    shownAt = now;
    const width = 30;
    const filled = Math.round((width * Math.min(done, total)) / total);
    const bar = "█".repeat(filled) + "░".repeat(width - filled);
    const of = `${countInWords(done)} of ${countInWords(total)} results`;
    process.stderr.write(
      `\r${bar} ${percent(Math.min(1, done / total))} ${of}${done >= total ? "\n" : ""}`,
    );
  };
}

const nounsInWords: Record<string, string> = {
  "alert-channel": "Alert channels",
  group: "Monitor groups",
  monitor: "Monitors",
  "maintenance-window": "Maintenance windows",
  "status-page": "Status pages",
  incident: "Incidents",
};
const signs = { created: "+", updated: "~", unchanged: "=", "not-taken": "-" };

function linesOf({ product, items, hints, history }: ImportReport, isDry: boolean): string[] {
  const lines = [`From ${product}${isDry ? ": what an import would do" : ""}`];
  for (const [noun, its] of Map.groupBy(items, (item) => nounsInWords[item.noun] ?? "Not taken"))
    lines.push("", `${noun} (${counted(its)})`, ...its.flatMap(itemLines));
  if (hints.length > 0) lines.push("", "To know", ...hints.map((hint) => `  ${hint}`));
  if (!isDry)
    lines.push(
      "",
      `History: ${countInWords(history.heartbeats)} heartbeats, ${countInWords(history.hours)} sums of hours, ${countInWords(history.days)} of days.`,
    );
  lines.push("", isDry ? "Nothing was changed." : "Done.");
  return lines;
}

const counted = (items: readonly ImportItem[]) =>
  [...Map.groupBy(items, ({ decision }) => decision)]
    .map(([decision, its]) => `${its.length} ${decision.replace("-", " ")}`)
    .join(", ");

const itemLines = ({ decision, name, notes }: ImportItem) => [
  `  ${signs[decision]} ${plain(name)}`,
  ...notes.map((note) => `      ${plain(note)}`),
];
