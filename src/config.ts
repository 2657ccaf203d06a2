/** Reads the configuration from flags, environment variables and a settings file. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { logFormats, logLevels } from "./core/log.ts";
import { parseLimits, defaultLimits } from "./core/limits.ts";
import { readSettings, type Setting } from "./core/system/settings-file.ts";
import { parseDenied, parseRange } from "./core/security/target-guard.ts";
import { AppError } from "./core/errors.ts";
import { suggestName } from "./core/text/suggestion.ts";
import { findAddressIssue } from "./database/address.ts";
import { parseTrustedProxy } from "./http/access/trusted-proxies.ts";
import { invalidFieldError, parse, validationError } from "./core/validation.ts";

const port = z
  .string()
  .regex(/^\d{1,5}$/, "must be a port number from 0 to 65535")
  .transform(Number)
  .refine((number) => number <= 65535, "must be a port number from 0 to 65535");

const flag = z.boolean("must be true or false");

const defineDays = (defaultDays: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,4}$/, "must be a whole number of days from 1")
    .transform(Number)
    .default(defaultDays);

/** A list of entries. Rejects entries that `parseEntry` can't parse, with `message`. */
const listSchema = <T>(parseEntry: (text: string) => T | null, message: string) =>
  z
    .array(
      z.string().transform((text, context) => {
        const entry = parseEntry(text);
        if (entry !== null) return entry;
        context.addIssue({ code: "custom", message });
        return z.NEVER;
      }),
    )
    .default([]);

/** URL of a server. Removes trailing slashes. */
export const ServerAddress = z
  .string()
  .regex(
    /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i,
    "must be a URL such as https://status.team.example",
  )
  .refine((text) => URL.canParse(text), "must be a URL such as https://status.team.example")
  .transform((text) => text.replace(/\/+$/, ""));

/** URL under which people open this appliance: scheme, host and port. */
const OwnAddress = z
  .string()
  .superRefine((text, context) => {
    const message = findOwnAddressIssue(text);
    if (message !== null) context.addIssue({ code: "custom", message });
  })
  .transform((text) => text.replace(/\/+$/, ""));

function findOwnAddressIssue(text: string): string | null {
  const example = "such as https://status.team.example";
  if (!/^https?:\/\/[^\s/?#]+[^\s]*$/i.test(text)) return `must be a URL ${example}`;
  if (/^https?:\/\/[^/?#]*@/i.test(text)) return "must not contain a user name or password";
  if (/[?#]/.test(text)) return `must have no query or fragment, ${example}`;
  if (!URL.canParse(text)) return `must be a URL ${example}`;
  if (!/^https?:\/\/[^/]+\/*$/i.test(text))
    return `must have no path: Signalbox needs a host name of its own, ${example}`;
  return null;
}

/** Headers with other meanings, or that every client sends. */
const usedHeaders =
  /^(authorization|cookie|host|origin|referer|user-agent|accept.*|content-.*|sec-.*|x-forwarded-(for|proto|host)|x-organization|idempotency-key|if-.*)$/i;

/** Name of a header of a proxy (RFC 9110 §5.1). */
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,100}$/, "must be the name of a header, such as Remote-User")
  .refine(
    (name) => !usedHeaders.test(name),
    "must be a header that only the proxy sets, such as Remote-User",
  );

const Config = z.strictObject({
  /** Path of the settings file. */
  config: z.string().min(1).optional(),
  dataDir: z.string().min(1).default("./signalbox-data"),
  /** Address of the cluster with the data; without it, the data is in the data directory. */
  database: z
    .string()
    .superRefine((text, context) => {
      const message = findAddressIssue(text);
      if (message !== null) context.addIssue({ code: "custom", message });
    })
    .optional(),
  /** Path of a file with the password of the cluster. */
  databasePasswordFile: z.string().min(1).optional(),
  host: z.string().min(1).default("0.0.0.0"),
  /** Main port; 0 selects a free port. */
  port: port.default(3210),
  publicPort: port.optional(),
  /** Requests per API key and minute; 0 means no limit. */
  rateLimit: z
    .string()
    .regex(/^\d{1,9}$/, "must be a whole number of requests a minute; 0 means no limit")
    .transform(Number)
    .default(6000),
  /** Host names of the admin page, in addition to localhost, addresses and the names of this machine. */
  allowedHost: z.array(z.string().min(1)).default([]),
  /** Proxies whose forwarded headers are trusted. */
  trustProxy: listSchema(
    parseTrustedProxy,
    "must be addresses or ranges of proxies, such as 127.0.0.1 or 10.0.5.0/24",
  ),
  /** Port for mails to alert sources. */
  smtpPort: port.optional(),
  tlsCert: z.string().min(1).optional(),
  tlsKey: z.string().min(1).optional(),
  /** URL under which people open this appliance, for links in alerts. */
  url: OwnAddress.optional(),
  /** URL of the public port, or of a proxy in front of it, for the links that acknowledge alerts. */
  publicUrl: OwnAddress.optional(),
  /** Address that is requested each minute while this machine is healthy. Its path can be a secret. */
  heartbeatUrl: z
    .string()
    .regex(
      /^https?:\/\/[^\s/?#@]+[^\s#]*$/i,
      "must be a URL such as https://watch.example/push/TOKEN",
    )
    .refine((text) => URL.canParse(text), "must be a URL such as https://watch.example/push/TOKEN")
    .optional(),
  /** Headers in which a trusted proxy names the person whom it has signed in. */
  trustedHeaderUser: headerName.optional(),
  trustedHeaderEmail: headerName.optional(),
  trustedHeaderName: headerName.optional(),
  trustedHeaderGroups: headerName.optional(),
  /** Address at which the proxy signs people out. */
  trustedHeaderSignOut: z
    .string()
    .regex(
      /^(https?:\/\/[^\s]+|\/[^/\s][^\s]*)$/,
      "must be a URL or a path, such as https://auth.team.example/logout",
    )
    .optional(),
  /** Accepts passwords even in organizations that have turned password sign-in off. */
  passwordSignIn: flag.default(false),
  /** Ranges that are blocked by default, but allowed for checks and alerts. */
  allowTarget: listSchema(parseRange, "must be a range such as 169.254.10.0/24"),
  /** Ranges and names that checks and alerts must not reach. They override `allowTarget`. */
  denyTarget: listSchema(
    parseDenied,
    "must be a range such as 10.0.0.0/8, an address or a name such as *.internal.lan",
  ),
  /** Folder of the programs that monitors can run. */
  allowCommands: z
    .string()
    .min(1)
    .transform((folder) => resolve(folder))
    .optional(),
  /** Folder into which status pages can be published. */
  publishDir: z
    .string()
    .min(1)
    .transform((folder) => resolve(folder))
    .optional(),
  /** Path of the Chromium for browser monitors. */
  browser: z.string().min(1).optional(),
  /** Changed limits per organization. */
  limit: z
    .array(z.string())
    .transform((changes, context) => {
      const limits = parseLimits(changes);
      if (typeof limits !== "string") return limits;
      context.addIssue({ code: "custom", message: limits });
      return z.NEVER;
    })
    .default(defaultLimits),
  /** Retention of check results, and of hourly totals, in days. */
  keepResults: defineDays(14),
  keepHours: defineDays(400),
  /** Retention of the audit log, in days. */
  keepAudit: defineDays(400),
  logFormat: z.enum(logFormats).default("text"),
  logLevel: z.enum(logLevels).default("info"),
  /** Creates a new database if it is missing or empty. */
  init: flag.default(false),
  /** Path of a file with the credential for metrics of the whole appliance. */
  metricsTokenFile: z.string().min(1).optional(),
  /** Path of a configuration in YAML, a file or a folder, which is applied at each start. */
  apply: z.string().min(1).optional(),
  /** Path of a file with the passphrase of backups, for commands that write or read them. */
  passphraseFile: z.string().min(1).optional(),
  /** Opens the admin page in the browser, and selects a data directory for desktop use. */
  open: flag.default(false),
  /** Rejects an upgrade if the disk has no space for a copy of the data. */
  requireCopy: flag.default(false),
  acceptMissingLog: flag.default(false),
});
export type Config = z.infer<typeof Config>;

const listSettings = ["allowedHost", "allowTarget", "denyTarget", "limit", "trustProxy"];
const booleanSettings = ["passwordSignIn", "init", "requireCopy", "acceptMissingLog", "open"];

type Name = keyof Config;
const settingNames = Object.keys(Config.shape) as Name[];
const variableOf = (name: Name) =>
  `SIGNALBOX_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}` as const;
/** Returns the command-line flag of a setting, such as `--keep-results` for `keepResults`. */
export const flagOf = (name: Name) =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/**
 * Reads the configuration. Flags override `SIGNALBOX_…` variables, which override the file of `--config`, which
 * overrides the defaults. Throws VALIDATION_ERROR with the flag, or with the line of the file.
 */
export function parseConfig(
  flags: Record<string, unknown>,
  environment: Record<string, string | undefined> = process.env,
): Config {
  const values: Record<string, unknown> = {};
  const file = (flags["config"] as string | undefined) ?? environment[variableOf("config")] ?? "";
  const settable = settingNames.filter((name) => name !== "config").map(variableOf);
  const inFile: ReadonlyMap<string, Setting> =
    file === "" ? new Map() : readSettings(file, settable);
  /** Source of each setting, for error messages. */
  const givenAs = new Map<string, string>();
  for (const name of settingNames) {
    const variable = variableOf(name);
    const setting = inFile.get(variable);
    const text = environment[variable] || setting?.value;
    const value = flags[name] ?? (text ? parseVariable(name, text) : undefined);
    if (value !== undefined) values[name] = value;
    const isFromFile = flags[name] === undefined && !environment[variable] && setting;
    givenAs.set(name, isFromFile ? `${file}, line ${setting.line}: ${variable}` : flagOf(name));
  }
  if (values["dataDir"] === undefined && values["open"] === true && !existsSync("./signalbox-data"))
    values["dataDir"] = detectDesktop(environment).applicationData;
  const config = parseValues(values, givenAs);
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined))
    throw config.tlsCert === undefined
      ? invalidFieldError("--tls-cert", "must be given with --tls-key")
      : invalidFieldError("--tls-key", "must be given with --tls-cert");
  assertHeaderOptions(config, givenAs);
  assertOwnPort(config, givenAs);
  if (config.publicPort === config.port && config.port !== 0)
    throw invalidFieldError(
      givenAs.get("publicPort") ?? "--public-port",
      `must be another port than --port, which is ${config.port}`,
    );
  return config;
}

/** Throws VALIDATION_ERROR if the mail port is that of another listener. */
function assertOwnPort(
  { port, publicPort, smtpPort = 0 }: Config,
  givenAs: ReadonlyMap<string, string>,
) {
  if (smtpPort !== 0 && (smtpPort === port || smtpPort === publicPort))
    throw invalidFieldError(
      givenAs.get("smtpPort") ?? "--smtp-port",
      `must be another port than ${smtpPort === port ? "--port" : "--public-port"}`,
    );
}

/** Throws VALIDATION_ERROR for header options without a trusted proxy or the header with the user. */
function assertHeaderOptions(config: Config, givenAs: ReadonlyMap<string, string>) {
  const { trustedHeaderUser, trustProxy } = config;
  const dependentOptions = [
    "trustedHeaderEmail",
    "trustedHeaderName",
    "trustedHeaderGroups",
    "trustedHeaderSignOut",
  ] as const;
  const dependent = dependentOptions.find((name) => config[name] !== undefined);
  if (trustedHeaderUser === undefined && dependent !== undefined)
    throw invalidFieldError(
      givenAs.get(dependent) ?? dependent,
      "must be given with --trusted-header-user",
    );
  if (trustedHeaderUser !== undefined && trustProxy.length === 0)
    throw invalidFieldError(
      givenAs.get("trustedHeaderUser") ?? "--trusted-header-user",
      "must be given with --trust-proxy, which names the proxies that set the header",
    );
}

/** Variables that are not settings: for client commands, release builds and systemd units. */
const otherVariables = [
  "SIGNALBOX_KEY",
  "SIGNALBOX_CA_FILE",
  "SIGNALBOX_SIGNING_KEY",
  "SIGNALBOX_RELEASE_URL",
];

/** Warnings about variables that look like settings but have no effect, such as a mistyped SIGNALBOX_PROT. */
export function listUnknownVariables(): string[] {
  const known = settingNames.map(variableOf);
  return Object.keys(process.env)
    .filter((name) => name.startsWith("SIGNALBOX_"))
    .filter((name) => ![...known, ...otherVariables].includes(name))
    .map((name) => `${name} is no setting and has no effect${suggestName(name, known)}`);
}

/** Converts the text of a variable to the type of its setting. */
function parseVariable(name: string, text: string): unknown {
  if (listSettings.includes(name)) return text.split(",").map((entry) => entry.trim());
  if (!booleanSettings.includes(name)) return text;
  if (/^(?:true|1)$/.test(text)) return true;
  return /^(?:false|0)$/.test(text) ? false : text;
}

/**
 * Environment of a child process on the same data. The address of the database is not in the arguments, because other
 * users can see those.
 */
export function buildChildEnvironment({
  database,
  databasePasswordFile,
}: Pick<Config, "database" | "databasePasswordFile">): Record<string, string | undefined> {
  const { [variableOf("config")]: _, ...others } = process.env;
  return {
    ...others,
    [variableOf("database")]: database,
    [variableOf("databasePasswordFile")]: databasePasswordFile,
  };
}

type Desktop = {
  /** Folder of this user's application data. */
  applicationData: string;
  /** Folder of this user's settings. */
  settings: string;
  /** Command that opens a URL in the browser; null without a display. */
  opener: readonly [string, ...string[]] | null;
};

/** Returns the folders of the XDG Base Directory Specification, or their equivalents on macOS and Windows. */
export function detectDesktop(
  environment: Record<string, string | undefined> = process.env,
): Desktop {
  const { platform } = process;
  const { XDG_DATA_HOME, XDG_CONFIG_HOME, LOCALAPPDATA, APPDATA } = environment;
  const { DISPLAY, WAYLAND_DISPLAY } = environment;
  if (platform === "win32")
    return {
      applicationData: join(LOCALAPPDATA ?? homedir(), "Signalbox"),
      settings: join(APPDATA ?? homedir(), "Signalbox"),
      opener: ["rundll32", "url.dll,FileProtocolHandler"],
    };
  if (platform === "darwin") {
    const library = join(homedir(), "Library", "Application Support", "Signalbox");
    return {
      applicationData: library,
      settings: library,
      opener: environment["SSH_CONNECTION"] ? null : ["open"],
    };
  }
  // The specification requires absolute paths.
  const resolveFolder = (configuredPath: string | undefined, ...defaultFolders: string[]) =>
    join(
      configuredPath?.startsWith("/") ? configuredPath : join(homedir(), ...defaultFolders),
      "signalbox",
    );
  return {
    applicationData: resolveFolder(XDG_DATA_HOME, ".local", "share"),
    settings: resolveFolder(XDG_CONFIG_HOME, ".config"),
    opener: DISPLAY || WAYLAND_DISPLAY ? ["xdg-open"] : null,
  };
}

/** Returns the environment, for files that refer to any variable, such as those of Gatus. */
export const getEnvironment = (): Readonly<Record<string, string | undefined>> => process.env;

/** Reads the variables that systemd sets for a service (see sd_notify(3) and sd_watchdog_enabled(3)). */
export function readSystemdVariables() {
  const { NOTIFY_SOCKET: notifySocket, WATCHDOG_USEC, WATCHDOG_PID } = process.env;
  const isOurs =
    WATCHDOG_USEC !== undefined && [undefined, String(process.pid)].includes(WATCHDOG_PID);
  return { notifySocket, watchdogMs: isOurs ? Number(WATCHDOG_USEC) / 1000 : null };
}

function parseValues(
  values: Record<string, unknown>,
  givenAs: ReadonlyMap<string, string>,
): Config {
  try {
    // Without JIT, because compiling code for a single use takes longer.
    return parse(Config, values, "configuration", { jitless: true });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const details = error.details ?? [];
    throw validationError(
      details.map(({ path, message }) => ({
        path: givenAs.get(path.replace(/\[.*$/, "")) ?? path,
        message,
      })),
    );
  }
}
