/**
 * Runs one check of each type in a separate process and prints the results as JSON. `names` uses
 * the system's resolver; with `exhausted` no file handle is free.
 */
import { closeSync, openSync } from "node:fs";
import { checkKinds } from "../../src/monitoring/checks/kinds.ts";
import { runCheckOfType } from "./check-runs.ts";
import { newMonitors } from "./samples.ts";

const [mode] = process.argv.slice(2);
const host = mode === "names" ? "intranet.lan" : "127.0.0.1";
/** Types that use a program or a socket of this machine, or no name at all. */
const local = new Set([
  "command",
  "systemd",
  "browser",
  "composite",
  "manual",
  ...(mode === "names" ? ["docker"] : []),
]);

const foundFailures: Record<string, string> = {};

async function checkAll() {
  const types = Object.keys(checkKinds) as (keyof typeof checkKinds)[];
  const each = types.map(async (type) => {
    if (local.has(type)) return;
    const named = Object.entries(newMonitors[type]).map(([name, value]) => {
      if (name === "host") return [name, host];
      return [name, name === "url" ? String(value).replace(/\/\/[^/]+/, `//${host}:1`) : value];
    });
    const { status, message } = await runCheckOfType(type, Object.fromEntries(named), {
      timeoutMs: 4_000,
    });
    foundFailures[type] = `${status}: ${message}`;
  });
  await Promise.all(each);
}

if (mode === "exhausted") {
  // Every type's lazy imports are loaded now.
  await checkAll();
  const opened: number[] = [];
  try {
    for (;;) opened.push(openSync("/dev/null", "r"));
  } catch {
    await checkAll();
  }
  for (const handle of opened) closeSync(handle);
} else await checkAll();

console.log(JSON.stringify(foundFailures));
process.exit(0);
