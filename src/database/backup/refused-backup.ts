import { DataError } from "../../core/errors.ts";

/** Error for a rejected backup, with the reason and the next step. */
export function refusedBackupError(
  file: string,
  issue: string,
  next = "Restore another backup",
): DataError {
  return new DataError("DATA_UNUSABLE", `${file} ${issue}. Nothing was changed. ${next}.`);
}
