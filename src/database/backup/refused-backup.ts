import { DataError } from "../../core/errors.ts";

/** Why a file is not restored, and what to do. */
export function refusedBackup(
  file: string,
  what: string,
  next = "Restore another backup",
): DataError {
  return new DataError("DATA_UNUSABLE", `${file} ${what}. Nothing was changed. ${next}.`);
}
