import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { desktopOf } from "../../config.ts";
import { explainFileError } from "../../core/system/system-errors.ts";

const Credentials = z.object({
  /** The server that is asked unless another is named. */
  current: z.string().nullable(),
  /** By address: a key is sent to no other server than the one it was given for. */
  servers: z.record(
    z.string(),
    z.object({ key: z.string(), caFile: z.string().nullable().default(null) }),
  ),
});
type Credentials = z.infer<typeof Credentials>;

export const credentialsFile = () => join(desktopOf().settings, "credentials.json");

/** What `signalbox login` has stored. */
export function readCredentials(): Credentials {
  const file = credentialsFile();
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

/** For the eyes of this person alone. */
export function writeCredentials(credentials: Credentials) {
  const file = credentialsFile();
  const part = `${file}.${process.pid}`;
  try {
    mkdirSync(desktopOf().settings, { recursive: true, mode: 0o700 });
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
