/** Starts Chromium and controls one page over the DevTools protocol. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { splitCertificates } from "../../../core/security/certificates.ts";
import type { OutgoingContext } from "../../../core/outgoing/context.ts";
import { LocalFailure, TargetFailure } from "../../../core/outgoing/failures.ts";
import { killGroup, runProgram } from "../../../core/system/programs.ts";
import { createTemporaryFolder } from "../../../core/system/temporary-folders.ts";

/** Maximum size of a protocol message. Screenshots are the largest. */
const maxMessageBytes = 8 * 1024 * 1024;

/** Finds the installed Chromium or Chrome; null if neither is installed. */
export function findBrowser(): string | null {
  const names = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
  ];
  return names.map((name) => Bun.which(name)).find((path) => path !== null) ?? null;
}

type Parameters = Readonly<Record<string, unknown>>;
type ProtocolResponse = { result?: unknown; error?: { message?: string } };
type Message = ProtocolResponse & { id?: number; method?: string; params?: Parameters };

/** A page in a separate Chromium process. https://chromedevtools.github.io/devtools-protocol/ */
export type Page = {
  /** Sends a command. Rejects with the reason if the browser exits. */
  sendCommand<T>(method: string, parameters?: Parameters): Promise<T>;
  /** Resolves with the next event of this name. Call it before the action that causes the event. */
  waitForEvent(event: string): Promise<Parameters>;
};

const flags = [
  "--headless",
  "--remote-debugging-pipe",
  "--disable-background-networking",
  "--disable-breakpad",
  "--disable-crash-reporter",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-dev-shm-usage",
  "--disable-extensions",
  "--disable-gpu",
  "--disable-quic",
  "--disable-sync",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--hide-scrollbars",
  "--mute-audio",
  "--no-default-browser-check",
  "--no-first-run",
  "--window-size=1280,800",
  // The proxy resolves all names, including local ones.
  "--proxy-bypass-list=<-loopback>",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
];

/** Makes Chromium trust additional certificate authorities, if NSS' certutil is installed. */
async function trustAuthorities(authorities: string, home: string, signal: AbortSignal) {
  const certutil = Bun.which("certutil");
  if (certutil === null) return;
  const database = join(home, ".pki", "nssdb");
  await mkdir(database, { recursive: true });
  const runCertutil = (...args: string[]) =>
    runProgram([certutil, "-d", `sql:${database}`, ...args], { signal }, { maxBytes: 10_000 });
  await runCertutil("-N", "--empty-password");
  const file = join(home, "authority.pem");
  for (const [index, pem] of splitCertificates(authorities).entries()) {
    await writeFile(file, pem);
    await runCertutil("-A", "-t", "C,,", "-n", String(index), "-i", file);
  }
}

/**
 * Starts Chromium behind the proxy, runs `use` with a page, and removes all processes and files of the browser. Without
 * a proxy, the page has no network. Ends early when `signal` aborts. Throws LocalFailure if Chromium can't be started.
 */
export async function usePage<T>(
  program: string,
  proxyPort: number | null,
  { signal, authorities }: Pick<OutgoingContext, "signal" | "authorities">,
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const folder = createTemporaryFolder();
  try {
    if (authorities !== null) await trustAuthorities(authorities, folder, signal);
    return await runPage(folder, program, proxyPort, signal, use);
  } finally {
    // Killed processes can still write for a moment.
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

async function runPage<T>(
  folder: string,
  program: string,
  proxyPort: number | null,
  signal: AbortSignal,
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const ending = Promise.withResolvers<never>();
  ending.promise.catch(() => {});
  // The name of the proxy is resolved by nothing, so neither is any other.
  const proxy = proxyPort === null ? "http://offline.invalid" : `socks5://127.0.0.1:${proxyPort}`;
  const ownFlags = [`--proxy-server=${proxy}`, `--user-data-dir=${folder}`];
  // As root, Chromium does not start with its sandbox.
  if (process.getuid?.() === 0) ownFlags.push("--no-sandbox");
  const browser = spawnBrowser([program, ...flags, ...ownFlags, "about:blank"], folder);
  if (browser === null) throw notStartedError();
  const stopBrowser = () => {
    killGroup(browser.pid);
    ending.reject(new LocalFailure("the check was stopped"));
  };
  signal.addEventListener("abort", stopBrowser);
  if (signal.aborted) stopBrowser();
  void browser.exited.then(() => ending.reject(notStartedError()));
  try {
    const page = await openPage(browser.stdio as unknown as number[], ending);
    return await Promise.race([use(page), ending.promise]);
  } finally {
    signal.removeEventListener("abort", stopBrowser);
    killGroup(browser.pid);
    await browser.exited;
  }
}

const notStartedError = () =>
  new LocalFailure("the browser of this machine exited unexpectedly, or did not start");

/** Starts the browser; null if the program does not exist. */
function spawnBrowser(command: string[], home: string) {
  try {
    return Bun.spawn(command, {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, LC_ALL: "C.UTF-8" },
      detached: true,
    });
  } catch {
    return null;
  }
}

type Ending = { promise: Promise<never>; reject: (error: unknown) => void };
type PipeSocket = { write(bytes: Uint8Array): number };

/** Opens a page over the DevTools pipes of Chromium. */
async function openPage(stdio: readonly number[], ending: Ending): Promise<Page> {
  const [, , , input = -1, output = -1] = stdio;
  const page = new DevToolsPage(ending);
  const ignored = { error() {}, drain: () => page.flush() };
  const connectPipe = (fd: number, data: (chunk: Buffer) => void) =>
    Bun.connect({
      fd,
      socket: { ...ignored, data: (_socket: unknown, chunk: Buffer) => data(chunk) },
    } as never);
  page.socket = await connectPipe(input, () => {});
  await connectPipe(output, (chunk) => page.receive(chunk));
  await page.attach();
  return page;
}

class DevToolsPage implements Page {
  socket: PipeSocket | null = null;
  private readonly ending: Ending;
  private readonly requests = new Map<number, (response: ProtocolResponse) => void>();
  private readonly listeners = new Map<string, ((event: Parameters) => void)[]>();
  private unread: Buffer[] = [];
  private unreadLength = 0;
  private unwritten = Buffer.alloc(0);
  private lastId = 0;
  private session: string | undefined;

  constructor(ending: Ending) {
    this.ending = ending;
  }

  async attach() {
    const { targetId } = await this.sendCommand<{ targetId: string }>("Target.createTarget", {
      url: "about:blank",
    });
    const attached = await this.sendCommand<{ sessionId: string }>("Target.attachToTarget", {
      targetId,
      flatten: true,
    });
    this.session = attached.sessionId;
    await this.sendCommand("Browser.setDownloadBehavior", { behavior: "deny" }, "");
    await this.sendCommand("Page.enable");
    await this.sendCommand("Inspector.enable");
  }

  async sendCommand<T>(
    method: string,
    params: Parameters = {},
    sessionId = this.session,
  ): Promise<T> {
    const id = ++this.lastId;
    const { promise, resolve } = Promise.withResolvers<ProtocolResponse>();
    this.requests.set(id, resolve);
    const message = JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) });
    this.unwritten = Buffer.concat([this.unwritten, Buffer.from(`${message}\0`)]);
    this.flush();
    const { result, error } = await Promise.race([promise, this.ending.promise]);
    if (error !== undefined) throw new TargetFailure("The page can't be inspected.");
    return result as T;
  }

  waitForEvent(name: string) {
    const { promise, resolve } = Promise.withResolvers<Parameters>();
    this.listeners.set(name, [...(this.listeners.get(name) ?? []), resolve]);
    const event = Promise.race([promise, this.ending.promise]);
    // A caller that stopped waiting does not handle the rejection.
    event.catch(() => {});
    return event;
  }

  flush() {
    const count = this.unwritten.length === 0 ? 0 : (this.socket?.write(this.unwritten) ?? 0);
    if (count > 0) this.unwritten = this.unwritten.subarray(count);
  }

  receive(chunk: Buffer) {
    this.unreadLength += chunk.length;
    if (this.unreadLength > maxMessageBytes)
      this.ending.reject(new TargetFailure("The page is too large for the check."));
    if (!chunk.includes(0)) {
      this.unread.push(chunk);
      return;
    }
    const messages = Buffer.concat([...this.unread, chunk])
      .toString()
      .split("\0");
    const rest = Buffer.from(messages.pop() ?? "");
    [this.unread, this.unreadLength] = [[rest], rest.length];
    for (const text of messages) this.handleMessage(JSON.parse(text) as Message);
  }

  private handleMessage({ id, method, params, ...answer }: Message) {
    if (id !== undefined) {
      this.requests.get(id)?.(answer);
      this.requests.delete(id);
    }
    if (method === "Inspector.targetCrashed")
      this.ending.reject(new TargetFailure("The page crashed the browser."));
    // A dialog blocks the page. Accept `beforeunload`, so that the page can navigate, and dismiss all others.
    if (method === "Page.javascriptDialogOpening") {
      const accept = params?.["type"] === "beforeunload";
      void this.sendCommand("Page.handleJavaScriptDialog", { accept }).catch(() => {});
    }
    for (const resolve of this.listeners.get(method ?? "")?.splice(0) ?? []) resolve(params ?? {});
  }
}
