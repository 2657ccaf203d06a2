import type { Command } from "commander";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseConfig } from "../config.ts";
import { getDataFiles } from "../database/file/data-files.ts";

const timeoutMs = 5_000;

/** Adds the command for `HEALTHCHECK` of containers: it finds the server by its data directory. */
export function addHealthcheck(program: Command) {
  program
    .command("healthcheck")
    .description(
      "request /healthz from the server of this data directory; exits with 1 if it is not healthy",
    )
    .option("--data-dir <dir>", "data directory (SIGNALBOX_DATA_DIR)")
    .action(async ({ dataDir }: { dataDir?: string }) => {
      const file = getDataFiles(resolve(parseConfig({ dataDir }).dataDir)).address;
      if (!existsSync(file))
        throw new Error(`No server runs on this data: ${file} does not exist.`);
      const url = readFileSync(file, "utf8").trim();
      // The certificate is for the public name, not for this address.
      const response = await fetch(`${url}/healthz`, {
        signal: AbortSignal.timeout(timeoutMs),
        tls: { rejectUnauthorized: false },
      });
      const body = await response.text();
      process.stdout.write(`${body}\n`);
      if (response.status !== 200) throw new Error(`${url}/healthz returned ${response.status}.`);
    });
}
