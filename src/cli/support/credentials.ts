import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { detectDesktop } from "../../config.ts";
import { explainFileError } from "../../core/system/system-errors.ts";

const Credentials = z.object({
  /** The server to use if a command names no other. */
  current: z.string().nullable(),
  /** Keys by server address. A key is sent only to the server for which it was stored. */
  servers: z.record(
    z.string(),
    z.object({ key: z.string(), caFile: z.string().nullable().default(null) }),
  ),
});
type Credentials = z.infer<typeof Credentials>;

export const locateCredentialsFile = () => join(detectDesktop().settings, "credentials.json");

/** Reads the credentials that `signalbox login` has stored. */
export function readCredentials(): Credentials {
  const file = locateCredentialsFile();
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return { current: null, servers: {} };
    throw error;
  }
  try {
    return Credentials.parse(JSON.parse(text));
  } catch {
    throw new Error(`${file} can't be read: remove it, and run \`signalbox login\` again.`);
  }
}

/** Stores the credentials in a file that only this user can read. */
export function writeCredentials(credentials: Credentials) {
  const file = locateCredentialsFile();
  const part = `${file}.${process.pid}`;
  try {
    mkdirSync(detectDesktop().settings, { recursive: true, mode: 0o700 });
    writeFileSync(part, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(part, file);
  } catch (error) {
    const reason = explainFileError(error, file) ?? (error as Error).message;
    throw new Error(
      `The key was not stored. ${reason} Without it, give each command --server and --key-file.`,
      {
        cause: error,
      },
    );
  }
}
