import { type Connection, dial } from "../../../core/outgoing/connection.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { type CheckKind, measureElapsedMs } from "../check.ts";

/** Maximum bytes of a response that are searched for the expected text. */
const maxBytes = 64 * 1024;

/** Up when the port accepts a connection and sends the expected text, if one is set. */
export const checkTcp: CheckKind<"tcp"> = async ({ host, port, send, expect }, context) => {
  const startedAt = performance.now();
  context.step = "resolving the name";
  const connection = await dial(await context.addressesOf(host, port), port, context);
  context.step = "waiting for the response";
  if (send !== null) connection.write(send);
  if (expect !== null) await waitForText(connection, Buffer.from(expect));
  const latencyMs = measureElapsedMs(startedAt);
  const success = expect === null ? "Connected" : "Answered as expected";
  return { status: "up", message: `${success} in ${latencyMs} ms.`, latencyMs };
};

function waitForText(connection: Connection, wanted: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let length = 0;
  let tail: Buffer = Buffer.alloc(0);
  const read = connection.read((chunk) => {
    if (length >= maxBytes) return;
    length += chunk.length;
    const searched = Buffer.concat([tail, chunk]);
    // The expected text can span two chunks.
    tail = Buffer.from(searched.subarray(Math.max(0, searched.length - wanted.length + 1)));
    if (searched.includes(wanted)) resolve();
    else if (length >= maxBytes)
      reject(
        new TargetFailure("The first 64 KiB of the response do not contain the expected text."),
      );
  });
  read.then(
    () => reject(new TargetFailure("The connection was closed without the expected response.")),
    reject,
  );
  return promise;
}
