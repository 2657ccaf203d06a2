import { AppError } from "../core/errors.ts";
import { importBounds } from "../core/limits.ts";

/** One value of a record: a certificate with its chain fits, a gigabyte of text does not. */
export const maxCellBytes = importBounds.recordValue.value;
/** All records of a file together. Results of checks don't count. */
export const maxRecordBytes = importBounds.recordBytes.value;
export const maxFileBytes = importBounds.jsonBackup.value;

/** Why a file can't be imported, as the sentence that people read. Nothing was changed by then. */
export function unreadable(name: string, why: string): AppError {
  return new AppError("BAD_REQUEST", `${name} can't be imported: ${why} Nothing was changed.`);
}
