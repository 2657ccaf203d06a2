import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { logFormats, logLevels, createLog } from "../../src/core/log.ts";

function createMemoryLog(settings?: Parameters<typeof createLog>[1]) {
  const lines: string[] = [];
  return { lines, log: createLog((line) => void lines.push(line), settings) };
}

test("JSON is one object per line: time, level, message and the other fields", () => {
  const { lines, log } = createMemoryLog({ logFormat: "json", logLevel: "debug" });
  log.warn("sign-in failed", { requestId: "r1", attempts: 3, address: undefined, person: null });
  const { time, ...entry } = JSON.parse(lines.join(""));
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(entry).toEqual({
    level: "warn",
    message: "sign-in failed",
    requestId: "r1",
    attempts: 3,
    person: null,
  });
});

test("text is time, level, message and pairs", () => {
  const { lines, log } = createMemoryLog();
  log.info("stopping");
  log.error("request failed", { requestId: "r1", cause: "no such table" });
  expect(lines.map((line) => line.slice(line.indexOf(" ") + 1))).toEqual([
    "info  stopping\n",
    'error request failed requestId="r1" cause="no such table"\n',
  ]);
});

test.each(logLevels)(
  "at level %s only entries of this or a more severe level are logged",
  (logLevel) => {
    const { lines, log } = createMemoryLog({ logFormat: "text", logLevel });
    for (const level of logLevels) log[level]?.(`at ${level}`);
    const expected = logLevels.slice(logLevels.indexOf(logLevel));
    expect(lines.map((line) => line.trim().split(" ").at(-1))).toEqual([...expected]);
  },
);

test("fields of an access line are not computed below debug level, and a new level applies at once", () => {
  const { lines, log } = createMemoryLog();
  let count = 0;
  const buildEntry = () => log.debug?.("request", { number: ++count });
  buildEntry();
  log.configure({ logFormat: "json", logLevel: "debug" });
  buildEntry();
  log.configure({ logFormat: "json", logLevel: "info" });
  buildEntry();
  expect([count, lines.length]).toEqual([1, 1]);
});

describe.each(logFormats)("as %s", (logFormat) => {
  test("no message or value starts a new line or controls the terminal", () => {
    const { lines, log } = createMemoryLog({ logFormat, logLevel: "info" });
    const nasty = fc.string({
      unit: fc.oneof(
        fc.constantFrom("\n", "\r", "\u001b", "\u0085", "\u009b", "\u2028", '"'),
        fc.string(),
      ),
    });
    fc.assert(
      fc.property(nasty, nasty, (message, value) => {
        lines.length = 0;
        log.error(message, { value });
        const [line = "", ...more] = lines;
        expect(more).toEqual([]);
        expect(line).toMatch(/^[^\p{Cc}\u2028\u2029]*\n$/u);
        if (logFormat === "json") expect(JSON.parse(line)).toMatchObject({ message, value });
      }),
    );
  });
});
