/** `signalbox serve`: its options, and the start and stop of the appliance. */
import { isatty } from "node:tty";
import { type Command, Option } from "commander";
import { resolve } from "node:path";
import { assets, version } from "../core/assets.ts";
import { defaultLimits } from "../core/limits.ts";
import { logFormats, logLevels, type Log, createLog } from "../core/log.ts";
import { type Config, parseConfig, readSystemdVariables, listUnknownVariables } from "../config.ts";
import { DataError } from "../core/errors.ts";
import { leaveAddress, openInBrowser, findRunningPage } from "./support/desktop.ts";
import { writeIfPossible } from "./support/output.ts";
import { warnOfPassword, addDatabaseOptions } from "./support/with-data.ts";
import { createServiceManager } from "./support/service-manager.ts";

/** Adds the options for proxies and sign-in. */
const addAccessOptions = (command: Command) =>
  command
    .option(
      "--trust-proxy <range...>",
      "proxies whose X-Forwarded-For, -Proto and -Host are trusted, such as 127.0.0.1 or 10.0.5.0/24",
    )
    .option(
      "--trusted-header-user <header>",
      "header in which the proxies name the person whom they have signed in, such as Remote-User",
    )
    .option("--trusted-header-email <header>", "header with the person's e-mail address")
    .option("--trusted-header-name <header>", "header with the person's name")
    .option("--trusted-header-groups <header>", "header with the person's groups")
    .option("--trusted-header-sign-out <address>", "address at which the proxy signs people out")
    .option(
      "--password-sign-in",
      "accept passwords even in organizations that have turned password sign-in off",
    );

/** Adds the folders that people with access to the admin page can use. */
const addFolderOptions = (command: Command) =>
  command
    .option("--allow-commands <dir>", "folder of programs for command monitors (default: none)")
    .option(
      "--publish-dir <dir>",
      "folder into which status pages can be published as files (default: none)",
    );

/** Adds the options of `serve`. */
export function serveOptions(command: Command): Command {
  return addFolderOptions(addAccessOptions(addDatabaseOptions(command)))
    .option("--config <file>", "settings file with lines such as SIGNALBOX_PORT=8080")
    .option("--data-dir <dir>", "data directory (default: ./signalbox-data)")
    .option("--host <address>", "address to listen on (default: 0.0.0.0, the whole LAN)")
    .option("--port <number>", "port to listen on (default: 3210)")
    .option("--public-port <number>", "a second port, only for public pages and links in alerts")
    .option("--smtp-port <number>", "a port for mails to alert sources (default: none)")
    .option(
      "--rate-limit <number>",
      "requests per API key and minute (default: 6000, 0 = unlimited)",
    )
    .option("--allowed-host <name...>", "additional host names of the admin page")
    .option(
      "--allow-target <range...>",
      "blocked ranges to permit for checks and alerts, such as 169.254.10.0/24",
    )
    .option(
      "--deny-target <range...>",
      "ranges and names to block for checks and alerts, such as 10.0.5.0/24 or *.internal.lan",
    )
    .option(
      "--browser <path>",
      "Chromium for browser monitors (default: chromium-headless-shell, chromium or google-chrome)",
    )
    .option(
      "--limit <name=number...>",
      `limits of one organization, such as monitors=20000: ${Object.keys(defaultLimits).join(", ")}`,
    )
    .option("--url <address>", "address of this appliance in the links of alerts")
    .option("--public-url <address>", "address of the public port, to acknowledge alerts there")
    .option(
      "--heartbeat-url <address>",
      "address that is requested each minute while this machine is healthy",
    )
    .option("--keep-results <days>", "retention of single check results (default: 14)")
    .option("--keep-hours <days>", "retention of hourly sums (default: 400)")
    .option("--keep-audit <days>", "retention of the audit log (default: 400)")
    .option("--tls-cert <file>", "certificate chain (PEM); needs --tls-key")
    .option("--tls-key <file>", "private key (PEM)")
    .addOption(
      new Option("--log-format <format>", "one line per entry (default: text)").choices(logFormats),
    )
    .addOption(
      new Option("--log-level <level>", "lowest level to log (default: info)").choices(logLevels),
    )
    .option(
      "--metrics-token-file <file>",
      "file with the bearer token for the metrics of the whole appliance",
    )
    .option("--apply <dir>", "folder of YAML files to apply at the start and on SIGHUP")
    .option("--init", "create a new database if the old one is missing or empty")
    .option(
      "--accept-missing-log",
      "start once although signalbox.db-wal is missing, and lose the last writes of that run",
    )
    .option("--require-copy", "do not upgrade if the disk has no space for a copy of the data");
}

export function addServe(program: Command) {
  serveOptions(program.command("serve"))
    .description("run the appliance until SIGTERM or SIGINT (Ctrl+C)")
    .addHelpText(
      "after",
      "\nYou can set every option by a variable: SIGNALBOX_PORT=8080, SIGNALBOX_DATA_DIR=… Options take precedence over variables, and variables over the file of --config. SIGHUP reads this file, the certificate and the files of --apply again.",
    )
    .option(
      "--open",
      "open the admin page in the browser; without --data-dir and ./signalbox-data, use your application data folder",
    )
    .action(async (flags: Record<string, unknown>) => {
      const config = parseConfig(flags);
      warnOfPassword(flags["database"] as string | undefined);
      try {
        await serveAppliance(config, () => parseConfig(flags));
      } catch (error) {
        const isRunning = error instanceof DataError && error.code === "ALREADY_RUNNING";
        const page = config.open && isRunning ? findRunningPage(config.dataDir) : null;
        if (page === null) throw error;
        process.stdout.write(`Signalbox is running already: ${page}\n`);
        openInBrowser(page);
      }
    });
}

async function serveAppliance(config: Config, readAgain: () => Config) {
  // On a terminal, SIGHUP means that the window was closed. For a service, it means that files have
  // changed.
  const isService = !isatty(0);
  // Signals count from here on, because requests are served shortly before the start is complete.
  const stopped = waitForSignal(
    isService ? ["SIGTERM", "SIGINT"] : ["SIGTERM", "SIGINT", "SIGHUP"],
  );
  const [{ startApp }, { listMissingPaths }] = await Promise.all([
    import("../app.ts"),
    import("../operations/diagnostics/settings.ts"),
  ]);
  const log = createLog((line) => writeIfPossible(process.stderr, line), config);
  logUnhandledErrors(log);
  for (const notice of listUnknownVariables()) log.warn(notice);
  for (const { option, message } of listMissingPaths(config)) log.warn(`${option}: ${message}`);
  const manager = createServiceManager(readSystemdVariables());
  const starting = startApp(config, { log, ...assets });
  if (isService) process.on("SIGHUP", async () => (await starting).reload(readAgain));
  const app = await starting;
  const [localUrl = "", ...others] = app.urls;
  using _ = leaveAddress(config.dataDir, localUrl);
  manager.ready();
  const links = setUpLinks(app.setUpToken, config.url, app.urls);
  const lines = [
    `Signalbox ${version} is running.`,
    `  On this machine  ${localUrl}`,
    ...others.map((url) => `  On the network   ${url}`),
    ...app.publicUrls.map((url) => `  Public pages     ${url}`),
    ...(app.mailPort === null ? [] : [`  Mail             port ${app.mailPort}`]),
    `  API reference    ${localUrl}/docs`,
    `  Data             ${resolve(config.dataDir)}`,
    ...links.map((link, index) => `  ${index === 0 ? "Set it up" : "or       "}        ${link}`),
  ];
  writeIfPossible(process.stdout, `${lines.join("\n")}\n`);
  if (config.open) openInBrowser(links.find((link) => link.startsWith(localUrl)) ?? localUrl);
  await stopped;
  log.info("stopping");
  manager.stopping();
  await app.stop();
}

/** Returns the links for the first run, for browsers on this machine and on others. */
function setUpLinks(token: string | null, url: string | undefined, urls: readonly string[]) {
  if (token === null) return [];
  const [here, network] = urls;
  return [url, here, url === undefined ? network : undefined]
    .filter((origin) => origin !== undefined)
    .map((origin) => `${origin}/set-up#${token}`);
}

/** Logs unhandled errors without their stack, each at most once per minute. */
function logUnhandledErrors(log: Pick<Log, "error">) {
  const loggedAt = new Map<string, number>();
  const logError = (error: unknown) => {
    const cause = String(error);
    const now = performance.now();
    if (now - (loggedAt.get(cause) ?? -Infinity) < 60_000) return;
    if (loggedAt.size > 100) loggedAt.clear();
    loggedAt.set(cause, now);
    log.error("an error was not handled", { cause: cause.slice(0, 500) });
  };
  process.on("unhandledRejection", logError);
  process.on("uncaughtException", logError);
}

function waitForSignal(signals: readonly NodeJS.Signals[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve());
  });
}
