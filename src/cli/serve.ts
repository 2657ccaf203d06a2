import { isatty } from "node:tty";
import { type Command, Option } from "commander";
import { resolve } from "node:path";
import { assets, version } from "../core/assets.ts";
import { usualLimits } from "../core/limits.ts";
import { logFormats, logLevels, type Log, logTo } from "../core/log.ts";
import { type Config, configOf, startedBy, unknownVariables } from "../config.ts";
import { DataError } from "../core/errors.ts";
import { leaveAddress, openInBrowser, runningPage } from "./support/desktop.ts";
import { tell } from "./support/output.ts";
import { warnOfPassword, withDatabase } from "./support/with-data.ts";
import { serviceManager } from "./support/service-manager.ts";

/** What `serve` can be told. */
export function serveOptions(command: Command): Command {
  return withDatabase(command)
    .option("--config <file>", "settings, a line each such as SIGNALBOX_PORT=8080")
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
      "--allow-commands <dir>",
      "folder of the programs that monitors of the type command may run (default: none)",
    )
    .option(
      "--browser <path>",
      "Chromium for monitors of the type browser (default: chromium-headless-shell, chromium or google-chrome)",
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
    .addOption(
      new Option("--log-format <format>", "one line per entry (default: text)").choices(logFormats),
    )
    .addOption(
      new Option("--log-level <level>", "least severe entries to log (default: info)").choices(
        logLevels,
      ),
    )
    .option(
      "--metrics-token-file <file>",
      "file with the bearer token that reads the metrics of the whole appliance",
    )
    .option("--apply <dir>", "folder of YAML files that are applied at the start and on SIGHUP")
    .option("--init", "create a new database where the old one is missing or empty")
    .option(
      "--accept-missing-log",
      "start once without the writes of a run that did not end and whose signalbox.db-wal is missing",
    )
    .option("--require-copy", "refuse to upgrade data without room for a copy of it");
}

export function addServe(program: Command) {
  serveOptions(program.command("serve"))
    .description("run the appliance until it gets SIGTERM or SIGINT (Ctrl+C)")
    .addHelpText(
      "after",
      "\nEvery option is also a variable: SIGNALBOX_PORT=8080, SIGNALBOX_DATA_DIR=… Options win over variables, these over the file of --config. On SIGHUP the file is read again, and the certificate and what --apply names, too.",
    )
    .option(
      "--open",
      "open the page in the browser; without --data-dir, data is in your application data folder unless there is a ./signalbox-data",
    )
    .action(async (flags: Record<string, unknown>) => {
      const config = configOf(flags);
      warnOfPassword(flags["database"] as string | undefined);
      try {
        await serve(config, () => configOf(flags));
      } catch (error) {
        const isRunning = error instanceof DataError && error.code === "ALREADY_RUNNING";
        const page = config.open && isRunning ? runningPage(config.dataDir) : null;
        if (page === null) throw error;
        process.stdout.write(`Signalbox is running already: ${page}\n`);
        openInBrowser(page);
      }
    });
}

async function serve(config: Config, readAgain: () => Config) {
  // On a terminal it says that the window was closed; to a service, that files have changed.
  const isService = !isatty(0);
  // From here on: somebody is served a moment before the start is over.
  const stopped = signalToStop(isService ? ["SIGTERM", "SIGINT"] : ["SIGTERM", "SIGINT", "SIGHUP"]);
  const [{ startApp }, { missingPaths }] = await Promise.all([
    import("../app.ts"),
    import("../operations/diagnostics/settings.ts"),
  ]);
  const log = logTo((line) => tell(process.stderr, line), config);
  logUnhandled(log);
  for (const notice of unknownVariables()) log.warn(notice);
  for (const { option, message } of missingPaths(config)) log.warn(`${option}: ${message}`);
  const manager = serviceManager(startedBy());
  const starting = startApp(config, { log, ...assets });
  if (isService) process.on("SIGHUP", async () => (await starting).reload(readAgain));
  const app = await starting;
  const [here = "", ...others] = app.urls;
  using _ = leaveAddress(config.dataDir, here);
  manager.ready();
  const links = setUpLinks(app.setUpToken, config.url, app.urls);
  const lines = [
    `Signalbox ${version} is running.`,
    `  On this machine  ${here}`,
    ...others.map((url) => `  On the network   ${url}`),
    ...app.publicUrls.map((url) => `  Public pages     ${url}`),
    `  API reference    ${here}/docs`,
    `  Data             ${resolve(config.dataDir)}`,
    ...links.map((link, index) => `  ${index === 0 ? "Set it up" : "or       "}        ${link}`),
  ];
  tell(process.stdout, `${lines.join("\n")}\n`);
  if (config.open) openInBrowser(links.find((link) => link.startsWith(here)) ?? here);
  await stopped;
  log.info("stopping");
  manager.stopping();
  await app.stop();
}

/** Links for the first run: for people at this machine, and for those who open it from elsewhere. */
function setUpLinks(token: string | null, url: string | undefined, urls: readonly string[]) {
  if (token === null) return [];
  const [here, network] = urls;
  return [url, here, url === undefined ? network : undefined]
    .filter((origin) => origin !== undefined)
    .map((origin) => `${origin}/set-up#${token}`);
}

/** Errors repeat as often as what fails: one line a minute of each, and no source text. */
function logUnhandled(log: Pick<Log, "error">) {
  const loggedAt = new Map<string, number>();
  process.on("unhandledRejection", (error) => {
    const cause = String(error);
    const now = performance.now();
    if (now - (loggedAt.get(cause) ?? -Infinity) < 60_000) return;
    if (loggedAt.size > 100) loggedAt.clear();
    loggedAt.set(cause, now);
    log.error("an error was not handled", { cause: cause.slice(0, 500) });
  });
}

function signalToStop(signals: readonly NodeJS.Signals[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve());
  });
}
