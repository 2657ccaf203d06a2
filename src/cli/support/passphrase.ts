import type { Command } from "commander";
import { configOf } from "../../config.ts";
import { invalid } from "../../core/validation.ts";
import { readSecret } from "./input.ts";

export function withPassphrase(command: Command): Command {
  return command.option(
    "--passphrase-file <file>",
    "file with the passphrase of the backup, or - for standard input",
  );
}

/**
 * Reads the passphrase from the file that the option or its variable names; null without one.
 * Throws VALIDATION_ERROR.
 */
export function passphraseOf(flag: string | undefined): string | null {
  const { passphraseFile } = configOf({ passphraseFile: flag });
  if (passphraseFile === undefined) return null;
  const passphrase = readSecret("--passphrase-file", passphraseFile);
  if (passphrase.length < 12)
    throw invalid("--passphrase-file", "must hold a passphrase of at least 12 characters");
  return passphrase;
}
