/** `signalbox service`: installs, removes, shows and prints the service of this machine. */
import { type Command, Command as Parser } from "commander";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { parseConfig } from "../config.ts";
import { invalidFieldError } from "../core/validation.ts";
import { printJson } from "./support/output.ts";
import { serveOptions } from "./serve.ts";
import {
  renderLaunchdPlist,
  type ServiceOptions,
  renderSystemdUnit,
  settingsTemplate,
} from "./support/service-unit.ts";

const executable = "/usr/local/bin/signalbox";
const unitFile = "/etc/systemd/system/signalbox.service";
const defaultConfig = "/etc/signalbox/signalbox.env";
const defaultDataDir = "/var/lib/signalbox";
/** Options with files that only root needs to read. */
const secretFiles = ["--metrics-token-file", "--database-password-file"];

export function addService(program: Command) {
  const commands = program.command("service").description("run as a service of this machine");
  addServiceOptions(commands.command("install"))
    .description("install this executable and a systemd unit, or upgrade them, and start it")
    .action((options: string[], { user }: { user?: string }) => installService(options, user));
  commands
    .command("uninstall")
    .description("stop the service and delete its unit, but not the data and the executable")
    .action(uninstallService);
  commands
    .command("status")
    .description("show whether the service runs; exits with 1 if not")
    .option("--json", "print JSON")
    .action(({ json = false }: { json?: boolean }) => showStatus(json));
  addServiceOptions(commands.command("print"))
    .description("print the systemd unit, or the property list for macOS, without installing it")
    .option("--launchd", "print the property list for launchd")
    .action((options: string[], { user, launchd }: { user?: string; launchd?: boolean }) => {
      const service = parseServiceOptions(options, user);
      process.stdout.write(launchd ? renderLaunchdPlist(service) : renderSystemdUnit(service));
    });
}

function installService(options: string[], user: string | undefined) {
  const service = parseServiceOptions(options, user, defaultConfig);
  assertSystemdAsRoot();
  if (!Bun.isStandaloneExecutable) throw new Error("Only a compiled executable can be installed.");
  const { dataDir, config } = service;
  if (config === defaultConfig && !existsSync(config)) writeTemplate(config);
  if (process.execPath !== executable)
    replaceFile(executable, (file) => {
      copyFileSync(process.execPath, file);
      chmodSync(file, 0o755);
    });
  const unit = renderSystemdUnit(service);
  replaceFile(unitFile, (file) => writeFileSync(file, unit, { mode: 0o644 }));
  runSystemctl("daemon-reload");
  runSystemctl("enable", "--quiet", "signalbox");
  runSystemctl("restart", "signalbox");
  process.stdout.write(`signalbox runs, now and after each start of this machine.
  Executable  ${executable}
  Unit        ${unitFile}
  Settings    ${config}
  Data        ${dataDir}
  Its log     journalctl -u signalbox
  Commands    signalbox COMMAND --data-dir ${dataDir}
`);
  const token = `${dataDir}/set-up-token`;
  if (existsSync(token)) process.stdout.write("Its log shows the link to set it up.\n");
}

function uninstallService() {
  assertSystemdAsRoot();
  if (!existsSync(unitFile)) throw new Error(`There is no service: ${unitFile} does not exist.`);
  runSystemctl("disable", "--quiet", "--now", "signalbox");
  rmSync(unitFile);
  runSystemctl("daemon-reload");
  process.stdout.write(
    `The service is gone. Its settings and data are still there, usually ${defaultConfig} and ${defaultDataDir}.\n`,
  );
}

/** Prints the state of the service. Throws if it is not running. */
function showStatus(json: boolean) {
  assertSystemd();
  const state = readState();
  if (json) printJson(state);
  else
    for (const [name, value] of Object.entries(state))
      process.stdout.write(`${name.padEnd(9)}  ${value ?? "–"}\n`);
  if (state.state !== "active")
    throw new Error("The service does not run; see journalctl -u signalbox.");
}

function addServiceOptions(command: Command): Command {
  return command
    .argument(
      "[options...]",
      "options of `serve`, such as -- --port 8080 --url https://status.acme.example",
    )
    .option("--user <name>", "run as an existing account instead of a dedicated one");
}

type Flags = {
  dataDir?: string;
  config?: string;
  [name: string]: string | string[] | true | undefined;
};

/**
 * Parses the options of the service. Throws VALIDATION_ERROR or CommanderError for options that
 * `serve` would reject. `config` is the default settings file, which can be missing.
 */
function parseServiceOptions(
  givenOptions: string[],
  user: string | undefined,
  config?: string,
): ServiceOptions & { config: string | undefined } {
  if (user !== undefined && !/^[\w.-]+$/.test(user))
    throw invalidFieldError("--user", "must be the name of an account");
  const parser = serveOptions(new Parser("serve").exitOverride());
  const parsed = parser.parse(givenOptions, { from: "user" }).opts<Flags>();
  const { dataDir = defaultDataDir, ...flags }: Flags = { ...(config && { config }), ...parsed };
  // The settings file can be missing: `install` creates it, and `print` can be for another machine.
  const isForElsewhere = config === undefined || parsed["config"] === undefined;
  const isMissing = isForElsewhere && !existsSync(flags.config ?? "");
  const { config: _, ...withoutFile } = flags;
  const {
    port,
    publicPort = port,
    smtpPort = port,
  } = parseConfig(isMissing ? withoutFile : flags, {});
  const isLow = Math.min(port, publicPort, smtpPort) < 1024;
  const service = {
    executable,
    dataDir: resolve(dataDir),
    config: flags.config && resolve(flags.config),
    options: parser.options.flatMap((option) => {
      const value = flags[option.attributeName()];
      if (value === undefined || secretFiles.includes(`${option.long}`)) return [];
      if (value === true) return [`${option.long}`];
      const isPath = /<(file|dir)>$/.test(option.flags);
      return [value].flat().map((each) => `${option.long}=${isPath ? resolve(each) : each}`);
    }),
    credentials: parser.options.flatMap((option) => {
      const file = flags[option.attributeName()];
      const isSecret = secretFiles.includes(`${option.long}`);
      return isSecret && typeof file === "string"
        ? [{ option: `${option.long}`, file: resolve(file) }]
        : [];
    }),
    user: user ?? null,
    capabilities: isLow ? ["CAP_NET_BIND_SERVICE"] : [],
    mayPing: canPing(),
  };
  assertOneLine(service);
  return service;
}

/** Throws VALIDATION_ERROR for control characters. A line break would add a line to the unit. */
function assertOneLine({ dataDir, options, credentials }: ServiceOptions) {
  const lines = [
    `--data-dir=${dataDir}`,
    ...options,
    ...credentials.map(({ option, file }) => `${option}=${file}`),
  ];
  const broken = lines.find((line) => /\p{Cc}/u.test(line));
  if (broken !== undefined)
    throw invalidFieldError(
      broken.split("=")[0] ?? "",
      "must have no line breaks or other control characters",
    );
}

/** Whether all groups can send pings without a capability; see icmp(7). */
function canPing(): boolean {
  const file = "/proc/sys/net/ipv4/ping_group_range";
  if (!existsSync(file)) return false;
  const [first = 1, last = 0] = readFileSync(file, "utf8").split(/\s+/).map(Number);
  return first === 0 && last >= 65_535;
}

function assertSystemd() {
  if (process.platform !== "linux" || !existsSync("/run/systemd/system"))
    throw new Error(
      "This machine is not run by systemd. `signalbox service print` prints what others need: " +
        "a unit, or with --launchd a property list for macOS.",
    );
}

function assertSystemdAsRoot() {
  assertSystemd();
  if (process.getuid?.() !== 0) throw new Error("Only root can do this; try it with sudo.");
}

/** Runs systemctl and returns its output. Throws with its error message. */
function runSystemctl(...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["systemctl", ...args]);
  if (exitCode !== 0)
    throw new Error(`systemctl ${args.join(" ")} failed: ${stderr.toString().trim()}`);
  return stdout.toString();
}

function readState(): Record<string, string | number | null> {
  const properties = {
    state: "ActiveState",
    since: "ActiveEnterTimestamp",
    pid: "MainPID",
    restarts: "NRestarts",
    memoryBytes: "MemoryCurrent",
    unit: "FragmentPath",
  };
  const output = runSystemctl(
    "show",
    "signalbox",
    `--property=${Object.values(properties).join(",")}`,
  );
  const readProperty = (property: string) => {
    const text = new RegExp(`^${property}=(.*)$`, "m").exec(output)?.[1] ?? "";
    if (["", "[not set]"].includes(text) || (property === "MainPID" && text === "0")) return null;
    return /^\d+$/.test(text) ? Number(text) : text;
  };
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, readProperty(property)]),
  );
}

/**
 * Creates a settings file that everyone can read, because the account that systemd creates has no
 * access to other files.
 */
function writeTemplate(file: string) {
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  chmodSync(dirname(file), 0o755);
  writeFileSync(file, settingsTemplate);
  chmodSync(file, 0o644);
}

/** Replaces a file by renaming a new one over it, because a running executable can't be overwritten. */
function replaceFile(file: string, write: (fresh: string) => void) {
  const temporaryFile = `${file}.new`;
  write(temporaryFile);
  renameSync(temporaryFile, file);
}
