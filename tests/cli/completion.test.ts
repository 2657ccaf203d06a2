import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Command } from "commander";
import { commandLine } from "../../src/cli/support/command-line.ts";

const main = join(import.meta.dir, "../../src/main.ts");

/** Suggestions for a command line of which these words are typed, without their descriptions. */
async function complete(...words: string[]): Promise<string[]> {
  const { stdout } = Bun.spawn([process.execPath, main, "complete", "--", ...words]);
  const lines = (await new Response(stdout).text()).trim().split("\n");
  return lines.slice(0, -1).map((line) => line.split("\t")[0] ?? "");
}

const namesIn = (command: Command) =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((child) => child.name());

<<<<<<< HEAD
/** Every command: what it begins with, and its options. */
function linesOf(command: Command, typed: string[] = []): Line[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).map((child) => child.name());
  const options = help.visibleOptions(command).map(({ long }) => long ?? "");
  return [
    { typed: [...typed, "--"], completed: options },
    ...(commands.length > 0
      ? [{ typed: [...typed, ""], completed: [...commands, ...options] }]
      : []),
    ...command.commands.flatMap((child) => linesOf(child, [...typed, child.name()])),
  ];
}

test("bash completes every command and option of the program, and values that are known", async () => {
  const lines: Line[] = [
    ...linesOf(program),
    { typed: ["incid"], completed: ["incident"] },
    {
      typed: ["incident", "open", "Down", "--severity", ""],
      completed: ["minor", "major", "critical"],
    },
    {
      typed: ["incident", "update", "--title", "status", "--status", "re"],
      completed: ["resolved"],
    },
    { typed: ["incident", "open", "--message", ""], completed: [] },
    { typed: ["completion", "z"], completed: ["zsh"] },
    { typed: ["status", "--key-file", "package.js"], completed: ["package.json"] },
  ];
  expect(lines.length).toBeGreaterThan(60);
  const script = lines.map(({ typed }) => {
    const words = ["signalbox", ...typed].map((word) => `'${word}'`).join(" ");
    return `COMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _signalbox; echo "\${COMPREPLY[*]}"`;
  });
  const answers = (await said("bash", ["--norc", "-s"], script.join("\n"))).trimEnd().split("\n");
  expect(lines.map(({ typed }, index) => [typed, answers[index]])).toEqual(
    lines.map(({ typed, completed }) => [typed, completed.join(" ")]),
  );
});

testWith(
  ["fish"],
  "fish completes commands with what they do, and values that are known",
  async () => {
    const lines = [
      "complete -C 'signalbox incident '",
      "complete -C 'signalbox incident open Down --severity m'",
      "complete -C 'signalbox monitor list --st'",
    ];
    const answers = (await said("fish", ["--no-config"], lines.join("\n"))).trim().split("\n");
    expect(answers.map((line) => line.split("\t"))).toEqual([
      ["help", "display help for command"],
      ["open", "open an incident and print its id"],
      ["resolve", "resolve an incident"],
      ["update", "post an update to an incident, or correct it"],
      ["major", "severity"],
      ["minor", "severity"],
      ["--status", "only monitors in this state"],
    ]);
  },
);

testWith(["zsh"], "zsh takes the script, and offers commands with what they do", async () => {
  const lines = `
    _describe() { print -l -- \${(P)@[-1]} }
    compadd() { print -l -- "$@" }
    ask() { words=(signalbox "$@"); CURRENT=$#words; PREFIX=$words[-1]; _signalbox }
    ask incident ''
    ask completion --
    ask incident open Down --severity ''`;
  const script = `compdef() { : }\n${completionFor("zsh", program)}\n${lines}`;
  const child = Bun.spawn(["zsh", "-f", "-c", script], { stdout: "pipe", stderr: "inherit" });
  const answers = (await new Response(child.stdout).text()).trim().split("\n");
  expect([await child.exited, answers]).toEqual([
    0,
    [
      "open:open an incident and print its id",
      "update:post an update to an incident, or correct it",
      "resolve:resolve an incident",
      "help:display help for command",
      "--help:display help for command",
      "--",
      "minor",
      "major",
      "critical",
    ],
  ]);
=======
test.each([
  { words: ["incid"], suggestions: ["incident"] },
  { words: ["incident", ""], suggestions: ["open", "update", "resolve", "help"] },
  {
    words: ["incident", "open", "Down", "--severity", ""],
    suggestions: ["minor", "major", "critical"],
  },
  { words: ["incident", "update", "--status", "re"], suggestions: ["resolved"] },
  { words: ["incident", "open", "--message", ""], suggestions: [] },
  { words: ["incident", "open", "--sev"], suggestions: ["--severity"] },
  { words: ["completion", "z"], suggestions: ["zsh"] },
])("$words is completed", async ({ words, suggestions }) => {
  expect(await complete(...words)).toEqual(suggestions);
});

test("every command that help lists is completed", async () => {
  expect((await complete("")).toSorted()).toEqual(namesIn(commandLine()).toSorted());
>>>>>>> f0bcac5c (cli: complete commands through @bomb.sh/tab)
});
