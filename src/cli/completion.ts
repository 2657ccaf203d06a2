import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";

const howTo = [
  "source <(signalbox completion bash)   # in ~/.bashrc",
  "source <(signalbox completion zsh)    # in ~/.zshrc, after compinit",
  "signalbox completion fish > ~/.config/fish/completions/signalbox.fish",
];

/** Adds `completion`, and the hidden `complete` that its scripts call; after all other commands, which it lists. */
export function addCompletion(program: Command) {
<<<<<<< HEAD
  program
    .command("completion")
    .addArgument(new Argument("<shell>", "shell").choices(shells))
    .description("print a script for shell completion")
    .addHelpText("after", `\n${Object.values(howTo).join("\n")}`)
    .action((shell: Shell) => void process.stdout.write(completionFor(shell, program)));
}

/** The script that completes the commands of this program. */
export const completionFor = (shell: Shell, program: Command): string =>
  ({ bash, zsh, fish })[shell](program.name(), nodesOf(program));

type Value = "file" | "any" | readonly string[];
type Node = {
  /** ` incident open`: the words that lead here. */
  path: string;
  /** Commands, and what an argument may be. */
  words: { name: string; about: string }[];
  options: { long: string; short: string | undefined; about: string; value: Value | null }[];
};

/** Every command with what may follow it. */
function nodesOf(command: Command, path = ""): Node[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const options = help.visibleOptions(command);
  const node = {
    path,
    words: [
      ...commands.map((child) => ({ name: child.name(), about: child.description() })),
      ...command.registeredArguments.flatMap(({ argChoices = [] }) =>
        argChoices.map((name) => ({ name, about: "" })),
      ),
    ],
    options: options.map((option) => ({
      long: option.long ?? "",
      short: option.short,
      about: option.description,
      value: valueOf(option),
    })),
  };
  return [node, ...command.commands.flatMap((child) => nodesOf(child, `${path} ${child.name()}`))];
}

function valueOf({ flags, required, optional, argChoices }: Option): Value | null {
  if (!required && !optional) return null;
  if (argChoices) return argChoices;
  return /<(?:file|dir|path)\b/.test(flags) ? "file" : "any";
}

/** In single quotes, as bash and zsh read them. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** A list of case patterns. */
const anyOf = (texts: readonly string[]) => texts.map((text) => `"${text}"`).join("|");

/** The commands below the program, one pattern each. */
const paths = (nodes: readonly Node[]) => nodes.flatMap(({ path }) => (path === "" ? [] : [path]));

/** Options whose values are completed alike: each with the words that lead to its value. */
function valued(nodes: readonly Node[]): [value: Value, after: string[]][] {
  const all = nodes.flatMap(({ path, options }) =>
    options.flatMap(({ long, value }) =>
      value === null ? [] : [{ value, after: `${path} ${long}` }],
    ),
  );
  return [...Map.groupBy(all, ({ value }) => String(value)).values()].flatMap((its) => {
    const [first] = its;
    return first ? [[first.value, its.map(({ after }) => after)]] : [];
  });
}

function bash(name: string, nodes: readonly Node[]): string {
  const values = valued(nodes).map(([value, after]) => {
    const words = typeof value === "string" ? "" : value.join(" ");
    const reply =
      value === "file" ? `compgen -f -- "$word"` : `compgen -W ${quoted(words)} -- "$word"`;
    return `    ${anyOf(after)}) COMPREPLY=($(${reply})); return ;;`;
  });
  const lines = nodes.map(({ path, words, options }) => {
    const all = [...words.map(({ name }) => name), ...options.map(({ long }) => long)];
    return `    "${path}") words=${quoted(all.join(" "))} ;;`;
  });
  return `# Made by \`${name} completion bash\`.
_${name}() {
  local at="" words="" i word="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${anyOf(paths(nodes))}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${values.join("\n")}
  esac
  case "$at" in
${lines.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _${name} ${name}
`;
}

function zsh(name: string, nodes: readonly Node[]): string {
  const entry = (word: string, about: string) =>
    quoted(`${word.replaceAll(":", "\\:")}:${about.replaceAll("\\", "\\\\")}`);
  const values = valued(nodes).map(([value, after]) => {
    const act =
      value === "file" ? "_files" : value === "any" ? ":" : `compadd -- ${value.join(" ")}`;
    return `    (${anyOf(after)}) ${act}; return ;;`;
  });
  const lines = nodes.map(({ path, words, options }) => {
    const named = words.map(({ name, about }) => entry(name, about)).join(" ");
    const flags = options.map(({ long, about }) => entry(long, about)).join(" ");
    return `    ("${path}") commands=(${named}) options=(${flags}) ;;`;
  });
  return `#compdef ${name}
# Made by \`${name} completion zsh\`.
_${name}() {
  local at="" i
  local -a commands options
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      (${anyOf(paths(nodes))}) at="$at \${words[i]}" ;;
    esac
  done
  case "$at \${words[CURRENT - 1]}" in
${values.join("\n")}
  esac
  case "$at" in
${lines.join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then _describe -o option options
  elif (( $#commands )); then _describe command commands
  else _files
  fi
}
if [[ "\${funcstack[1]}" == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function fish(name: string, nodes: readonly Node[]): string {
  const text = (words: string) => `'${words.replace(/[\\']/g, "\\$&")}'`;
  const lines = nodes.flatMap(({ path, words, options }) => {
    const begin = `complete -c ${name} -n "__${name}_at '${path}'"`;
    return [
      ...words.map((word) => `${begin} -f -a ${word.name} -d ${text(word.about)}`),
      ...options.map(({ long, short, about, value }) => {
        const names = [...(short ? [`-s ${short.slice(1)}`] : []), `-l ${long.slice(2)}`];
        const takes =
          value === null
            ? ""
            : value === "file"
              ? " -r -F"
              : value === "any"
                ? " -x"
                : ` -x -a ${text(value.join(" "))}`;
        return `${begin} ${names.join(" ")}${takes} -d ${text(about)}`;
      }),
    ];
  });
  return `# Made by \`${name} completion fish\`.
function __${name}_at
  set -l at ""
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${paths(nodes).map(text).join(" ")}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join("\n")}
`;
=======
  tab(program, { completionCommandName: "completion" });
  program.commands
    .find((command) => command.name() === "completion")
    ?.description("print a script that makes a shell complete commands and options")
    .addHelpText("after", `\n${howTo.join("\n")}`);
>>>>>>> f0bcac5c (cli: complete commands through @bomb.sh/tab)
}
