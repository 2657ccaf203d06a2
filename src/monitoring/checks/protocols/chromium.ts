import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { certificatesIn } from "../../../core/security/certificates.ts";
import type { OutgoingContext } from "../../../core/outgoing/context.ts";
import { OwnTrouble, TargetFailure } from "../../../core/outgoing/failures.ts";
import { endGroup, runProgram } from "../../../core/system/programs.ts";
import { temporaryFolder } from "../../../core/system/temporary-folders.ts";

/** A message of the protocol is no longer, screenshots included. */
const maxMessage = 8 * 1024 * 1024;

/** The Chromium of this machine; null where there is none. */
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
type Answer = { result?: unknown; error?: { message?: string } };
type Message = Answer & { id?: number; method?: string; params?: Parameters };

/** One page in a Chromium of its own. https://chromedevtools.github.io/devtools-protocol/ */
export type Page = {
  /** Throws what ended the browser. */
  ask<T>(method: string, parameters?: Parameters): Promise<T>;
  /** Resolves with the next such event; to be called before what brings it about. */
  next(event: string): Promise<Parameters>;
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
  // Names are the proxy's to resolve, those of this machine as well.
  "--proxy-bypass-list=<-loopback>",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
];

/** Has Chromium trust authorities beside the usual ones, where NSS' own program for that is there. */
async function trust(authorities: string, home: string, signal: AbortSignal) {
  const certutil = Bun.which("certutil");
  if (certutil === null) return;
  const database = join(home, ".pki", "nssdb");
  await mkdir(database, { recursive: true });
  const run = (...args: string[]) =>
    runProgram([certutil, "-d", `sql:${database}`, ...args], { signal }, { maxBytes: 10_000 });
  await run("-N", "--empty-password");
  const file = join(home, "authority.pem");
  for (const [index, pem] of certificatesIn(authorities).entries()) {
    await writeFile(file, pem);
    await run("-A", "-t", "C,,", "-n", String(index), "-i", file);
  }
}

/**
 * Starts Chromium behind the proxy, has a page used, and ends it with all its processes and files, at the
 * latest with the signal. Throws OwnTrouble where it can't be started.
 */
export async function withPage<T>(
  program: string,
  proxyPort: number,
  { signal, authorities }: Pick<OutgoingContext, "signal" | "authorities">,
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const folder = temporaryFolder();
  try {
    if (authorities !== null) await trust(authorities, folder, signal);
    return await pageIn(folder, program, proxyPort, signal, use);
  } finally {
    // What has just been killed may still be at it.
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

async function pageIn<T>(
  folder: string,
  program: string,
  proxyPort: number,
  signal: AbortSignal,
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => {});
  const own = [`--proxy-server=socks5://127.0.0.1:${proxyPort}`, `--user-data-dir=${folder}`];
  // Chromium has no sandbox for root, and says so by not starting.
  if (process.getuid?.() === 0) own.push("--no-sandbox");
  const browser = spawned([program, ...flags, ...own, "about:blank"], folder);
  if (browser === null) throw notStarted();
  const end = () => {
    endGroup(browser.pid);
    over.reject(new OwnTrouble("the check was stopped"));
  };
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  void browser.exited.then(() => over.reject(notStarted()));
  try {
    const page = await pageOf(browser.stdio as unknown as number[], over);
    return await Promise.race([use(page), over.promise]);
  } finally {
    signal.removeEventListener("abort", end);
    endGroup(browser.pid);
    await browser.exited;
  }
}

const notStarted = () =>
  new OwnTrouble("the browser of this machine ended by itself, or did not start");

/** Null where there is no such program. */
function spawned(command: string[], home: string) {
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

async function pageOf(
  stdio: readonly number[],
  over: { promise: Promise<never>; reject: (error: unknown) => void },
): Promise<Page> {
  const waiting = new Map<number, (answer: Answer) => void>();
  const expected = new Map<string, ((event: Parameters) => void)[]>();
  let unread: Buffer[] = [];
  let length = 0;

  function take(chunk: Buffer) {
    length += chunk.length;
    if (length > maxMessage) over.reject(new TargetFailure("The page is too large for the check."));
    if (!chunk.includes(0)) {
      unread.push(chunk);
      return;
    }
    const messages = Buffer.concat([...unread, chunk])
      .toString()
      .split("\0");
    const rest = Buffer.from(messages.pop() ?? "");
    [unread, length] = [[rest], rest.length];
    for (const text of messages) heard(JSON.parse(text) as Message);
  }

  function heard({ id, method, params, ...answer }: Message) {
    if (id !== undefined) {
      waiting.get(id)?.(answer);
      waiting.delete(id);
    }
    if (method === "Inspector.targetCrashed")
      over.reject(new TargetFailure("The page crashed the browser."));
    // A page that asks something waits for a person; where it is to be left, that is meant.
    if (method === "Page.javascriptDialogOpening") {
      const accept = params?.["type"] === "beforeunload";
      void ask("Page.handleJavaScriptDialog", { accept }, session).catch(() => {});
    }
    for (const resolve of expected.get(method ?? "")?.splice(0) ?? []) resolve(params ?? {});
  }

  const nothing = { error() {}, drain: () => writeMore() };
  const [, , , input = -1, output = -1] = stdio;
  const connect = (fd: number, data: (chunk: Buffer) => void) =>
    Bun.connect({
      fd,
      socket: { ...nothing, data: (_socket: unknown, chunk: Buffer) => data(chunk) },
    } as never);
  let unwritten = Buffer.alloc(0);
  const writing = await connect(input, () => {});
  await connect(output, take);

  function writeMore() {
    const count = unwritten.length === 0 ? 0 : writing.write(unwritten);
    if (count > 0) unwritten = unwritten.subarray(count);
  }

  let asked = 0;
  let session: string | undefined;
  async function ask<T>(method: string, params: Parameters = {}, sessionId = session): Promise<T> {
    const id = ++asked;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    waiting.set(id, resolve);
    const message = JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) });
    unwritten = Buffer.concat([unwritten, Buffer.from(`${message}\0`)]);
    writeMore();
    const { result, error } = await Promise.race([promise, over.promise]);
    if (error !== undefined) throw new TargetFailure("The page can't be inspected.");
    return result as T;
  }

  const { targetId } = await ask<{ targetId: string }>("Target.createTarget", {
    url: "about:blank",
  });
  const attached = await ask<{ sessionId: string }>("Target.attachToTarget", {
    targetId,
    flatten: true,
  });
  session = attached.sessionId;
  await ask("Browser.setDownloadBehavior", { behavior: "deny" }, "");
  await ask("Page.enable");
  await ask("Inspector.enable");
  return {
    ask,
    next(name) {
      const { promise, resolve } = Promise.withResolvers<Parameters>();
      expected.set(name, [...(expected.get(name) ?? []), resolve]);
      const event = Promise.race([promise, over.promise]);
      // Nobody may wait for it any more.
      event.catch(() => {});
      return event;
    },
  };
}
