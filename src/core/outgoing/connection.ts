/** Opens TCP and TLS connections to addresses that were allowed before. */
import { connect, isIP } from "node:net";
import { getCACertificates } from "node:tls";
import { asciiName } from "../security/destinations.ts";
import { recentSet } from "../collections/recent-set.ts";
import { type JudgedCertificate, judgedCertificate } from "./certificates/judgement.ts";
import type { Address, OutgoingContext } from "./context.ts";
import { TargetFailure } from "./failures.ts";
import { firstOf } from "./first-of.ts";
import { explainedRefusal } from "./reachability.ts";
import { alertOf, reasonFor, reasonOf } from "./reasons.ts";

/** Head start of an address before the next one is tried in parallel (RFC 8305 §8). */
const headStartMs = 250;

/** The TLS version and the certificate of the other side. */
type Secured = JudgedCertificate & {
  /** `1.3`. */
  version: string;
};

/** An open connection. It closes with the signal of its context. */
export type Connection = {
  secured: Secured | null;
  write: (data: string | Uint8Array) => void;
  /** Passes received data to the last `take`. Resolves when the other side closes, rejects when the connection breaks. */
  read(take: (chunk: Buffer) => void): Promise<void>;
  /** Stops reading until `resume`. */
  pause: () => void;
  resume: () => void;
  /** Starts TLS on a plain connection, as STARTTLS does. All received data must have been read. */
  secure(tls: Tls): Promise<Connection>;
  /** Discards data that arrives later. */
  close: () => void;
};

/** Name that is requested and that the certificate must have; client certificate and key in PEM. */
export type Tls = {
  name: string;
  certificate?: string;
  key?: string;
  /** Protocol of the application (ALPN, RFC 7301). */
  protocol?: string;
};

/**
 * Connects to the first of these addresses that accepts. Uses Bun's sockets: at the rate of real checks they
 * need less than half the processor time of node:net, and a third of node:http.
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
  const to = ({ address }: Address) => attempt(address, port, tls, context);
  if (others.length === 0) return to(only);
  return firstOf([only, ...others], headStartMs, to, (late) => late.close());
}

/** Connects to a Unix socket. */
export function dialFile(path: string, context: OutgoingContext): Promise<Connection> {
  context.step = "connecting";
  return new Opening(path, null, context).connect({ unix: path });
}

type OpeningContext = Pick<OutgoingContext, "signal" | "authorities">;

/** Destinations whose last connection was aborted before it opened. */
const silentDestinations = recentSet(10_000);

async function attempt(
  address: string,
  port: number,
  tls: Tls | null,
  context: OpeningContext,
): Promise<Connection> {
  const destination = `${address} ${port}`;
  const startedAt = performance.now();
  try {
    if (silentDestinations.has(destination)) await probe(address, port, context.signal);
    if (context.signal.aborted) throw new TargetFailure("No connection could be established.");
    return await new Opening(destination, tls, context).connect({ hostname: address, port });
  } catch (error) {
    throw await explainedRefusal(error, address, port, startedAt, context.signal);
  }
}

/**
 * Tests a silent destination with a socket that can be closed at any time. Bun's sockets can't be aborted
 * before they are open: at an address that does not respond, each stays for two minutes.
 */
function probe(host: string, port: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host, port });
  if (signal.aborted) socket.destroy();
  signal.addEventListener("abort", () => socket.destroy());
  socket.on("connect", () => {
    socket.destroy();
    resolve();
  });
  socket.on("error", reject);
  socket.on("close", () => reject(new TargetFailure("No connection could be established.")));
  return promise;
}

/** Shared: most connections end when no one waits for them. */
const reset = Object.assign(new Error(), { code: "ECONNRESET" });

type Peer = { hostname: string; port: number } | { unix: string };

/** A connection from its first attempt to its end. */
class Opening implements Connection {
  secured: Secured | null = null;
  readonly #destination: string;
  readonly #tls: Tls | null;
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

  constructor(destination: string, tls: Tls | null, { signal, authorities }: OpeningContext) {
    this.#destination = destination;
    this.#tls = tls;
    this.#signal = signal;
    this.#authorities = authorities;
    this.#isSecure = tls !== null;
  }

  connect(peer: Peer): Promise<Connection> {
    // The connection can break when no one reads.
    this.#ended.promise.catch(() => {});
    this.#signal.addEventListener("abort", () => this.#abort());
    const connecting = Bun.connect({
      ...peer,
      ...(this.#tls && { tls: optionsOf(this.#tls, this.#authorities) }),
      socket: this.#handlersFor(this.#tls, this.#opened),
    } as Bun.TCPSocketConnectOptions<undefined>);
    connecting.catch((error: unknown) => {
      silentDestinations.delete(this.#destination);
      this.#opened.reject(error);
    });
    return this.#opened.promise;
  }

  // The methods of a connection are passed on as functions.
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
      tls: optionsOf(tls, this.#authorities),
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
    this.#opened.reject(new TargetFailure("No connection could be established."));
    this.#socket?.resume();
    // TLS sends a goodbye first: a peer that does not read would delay it for ever.
    if (this.#isSecure) this.#socket?.terminate();
    else this.#socket?.end();
  }

  #writeMore() {
    const count = this.#unwritten.length === 0 ? 0 : (this.#socket?.write(this.#unwritten) ?? 0);
    if (count > 0) this.#unwritten = this.#unwritten.subarray(count);
  }

  /** Handlers of the plain socket, or of the secured one. */
  #handlersFor(
    tls: Tls | null,
    { resolve, reject }: Pick<PromiseWithResolvers<Connection>, "resolve" | "reject">,
  ): Bun.SocketHandler<undefined> {
    // After STARTTLS, the plain socket reports encrypted data.
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
        const broken = error ?? reset;
        if (!isOpen) reject(reasonFor(broken) ?? broken);
        if (this.#isEnded) this.#ended.resolve();
        else this.#ended.reject(broken);
      },
      error: (socket, error) => {
        const refusal = tls && refusalOf(error, tls, socket);
        this.#ended.reject(refusal === null ? error : new TargetFailure(refusal));
      },
      connectError: (_socket, error) => reject(error),
    };
  }

  /** Stores the judged certificate; returns why TLS failed, or null. */
  #judge(
    socket: Bun.Socket<undefined>,
    success: boolean,
    error: Error | null,
    tls: Tls,
  ): TargetFailure | null {
    const { code = "" } = (error ?? {}) as NodeJS.ErrnoException;
    // A certificate for another name is reported in the same way, with a code of TLS.
    const isBroken = !success && /^E[A-Z]+$/.test(code);
    const judged = isBroken
      ? null
      : judgedCertificate(socket, this.#destination, code, tls.name, this.#authorities);
    if (judged === null) {
      const reason = refusalOf(error, tls, socket) ?? reasonOf(code);
      return new TargetFailure(reason ?? "No TLS connection could be established.");
    }
    this.secured = { ...judged, version: socket.getTLSVersion().replace("TLSv", "") };
    return null;
  }
}

/** TLS options that accept every certificate: `judgedCertificate` verifies it before data is sent, and knows its expiry. */
function optionsOf(
  { name, certificate, key, protocol }: Tls,
  authorities: string | null,
): Bun.TLSOptions {
  return {
    rejectUnauthorized: false,
    ...(authorities !== null && { ca: trusted(authorities) }),
    // Empty for an address: Bun would send it, but RFC 6066 §3 allows only names.
    serverName: isIP(name) === 0 ? asciiName(name) : "",
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
    // In the wire format: Bun ignores a plain name.
    ...(protocol !== undefined && {
      ALPNProtocols: Buffer.from([protocol.length, ...Buffer.from(protocol)]),
    }),
  };
}

/** The default authorities and these. */
export const trusted = (authorities: string) => [...getCACertificates("default"), authorities];

/** Why the server rejected the client's certificate. With TLS 1.3 it reports this after the handshake. */
const refusalOf = (error: Error | null, { certificate }: Tls, socket: Bun.Socket<undefined>) =>
  alertOf(
    error?.message ?? "",
    certificate !== undefined,
    // Bun 1.4.5 returns undefined for none, against its types.
    (socket.getPeerX509Certificate() as unknown) !== undefined,
  );
