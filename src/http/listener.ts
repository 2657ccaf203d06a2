import { readFileSync, statSync } from "node:fs";
import type { Log } from "../core/log.ts";
import { invalid } from "../core/validation.ts";
import { withBoundedBody } from "./body.ts";
import { errorResponse } from "./error-response.ts";
import { mustNameOneHost } from "./host-guard.ts";
import type { Proxies } from "./trusted-proxies.ts";

export type RequestHandler = (request: Request) => Response | Promise<Response>;

/** A certificate chain and its key, as PEM. */
export type Tls = { cert: string; key: string };

type Listening = { host: string; tls: Tls | null; proxies: Pick<Proxies, "asSent">; log: Log };

/** Half a year; the name's other ports and subdomains stay what they are to those who never came here. */
const strictTransport = "max-age=15552000";

/** What holds for every request on every port, whatever its path: one host, a bounded body, a response with a request id. */
export function requestHandler(
  { log, tls, proxies }: Pick<Listening, "log" | "tls" | "proxies">,
  handle: RequestHandler,
): RequestHandler {
  return (received) => {
    const finished = (response: Response) => {
      const { headers } = response;
      if (!headers.has("x-request-id")) headers.set("X-Request-Id", Bun.randomUUIDv7());
      if (tls !== null) headers.set("Strict-Transport-Security", strictTransport);
      return response;
    };
    const failed = (error: unknown) => finished(errorResponse(error, Bun.randomUUIDv7(), log));
    try {
      mustNameOneHost(received);
      const response = handle(proxies.asSent(withBoundedBody(received)));
      return response instanceof Response
        ? finished(response)
        : response.then(finished).catch(failed);
    } catch (error) {
      return failed(error);
    }
  };
}

/** Throws an Error with a next step when the port or the certificate can't be used. */
export function listen(
  { host, tls, proxies, log }: Listening,
  port: number,
  handle: RequestHandler,
) {
  try {
    return Bun.serve({
      hostname: host,
      port,
      fetch: requestHandler({ log, tls, proxies }, handle),
      idleTimeout: 10,
      // Bun would answer 413 without a body. Ours has one, and `withBoundedBody` keeps Bun from buffering more.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      ...(tls && { tls }),
    });
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const reason = whyNotListening[code] ?? message;
    throw new Error(
      `Can't listen on ${host}, port ${port}: ${reason}. Choose another --host or --port.`,
      { cause: error },
    );
  }
}

const whyNotListening: Record<string, string> = {
  EACCES: "ports below 1024 need more rights than this user has",
  EADDRINUSE: "another program is listening there",
  EADDRNOTAVAIL: "this machine does not have that address",
};

/** What these files hold; null where there are none. Throws VALIDATION_ERROR for a key that others may read. */
export function tlsOf(files: {
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
}): Tls | null {
  const { tlsCert, tlsKey } = files;
  if (tlsCert === undefined || tlsKey === undefined) return null;
  const tls = { cert: pem(tlsCert), key: pem(tlsKey) };
  // Windows has no such modes.
  if (process.platform !== "win32" && (statSync(tlsKey).mode & 0o077) !== 0)
    throw invalid(
      "--tls-key",
      `must name a file that its owner alone may read: chmod 600 ${tlsKey} mends it`,
    );
  return tls;
}

function pem(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`${file} can't be read; --tls-cert and --tls-key name PEM files.`, {
      cause: error,
    });
  }
}
