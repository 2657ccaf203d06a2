import { AppError } from "../core/errors.ts";
import { importBounds } from "../core/limits.ts";

/** Maximum bytes of one value. A certificate with its chain fits. */
export const maxCellBytes = importBounds.recordValue.value;
/** Maximum bytes of all records of a file. Heartbeats don't count. */
export const maxRecordBytes = importBounds.recordBytes.value;
export const maxFileBytes = importBounds.jsonBackup.value;

/** Creates the error for a file that can't be imported. `why` is a full sentence for the user. */
export function createUnreadableError(name: string, why: string): AppError {
  return new AppError("BAD_REQUEST", `${name} can't be imported: ${why} Nothing was changed.`);
}
