import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Connection } from "./connection.ts";
import type { OutgoingContext } from "./context.ts";
import { TargetFailure } from "./failures.ts";
import { temporaryFolder } from "../temporary-folders.ts";

/** Where a library finds the relay. */
type Meeting = { path: string } | { hostname: string; port: number };

/**
 * An open connection under an address of this machine, for one library that makes its connections by itself:
 * what it brings is bounded, it ends with the check, and it leads nowhere else. `issue` is why it ended; null while it has not.
 */
export function relayed(
  connection: Connection,
  { signal, memory }: Pick<OutgoingContext, "signal" | "memory">,
  maxBytes: number,
): { meeting: Meeting; issue(): unknown } {
  const folder = temporaryFolder();
  const path = join(folder, "relay");
  let client: Bun.Socket<undefined> | null = null;
  let unwritten: Buffer = Buffer.alloc(0);
  let received = 0;
  let issue: unknown = null;
  let hasEnded = false;

  function fail(reason: unknown) {
    issue = reason;
    connection.close();
    client?.terminate();
  }

  function writeMore() {
    const count = unwritten.length === 0 ? 0 : (client?.write(unwritten) ?? 0);
    if (count > 0) unwritten = unwritten.subarray(count);
    if (hasEnded && unwritten.length === 0) client?.end();
  }

  /** What came before is still for the library to read. */
  function end(reason: unknown) {
    issue ??= reason;
    hasEnded = true;
    writeMore();
  }

  const listener = Bun.listen<undefined>({
    ...(process.platform === "win32" ? { hostname: "127.0.0.1", port: 0 } : { unix: path }),
    socket: {
      open(opened) {
        if (client !== null) {
          opened.terminate();
          return;
        }
        client = opened;
        listener.stop();
        connection
          .read((chunk) => {
            received += chunk.length;
            if (received > maxBytes)
              return fail(new TargetFailure(`The answer is longer than ${maxBytes / 1024} KiB.`));
            try {
              memory.take(chunk.length);
            } catch (error) {
              return fail(error);
            }
            unwritten = unwritten.length === 0 ? chunk : Buffer.concat([unwritten, chunk]);
            writeMore();
          })
          .then(
            () =>
              end(new TargetFailure("The connection was closed before the answer was complete.")),
            end,
          );
      },
      data: (_client, chunk) => connection.write(chunk),
      drain: writeMore,
      close: () => connection.close(),
      error() {},
    },
  } as Bun.UnixSocketOptions<undefined>);

  function stop() {
    listener.stop(true);
    client?.terminate();
    rmSync(folder, { recursive: true, force: true });
  }
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  const { port } = listener as { port?: number };
  return {
    meeting: port === undefined || port === 0 ? { path } : { hostname: "127.0.0.1", port },
    issue: () => issue,
  };
}
