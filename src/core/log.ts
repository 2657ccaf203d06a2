export type Log = {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
};

/** One line an entry on stderr: time, level, message, then `name=value` pairs. Callers never hand in secrets or bodies. */
export function logTo(write: (line: string) => void): Log {
  const at =
    (level: string) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      const pairs = Object.entries(fields).map(
        ([name, value]) => `${name}=${JSON.stringify(value)}`,
      );
      write([new Date().toISOString(), level, message, ...pairs].join(" ") + "\n");
    };
  return { info: at("info "), warn: at("warn "), error: at("error") };
}
