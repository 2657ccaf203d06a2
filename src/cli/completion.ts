import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";

const howTo = [
  "source <(signalbox completion bash)   # in ~/.bashrc",
  "source <(signalbox completion zsh)    # in ~/.zshrc, after compinit",
  "signalbox completion fish > ~/.config/fish/completions/signalbox.fish",
];

/**
 * Adds `completion`, and the hidden `complete` that its scripts call. Call it last, because it
 * lists all other commands.
 */
export function addCompletion(program: Command) {
  // The library prints with `console.log`, which ignores a full disk.
  console.log = (text: string) => void process.stdout.write(`${text}\n`);
  tab(program, { completionCommandName: "completion" });
  program.commands
    .find((command) => command.name() === "completion")
    ?.description("print a script for shell completion")
    .addHelpText("after", `\n${howTo.join("\n")}`);
}
