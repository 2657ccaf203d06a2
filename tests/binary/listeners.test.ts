import { expect, test } from "bun:test";
import { join } from "node:path";
import { binary, freePort } from "../support/binary.ts";
import { clientOf, machineWithKey } from "../support/outside.ts";

test("the public port serves nothing of the API, with a valid key either", async () => {
  await using box = await machineWithKey();
  const publicPort = freePort();
  const { url } = await box.serve({ flags: ["--public-port", String(publicPort)] });
  const inside = clientOf(url, box.key);
  const outside = clientOf(`http://127.0.0.1:${publicPort}`, box.key);
  for (const path of ["/api/v1/incidents", "/api/v1/openapi.json", "/healthz"]) {
    expect([path, (await inside("GET", path)).status]).toEqual([path, 200]);
    const { status, json } = await outside("GET", path);
    expect([path, status, json.error.code]).toEqual([path, 404, "NOT_FOUND"]);
  }
  for (const path of ["/docs", "/docs/reference.js", "/metrics", "/api/v1/nothing"])
    expect([path, (await outside("GET", path)).status]).toEqual([path, 404]);
  expect((await outside("POST", "/api/v1/incidents", { title: "Slow" })).status).toBe(404);
  expect((await inside("GET", "/api/v1/incidents")).json.meta.total).toBe(0);
});

if (Bun.which("openssl") === null) {
  console.warn("\nNOT TESTED: https, because there is no openssl on this machine.\n");
} else
  test("with a certificate it answers https to who trusts it, and nothing without encryption", async () => {
    await using box = await machineWithKey();
    const [cert, key] = [join(box.directory, "cert.pem"), join(box.directory, "key.pem")];
    const made = Bun.spawnSync([
      "openssl",
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "1",
      "-subj",
      "/CN=localhost",
      "-addext",
      "subjectAltName=IP:127.0.0.1",
      "-keyout",
      key,
      "-out",
      cert,
    ]);
    expect(made.exitCode).toBe(0);
    const address = `127.0.0.1:${freePort()}`;
    const args = ["serve", "--data-dir", box.dataDir, "--host", "127.0.0.1"];
    const flags = ["--port", address.split(":")[1] ?? "", "--tls-cert", cert, "--tls-key", key];
    const child = Bun.spawn([binary, ...args, ...flags], { stdout: "pipe", stderr: "ignore" });
    try {
      const told = await child.stdout.getReader().read();
      expect(new TextDecoder().decode(told.value)).toContain(`https://${address}`);
      const tls = { ca: await Bun.file(cert).text() };
      const headers = { Authorization: `Bearer ${box.key}` };
      const secure = await fetch(`https://${address}/api/v1/incidents`, { headers, tls });
      expect(secure.status).toBe(200);
      for (const scheme of ["http", "https"]) {
        const unanswered = await fetch(`${scheme}://${address}/healthz`).catch(() => null);
        expect([scheme, unanswered]).toEqual([scheme, null]);
      }
    } finally {
      child.kill("SIGKILL");
    }
  });
