/** Assembles all commands, runs one, and maps errors to exit codes. */
import { Command, CommanderError } from "commander";
import { version } from "../../core/assets.ts";
import { AppError, DataError } from "../../core/errors.ts";
import { explainFileError } from "../../core/system/system-errors.ts";
import { NoResponse } from "./client.ts";
import { Exit, exitCodes } from "./exit.ts";
import { printMessage } from "./output.ts";
import { addServe } from "../serve.ts";

/**
 * Creates the commands with their options. For `serve`, the others are left out. Mistakes on the
 * command line throw instead of ending the process.
 */
export async function createCommandLine(
  ignoredVariables: readonly string[] = [],
  run: string | null = null,
): Promise<Command> {
  const program = new Command("signalbox")
    .description("Monitoring, incidents and status pages in one executable.")
    .version(version, "-V, --version", "print the version")
    .showHelpAfterError("Run the command with --help to see how it is used.")
    .exitOverride();
  addServe(program);
  if (run === "serve") return program;
  // Loading the other commands would delay the start of the server.
  const { addOtherCommands } = await import("./other-commands.ts");
  addOtherCommands(program, ignoredVariables);
  return program;
}

/** Runs one command and returns the exit code. Data is written to stdout, messages to stderr. */
export async function runCommandLine(
  args: string[],
  ignoredVariables: readonly string[] = [],
): Promise<number> {
  try {
    const command = addDefaultCommand(args);
    const program = await createCommandLine(ignoredVariables, command[0]);
    await program.parseAsync(command, { from: "user" });
    return 0;
  } catch (error) {
    return exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.wrongUsage;
  if (error instanceof Exit && error.message === "") return error.code;
  const message = error instanceof Error ? error.message : String(error);
  printMessage(`signalbox: ${explainFileError(error) ?? message}`);
  if (error instanceof Exit) return error.code;
  if (error instanceof NoResponse) return exitCodes.noResponse;
  if (error instanceof DataError) return exitCodes[error.code];
  if (error instanceof AppError && error.code === "VALIDATION_ERROR") return exitCodes.wrongUsage;
  return exitCodes.failed;
}

/**
 * Adds the default command. Options without a command belong to `serve`. Without any arguments, as
 * after a double click, `serve --open` runs.
 */
function addDefaultCommand(args: string[]): string[] {
  const [first] = args;
  if (first === undefined) return ["serve", "--open"];
  const isOfProgram = ["-h", "--help", "-V", "--version"].includes(first);
  return first.startsWith("-") && !isOfProgram ? ["serve", ...args] : args;
}
