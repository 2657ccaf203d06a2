import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatBytes, formatCount } from "../../src/core/text/formatting.ts";
import { binary, runSignalbox } from "../support/binary.ts";
import { writeLargeKuma } from "./kuma.ts";

const monitors = 1_000;
const heartbeats = 5_000;

/** Measures time and memory of an Uptime Kuma import with millions of heartbeats. */
export async function importSuite() {
  const directory = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  try {
    const file = join(directory, "kuma.db");
    writeLargeKuma(file, monitors, heartbeats, Date.now());
    console.log(
      `import: ${formatCount(monitors)} monitors and ${formatCount(monitors * heartbeats)} beats, ${formatBytes(statSync(file).size)}\n`,
    );
    const data = ["--data-dir", join(directory, "data")];
    await runSignalbox(["orgs", "create", "Acme", ...data]);
    for (const words of ["first", "again"]) {
      const since = performance.now();
      const child = Bun.spawn(
        [binary, "import", "uptime-kuma", file, "--org", "acme", "--json", ...data],
        { stdout: "ignore", stderr: "inherit" },
      );
      const code = await child.exited;
      const seconds = (performance.now() - since) / 1_000;
      const usage = child.resourceUsage();
      const cpu = Number(usage?.cpuTime.total ?? 0) / 1e6;
      const memory = Number(usage?.maxRSS ?? 0) / 1e6;
      console.log(
        `${words}: exit ${code}, ${seconds.toFixed(1)} s (goal ≤ 30), ${cpu.toFixed(1)} s of the processor, ${memory.toFixed(0)} MB (goal ≤ 300)`,
      );
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
