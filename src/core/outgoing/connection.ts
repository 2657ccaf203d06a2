/** Opens TCP and TLS connections to addresses that the target guard has allowed. */
import { connect, isIP } from "node:net";
import { getCACertificates } from "node:tls";
import { toAsciiName } from "../security/destinations.ts";
import { createRecentSet } from "../collections/recent-set.ts";
import { type JudgedCertificate, judgeCertificate } from "./certificates/judgment.ts";
import type { Address, OutgoingContext } from "./context.ts";
import { ConnectFailure, TargetFailure } from "./failures.ts";
import { raceAttempts } from "./race-attempts.ts";
import { explainRefusal } from "./reachability.ts";
import { explainTlsAlert, classifyFailure, explainErrorCode } from "./failure-reasons.ts";

/** Head start of an address before the next one is tried in parallel (RFC 8305 §8). */
const headStartMs = 250;

/** TLS version and certificate of the peer. */
type TlsDetails = JudgedCertificate & {
  /** Version number, such as `1.3`. */
  version: string;
};

/** An open connection. It closes when the context's signal aborts. */
export type Connection = {
  secured: TlsDetails | null;
  write: (data: string | Uint8Array) => void;
  /**
   * Passes received data to the most recent `take`. Resolves when the peer closes; rejects when the connection
   * breaks.
   */
  read(onChunk: (chunk: Buffer) => void): Promise<void>;
  /** Stops reading until `resume`. */
  pause: () => void;
  resume: () => void;
  /** Starts TLS on a plain connection, as for STARTTLS. All received data must have been read. */
  secure(tls: Tls): Promise<Connection>;
  /** Discards data that arrives later. */
  close: () => void;
};

/** TLS settings: the requested name, which the certificate must match, and a client certificate and key in PEM. */
export type Tls = {
  name: string;
  certificate?: string;
  key?: string;
  /** Application protocol (ALPN, RFC 7301). */
  protocol?: string;
};

/** Offered over TLS, because servers of several protocols choose by it. Browsers and curl offer it, too. */
export const http1 = "http/1.1";

/**
 * Connects to the first address that accepts. At the rate of real checks, Bun's sockets need less than half the CPU
 * time of node:net, and a third of node:http.
 */
export function dial(
  addresses: readonly Address[],
  port: number,
  context: OutgoingContext,
  tls: Tls | null = null,
): Promise<Connection> {
  context.step = "connecting";
  const [only, ...others] = addresses;
  if (only === undefined) throw new TargetFailure("The name has no address.");
  const attemptAddress = ({ address }: Address) => attemptConnection(address, port, tls, context);
  if (others.length === 0) return attemptAddress(only);
  return raceAttempts([only, ...others], headStartMs, attemptAddress, (late) => late.close());
}

/** Connects to a Unix socket. */
export function dialFile(path: string, context: OutgoingContext): Promise<Connection> {
  context.step = "connecting";
  return new SocketConnection(path, null, context).connect({ unix: path });
}

type OpeningContext = Pick<OutgoingContext, "signal" | "authorities" | "step">;

/** Destinations whose last connection was aborted before it opened. */
const silentDestinations = createRecentSet(10_000);

async function attemptConnection(
  address: string,
  port: number,
  tls: Tls | null,
  context: OpeningContext,
): Promise<Connection> {
  const destination = `${address} ${port}`;
  const startedAt = performance.now();
  try {
    if (silentDestinations.has(destination)) await probeDestination(address, port, context.signal);
    if (context.signal.aborted) throw new ConnectFailure();
    return await new SocketConnection(destination, tls, context).connect({
      hostname: address,
      port,
    });
  } catch (error) {
    throw await explainRefusal(error, address, port, startedAt, context.signal);
  }
}

/**
 * Tests a silent destination with a node:net socket, which can be aborted at any time. Bun's sockets can't be aborted
 * before they open, and wait for two minutes.
 */
function probeDestination(host: string, port: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host, port });
  if (signal.aborted) socket.destroy();
  signal.addEventListener("abort", () => socket.destroy());
  socket.on("connect", () => {
    socket.destroy();
    resolve();
  });
  socket.on("error", reject);
  socket.on("close", () => reject(new ConnectFailure()));
  return promise;
}

/** Shared instance, because most connections end without a reader. */
const resetError = Object.assign(new Error(), { code: "ECONNRESET" });

type Peer = { hostname: string; port: number } | { unix: string };

/** A connection, from the first attempt until it is closed. */
class SocketConnection implements Connection {
  secured: TlsDetails | null = null;
  readonly #destination: string;
  readonly #tls: Tls | null;
  readonly #context: OpeningContext;
  readonly #signal: AbortSignal;
  readonly #authorities: string | null;
  readonly #opened = Promise.withResolvers<Connection>();
  readonly #ended = Promise.withResolvers<void>();
  #socket: Bun.Socket<undefined> | null = null;
  #unread: Buffer[] = [];
  #unwritten: Uint8Array = new Uint8Array();
  #take: ((chunk: Buffer) => void) | null = null;
  #isEnded = false;
  #isClosed = false;
  #isSecure: boolean;

  constructor(destination: string, tls: Tls | null, context: OpeningContext) {
    this.#destination = destination;
    this.#tls = tls;
    this.#context = context;
    this.#signal = context.signal;
    this.#authorities = context.authorities;
    this.#isSecure = tls !== null;
  }

  connect(peer: Peer): Promise<Connection> {
    // Prevents an unhandled rejection if the connection breaks without a reader.
    this.#ended.promise.catch(() => {});
    // Throws for an unusable client certificate.
    const connecting = Bun.connect({
      ...peer,
      ...(this.#tls && { tls: buildTlsOptions(this.#tls, this.#authorities) }),
      socket: this.#handlersFor(this.#tls, this.#opened),
    } as Bun.TCPSocketConnectOptions<undefined>);
    this.#signal.addEventListener("abort", () => this.#abort());
    connecting.catch((error: unknown) => {
      silentDestinations.delete(this.#destination);
      this.#opened.reject(error);
    });
    return this.#opened.promise;
  }

  // Arrow functions, because callers pass these methods as values.
  write = (data: string | Uint8Array) => {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    this.#unwritten =
      this.#unwritten.length === 0 ? bytes : Buffer.concat([this.#unwritten, bytes]);
    this.#writeMore();
  };

  read = (take: (chunk: Buffer) => void): Promise<void> => {
    this.#take = take;
    for (const chunk of this.#unread.splice(0)) take(chunk);
    return this.#ended.promise;
  };

  pause = () => this.#socket?.pause();
  resume = () => this.#socket?.resume();

  secure = (tls: Tls): Promise<Connection> => {
    const secured = Promise.withResolvers<Connection>();
    this.#isSecure = true;
    this.#ended.promise.then(
      () => secured.reject(new TargetFailure("No TLS connection could be established.")),
      secured.reject,
    );
    const upgraded = this.#socket?.upgradeTLS({
      data: undefined,
      tls: buildTlsOptions(tls, this.#authorities),
      socket: this.#handlersFor(tls, secured),
    });
    if (upgraded !== undefined) this.#socket = upgraded[1];
    return secured.promise;
  };

  close = () => {
    this.#isClosed = true;
    this.#unread = [];
    this.#socket?.resume();
    this.#socket?.end();
  };

  #abort() {
    this.#isClosed = true;
    this.#unread = [];
    if (this.#socket === null) silentDestinations.add(this.#destination);
    this.#opened.reject(new ConnectFailure());
    this.#socket?.resume();
    // Skips the closing message of TLS, which a peer that doesn't read would delay forever.
    if (this.#isSecure) this.#socket?.terminate();
    else this.#socket?.end();
  }

  #writeMore() {
    const count = this.#unwritten.length === 0 ? 0 : (this.#socket?.write(this.#unwritten) ?? 0);
    if (count > 0) this.#unwritten = this.#unwritten.subarray(count);
  }

  /** Creates the handlers of the plain or the TLS socket. */
  #handlersFor(
    tls: Tls | null,
    { resolve, reject }: Pick<PromiseWithResolvers<Connection>, "resolve" | "reject">,
  ): Bun.SocketHandler<undefined> {
    // After STARTTLS, the plain socket still reports encrypted data. Ignores it.
    const isCurrent = () => this.#isSecure === (tls !== null);
    let isOpen = false;
    const establish = () => {
      isOpen = true;
      resolve(this);
    };
    return {
      open: (socket) => {
        if (!isCurrent()) return;
        this.#socket = socket;
        silentDestinations.delete(this.#destination);
        if (this.#signal.aborted) socket.end();
        else if (tls === null) establish();
        else if (this.#context.step === "connecting") this.#context.step = "starting TLS";
      },
      handshake: (socket, success, error) => {
        if (tls === null) return;
        const failure = this.#judge(socket, success, error, tls);
        if (failure === null) establish();
        else reject(failure);
      },
      data: (_socket, chunk) => {
        if (this.#isClosed || !isCurrent()) return;
        if (this.#take === null) this.#unread.push(chunk);
        else this.#take(chunk);
      },
      drain: () => {
        if (isCurrent()) this.#writeMore();
      },
      end: () => {
        this.#isEnded = true;
        this.#ended.resolve();
      },
      close: (_socket, error) => {
        const broken = error ?? resetError;
        if (!isOpen) reject(classifyFailure(broken) ?? broken);
        if (this.#isEnded) this.#ended.resolve();
        else this.#ended.reject(broken);
      },
      error: (socket, error) => {
        const refusal = tls && explainTlsRefusal(error, tls, socket);
        this.#ended.reject(refusal === null ? error : new TargetFailure(refusal));
      },
      connectError: (_socket, error) => reject(error),
    };
  }

  /** Stores the judged certificate. Returns the reason if TLS failed; otherwise null. */
  #judge(
    socket: Bun.Socket<undefined>,
    success: boolean,
    error: Error | null,
    tls: Tls,
  ): TargetFailure | null {
    const { code = "" } = (error ?? {}) as NodeJS.ErrnoException;
    // A certificate for another name also fails, but with a TLS code instead of a system code.
    const isBroken = !success && /^E[A-Z]+$/.test(code);
    const judged = isBroken
      ? null
      : judgeCertificate(socket, this.#destination, code, tls.name, this.#authorities);
    if (judged === null) {
      const reason = explainTlsRefusal(error, tls, socket) ?? explainErrorCode(code);
      return new TargetFailure(reason ?? "No TLS connection could be established.");
    }
    this.secured = { ...judged, version: socket.getTLSVersion().replace("TLSv", "") };
    return null;
  }
}

/** The default lacks P-521, which some servers require. Bun 1.4.5 has this option, but not in its types. */
const keyExchangeGroups: object = { ecdhCurve: "X25519:P-256:P-384:P-521" };

/**
 * TLS options that accept every certificate. `judgeCertificate` verifies it before data is sent, and reads its
 * expiry.
 */
function buildTlsOptions(
  { name, certificate, key, protocol }: Tls,
  authorities: string | null,
): Bun.TLSOptions {
  return {
    rejectUnauthorized: false,
    ...keyExchangeGroups,
    ...(authorities !== null && { ca: listTrustedAuthorities(authorities) }),
    // Empty for an IP address, because RFC 6066 §3 allows only names. Bun would send the address.
    serverName: isIP(name) === 0 ? toAsciiName(name) : "",
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
    // In the wire format, because Bun ignores a plain name.
    ...(protocol !== undefined && {
      ALPNProtocols: Buffer.from([protocol.length, ...Buffer.from(protocol)]),
    }),
  };
}

/** Default certificate authorities, and the given ones. */
const listTrustedAuthorities = (authorities: string) => [
  ...getCACertificates("default"),
  authorities,
];

/**
 * Explains why the server rejected the client certificate. With TLS 1.3, the server reports this after the handshake.
 */
const explainTlsRefusal = (
  error: Error | null,
  { certificate }: Tls,
  socket: Bun.Socket<undefined>,
) =>
  explainTlsAlert(
    error?.message ?? "",
    certificate !== undefined,
    // Bun 1.4.5 returns undefined without a certificate, contrary to its types.
    (socket.getPeerX509Certificate() as unknown) !== undefined,
  );
