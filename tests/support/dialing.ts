import type { CheckContext } from "../../src/monitoring/checks/check.ts";
import type { Connection } from "../../src/core/outgoing/connection.ts";
import { reasonFor } from "../../src/core/outgoing/reasons.ts";
import { contextOf } from "./checking.ts";

/** A connecting check, and its abort signal. */
export function dialing() {
  const ending = new AbortController();
  const context: CheckContext = contextOf(ending);
  return { context, end: () => ending.abort() };
}

/** The failure message. */
export const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "no reason",
    (error: unknown) => reasonFor(error)?.message ?? `a bug: ${String(error)}`,
  );

/** All bytes until the other side closes the connection. */
export async function all(connection: Connection): Promise<string> {
  let text = "";
  await connection.read((chunk) => (text += chunk.toString("latin1")));
  return text;
}
