/** Runs single checks of any type against scripted listeners. */
import type { CheckResult } from "../../src/monitoring/checks/check.ts";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Log } from "../../src/core/log.ts";
import { type Listener, createTargetGuard } from "../../src/core/security/target-guard.ts";
import type { CheckMemory } from "../../src/monitoring/checks/protocols/byte-budget.ts";
import type { CheckContext } from "../../src/monitoring/checks/check.ts";
import { TroubleWatch } from "../../src/monitoring/checks/engine/own-trouble.ts";
import type { CheckTarget } from "../../src/monitoring/checks/check.ts";
import { runCheck } from "../../src/monitoring/checks/engine/run-check.ts";
import {
  createAccessTokenCache,
  type AccessTokens,
} from "../../src/core/outgoing/access-tokens.ts";
import type { Member } from "../../src/monitoring/dependencies/rules.ts";
import { uncountedMemory } from "../../src/core/outgoing/memory.ts";
import { NewMonitor } from "../../src/monitoring/monitors/schema.ts";
import { waitUntil } from "./poll.ts";

type CheckOptions = {
  timeoutMs?: number;
  degradedAfterMs?: number | null;
  /** The appliance's own listening addresses. */
  listeners?: readonly Listener[];
  now?: number;
  signal?: AbortSignal;
  /** Memory budget of response bodies. */
  memory?: CheckMemory;
  /** Path of Docker's socket. */
  dockerSocket?: string;
  systemctl?: string | null;
  members?: readonly Member[];
  browser?: string | undefined;
  /** Folder of the allowed programs. */
  commandFolder?: string | undefined;
  isShared?: boolean;
  /** Grants long CPU work. */
  inTurn?: CheckContext["inTurn"];
  /** Access tokens cached between checks. */
  tokens?: AccessTokens;
  /** Trusted authorities in addition to the system's. */
  authorities?: string | null;
  organizationId?: string;
};

/** Checks a monitor once, with these fields and defaults for the others. Returns the result. */
export async function runCheckOfType(
  type: CheckTarget["type"],
  fields: object,
  circumstances: CheckOptions = {},
): Promise<CheckResult> {
  const settings = NewMonitor.parse({ type, name: "Target", ...fields });
  return (await runLoggedCheck(type, settings, circumstances)).outcome;
}

/** Runs a check with possibly invalid settings. Returns its result and log. */
export async function runLoggedCheck(
  type: CheckTarget["type"],
  settings: object,
  {
    timeoutMs = 60_000,
    degradedAfterMs = null,
    listeners = [],
    now = Date.now(),
    signal = new AbortController().signal,
    memory = { ...uncountedMemory, end() {} },
    dockerSocket = "/nowhere/docker.sock",
    systemctl = null,
    members = [],
    browser = "/nowhere/chromium",
    commandFolder,
    isShared = false,
    inTurn = (work) => work(),
    tokens = createAccessTokenCache(),
    authorities = null,
    organizationId = "0199a3f0-5c1e-7cc0-b1a5-3f2d8e6a9b10",
  }: CheckOptions = {},
): Promise<{ outcome: CheckResult; logged: string[] }> {
  const logged: string[] = [];
  let lastBrowserRun: Promise<unknown> = Promise.resolve();
  const write = (message: string, fields?: object) =>
    void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { info: write, warn: write, error: write };
  // Clocks without standstills, so that slow test runs are still judged.
  const getZero = () => 0;
  const trouble = new TroubleWatch(getZero, getZero);
  const targets = createTargetGuard(() => listeners, {
    commandFolder,
    sharing: { isShared: () => isShared, refresh: async () => {} },
  });
  const context = {
    memory,
    targets,
    clock: () => now,
    monotonic: getZero,
    trouble,
    log,
    inTurn,
    dockerSocket,
    accessTokens: tokens,
    authorities,
    organizationId,
    systemctl: () => systemctl,
    membersOf: async () => [...members],
    browser,
    runWithBrowser<T>(work: () => Promise<T>) {
      const working = work();
      lastBrowserRun = working;
      return working;
    },
  };
  const { inverted = false } = settings as { inverted?: boolean };
  const checkable = { type, settings, timeoutMs, degradedAfterMs, inverted };
  const outcome = await runCheck(checkable, context, signal);
  // A browser takes a moment to exit.
  await lastBrowserRun.catch(() => {});
  return { outcome, logged };
}

/**
 * Runs a check whose timeout is too short. Returns its result, without the duration in its message. Doubles the timeout
 * while the check ends at an earlier step than `wanted`, because a busy machine is slower.
 */
export async function runUntilTimedOut<T extends { message: string }>(
  wanted: string,
  attempt: (timeoutMs: number) => Promise<T>,
  from = 500,
): Promise<T> {
  for (let timeoutMs = from; ; timeoutMs *= 2) {
    const found = await attempt(timeoutMs);
    const message = found.message.replace(`out after ${timeoutMs / 1_000} s while`, "out while");
    const isOver = message !== found.message || message.startsWith("Not judged: ");
    if (!isOver || message === wanted || timeoutMs > 20_000) return { ...found, message };
  }
}

/** The context of a check, for tests of its parts; the test sets its deadline. */
export function createCheckContext(ending = new AbortController()): CheckContext {
  return {
    timeoutMs: 60_000,
    organizationId: "0199a3f0-5c1e-7cc0-b1a5-3f2d8e6a9b10",
    dockerSocket: "/nowhere/docker.sock",
    part: null,
    screenshot: null,
    resolved: null,
    accessTokens: createAccessTokenCache(),
    systemctl: () => null,
    membersOf: async () => [],
    browser: () => null,
    runWithBrowser: (work) => work(),
    getCommandFolder: async () => "/nowhere",
    signal: ending.signal,
    step: "connecting",
    memory: uncountedMemory,
    authorities: null,
    addressesOf: async (host) => [{ address: host, family: 4, isPrivate: true }],
    now: Date.now,
    inTurn: (work) => work(),
  };
}

/** Handles one connection of a listener. */
export type SocketHandler = (socket: Socket) => void;

/** Waits for the request, sends these bytes and closes the connection. */
export const replyOnce =
  (...pieces: readonly (string | Uint8Array)[]): SocketHandler =>
  (socket) =>
    void socket.once("data", () => {
      for (const piece of pieces)
        socket.write(typeof piece === "string" ? Buffer.from(piece, "latin1") : piece);
      socket.end();
    });

/** A listener on loopback with scripted bytes that counts its connections. */
export async function startListener(
  onConnect: SocketHandler,
  { address = "127.0.0.1", port: wanted = 0 } = {},
) {
  const open = new Set<Socket>();
  let accepted = 0;
  let changed = Promise.withResolvers<void>();
  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const server = createServer((socket) => {
    accepted++;
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      open.delete(socket);
      change();
    });
    onConnect(socket);
    change();
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(wanted, address, resolve);
  await listening;
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${address}:${port}/`,
    /** Number of accepted connections. */
    countAccepted: () => accepted,
    async waitUntilAccepted(times: number) {
      while (accepted < times) await changed.promise;
    },
    /** Resolves when the other side has closed every connection. */
    async waitUntilAllClosed() {
      while (open.size > 0) await changed.promise;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((done) => server.close(done));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Whether this machine lists its connections. */
export const knowsConnections = process.platform === "linux";

/** Connections to the port that this process still has open, with their TCP states (proc(5)). */
export function listConnections(port: number): string[] {
  const own = new Set(listOwnSockets());
  const portColumn = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , remote, , , , , , , inode]) => remote?.endsWith(portColumn) && own.has(inode))
    .map(([, , , state = ""]) => state);
}

/** Inodes of the sockets of this process. Another one can have a connection with a port of the same number. */
const listOwnSockets = () =>
  readdirSync("/proc/self/fd").map((name) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${name}`))?.[1];
    } catch {
      // It was closed meanwhile.
      return undefined;
    }
  });

/** Resolves when at most `others` connections to the port remain open. */
export async function waitUntilClosed(port: number, others = 0): Promise<void> {
  await waitUntil(() => listConnections(port).length <= others);
}
