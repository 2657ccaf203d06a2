/** Writes log lines as text or JSON, from a configured level upwards. */

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];
export const logFormats = ["text", "json"] as const;
type LogFormat = (typeof logFormats)[number];

/** Fields of a log line. Callers must not pass secrets or request bodies. */
type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>> & {
  readonly [name in "time" | "level" | "message"]?: never;
};
type Write = (message: string, fields?: LogFields) => void;

export type Log = {
  /** Undefined if the log level is above debug. `log.debug?.(…)` then does not compute its fields. */
  readonly debug?: Write | undefined;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
};

type LogSettings = { logFormat: LogFormat; logLevel: LogLevel };

/**
 * Creates a log with one line per entry: a JSON object, or time, level, message and `name=value` pairs. Escapes
 * control characters, so that a value can't start another line.
 */
export function createLog(
  write: (line: string) => void,
  settings: LogSettings = { logFormat: "text", logLevel: "info" },
): Log & { configure(settings: LogSettings): void; getLevel(): LogLevel } {
  const createLevelWriter =
    (level: LogLevel): Write =>
    (message, fields = {}) => {
      if (logLevels.indexOf(level) < logLevels.indexOf(settings.logLevel)) return;
      const time = new Date().toISOString();
      const line =
        settings.logFormat === "json"
          ? JSON.stringify({ time, level, message, ...fields })
          : [time, level.padEnd(5), message, ...formatPairs(fields)].join(" ");
      write(`${line.replace(/[\p{Cc}\u2028\u2029]/gu, escapeCharacter)}\n`);
    };
  const debug = createLevelWriter("debug");
  return {
    get debug() {
      return settings.logLevel === "debug" ? debug : undefined;
    },
    info: createLevelWriter("info"),
    warn: createLevelWriter("warn"),
    error: createLevelWriter("error"),
    configure: (changed) => void (settings = changed),
    getLevel: () => settings.logLevel,
  };
}

function formatPairs(fields: LogFields): string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${JSON.stringify(value)}`],
  );
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
