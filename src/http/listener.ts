/** Listens on ports with optional TLS, and handles the common steps of all requests. */
import { isIP } from "node:net";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { normalizePem } from "../core/security/pem.ts";
import type { Log } from "../core/log.ts";
import { AppError } from "../core/errors.ts";
import { createAccessLog } from "./access-log.ts";
import { invalidFieldError } from "../core/validation.ts";
import { boundBody } from "./body.ts";
import { isRead } from "./request.ts";
import { createErrorResponse } from "./responses/error-response.ts";
import { createFairTurns, type RequestHandler } from "./fair-turns.ts";
import { assertOneHost } from "./access/host-guard.ts";
import type { TransferLimit } from "./responses/large-bodies.ts";
import type { RequestMetrics } from "./request-metrics.ts";
import type { Proxies } from "./access/trusted-proxies.ts";

/** A certificate chain and its private key, in PEM. */
export type Tls = { cert: string; key: string };

type Listening = {
  host: string;
  tls: Tls | null;
  proxies: Proxies;
  requests: Pick<RequestMetrics, "observe">;
  transfers: TransferLimit;
  log: Log;
};

/** Half a year, without subdomains. */
const strictTransport = "max-age=15552000";

/** Wraps the handler of all ports. Requires one host, limits the body, and adds a request ID and logs. */
export function createRequestHandler(
  { log, tls, proxies, requests, transfers }: Omit<Listening, "host">,
  handle: RequestHandler,
): RequestHandler {
  const record = createAccessLog(log, proxies.addressOf);
  return (received) => {
    const startedAt = performance.now();
    const finishRequest = (handled: Response) => {
      const response =
        transfers.admit(handled, received, proxies.addressOf) ??
        createErrorResponse(tooManyTransfersError(received), Bun.randomUUIDv7(), log);
      const { headers } = response;
      if (!headers.has("x-request-id")) headers.set("X-Request-Id", Bun.randomUUIDv7());
      if (tls !== null) headers.set("Strict-Transport-Security", strictTransport);
      record(received, response, startedAt);
      requests.observe(received, response, performance.now() - startedAt);
      return response;
    };
    const failRequest = (error: unknown) =>
      finishRequest(createErrorResponse(error, Bun.randomUUIDv7(), log));
    try {
      assertOneHost(received);
      const response = handle(proxies.restoreSentRequest(boundBody(received)));
      return response instanceof Response
        ? finishRequest(response)
        : response.then(finishRequest).catch(failRequest);
    } catch (error) {
      return failRequest(error);
    }
  };
}

/** A write has been carried out, so its error must not ask to send it again. */
const tooManyTransfersError = (request: Request) =>
  isRead(request)
    ? new AppError(
        "UNAVAILABLE",
        "Too many large responses are under way. Try again in a moment.",
        {
          headers: { "Retry-After": "2" },
        },
      )
    : new AppError(
        "UNAVAILABLE",
        "The request was carried out, but too many large responses are under way to send its own. Read the result in a moment.",
      );

/** A port that serves requests until it is stopped. */
export type Port = {
  readonly number: number;
  /** Server that knows the connections of all requests, even those of other ports. */
  readonly server: Bun.Server<undefined>;
  readonly pendingRequests: number;
  /** Uses this certificate for new connections. Finishes pending requests and closes idle connections. */
  useTls(tls: Tls): void;
  /** Stops accepting connections. `closeActive` also closes the open ones. */
  stop(closeActive?: boolean): Promise<unknown>;
};

/** Opens a port. Throws an Error with the next step if the port or the certificate is unusable. */
export function listen(
  { host, ...shared }: Listening,
  wanted: number,
  handle: RequestHandler,
): Port {
  const { tls } = shared;
  const answer = createRequestHandler(shared, handle);
  const fetch = createFairTurns(answer, (request) => current.server.requestIP(request)?.port);
  const open = (port: number, tls: Tls | null) =>
    Bun.serve({
      hostname: host,
      port,
      fetch,
      idleTimeout: 10,
      // Unlimited, because Bun would send a 413 without a body. `boundBody` limits the body instead.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      ...(tls && { tls }),
    });
  let current: { server: ReturnType<typeof open>; tls: Tls | null };
  try {
    current = { server: open(wanted, tls), tls };
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const reason = listenErrorReasons[code] ?? (isIP(host) === 0 ? notAnAddressReason : message);
    throw new Error(
      `Can't listen on ${host}, port ${wanted}: ${reason}. Choose another --host or --port.`,
      { cause: error },
    );
  }
  const servers = new Set([current.server]);
  const number = current.server.port ?? wanted;

  return {
    number,
    get server() {
      return current.server;
    },
    get pendingRequests() {
      return [...servers].reduce((sum, { pendingRequests }) => sum + pendingRequests, 0);
    },
    useTls(tls) {
      // Opens a new server, because Bun's `reload` does not replace the certificate.
      const before = current;
      void before.server.stop().then(() => servers.delete(before.server));
      try {
        current = { server: open(number, tls), tls };
      } catch (error) {
        current = { ...before, server: open(number, before.tls) };
        throw error;
      } finally {
        servers.add(current.server);
      }
    },
    stop: (closeActive) => Promise.all([...servers].map((server) => server.stop(closeActive))),
  };
}

const listenErrorReasons: Record<string, string> = {
  EACCES: "ports below 1024 need more rights than this user has",
  EADDRINUSE: "another program is listening there (`signalbox doctor` names it)",
  EADDRNOTAVAIL:
    "this machine does not have that address: --host must be one of its own, or 0.0.0.0 for all",
};

const notAnAddressReason = "--host must be an IP address of this machine, or 0.0.0.0 for all";

/**
 * Reads certificate and key; null without these options. Throws VALIDATION_ERROR for a key that other users can read,
 * and for one that does not match.
 */
export function readTls(files: {
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
}): Tls | null {
  const { tlsCert, tlsKey } = files;
  if (tlsCert === undefined || tlsKey === undefined) return null;
  const tls = { cert: normalizePem(readPemFile(tlsCert)), key: normalizePem(readPemFile(tlsKey)) };
  // Windows has no file modes.
  if (process.platform !== "win32" && (statSync(tlsKey).mode & 0o077) !== 0)
    throw invalidFieldError(
      "--tls-key",
      `must name a file that only its owner can read: run chmod 600 ${tlsKey}`,
    );
  try {
    // Three checks, because createSecureContext accepts an empty text, and the others read only the first
    // certificate.
    createPrivateKey(tls.key);
    new X509Certificate(tls.cert);
    createSecureContext(tls);
  } catch (error) {
    const { message } = error as Error;
    throw invalidFieldError(
      "--tls-cert",
      `must name a certificate, and --tls-key its key (${message})`,
    );
  }
  return tls;
}

/** Expiry of a certificate, in Unix milliseconds; null if there is none. */
export const readExpiry = (tls: Tls | null): number | null =>
  tls && new X509Certificate(tls.cert).validToDate.getTime();

function readPemFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`${file} can't be read; --tls-cert and --tls-key name PEM files.`, {
      cause: error,
    });
  }
}
