/** Opens the live stream of an organization: the shared one of all tabs, or without shared workers its own one. */
import {
  messageNames,
  openEventSource,
  type StreamMessage,
  type StreamRequest,
} from "./shared-streams.ts";

type StreamOptions = {
  organizationId: string;
  after: string;
  /** Time of the data that `after` belongs to, in Unix milliseconds. */
  since: number;
  isRestored: boolean;
};

type Listener = (name: string, data: string, position: string) => void;

let port: MessagePort | null = null;
let isBroken = false;

/** Calls the listener with each message, and with `error` when the stream is lost. */
export function openStream(options: StreamOptions, listener: Listener): { close: () => void } {
  const shared = connectWorker();
  return shared === null ? openOwn(options, listener) : openShared(shared, options, listener);
}

function connectWorker(): MessagePort | null {
  if (port !== null || isBroken) return isBroken ? null : port;
  const path = document.querySelector<HTMLMetaElement>("meta[name=live-worker]")?.content;
  if (!("SharedWorker" in globalThis) || path === undefined) return null;
  const worker = new SharedWorker(path, { name: "live" });
  worker.addEventListener("error", () => {
    isBroken = true;
    brokenListeners.forEach((listener) => listener());
  });
  port = worker.port;
  port.start();
  return port;
}

const brokenListeners = new Set<() => void>();

function openShared(
  shared: MessagePort,
  { organizationId, ...options }: StreamOptions,
  listener: Listener,
) {
  const post = (request: StreamRequest) => shared.postMessage(request);
  const receive = ({ data: message }: MessageEvent<StreamMessage>) => {
    if (message.organizationId === organizationId)
      listener(message.name, message.data, message.position);
  };
  const fail = () => listener("error", "", "");
  const leave = () => post({ leave: organizationId });
  // Only `pagehide` reports a closed tab. A tab restored from the back-forward cache joins again.
  const rejoin = ({ persisted }: PageTransitionEvent) => persisted && fail();
  shared.addEventListener("message", receive);
  addEventListener("pagehide", leave);
  addEventListener("pageshow", rejoin);
  brokenListeners.add(fail);
  post({ join: organizationId, ...options });
  return {
    close() {
      shared.removeEventListener("message", receive);
      removeEventListener("pagehide", leave);
      removeEventListener("pageshow", rejoin);
      brokenListeners.delete(fail);
      leave();
    },
  };
}

function openOwn({ organizationId, after }: StreamOptions, listener: Listener) {
  const source = openEventSource(organizationId, after);
  for (const name of messageNames)
    source.addEventListener(name, ({ data, lastEventId }) =>
      listener(name, data as string, lastEventId),
    );
  source.addEventListener("error", () => listener("error", "", ""));
  return { close: () => source.close() };
}
