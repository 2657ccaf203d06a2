/** Reports readiness and liveness to systemd. */
import { dlopen, ptr } from "bun:ffi";

/** Notifications to systemd while `serve` runs. They do nothing if systemd did not start the process. */
type ServiceManager = {
  /** Reports that the server is ready. From now on, systemd notices a stalled event loop. */
  ready(): void;
  stopping(): void;
};

type ServiceEnvironment = { notifySocket: string | undefined; watchdogMs: number | null };

/**
 * Implements sd_notify(3), with one datagram per state. Throws if the socket can't be reached, because systemd would
 * wait for it until its timeout.
 */
export function createServiceManager({
  notifySocket,
  watchdogMs,
}: ServiceEnvironment): ServiceManager {
  if (notifySocket === undefined) return { ready() {}, stopping() {} };
  const notify = createNotifier(notifySocket);
  return {
    ready() {
      notify("READY=1");
      // sd_watchdog_enabled(3) recommends half of the timeout.
      if (watchdogMs !== null) setInterval(notify, watchdogMs / 2, "WATCHDOG=1").unref();
    },
    stopping: () => notify("STOPPING=1"),
  };
}

const unixFamily = 1;
const closedOnExec = 0o2000000;
const datagram = 2;
const noSignal = 0x4000;

/**
 * Returns a function that sends a state. It calls libc, because Bun and Node.js don't support Unix
 * datagram sockets.
 */
function createNotifier(path: string): (state: string) => void {
  const { socket, sendto } = loadLibc();
  // A leading @ represents the zero byte of Linux's abstract sockets.
  const name = path.startsWith("@") ? `\0${path.slice(1)}` : `${path}\0`;
  const address = Buffer.concat([
    Buffer.from(Uint16Array.of(unixFamily).buffer),
    Buffer.from(name),
  ]);
  const handle = socket(unixFamily, datagram | closedOnExec, 0);
  return (state) => {
    const message = Buffer.from(state);
    const sent = sendto(
      handle,
      ptr(message),
      message.length,
      noSignal,
      ptr(address),
      address.length,
    );
    if (Number(sent) !== message.length) throw new Error(`Can't reach systemd at ${path}.`);
  };
}

function loadLibc() {
  const symbols = {
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    sendto: { args: ["i32", "ptr", "u64", "i32", "ptr", "u32"], returns: "i64" },
  } as const;
  try {
    return dlopen("libc.so.6", symbols).symbols;
  } catch {
    const machine = process.arch === "arm64" ? "aarch64" : "x86_64";
    return dlopen(`libc.musl-${machine}.so.1`, symbols).symbols;
  }
}
