import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, getFreePort, runSignalbox, waitUntilHealthy } from "../support/binary.ts";
import { createServerClient, createMachineWithKey } from "../support/machine.ts";
import { canary, signingCanary } from "../support/samples.ts";
import { dialPort } from "../support/raw-connection.ts";

/** A server with a changeable settings file and an awaitable log. */
async function startConfigured(settings: object) {
  const box = await createMachineWithKey();
  const file = join(box.directory, "signalbox.env");
  const write = (settings: object) =>
    writeFileSync(
      file,
      Object.entries(settings)
        .map(([name, value]) => `SIGNALBOX_${name}=${value}\n`)
        .join(""),
    );
  const port = getFreePort();
  const base = { PORT: port, HOST: "127.0.0.1", DATA_DIR: box.dataDir };
  write({ ...base, ...settings });
  const child = Bun.spawn([binary, "serve", "--config", file], { stdout: "pipe", stderr: "pipe" });
  const url = `http://127.0.0.1:${port}`;
  const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let all = "";
  let from = 0;
  /** Waits until the log since the last call satisfies the condition, and returns it. */
  async function waitForLog(wanted: RegExp): Promise<string> {
    while (!wanted.test(all.slice(from))) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`It ended after ${all}`);
      all += value;
    }
    const since = all.slice(from);
    from = all.length;
    return since;
  }
  await waitUntilHealthy(url);
  return {
    ...box,
    child,
    port,
    url,
    file,
    waitForLog,
    logged: () => all,
    /** Writes these settings, sends SIGHUP and returns the log. */
    async reload(settings: object): Promise<string> {
      write({ ...base, ...settings });
      return this.signal();
    },
    signal() {
      child.kill("SIGHUP");
      return waitForLog(/settings were read again.*\n|everything stays as it was.*\n/);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      await box[Symbol.asyncDispose]();
    },
  };
}

const isOpen = async (port: number) => {
  try {
    (await dialPort(port)).hangUp();
    return true;
  } catch {
    return false;
  }
};

test("SIGHUP opens, moves and closes the public port; open requests get responses, and connections of the other port stay", async () => {
  const [first, second] = [getFreePort(), getFreePort()];
  await using result = await startConfigured({});
  const api = createServerClient(result.url, result.key);
  const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
  const lock = { visibility: "password", password: "open sesame" };
  expect((await api("PATCH", `/api/v1/status-pages/${page.id}`, lock)).status).toBe(200);
  const main = await dialPort(result.port);
  const request = async (pattern: RegExp) => {
    main.send(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    await main.waitForText(pattern);
  };
  await request(/"ok"/);

  expect(await result.reload({ PUBLIC_PORT: first })).toContain(
    `public port is open port=${first}`,
  );
  expect((await fetch(`http://127.0.0.1:${first}/status/${page.slug}`)).status).toBe(403);
  const slow = await dialPort(first);
  const form = `password=${encodeURIComponent(lock.password)}`;
  const head = [
    `POST /status/${page.slug} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Content-Type: application/x-www-form-urlencoded",
    `Origin: http://127.0.0.1:${first}`,
    `Content-Length: ${form.length}`,
  ].join("\r\n");
  slow.send(`${head}\r\nExpect: 100-continue\r\n\r\n${form.slice(0, 5)}`);
  await slow.waitForText(/100 Continue/);

  expect(await result.reload({ PUBLIC_PORT: second })).toContain(`port=${second}`);
  expect([await isOpen(first), await isOpen(second)]).toEqual([false, true]);
  slow.send(form.slice(5));
  await slow.waitForText(/HTTP\/1\.1 303 /);

  expect(await result.reload({ PUBLIC_PORT: result.port })).toMatch(
    /everything stays as it was .*must be another port than --port/,
  );
  expect([await isOpen(second), await isOpen(result.port)]).toEqual([true, true]);
  using other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  expect(await result.reload({ PUBLIC_PORT: other.port })).toMatch(
    /public port stays as it was .*another program is listening/,
  );
  expect(await isOpen(second)).toBe(true);
  expect(await result.reload({})).toContain("public port is closed");
  expect(await isOpen(second)).toBe(false);
  await request(/"ok"[^]*"ok"/);
  result.child.kill("SIGTERM");
  expect(await result.child.exited).toBe(0);
});

test("settings that need a restart are named in one line; an invalid file changes nothing and is reported with its line", async () => {
  await using result = await startConfigured({ LOG_LEVEL: "info" });
  const other = await result.reload({ URL: "https://box.example", KEEP_RESULTS: 7, INIT: true });
  expect(other.match(/warn .*next start settings="[^"]*"/g)).toEqual([
    expect.stringMatching(/"--url --keep-results --init"$/),
  ]);
  const env = { ...process.env, SIGNALBOX_CONFIG: result.file };
  expect((await runSignalbox(["orgs", "list"], { env })).stdout).toContain("acme");
  const before = getFreePort();
  writeFileSync(result.file, `SIGNALBOX_PUBLIC_PORT=${before}\nSIGNALBOX_LOG_LEVEL=loud\n`);
  expect(await result.signal()).toContain(
    `everything stays as it was cause="${result.file}, line 2:`,
  );
  expect(await isOpen(before)).toBe(false);
  expect((await fetch(`${result.url}/healthz`)).status).toBe(200);
});

test("no secret of a running appliance is in its debug log, in either format", async () => {
  await using result = await startConfigured({ LOG_LEVEL: "debug" });
  const secrets = [
    canary,
    signingCanary,
    result.key,
    readFileSync(join(result.dataDir, "set-up-token"), "utf8").trim(),
  ];
  const [, , , setUpToken = ""] = secrets;
  const api = createServerClient(result.url, result.key);
  // A second organization blocks loopback for both.
  const closed = `http://127.0.0.1:${getFreePort()}`;
  const hook = {
    type: "webhook",
    name: "On-call",
    url: `${closed}/${canary}`,
    secret: signingCanary,
  };
  const channel = (await api("POST", "/api/v1/alert-channels", hook)).json.data;
  const page = (path: string, cookie: string, body?: object) =>
    fetch(`${result.url}${path}`, {
      method: body ? "POST" : "GET",
      headers: { Origin: result.url, Cookie: cookie, "Content-Type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
  const account = { email: "ada@acme.example", password: `${canary} password` };
  const person = { organization: "Acme", name: "Ada", ...account };
  const claimed = await page("/dashboard/set-up", "", { ...person, token: setUpToken });
  const cookie = claimed.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
  expect([claimed.status, cookie]).toEqual([201, expect.stringContaining("=")]);
  secrets.push(cookie.split("=")[1] ?? "");
  const job = await api("POST", "/api/v1/monitors", { type: "push", name: "Job" });
  const { pushUrl } = job.json.data;
  secrets.push(pushUrl.split("/").at(-1));
  const [status] = (await api("GET", "/api/v1/status-pages")).json.data;
  const lock = { visibility: "password", password: canary };
  await api("PATCH", `/api/v1/status-pages/${status.id}`, lock);

  async function useEverything() {
    await fetch(`${pushUrl}?msg=${canary}`);
    await fetch(`${result.url}/push/${canary}`);
    await api("POST", `/api/v1/alert-channels/${channel.id}/test`);
    await createServerClient(result.url, canary)("GET", "/api/v1/monitors");
    await api("POST", "/api/v1/monitors", { type: "http", [canary]: canary, url: canary });
    await page("/dashboard/session", cookie);
    await page("/dashboard/sign-in", "", account);
    await page("/dashboard/sign-in", "", { ...account, password: `wrong ${canary}` });
    await page("/dashboard/set-up", "", { ...person, token: canary });
    await fetch(`${result.url}/status/${status.slug}`, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded", Origin: result.url },
      body: `password=${canary}`,
      redirect: "manual",
    });
    await fetch(`${result.url}/status/${status.slug}/confirm/${canary}`);
    await fetch(`${result.url}/${canary}/%0a${canary}?${canary}`, {
      headers: { "X-Forwarded-For": canary },
    });
  }
  await useEverything();
  await result.reload({ LOG_LEVEL: "debug", LOG_FORMAT: "json" });
  const text = result.logged();
  await useEverything();
  await result.reload({});
  const json = result.logged().slice(text.length);
  expect(text.match(/ debug request method=/g)?.length).toBeGreaterThan(15);
  expect(text).toContain("warn  sign-in failed");
  const entries = json
    .trim()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  expect(entries.filter(({ message }) => message === "request").length).toBeGreaterThan(11);
  expect(secrets.filter((one) => one === "" || (text + json).includes(one))).toEqual([]);
});
