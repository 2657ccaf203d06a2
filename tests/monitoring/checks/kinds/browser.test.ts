/** Browser checks with the real Chromium of this machine: failures, trust, timeouts and process cleanup. */
import { defineTestWith } from "../../../support/real-targets.ts";
import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findStrandedSecrets } from "../../../../src/core/security/kind-secrets.ts";
import { findBrowser } from "../../../../src/monitoring/checks/protocols/chromium.ts";
import { monitorKinds } from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { getFreePort } from "../../../support/binary.ts";
import { writeCertificates } from "../../../support/certificates.ts";
import { runCheckOfType, startListener, runUntilTimedOut } from "../../../support/check-runs.ts";
import {
  expectedAttempts,
  buildServiceWorker,
  buildWaysOut,
} from "../../../support/connection-attempts.ts";
import { waitUntil } from "../../../support/poll.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
afterAll(() => rmSync(folder, { recursive: true }));
const browser = findBrowser();
const certutil = Bun.which("certutil");
if (certutil === null)
  console.warn("\nNOT TESTED: authorities of browsers; apt-get install libnss3-tools\n");
if (browser === null) console.warn("\nNOT TESTED: what needs Chromium; apt-get install chromium\n");

const buildHtml = (body: string) =>
  new Response(`<!doctype html><body>${body}`, { headers: { "Content-Type": "text/html" } });

/** A listener that records the requested paths; `turn` represents all other protocols. */
async function startRecordingListener() {
  const request = new Set<string>();
  let connections = 0;
  let changed = Promise.withResolvers<void>();
  const end = "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 0\r\n\r\n";
  const result = await startListener((socket) => {
    connections++;
    socket.once("data", (data: Buffer) => {
      request.add(/^[A-Z]+ \/([\w-]*)/.exec(data.toString("latin1"))?.[1] ?? "turn");
      socket.end(end);
      changed.resolve();
      changed = Promise.withResolvers();
    });
  });
  return Object.assign(result, {
    connections: () => connections,
    async waitUntilRequested(paths: readonly string[]) {
      while (!paths.every((path) => request.has(path))) await changed.promise;
    },
  });
}

/**
 * A shop that requires a sign-in, opens dialogs, streams without end, tries every way out, and
 * returns errors or redirects on request.
 */
async function startShop() {
  const requests: string[] = [];
  const [open, elsewhere] = [await startRecordingListener(), await startRecordingListener()];
  let datagrams = 0;
  const udp = await Bun.udpSocket({
    hostname: "127.0.0.1",
    socket: { data: () => void datagrams++ },
  });
  const ports = [open.port, elsewhere.port];
  const ended = { stream: Promise.withResolvers<void>(), socket: Promise.withResolvers<void>() };
  const page = `<input id=user><input id=password type=password><button id=send
    onclick="setTimeout(() => { document.title = user.value; done.textContent = 'Welcome ' + user.value + ' ' + password.value.length; alert('x') }, 50)">Send</button><p id=done></p>
    <p id=tried></p><p id=streams></p><a id=popup onclick="window.open('http://127.0.0.1:${elsewhere.port}/popup')">More</a><a id=leave href="/left">Leave</a>
    <script>
    alert("a"); confirm("b"); prompt("c");
    addEventListener("beforeunload", (event) => event.preventDefault());
    const heard = new Set();
    const hears = (name) => { heard.add(name); streams.textContent = [...heard].sort().join(" and "); };
    fetch("/stream").then(async ({ body }) => { for await (const _ of body) hears("a stream"); });
    new WebSocket("ws://" + location.host + "/socket").onmessage = () => hears("a socket");
    ${buildWaysOut(ports, udp.port)}</script>`;
  /** Sends until the other side closes the connection. */
  async function sendUntilFull(send: () => boolean, end: () => void) {
    await waitUntil(() => !send(), 20);
    end();
  }
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    websocket: {
      open: (socket) =>
        void sendUntilFull(
          () => socket.readyState === 1 && socket.send("x") !== 0,
          ended.socket.resolve,
        ),
      message() {},
    },
    fetch(request, server) {
      const { pathname, searchParams } = new URL(request.url);
      requests.push(pathname);
      if (pathname === "/socket" && server.upgrade(request)) return undefined;
      if (pathname === "/stream")
        return new Response(
          new ReadableStream({
            start: (stream) =>
              void sendUntilFull(() => {
                if (request.signal.aborted) return false;
                stream.enqueue("x");
                return true;
              }, ended.stream.resolve),
          }),
        );
      if (pathname === "/away")
        return Response.redirect(`http://127.0.0.1:${searchParams.get("port")}/away`);
      if (pathname === "/worker.js")
        return new Response(buildServiceWorker(ports), {
          headers: { "Content-Type": "text/javascript" },
        });
      // Waits for the requests that a browser may send late, such as prefetches.
      if (pathname === "/all-asked")
        return open.waitUntilRequested(expectedAttempts).then(() => buildHtml(""));
      if (pathname === "/left") return buildHtml("Left the shop");
      if (pathname === "/blocked") return Response.redirect(`http://127.0.0.1:${elsewhere.port}/`);
      if (pathname === "/broken") return new Response("broken", { status: 500 });
      return buildHtml(page);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    open,
    elsewhere,
    blocked: { host: "127.0.0.1", port: elsewhere.port },
    datagrams: () => datagrams,
    ended: Promise.all([ended.stream.promise, ended.socket.promise]),
    async [Symbol.asyncDispose]() {
      udp.close();
      await server.stop(true);
      await open[Symbol.asyncDispose]();
      await elsewhere[Symbol.asyncDispose]();
    },
  };
}

/** A server on loopback. */
function startServing(
  response: (request: Request) => Response | Promise<Response>,
  tls?: Bun.TLSOptions,
) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: response,
    ...(tls && { tls }),
  });
  return {
    url: `${tls ? "https" : "http"}://localhost:${server.port}/`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const readPem = (name: string) => readFileSync(join(folder, name), "utf8");
const tlsOf = (name: string) => ({ cert: readPem(`${name}.pem`), key: readPem(`${name}.key`) });

/** Ids of the browser processes of this test run with this argument. */
function findProcesses(argument: string): number[] {
  const all = readdirSync("/proc").flatMap((pid) => {
    try {
      const [, parent, group] = readFileSync(`/proc/${pid}/stat`, "utf8")
        .split(") ")[1]!
        .split(" ");
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return [{ pid: Number(pid), parent: Number(parent), group: Number(group), command }];
    } catch {
      // The process has ended.
      return [];
    }
  });
  const childIds = new Set(
    all.filter(({ parent }) => parent === process.pid).map(({ pid }) => pid),
  );
  return all
    .filter(({ group, command }) => childIds.has(group) && command.includes(argument))
    .map(({ pid }) => pid);
}

const findOutcome = (
  url: string,
  fields: object = {},
  circumstances: Parameters<typeof runCheckOfType>[2] = {},
) =>
  runCheckOfType(
    "browser",
    { url, ...fields },
    { browser: browser ?? "", timeoutMs: 60_000, ...circumstances },
  );

/** A stand-in for Chromium that writes its process id to a file. */
function writeProgram(text: string) {
  const file = join(folder, "chromium");
  writeFileSync(file, `#!/bin/sh\necho $$ > ${folder}/pid\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe.skipIf(browser === null)("with the Chromium of this machine", () => {
  defineTestWith(
    ["network"],
    "a page is loaded and used, and can't connect to blocked targets in any way",
    async () => {
      await using shop = await startShop();
      const fields = {
        steps: [
          "wait #user",
          "fill #user with {{username}} & with care",
          "fill #password with {{password}}",
          "click #send",
          "expect Welcome ann & with care 6",
          "expect a socket and a stream",
          "expect All was tried",
          "click #popup",
          "click #leave",
          "expect Left the shop",
        ],
        username: "ann",
        password: "secret",
      };
      const outcome = await findOutcome(shop.url.replace("127.0.0.1", "localhost"), fields, {
        listeners: [shop.blocked],
      });
      expect(outcome).toMatchObject({
        status: "up",
        message: expect.stringMatching(/^The page was loaded and 10 steps were done in \d+ ms\.$/),
      });
      expect([shop.elsewhere.connections(), shop.datagrams()]).toEqual([0, 0]);
      await shop.ended;
    },
  );

  test("a response of 500, and a redirect to a blocked address, are down", async () => {
    await using shop = await startShop();
    expect(await findOutcome(`${shop.url}/broken`)).toMatchObject({
      status: "down",
      message: "HTTP 500 (Internal Server Error), expected less than 400.",
    });
    const listeners = [shop.blocked];
    expect(await findOutcome(`${shop.url}/blocked`, {}, { listeners })).toMatchObject({
      status: "down",
      message: "Blocked: the target is this appliance itself.",
      isFinal: true,
    });
    expect(shop.elsewhere.connections()).toBe(0);
  });

  test("a failing step is named with a screenshot, and a password is entered in no other field", async () => {
    // Noise compresses badly, so that the screenshot is large.
    await using site = startServing(() =>
      buildHtml(`<input id=user><canvas id=noise width=1200 height=700></canvas><script>
        const drawing = noise.getContext("2d");
        for (let x = 0; x < 1200; x += 2) for (let y = 0; y < 700; y += 2) {
          drawing.fillStyle = "hsl(" + Math.random() * 360 + " 90% " + Math.random() * 100 + "%)";
          drawing.fillRect(x, y, 2, 2);
        }</script>`),
    );
    const fields = { steps: ["wait body", "fill #user with {{password}}"], password: "secret" };
    const { screenshot = new Uint8Array(), ...outcome } = await findOutcome(site.url, fields);
    expect(outcome).toMatchObject({
      status: "down",
      message: "Step 2: The field is not a password field, so the password is not entered.",
    });
    expect(Array.from(screenshot.slice(0, 3))).toEqual([0xff, 0xd8, 0xff]);
    expect(screenshot.length).toBeGreaterThan(20_000);
    expect(screenshot.length).toBeLessThanOrEqual(192 * 1024);
  });

  test("an untrusted certificate is down, unless verification is off", async () => {
    writeCertificates(folder);
    await using site = startServing(() => buildHtml("fine"), tlsOf("selfSigned"));
    expect(await findOutcome(site.url)).toMatchObject({
      status: "down",
      message: "The certificate was issued by an authority that is not trusted.",
    });
    expect((await findOutcome(site.url, { verifyTls: false })).status).toBe("up");
  });

  test.skipIf(certutil === null)(
    "the organization's authorities are trusted, and a certificate for another name is not",
    async () => {
      writeCertificates(folder);
      const authorities = readPem("selfSigned.pem") + readPem("authority.pem");
      await using good = startServing(() => buildHtml("fine"), tlsOf("good"));
      expect((await findOutcome(good.url, {}, { authorities })).status).toBe("up");
      await using wrong = startServing(() => buildHtml("fine"), tlsOf("wrongName"));
      expect(await findOutcome(wrong.url, {}, { authorities })).toMatchObject({
        status: "down",
        message: "The certificate is for another name.",
      });
    },
  );

  test("a download is not a page", async () => {
    const headers = { "Content-Disposition": "attachment; filename=shop.bin" };
    await using site = startServing(() => new Response("x".repeat(10_000), { headers }));
    expect((await findOutcome(site.url)).message).toBe("The address leads to no page.");
  });

  test("a page whose renderer crashes is down", async () => {
    await using site = startServing(({ url }) => {
      if (!url.endsWith("/image")) return buildHtml(`<img src=/image>`);
      // A sandboxed renderer survives SIGSEGV from another process.
      Bun.spawnSync(["kill", "-KILL", ...findProcesses("--type=renderer").map(String)]);
      return new Promise(() => {});
    });
    const { status, message } = await findOutcome(site.url);
    expect([status, message]).toEqual(["down", "The page crashed the browser."]);
  });

  test("a page that never loads, and one that hangs during a step, are down at the timeout", async () => {
    const never = new Promise<Response>(() => {});
    await using silent = startServing(() => never);
    const freezing = `<a id=freeze onclick="const ask = new XMLHttpRequest(); ask.open('GET', '/never', false); ask.send()">x</a>`;
    await using frozen = startServing(({ url }) =>
      url.endsWith("/never") ? never : buildHtml(freezing),
    );
    const [loading, waiting] = [
      "Timed out while loading the page.",
      "Step 1: Timed out while waiting for the page.",
    ];
    const all = await Promise.all([
      runUntilTimedOut(loading, (timeoutMs) => findOutcome(silent.url, {}, { timeoutMs }), 5_000),
      runUntilTimedOut(
        waiting,
        (timeoutMs) => findOutcome(frozen.url, { steps: ["click #freeze"] }, { timeoutMs }),
        5_000,
      ),
    ]);
    expect(all.map(({ status, message }) => `${status}: ${message}`)).toEqual([
      `down: ${loading}`,
      `down: ${waiting}`,
    ]);
  });
});

test("a blocked or missing target starts no browser", async () => {
  const trace = join(folder, "started");
  const tracing = writeProgram(`touch ${trace}`);
  const listeners = [{ host: "127.0.0.1", port: 80 }];
  const blocked = await findOutcome("http://localhost/", {}, { browser: tracing, listeners });
  expect(blocked.message).toBe("Blocked: the target is this appliance itself.");
  expect(existsSync(trace)).toBe(false);
});

test("a browser that exits or does not start makes the monitor unknown", async () => {
  const url = `http://127.0.0.1:${getFreePort()}/`;
  const ended = "Not judged: the browser of this machine exited unexpectedly, or did not start.";
  for (const browser of [writeProgram("exit 1"), join(folder, "none")])
    expect((await findOutcome(url, {}, { browser })).message).toBe(ended);
  const hanging = writeProgram("sleep 1000 & echo $! >> $0.child; wait");
  const late = await findOutcome(url, {}, { browser: hanging, timeoutMs: 1_000 });
  expect(late.message).toBe("Not judged: the browser took too long to start.");
  const isThere = (pid: string) =>
    existsSync(`/proc/${pid}/stat`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  for (const file of ["pid", "chromium.child"])
    if (existsSync(join(folder, file)))
      for (const pid of readFileSync(join(folder, file), "utf8").trim().split("\n"))
        await waitUntil(() => !isThere(pid));
});

test("the password is bound to the address and to the steps that it was entered for", () => {
  const { secrets } = monitorKinds.browser;
  expect(Object.keys(secrets)).toEqual(["password"]);
  const settings = { url: "https://shop.lan/", verifyTls: true, steps: ["click a"], password: "x" };
  for (const change of [{ url: "https://other.lan/" }, { verifyTls: false }, { steps: [] }])
    expect(findStrandedSecrets(monitorKinds, "browser", settings, change)).toEqual([["password"]]);
  expect(findStrandedSecrets(monitorKinds, "browser", settings, { steps: ["click a"] })).toEqual(
    [],
  );
});
