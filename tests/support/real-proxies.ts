import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getFreePort } from "./binary.ts";
import { writeCertificates } from "./certificates.ts";
import { createFolder, startProgram } from "./real-targets.ts";

/** tinyproxy, with one user if there is a password. */
export async function startTinyproxy(password: string | null = null) {
  const [port, folder] = [getFreePort(), createFolder()];
  const settings = [
    `Port ${port}`,
    "Listen 127.0.0.1",
    "Timeout 30",
    "LogLevel Critical",
    ...(password === null ? [] : [`BasicAuth probe ${password}`]),
  ];
  writeFileSync(join(folder, "proxy.conf"), settings.join("\n"));
  const args = ["-d", "-c", "proxy.conf"];
  const stop = await startProgram({ program: "tinyproxy", args, folder }, [port]);
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop };
}

/** tinyproxy behind stunnel, which speaks TLS with a certificate for loopback. */
export async function startSecureTinyproxy(password: string | null = null) {
  const proxy = await startTinyproxy(password);
  const [port, folder] = [getFreePort(), createFolder()];
  writeCertificates(folder);
  const settings = [
    "foreground = yes",
    "pid =",
    "debug = err",
    "[proxy]",
    `accept = 127.0.0.1:${port}`,
    `connect = ${new URL(proxy.url).host}`,
    "cert = good.pem",
    "key = good.key",
  ];
  writeFileSync(join(folder, "stunnel.conf"), settings.join("\n"));
  const authority = readFileSync(join(folder, "authority.pem"), "utf8");
  const stop = await startProgram({ program: "stunnel", args: ["stunnel.conf"], folder }, [port]);
  return {
    url: `https://127.0.0.1:${port}`,
    authority,
    async [Symbol.asyncDispose]() {
      await stop();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

/** microsocks, with one user if there is a password. */
export async function startMicrosocks(password: string | null = null) {
  const [port, folder] = [getFreePort(), createFolder()];
  const login = password === null ? [] : ["-u", "probe", "-P", password];
  const args = ["-i", "127.0.0.1", "-p", String(port), ...login];
  const stop = await startProgram({ program: "microsocks", args, folder }, [port]);
  return { url: `socks5://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop };
}
