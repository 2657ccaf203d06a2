import { isatty } from "node:tty";
import type { Command } from "commander";
import { assets, version } from "../core/assets.ts";
import { usualLimits } from "../core/limits.ts";
import { logTo } from "../core/log.ts";
import { configOf, startedBy } from "../config.ts";
import { serviceManager } from "./service-manager.ts";

/** What `serve` can be told. */
export function serveOptions(command: Command): Command {
  return command
    .option("--data-dir <dir>", "data directory (default: ./signalbox-data)")
    .option("--host <address>", "address to listen on (default: 0.0.0.0, the whole LAN)")
    .option("--port <number>", "port to listen on (default: 3210)")
    .option("--public-port <number>", "a second port that serves the public pages and nothing else")
    .option("--rate-limit <number>", "requests a minute by API key (default: 6000, 0 = none)")
    .option("--allowed-host <name...>", "further names under which the admin page answers")
    .option(
      "--trust-proxy <range...>",
      "proxies whose X-Forwarded-For, -Proto and -Host are believed, such as 127.0.0.1 or 10.0.5.0/24",
    )
    .option(
      "--allow-target <range...>",
      "blocked ranges that may be checked and alerted all the same, such as 169.254.10.0/24",
    )
    .option(
      "--deny-target <range...>",
      "ranges and names that nobody may check or alert, such as 10.0.5.0/24 or *.internal.lan",
    )
    .option(
      "--limit <name=number...>",
      `how much one organization may have, such as monitors=20000; of ${Object.keys(usualLimits).join(", ")}`,
    )
    .option("--url <address>", "where people open this appliance, for the links in alerts")
    .option("--keep-results <days>", "how long results of single checks are kept (default: 14)")
    .option("--keep-hours <days>", "how long their hourly sums are kept (default: 400)")
    .option("--keep-audit <days>", "how long the audit log is kept (default: 400)")
    .option("--tls-cert <file>", "certificate chain (PEM); needs --tls-key")
    .option("--tls-key <file>", "private key (PEM)")
    .option("--init", "create a new database where the old one is missing or empty")
    .option("--require-copy", "refuse to upgrade data without room for a copy of it");
}

export function addServe(program: Command) {
  serveOptions(program.command("serve"))
    .description("run the appliance until it gets SIGTERM or SIGINT (Ctrl+C)")
    .addHelpText(
      "after",
      "\nEvery option is also a variable: SIGNALBOX_PORT=8080, SIGNALBOX_DATA_DIR=…",
    )
    .action(async (flags: Record<string, unknown>) => {
      const { startApp } = await import("../app.ts");
      const config = configOf(flags);
      const log = logTo((line) => process.stderr.write(line));
      const manager = serviceManager(startedBy());
      const starting = startApp(config, { log, ...assets });
      // On a terminal it says that the window was closed; to a service, that files have changed.
      const isService = !isatty(0);
      if (isService) process.on("SIGHUP", async () => (await starting).readTls());
      const app = await starting;
      manager.ready();
      const [here, ...others] = app.urls;
      const lines = [
        `Signalbox ${version} is running.`,
        `  On this machine  ${here}`,
        ...others.map((url) => `  On the network   ${url}`),
        `  API reference    ${here}/docs`,
        ...(app.setUpLink === null ? [] : [`  Set it up        ${app.setUpLink}`]),
      ];
      process.stdout.write(`${lines.join("\n")}\n`);
      await signalToStop(isService ? ["SIGTERM", "SIGINT"] : ["SIGTERM", "SIGINT", "SIGHUP"]);
      log.info("stopping");
      manager.stopping();
      await app.stop();
    });
}

function signalToStop(signals: readonly NodeJS.Signals[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve());
  });
}
