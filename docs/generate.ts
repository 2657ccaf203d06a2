import { type Argument, Command, type Option } from "commander";
import { join } from "node:path";
import { boundSections } from "./bounds.ts";
import { configuredList, growthTable } from "./growth.ts";
import { metricsTable } from "./metrics.ts";
import { monitorKinds } from "../src/monitoring/monitors/kinds-schema.ts";
import { commandLine } from "../src/cli/support/command-line.ts";
import { exitCodes } from "../src/cli/support/exit.ts";
import { serveOptions } from "../src/cli/serve.ts";

/** What the documents take from the code: their texts, by their names in this folder. */
export async function generated(): Promise<Record<string, string>> {
  return {
    "command-line.md": commandLineText(),
    "monitors.md": await withParts("monitors.md", { types: typeLines() }),
    "limits.md": await withParts("limits.md", { bounds: boundSections() }),
    "operations.md": await withParts("operations.md", {
      growth: `${growthTable()}\n\nThe other tables are as large as what bounds them:\n\n${configuredList()}`,
      metrics: await metricsTable(),
    }),
  };
}

/** A document whose marked parts are made from the code. */
async function withParts(name: string, parts: Record<string, string>): Promise<string> {
  let document = await Bun.file(join(import.meta.dir, name)).text();
  for (const [mark, text] of Object.entries(parts))
    document = document.replace(
      new RegExp(`(<!-- ${mark}: .* -->\\n)[^]*?(<!-- end -->)`),
      (_, start, end) => `${start}\n${text}\n\n${end}`,
    );
  return document;
}

function typeLines(): string {
  return Object.entries(monitorKinds)
    .map(([type, { name, upWhen }]) => `- **${name}** (\`${type}\`) is up when ${upWhen}`)
    .join("\n");
}

const exitCodeWords: Record<keyof typeof exitCodes, string> = {
  failed: "failed",
  wrongUsage: "wrong usage",
  DATA_UNUSABLE: "the data cannot be used as it is",
  MIGRATION_REFUSED: "the data is of another version",
  ALREADY_RUNNING: "a server is already running on this data directory",
  notAnswered: "the server that a client command asked gave no answer, or none to this key",
  changed: "`apply` changed something, or would have",
};

function commandLineText(): string {
  const codes = Object.entries(exitCodes).map(
    ([name, code]) => `- ${code}: ${exitCodeWords[name as keyof typeof exitCodes]}`,
  );
  const intro = `# Command line

<!-- Written by \`bun run docs\` from src/cli. -->

Data goes to stdout, messages go to stderr. The commands on data also work while the server runs, except
\`migrate\`, \`restore\`, \`compact\` and the moves of \`cluster\`. Those with \`--server\` ask a server, here or
elsewhere: see [From a terminal or a deploy job](client.md). \`signalbox COMMAND --help\` shows the same in the
terminal.

Exit codes:

- 0: done
${codes.join("\n")}`;
  return [intro, ...leavesOf(commandLine()).map(sectionOf)].join("\n\n") + "\n";
}

/** The commands that do something, with the words that call them. */
function leavesOf(command: Command, before = ""): { command: Command; name: string }[] {
  const name = `${before} ${command.name()}`.trim();
  return command.commands.length === 0
    ? [{ command, name }]
    : command.commands.flatMap((child) => leavesOf(child, name));
}

function nameOf(argument: Argument): string {
  const name = `${argument.name()}${argument.required && argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[-- ${name}]`;
}

const inWords = ({ description, argChoices }: Pick<Option, "description" | "argChoices">) =>
  argChoices ? `${description}: ${argChoices.join(", ")}` : description;

function sectionOf({ command, name }: { command: Command; name: string }): string {
  const isCommon = ({ long }: Option) => long === "--data-dir" || long === "--json";
  const takesAllOfServe = command.name() === "doctor";
  const options = command.options
    .filter(({ flags }) => !takesAllOfServe || !ofServe.has(flags))
    .toSorted((one, other) => +isCommon(one) - +isCommon(other));
  const given = [
    name,
    ...command.registeredArguments.map(nameOf),
    ...options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags),
  ];
  const listed = [
    ...command.registeredArguments.map(
      (argument) => `- \`${nameOf(argument)}\`: ${inWords(argument)}`,
    ),
    ...(takesAllOfServe ? ["- every option of `serve`: what would run is examined"] : []),
    ...options.map((option) => {
      const { flags, mandatory, defaultValue } = option;
      const usual = defaultValue === undefined ? "" : ` (default: ${String(defaultValue)})`;
      return `- \`${flags}\`${mandatory ? " (required)" : ""}: ${inWords(option)}${usual}`;
    }),
  ];
  const sentence = command.description();
  return `## ${name}

${sentence[0]?.toUpperCase()}${sentence.slice(1)}.

\`\`\`sh
${given.join(" ")}
\`\`\`

${listed.join("\n")}${command.name() === "serve" ? `\n\n${variables}` : ""}`.trimEnd();
}

const ofServe = new Set(serveOptions(new Command()).options.map(({ flags }) => flags));

const variables = `Every option is also an environment variable: \`SIGNALBOX_PORT=8080\`, \`SIGNALBOX_DATA_DIR=…\`. An option
wins over its variable. Lists are separated by commas there: \`SIGNALBOX_DENY_TARGET=10.0.5.0/24,db.lan\`.
\`SIGNALBOX_DATA_DIR\` holds for all commands.`;

// `bun run docs`; a test holds that it was run.
if (import.meta.main)
  for (const [name, text] of Object.entries(await generated()))
    await Bun.write(join(import.meta.dir, name), text);
