/**
 * Finds out why a connection failed. Bun 1.4.5 reports every failure as a refusal (errno -111 for EHOSTUNREACH, too).
 * A datagram to the same address returns the system's real error.
 */
import { isIPv6 } from "node:net";
import { isLoopback } from "../security/target-guard.ts";
import { ConnectFailure, LocalFailure } from "./failures.ts";
import { hasFileHandles, noFileHandlesReason } from "./file-handles.ts";

/** Time to wait for the error of an unused LAN address. ARP and neighbor discovery give up after 3 s. */
const neighborTimeoutMs = 3_500;
/** Time to wait for all other errors. Errors of this machine and of routers arrive about as fast as a refusal. */
const errorWindowMs = 250;
/** Duration from which a refusal is probably a timeout of ARP. */
const slowRefusalMs = 900;

const unreachable = new Set(["EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENETDOWN"]);

/** Returns the error of a connection. A reported refusal is replaced with its real cause. */
export async function explainRefusal(
  error: unknown,
  address: string,
  port: number,
  startedAt: number,
  signal: AbortSignal,
): Promise<unknown> {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED" && !hasFileHandles())
    return new LocalFailure(noFileHandlesReason, true);
  if (code !== "ECONNREFUSED" || isLoopback(address) || signal.aborted) return error;
  const isSlow = performance.now() - startedAt > slowRefusalMs;
  const found = await probeByDatagram(
    address,
    port,
    isSlow ? neighborTimeoutMs : errorWindowMs,
    signal,
  );
  if (found !== null && unreachable.has(found)) return Object.assign(new Error(), { code: found });
  return isSlow && found === null
    ? new ConnectFailure("The connection was refused, or the host can't be reached.")
    : error;
}

/** Returns the error code after an empty datagram; null if none arrives within `withinMs`. */
async function probeByDatagram(
  address: string,
  port: number,
  withinMs: number,
  signal: AbortSignal,
): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException).code ?? "");
  const timer = setTimeout(() => resolve(null), withinMs);
  const stop = () => resolve(null);
  signal.addEventListener("abort", stop);
  let socket: { close(): void } | null = null;
  try {
    const udpSocket = await Bun.udpSocket({
      hostname: isIPv6(address) ? "::" : "0.0.0.0",
      connect: { hostname: address, port },
      socket: {
        data: () => resolve(null),
        error: (first: unknown, error?: unknown) => resolve(codeOf(error ?? first)),
      },
    });
    socket = udpSocket;
    udpSocket.send(new Uint8Array());
    return await promise;
  } catch (error) {
    return codeOf(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    socket?.close();
  }
}
