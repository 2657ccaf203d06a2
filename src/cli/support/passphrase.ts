import type { Command } from "commander";
import { parseConfig } from "../../config.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { readSecret } from "./input.ts";

export function addPassphraseOption(command: Command): Command {
  return command.option(
    "--passphrase-file <file>",
    "file with the passphrase of the backup, or - for standard input",
  );
}

/**
 * Reads the passphrase from the file that the option or its variable names; null if there is none.
 * Throws VALIDATION_ERROR.
 */
export function readPassphrase(flag: string | undefined): string | null {
  const { passphraseFile } = parseConfig({ passphraseFile: flag });
  if (passphraseFile === undefined) return null;
  const passphrase = readSecret("--passphrase-file", passphraseFile);
  if (passphrase.length < 12)
    throw invalidFieldError(
      "--passphrase-file",
      "must hold a passphrase of at least 12 characters",
    );
  return passphrase;
}
