import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { createLog } from "../../src/core/log.ts";
import { assets } from "../../src/core/assets.ts";
import { tableOf } from "./table.ts";

/** The response of `/metrics` from an appliance that was just started. */
export async function scrapeAppliance(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "signalbox-docs-"));
  const token = "t".repeat(32);
  const metricsTokenFile = join(directory, "token");
  writeFileSync(metricsTokenFile, token, { mode: 0o600 });
  const dataDir = join(directory, "data");
  const config = parseConfig({ dataDir, host: "127.0.0.1", port: "0", metricsTokenFile }, {});
  const app = await startApp(config, { log: createLog(() => {}), ...assets });
  try {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${app.urls[0]}/metrics`, { headers });
    return await response.text();
  } finally {
    await app.stop();
    rmSync(directory, { recursive: true });
  }
}

/** The table of all metrics in docs/operations.md. */
export async function renderMetricsTable(): Promise<string> {
  const families = (await scrapeAppliance()).matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm);
  const rows = [...families].map(([, name, help = "", type = ""]) => [`\`${name}\``, type, help]);
  return tableOf(["Name", "Type", "Meaning"], rows);
}
