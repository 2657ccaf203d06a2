/** Writes the generated parts of the documents from the code: `bun run docs`. */
import { type Argument, Command, type Option } from "commander";
import { Glob } from "bun";
import { join } from "node:path";
import { boundSections } from "./bounds.ts";
import { deployFiles } from "./deploy.ts";
import { renderConfiguredList, renderGrowthTable } from "./growth.ts";
import { renderMetricsTable } from "./metrics.ts";
import {
  channelFamilies,
  channelKinds,
  type ChannelType,
} from "../../src/alerting/channels/kinds-schema.ts";
import { monitorKinds } from "../../src/monitoring/monitors/kinds-schema.ts";
import { createCommandLine } from "../../src/cli/support/command-line.ts";
import { exitCodes } from "../../src/cli/support/exit.ts";
import { serveOptions } from "../../src/cli/serve.ts";

const documents = join(import.meta.dir, "../../docs");

/** Generates the documents that contain facts from the code, by file name. */
export async function generate(): Promise<Record<string, string>> {
  return {
    ...deployFiles(),
    "command-line.md": await renderCommandLine(),
    "alert-channels.md": await replaceParts("alert-channels.md", {
      types: renderChannelSections(),
    }),
    "monitors.md": await replaceParts("monitors.md", { types: typeLines() }),
    "development/decisions/README.md": await replaceParts("development/decisions/README.md", {
      decisions: await renderDecisionList(),
    }),
    "limits.md": await replaceParts("limits.md", { bounds: boundSections() }),
    "operations.md": await replaceParts("operations.md", {
      growth: `${renderGrowthTable()}\n\nThe size of the other tables depends on what you set up:\n\n${renderConfiguredList()}`,
      metrics: await renderMetricsTable(),
    }),
  };
}

/** A document with its marked parts replaced by generated text. */
async function replaceParts(name: string, parts: Record<string, string>): Promise<string> {
  let document = await Bun.file(join(documents, name)).text();
  for (const [mark, text] of Object.entries(parts))
    document = document.replace(
      new RegExp(`(<!-- ${mark}: .* -->\\n)[^]*?(<!-- end -->)`),
      (_, start, end) => `${start}\n${text}\n\n${end}`,
    );
  return document;
}

async function renderDecisionList(): Promise<string> {
  const folder = join(documents, "development/decisions");
  const files = [...new Glob("[0-9]*.md").scanSync(folder)].sort();
  const lines = files.map(async (file) => {
    const text = await Bun.file(join(folder, file)).text();
    const [, number, title] = /^# (\d+)\. (.*)/.exec(text) ?? [];
    const [, successor] = /^Replaced by \[decision (\d+)\]/m.exec(text) ?? [];
    return `- ${number}: [${title}](${file})${successor ? `, replaced by ${successor}` : ""}`;
  });
  return (await Promise.all(lines)).join("\n");
}

function typeLines(): string {
  return Object.entries(monitorKinds)
    .map(([type, { name, upWhen }]) => `- **${name}** (\`${type}\`) is up when ${upWhen}`)
    .join("\n");
}

/** Each type of alert channel by family, with its fields and how to set it up. */
function renderChannelSections(): string {
  const describeType = (type: ChannelType) => {
    const { name, help, fields } = channelKinds[type];
    const names = Object.entries(fields).map(([field, schema]) =>
      schema.safeParse(undefined).success ? `\`${field}\`?` : `\`${field}\``,
    );
    return `### ${name}: \`${type}\`\n\n${names.join(", ")}\n\n${help.replaceAll("<", "\\<")}`;
  };
  return channelFamilies
    .map(({ name, types }) => [`## ${name}`, ...types.map(describeType)].join("\n\n"))
    .join("\n\n");
}

const exitCodeWords: Record<keyof typeof exitCodes, string> = {
  failed: "failed",
  wrongUsage: "wrong usage",
  DATA_UNUSABLE: "the data is missing, damaged or not usable",
  MIGRATION_REFUSED: "the data belongs to another version",
  ALREADY_RUNNING: "a server is already running on this data directory",
  noResponse: "a client command got no response from the server, or the key was rejected",
  changed: "`apply` changed something, or would have with `--dry-run`",
};

async function renderCommandLine(): Promise<string> {
  const codes = Object.entries(exitCodes).map(
    ([name, code]) => `- ${code}: ${exitCodeWords[name as keyof typeof exitCodes]}`,
  );
  const intro = `# Command line

<!-- Written by \`bun run docs\` from src/cli. -->

Data is written to stdout, messages to stderr. You can use most commands while the server runs. Stop it first for
\`migrate\`, \`restore\`, \`compact\`, \`cluster import\` and \`cluster export\`. Commands with \`--server\` use a server
over the network: see [From a terminal or a deploy job](client.md). \`signalbox COMMAND --help\` shows this help in
the terminal.

Exit codes:

- 0: done
${codes.join("\n")}`;
  return [intro, ...leavesOf(await createCommandLine()).map(sectionOf)].join("\n\n") + "\n";
}

/** All commands without subcommands, with their full names. */
function leavesOf(command: Command, before = ""): { command: Command; name: string }[] {
  const name = `${before} ${command.name()}`.trim();
  return command.commands.length === 0
    ? [{ command, name }]
    : command
        .createHelp()
        .visibleCommands(command)
        .filter((child) => child.name() !== "help")
        .flatMap((child) => leavesOf(child, name));
}

function nameOf(argument: Argument): string {
  const name = `${argument.name()}${argument.required && argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[-- ${name}]`;
}

const describeArgument = ({
  description,
  argChoices,
}: Pick<Option, "description" | "argChoices">) =>
  argChoices ? `${description}: ${argChoices.join(", ")}` : description;

function sectionOf({ command, name }: { command: Command; name: string }): string {
  const isCommon = ({ long }: Option) => long === "--data-dir" || long === "--json";
  const takesAllOfServe = command.name() === "doctor";
  const options = command.options
    .filter(({ flags }) => !takesAllOfServe || !serveFlags.has(flags))
    .toSorted((one, other) => +isCommon(one) - +isCommon(other));
  const given = [
    name,
    ...command.registeredArguments.map(nameOf),
    ...options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags),
  ];
  const listed = [
    ...command.registeredArguments.map(
      (argument) => `- \`${nameOf(argument)}\`: ${describeArgument(argument)}`,
    ),
    ...(takesAllOfServe
      ? ["- every option of `serve`: doctor examines a server with these options"]
      : []),
    ...options.map((option) => {
      const { flags, mandatory, defaultValue } = option;
      const usual = defaultValue === undefined ? "" : ` (default: ${String(defaultValue)})`;
      return `- \`${flags}\`${mandatory ? " (required)" : ""}: ${describeArgument(option)}${usual}`;
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

const serveFlags = new Set(serveOptions(new Command()).options.map(({ flags }) => flags));

const variables = `You can set every option by an environment variable: \`SIGNALBOX_PORT=8080\`, \`SIGNALBOX_DATA_DIR=…\`. The option
takes precedence over the variable. Separate list entries by commas: \`SIGNALBOX_DENY_TARGET=10.0.5.0/24,db.lan\`.
All commands use \`SIGNALBOX_DATA_DIR\`.`;

if (import.meta.main)
  for (const [name, text] of Object.entries(await generate()))
    await Bun.write(join(documents, name), text);
