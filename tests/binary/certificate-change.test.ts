import { expect } from "bun:test";
import { X509Certificate } from "node:crypto";
import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { binary, getFreePort } from "../support/binary.ts";
import { writeSelfSigned } from "../support/certificates.ts";
import { createMachineWithKey } from "../support/machine.ts";
import { parseScrape } from "../support/metrics.ts";
import { defineTestWith } from "../support/real-targets.ts";
import { dialPort } from "../support/raw-connection.ts";

/** A server with a certificate on both ports and an awaitable log. */
async function startSecureServer() {
  const box = await createMachineWithKey();
  const create = (name: string) => writeSelfSigned(box.directory, name, "IP:127.0.0.1");
  const used = create("used");
  const [port, publicPort] = [getFreePort(), getFreePort()];
  const at = ["--data-dir", box.dataDir, "--host", "127.0.0.1", "--port", String(port)];
  const tls = ["--tls-cert", used.cert, "--tls-key", used.key];
  const metricsToken = "t".repeat(32);
  const tokenFile = join(box.directory, "metrics-token");
  writeFileSync(tokenFile, metricsToken);
  const more = ["--public-port", String(publicPort), "--metrics-token-file", tokenFile, ...tls];
  const child = Bun.spawn([binary, "serve", ...at, ...more], { stdout: "pipe", stderr: "pipe" });
  await child.stdout.getReader().read();
  const log = child.stderr.getReader();
  const decoder = new TextDecoder();

  return {
    ...box,
    child,
    used,
    create,
    port,
    publicPort,
    /** Replaces the files of the server's certificate. */
    use: ({ cert, key }: { cert: string; key: string }) => {
      copyFileSync(cert, used.cert);
      copyFileSync(key, used.key);
    },
    /** Sends SIGHUP and returns the log about the certificate. */
    async reload(): Promise<string> {
      child.kill("SIGHUP");
      let text = "";
      while (!/read again.*\n/.test(text)) {
        const { value, done } = await log.read();
        if (done) throw new Error(`It ended after ${text}`);
        text += decoder.decode(value);
      }
      return text;
    },
    /** Expiry of the certificate from the metrics, in Unix seconds. */
    async endsAt() {
      const response = await fetch(`https://127.0.0.1:${port}/metrics`, {
        headers: { Authorization: `Bearer ${metricsToken}` },
        keepalive: false,
        tls: { rejectUnauthorized: false },
      });
      const { samples } = parseScrape(await response.text());
      return samples.get("signalbox_tls_certificate_expiry_timestamp_seconds");
    },
    /** The certificates on both ports. */
    serials: () => Promise.all([readSerial(port), readSerial(publicPort)]),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      await box[Symbol.asyncDispose]();
    },
  };
}

const serialOf = (cert: string) => new X509Certificate(readFileSync(cert)).serialNumber;

function readSerial(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

defineTestWith(
  ["openssl"],
  "SIGHUP gives new connections the new certificate; running streams and requests continue",
  async () => {
    await using result = await startSecureServer();
    const { port, used } = result;
    const url = `https://127.0.0.1:${port}`;
    const post = (path: string, body: object, headers: Record<string, string>) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "Sec-Fetch-Site": "same-origin",
          ...headers,
        },
        body: JSON.stringify(body),
        keepalive: false,
        tls: { rejectUnauthorized: false },
      });
    const token = (await Bun.file(join(result.dataDir, "set-up-token")).text()).trim();
    const claim = { organization: "Ours", name: "Ada", email: "ada@acme.example" };
    const secret = { token, password: "a long enough password" };
    const claimed = await post("/dashboard/set-up", { ...claim, ...secret }, {});
    const cookie = claimed.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";

    const live = await dialPort(port, { secure: true });
    live.send(`GET /dashboard/live HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ${cookie}\r\n\r\n`);
    await live.waitForText(/retry: 1000/);
    const body = JSON.stringify({ title: "Half of it comes later" });
    const head = [
      "POST /api/v1/incidents HTTP/1.1",
      "Host: 127.0.0.1",
      `Authorization: Bearer ${result.key}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ].join("\r\n");
    const slow = await dialPort(port, { secure: true });
    slow.send(`${head}\r\nExpect: 100-continue\r\n\r\n${body.slice(0, 10)}`);
    await slow.waitForText(/100 Continue/);

    for (const name of ["second", "third"]) {
      const files = result.create(name);
      result.use(files);
      expect(await result.reload()).toContain("new connections get the certificate");
      const serial = serialOf(files.cert);
      expect(serial).toBe(serialOf(used.cert));
      expect(await result.serials()).toEqual([serial, serial]);
      const { validToDate } = new X509Certificate(readFileSync(files.cert));
      expect(await result.endsAt()).toBe(validToDate.getTime() / 1_000);
    }

    slow.send(body.slice(10));
    await slow.waitForText(/HTTP\/1\.1 201 /);
    const title = "Told through the old connection";
    const opened = await post("/dashboard/api/v1/incidents/", { title }, { Cookie: cookie });
    expect(opened.status).toBe(201);
    await live.waitForText(/incident/);
    result.child.kill("SIGTERM");
    expect(await result.child.exited).toBe(0);
  },
);

defineTestWith(["openssl"], "an invalid certificate or a wrong key changes nothing", async () => {
  await using result = await startSecureServer();
  const { used } = result;
  const serial = serialOf(used.cert);
  const other = result.create("other");
  const [cert, key] = [readFileSync(other.cert, "utf8"), readFileSync(other.key, "utf8")];
  const bad: [what: string, change: () => void][] = [
    ["another key", () => writeFileSync(used.cert, cert)],
    ["an empty certificate", () => writeFileSync(used.cert, "")],
    ["half a certificate", () => writeFileSync(used.cert, cert.slice(0, 200))],
    ["a broken chain", () => writeFileSync(used.cert, cert + cert.slice(0, 200))],
    ["no certificate", () => rmSync(used.cert)],
    ["an empty key", () => writeFileSync(used.key, "")],
    ["no key in the file", () => writeFileSync(used.key, cert)],
    ["a key that other users can read", () => chmodSync(used.key, 0o644)],
    ["no key", () => rmSync(used.key)],
  ];
  for (const [what, change] of bad) {
    writeFileSync(used.cert, cert);
    writeFileSync(used.key, key);
    chmodSync(used.key, 0o600);
    if (what === "another key") result.create("used");
    change();
    expect([what, await result.reload()]).toEqual([
      what,
      expect.stringContaining("stays as it was"),
    ]);
    expect([what, await result.serials()]).toEqual([what, [serial, serial]]);
  }
  result.use(other);
  chmodSync(used.key, 0o600);
  expect(await result.reload()).toContain("new connections get");
  expect(await result.serials()).toEqual([serialOf(other.cert), serialOf(other.cert)]);
});

defineTestWith([], "SIGHUP does not end a server without a certificate", async () => {
  await using box = await createMachineWithKey();
  const { url, child } = await box.serve();
  child.kill("SIGHUP");
  const log = child.stderr.getReader();
  let text = "";
  while (!text.includes("nothing to read again")) {
    const { value, done } = await log.read();
    if (done) throw new Error(`It ended after ${text}`);
    text += new TextDecoder().decode(value);
  }
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

defineTestWith([], "SIGHUP ends a server on a terminal whose window was closed", async () => {
  await using box = await createMachineWithKey();
  const running = Promise.withResolvers<void>();
  let text = "";
  const child = Bun.spawn(
    [binary, "serve", "--data-dir", box.dataDir, "--host", "127.0.0.1", "--port", "0"],
    {
      terminal: {
        data(_, bytes) {
          text += new TextDecoder().decode(bytes);
          if (text.includes("is running")) running.resolve();
        },
      },
    },
  );
  await running.promise;
  child.kill("SIGHUP");
  expect(await child.exited).toBe(0);
});
