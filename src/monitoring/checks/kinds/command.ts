/** The command check: runs a program of the folder in --allow-commands and judges its exit code. */
import type { Stats } from "node:fs";
import { access, constants, realpath, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { LocalFailure, TargetFailure } from "../../../core/outgoing/failures.ts";
import { classifyFailure } from "../../../core/outgoing/failure-reasons.ts";
import { type Run, runProgram } from "../../../core/system/programs.ts";
import { type CheckKind, measureElapsedMs } from "../check.ts";

const maxBytes = 64 * 1024;
const maxLineLength = 250;

/** Up when the program exits with 0. Only the organization sees the first line of its output. */
export const checkCommand: CheckKind<"command"> = async (settings, context) => {
  const folder = await context.getCommandFolder();
  const file = await resolveExecutable(folder, settings.command);
  context.step = "waiting for the response";
  const startedAt = performance.now();
  let run: Run;
  try {
    run = await runProgram([file, ...settings.arguments], context, {
      maxBytes,
      folder: dirname(file),
    });
  } catch (error) {
    const reason = classifyFailure(error);
    throw reason instanceof LocalFailure ? reason : new TargetFailure("It can't be started.", true);
  }
  const latencyMs = measureElapsedMs(startedAt);
  if (run.isTooLong) throw new TargetFailure(`It prints more than ${maxBytes / 1024} KiB.`);
  const line = extractFirstLine(run.output) ?? extractFirstLine(run.errors);
  const ending =
    run.exitCode === null ? `was ended by ${run.signal}` : `exited with ${run.exitCode}`;
  const message = `It ${ending} after ${latencyMs} ms.`;
  const output = line === null ? undefined : line;
  if (run.exitCode !== 0)
    throw new TargetFailure(message, false, output && `${output} (it ${ending})`);
  const details = { output: line };
  return {
    status: "up",
    message,
    latencyMs,
    details,
    measured: { value: line },
    ...(output !== undefined && { serverText: output }),
  };
};

/** Returns the first non-empty line without control characters, cut to `maxLineLength` characters. */
function extractFirstLine(text: string): string | null {
  const lines = text.split(/[\r\n]+/).map((line) => line.replace(/\p{C}/gu, " ").trim());
  const first = lines.find((line) => line !== "");
  return first === undefined ? null : first.slice(0, maxLineLength).toWellFormed();
}

/**
 * Finds the program in the folder, after resolving symbolic links. Rejects programs that users other than root and
 * the user of this process can replace. Throws TargetFailure, LocalFailure.
 */
async function resolveExecutable(folderOption: string, command: string): Promise<string> {
  if (process.platform === "win32") throw new LocalFailure("programs are not run on Windows");
  let folder: string;
  try {
    folder = await realpath(folderOption);
  } catch {
    throw new LocalFailure("the folder of --allow-commands can't be read");
  }
  let file: string;
  try {
    file = await realpath(join(folder, command));
  } catch {
    throw new TargetFailure("There is no such program in the folder of --allow-commands.", true);
  }
  if (!file.startsWith(folder.endsWith(sep) ? folder : folder + sep))
    throw new TargetFailure("The program is not in the folder of --allow-commands.", true);
  for (let path = file; ; path = dirname(path)) {
    const issue = findPermissionIssue(await stat(path));
    if (issue !== null) {
      const subject = path === file ? "The program" : "The folder of the program";
      throw new TargetFailure(`${subject} ${issue}.`, true);
    }
    if (path === folder) break;
  }
  if (!(await stat(file)).isFile()) throw new TargetFailure("The program is not a file.", true);
  try {
    await access(file, constants.X_OK);
  } catch {
    throw new TargetFailure("The program is not executable.", true);
  }
  return file;
}

function findPermissionIssue({ uid, mode }: Stats): string | null {
  if (uid !== 0 && uid !== process.getuid?.()) return "belongs to another user";
  return (mode & 0o022) === 0 ? null : "may be written by others";
}
