import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { getFreePort } from "./binary.ts";
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

/** microsocks, with one user if there is a password. */
export async function startMicrosocks(password: string | null = null) {
  const [port, folder] = [getFreePort(), createFolder()];
  const login = password === null ? [] : ["-u", "probe", "-P", password];
  const args = ["-i", "127.0.0.1", "-p", String(port), ...login];
  const stop = await startProgram({ program: "microsocks", args, folder }, [port]);
  return { url: `socks5://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop };
}
