import { startApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { assets } from "../../src/core/assets.ts";
import { createLog } from "../../src/core/log.ts";

// A server that reports on request for how long it blocked its event loop since the last request.

/** Longest blocking in wall time, and in the thread's CPU time, which other processes do not affect. */
export type Held = { wall: number; cpu: number };

const [dataDir = "", port = ""] = process.argv.slice(2);
const config = parseConfig({ dataDir, host: "127.0.0.1", port, rateLimit: "0" });
const log = createLog((line) => void process.stderr.write(line), { ...config, logLevel: "error" });
await startApp(config, { log, ...assets });

const readUsage = (): Held => {
  const { user, system } = process.threadCpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1000 };
};
let held: Held = { wall: 0, cpu: 0 };
let last = readUsage();
function buildNote() {
  const current = readUsage();
  const [wall, cpu] = [current.wall - last.wall, current.cpu - last.cpu];
  if (cpu > held.cpu) held = { wall, cpu };
  last = current;
}
setInterval(buildNote, 1);
process.on("message", () => {
  buildNote();
  process.send?.(held);
  held = { wall: 0, cpu: 0 };
});
