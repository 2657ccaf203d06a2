import type { DeletableNoun } from "../../src/core/deletable-nouns.ts";
import { v1, addIdempotencyKey } from "./client.ts";

/** Choices after a collision with a record that has the old name or slug now. */
export type RestoreChoice = { name?: string; slug?: string };

/** Sends the request that restores a deleted record. */
export function restoreRecord(
  noun: DeletableNoun,
  id: string,
  choice: RestoreChoice = {},
  idempotencyKey?: string,
) {
  const options = idempotencyKey === undefined ? undefined : addIdempotencyKey(idempotencyKey);
  switch (noun) {
    case "monitor":
      return v1.monitors({ id }).restore.post(choice, options);
    case "group":
      return v1["monitor-groups"]({ id }).restore.post(choice, options);
    case "alert-channel":
      return v1["alert-channels"]({ id }).restore.post(choice, options);
    case "alert-source":
      return v1["alert-sources"]({ id }).restore.post(choice, options);
    case "status-page":
      return v1["status-pages"]({ id }).restore.post(choice, options);
    case "incident":
      return v1.incidents({ id }).restore.post(undefined, options);
    case "maintenance":
      return v1["maintenance-windows"]({ id }).restore.post({}, options);
  }
}
