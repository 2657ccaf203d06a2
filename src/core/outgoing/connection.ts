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

/** How long an address has to itself before the next one is tried beside it (RFC 8305 §8). */
const headStartMs = 250;

/** What TLS said about the other side. */
type Secured = JudgedCertificate & {
  /** `1.3`. */
  version: string;
};

/** An open connection. It closes with its context's signal, whoever is still reading. */
export type Connection = {
  secured: Secured | null;
  write: (data: string | Uint8Array) => void;
  /** Hands over what arrives until the other side ends the connection, to who asked last; rejects when it breaks. */
  read(take: (chunk: Buffer) => void): Promise<void>;
  /** Nothing more is read until `resume`. */
  pause: () => void;
  resume: () => void;
  /** Begins TLS on what was plain so far, as STARTTLS does; nothing may be unread then. */
  secure(tls: Tls): Promise<Connection>;
  /** What arrives afterwards is thrown away. */
  close: () => void;
};

/** The name that TLS asks for and its certificate is judged by, and what proves who asks, in PEM. */
export type Tls = {
  name: string;
  certificate?: string;
  key?: string;
  /** What is spoken over it (RFC 7301). */
  protocol?: string;
};

/**
 * Connects to the first of these addresses that takes the connection. Sockets of Bun's own: at the pace
 * of real checks they take less than half of node:net's processor time, a third of node:http's.
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

/** Connects to a socket of this machine's file system. */
export function dialFile(path: string, context: OutgoingContext): Promise<Connection> {
  context.step = "connecting";
  return open(path, { unix: path }, null, context);
}

type OpeningContext = Pick<OutgoingContext, "signal" | "authorities">;

/** Places whose last connection was given up while it was still coming about. */
const silent = recentSet(10_000);

async function attempt(
  address: string,
  port: number,
  tls: Tls | null,
  context: OpeningContext,
): Promise<Connection> {
  const place = `${address} ${port}`;
  const startedAt = performance.now();
  try {
    if (silent.has(place)) await probe(address, port, context.signal);
    if (context.signal.aborted) throw new TargetFailure("No connection could be established.");
    return await open(place, { hostname: address, port }, tls, context);
  } catch (error) {
    throw await explainedRefusal(error, address, port, startedAt, context.signal);
  }
}

/**
 * Bun's sockets can't be given up before they are open: at an address that says nothing each would stay
 * for two minutes. Where one does, a socket that can be closed asks first.
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

/** Made once: every connection ends, and few are waited for by then. */
const reset = Object.assign(new Error(), { code: "ECONNRESET" });

type Peer = { hostname: string; port: number } | { unix: string };

function open(
  place: string,
  peer: Peer,
  tls: Tls | null,
  { signal, authorities }: OpeningContext,
): Promise<Connection> {
  const opening = Promise.withResolvers<Connection>();
  const ending = Promise.withResolvers<void>();
  // Nobody may be reading when it breaks.
  ending.promise.catch(() => {});
  let socket: Bun.Socket<undefined> | null = null;
  let unread: Buffer[] = [];
  let unwritten: Uint8Array = new Uint8Array();
  let take: ((chunk: Buffer) => void) | null = null;
  let hasEnded = false;
  let isClosed = false;
  let isSecure = tls !== null;

  const connection: Connection = {
    secured: null,
    write(data) {
      const bytes = typeof data === "string" ? Buffer.from(data) : data;
      unwritten = unwritten.length === 0 ? bytes : Buffer.concat([unwritten, bytes]);
      writeMore();
    },
    read(taker) {
      take = taker;
      for (const chunk of unread.splice(0)) taker(chunk);
      return ending.promise;
    },
    pause: () => socket?.pause(),
    resume: () => socket?.resume(),
    secure(wanted) {
      const securing = Promise.withResolvers<Connection>();
      isSecure = true;
      ending.promise.then(
        () => securing.reject(new TargetFailure("No TLS connection could be established.")),
        securing.reject,
      );
      const upgraded = socket?.upgradeTLS({
        data: undefined,
        tls: optionsOf(wanted, authorities),
        socket: handlersOf(wanted, securing),
      });
      if (upgraded !== undefined) socket = upgraded[1];
      return securing.promise;
    },
    close() {
      isClosed = true;
      unread = [];
      socket?.resume();
      socket?.end();
    },
  };

  function writeMore() {
    const count = unwritten.length === 0 ? 0 : (socket?.write(unwritten) ?? 0);
    if (count > 0) unwritten = unwritten.subarray(count);
  }

  type Opening = {
    resolve: (connection: Connection) => void;
    reject: (error: unknown) => void;
  };

  function handlersOf(tls: Tls | null, { resolve, reject }: Opening): Bun.SocketHandler<undefined> {
    // Once it is secured, what it was made of tells of sealed bytes.
    const isCurrent = () => isSecure === (tls !== null);
    let isOpen = false;
    const established = () => {
      isOpen = true;
      resolve(connection);
    };
    return {
      open(opened) {
        if (!isCurrent()) return;
        socket = opened;
        silent.delete(place);
        if (signal.aborted) opened.end();
        else if (tls === null) established();
      },
      handshake(secured, success, error) {
        if (tls === null) return;
        const { code = "" } = (error ?? {}) as NodeJS.ErrnoException;
        // Of a certificate for another name it says the same, with a code of TLS.
        const isBroken = !success && /^E[A-Z]+$/.test(code);
        const judged = isBroken
          ? null
          : judgedCertificate(secured, place, code, tls.name, authorities);
        if (judged === null) {
          const reason = refusalOf(error, tls, secured) ?? reasonOf(code);
          reject(new TargetFailure(reason ?? "No TLS connection could be established."));
          return;
        }
        connection.secured = { ...judged, version: secured.getTLSVersion().replace("TLSv", "") };
        established();
      },
      data(_socket, chunk) {
        if (isClosed || !isCurrent()) return;
        if (take === null) unread.push(chunk);
        else take(chunk);
      },
      drain() {
        if (isCurrent()) writeMore();
      },
      end() {
        hasEnded = true;
        ending.resolve();
      },
      close(_socket, error) {
        const broken = error ?? reset;
        if (!isOpen) reject(reasonFor(broken) ?? broken);
        if (hasEnded) ending.resolve();
        else ending.reject(broken);
      },
      error(failed, error) {
        const refusal = tls && refusalOf(error, tls, failed);
        ending.reject(refusal === null ? error : new TargetFailure(refusal));
      },
      connectError(_socket, error) {
        reject(error);
      },
    };
  }

  signal.addEventListener("abort", () => {
    isClosed = true;
    unread = [];
    if (socket === null) silent.add(place);
    opening.reject(new TargetFailure("No connection could be established."));
    socket?.resume();
    // TLS says goodbye first, which a peer that reads nothing would hold up for ever.
    if (isSecure) socket?.terminate();
    else socket?.end();
  });
  const connecting = Bun.connect({
    ...peer,
    ...(tls && { tls: optionsOf(tls, authorities) }),
    socket: handlersOf(tls, opening),
  } as Bun.TCPSocketConnectOptions<undefined>);
  connecting.catch((error: unknown) => {
    silent.delete(place);
    opening.reject(error);
  });
  return opening.promise;
}

/** The certificate is judged by ourselves, before anything is sent, so that its end is always known. */
function optionsOf(
  { name, certificate, key, protocol }: Tls,
  authorities: string | null,
): Bun.TLSOptions {
  return {
    rejectUnauthorized: false,
    ...(authorities !== null && { ca: trusted(authorities) }),
    // An empty one: Bun would send the address, but RFC 6066 §3 allows only names.
    serverName: isIP(name) === 0 ? asciiName(name) : "",
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
    // As the bytes that are sent: a name alone is sent as none.
    ...(protocol !== undefined && {
      ALPNProtocols: Buffer.from([protocol.length, ...Buffer.from(protocol)]),
    }),
  };
}

/** What is trusted where these are, too. */
export const trusted = (authorities: string) => [...getCACertificates("default"), authorities];

/** Of TLS 1.3 it comes only after the handshake. */
const refusalOf = (error: Error | null, { certificate }: Tls, socket: Bun.Socket<undefined>) =>
  alertOf(
    error?.message ?? "",
    certificate !== undefined,
    // Bun 1.4.5 returns undefined for none, against its types.
    (socket.getPeerX509Certificate() as unknown) !== undefined,
  );
