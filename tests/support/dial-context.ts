import type { CheckContext } from "../../src/monitoring/checks/check.ts";
import type { Connection } from "../../src/core/outgoing/connection.ts";
import { classifyFailure } from "../../src/core/outgoing/failure-reasons.ts";
import { createCheckContext } from "./check-runs.ts";

/** A connecting check, and its abort signal. */
export function createDialContext() {
  const ending = new AbortController();
  const context: CheckContext = createCheckContext(ending);
  return { context, end: () => ending.abort() };
}

/** The failure message. */
export const findReason = (promise: Promise<unknown>) =>
  promise.then(
    () => "no reason",
    (error: unknown) => classifyFailure(error)?.message ?? `a bug: ${String(error)}`,
  );

/** All bytes until the other side closes the connection. */
export async function readAll(connection: Connection): Promise<string> {
  let text = "";
  await connection.read((chunk) => (text += chunk.toString("latin1")));
  return text;
}
