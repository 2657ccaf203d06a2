import { expect, test } from "bun:test";
import { chmodSync, existsSync } from "node:fs";
import { binary, getFreePort } from "../support/binary.ts";
import { writeSelfSigned } from "../support/certificates.ts";
import { createServerClient, createMachine, createMachineWithKey } from "../support/machine.ts";

test("the public port serves no part of the API, even with a valid key", async () => {
  await using box = await createMachineWithKey();
  const publicPort = getFreePort();
  const { url } = await box.serve({ flags: ["--public-port", String(publicPort)] });
  const inside = createServerClient(url, box.key);
  const outside = createServerClient(`http://127.0.0.1:${publicPort}`, box.key);
  for (const path of ["/api/v1/incidents", "/api/v1/openapi.json", "/healthz"]) {
    expect([path, (await inside("GET", path)).status]).toEqual([path, 200]);
    const { status, json } = await outside("GET", path);
    expect([path, status, json.error.code]).toEqual([path, 404, "NOT_FOUND"]);
  }
  for (const path of ["/docs", "/metrics", "/api/v1/nothing"])
    expect([path, (await outside("GET", path)).status]).toEqual([path, 404]);
  const link = await fetch(`http://127.0.0.1:${publicPort}/a/x`, { method: "POST" });
  expect([link.status, await link.text()]).toEqual([
    404,
    expect.stringContaining("no longer valid"),
  ]);
  expect((await outside("POST", "/api/v1/incidents", { title: "Slow" })).status).toBe(404);
  expect((await inside("GET", "/api/v1/incidents")).json.meta.total).toBe(0);
});

test("serve prints the address of the public port, and rejects the same port twice", async () => {
  await using box = createMachine();
  const [port, publicPort] = [getFreePort(), getFreePort()];
  const ports = ["--host", "127.0.0.1", "--port", String(port)];
  const samePorts = await box.run(["serve", ...ports, "--public-port", String(port)]);
  expect([samePorts.exitCode, samePorts.stderr]).toEqual([
    2,
    expect.stringContaining(`--public-port must be another port than --port, which is ${port}.`),
  ]);
  const { child } = await box.serve({ port, flags: ["--public-port", String(publicPort)] });
  let printed = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    printed += decoder.decode(chunk);
    if (printed.includes("Data ")) break;
  }
  expect(printed).toContain(`  Public pages     http://127.0.0.1:${publicPort}\n`);
});

/** A certificate for this machine and its key. */
function writeCertificate(directory: string) {
  const files = writeSelfSigned(directory, "localhost", "IP:127.0.0.1");
  return { ...files, flags: ["--tls-cert", files.cert, "--tls-key", files.key] };
}

if (Bun.which("openssl") === null) {
  console.warn("\nNOT TESTED: https, because there is no openssl on this machine.\n");
} else {
  test("with a certificate it serves https to clients that trust it, and nothing unencrypted", async () => {
    await using box = await createMachineWithKey();
    const { cert, flags } = writeCertificate(box.directory);
    const [port, publicPort] = [getFreePort(), getFreePort()];
    const address = `127.0.0.1:${port}`;
    const args = ["serve", "--data-dir", box.dataDir, "--host", "127.0.0.1"];
    const ports = ["--port", String(port), "--public-port", String(publicPort)];
    const child = Bun.spawn([binary, ...args, ...ports, ...flags], {
      stdout: "pipe",
      stderr: "ignore",
    });
    try {
      const message = await child.stdout.getReader().read();
      expect(new TextDecoder().decode(message.value)).toContain(`https://${address}`);
      const tls = { ca: await Bun.file(cert).text() };
      const headers = { Authorization: `Bearer ${box.key}` };
      const secure = await fetch(`https://${address}/api/v1/incidents`, { headers, tls });
      expect(secure.status).toBe(200);
      for (const path of ["/healthz", "/", "/status/acme", "/nothing", "/api/v1/incidents"])
        for (const at of [port, publicPort]) {
          const response = await fetch(`https://127.0.0.1:${at}${path}`, { tls });
          const message = response.headers.get("strict-transport-security");
          expect([path, at, message]).toEqual([path, at, "max-age=15552000"]);
        }
      for (const scheme of ["http", "https"]) {
        const unanswered = await fetch(`${scheme}://${address}/healthz`).catch(() => null);
        expect([scheme, unanswered]).toEqual([scheme, null]);
      }
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("a key that other users can read is rejected before any port opens, with advice", async () => {
    await using box = createMachine();
    const { key, flags } = writeCertificate(box.directory);
    for (const mode of [0o640, 0o604, 0o660, 0o644]) {
      chmodSync(key, mode);
      const { exitCode, stderr } = await box.run(["serve", ...flags]);
      expect([mode, exitCode]).toEqual([mode, 2]);
      expect(stderr).toContain(`chmod 600 ${key}`);
      expect(existsSync(box.dataDir)).toBe(false);
    }
  });
}

test("without a certificate no response requires TLS", async () => {
  await using box = await createMachineWithKey();
  const { url } = await box.serve();
  for (const path of ["/healthz", "/", "/status/acme", "/api/v1/incidents"])
    expect((await fetch(`${url}${path}`)).headers.has("strict-transport-security")).toBe(false);
});
