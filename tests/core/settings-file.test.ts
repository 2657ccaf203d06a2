import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseConfig } from "../../src/config.ts";
import { readSettings } from "../../src/core/system/settings-file.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-settings-"));
const config = join(folder, "signalbox.env");
afterAll(() => rmSync(folder, { recursive: true }));

function writeSettings(text: string): string {
  writeFileSync(config, text);
  return config;
}

const url = "SIGNALBOX_URL";

describe("a settings file", () => {
  test.each([
    ["plain", `${url}=https://box.example`, "https://box.example"],
    ["surrounded by white space", `  ${url}=  a b \t`, "a b"],
    ["with characters that start a comment elsewhere", `${url}=a # b`, "a # b"],
    ["with equals signs", `${url}=a=b`, "a=b"],
    ["with a backslash", String.raw`${url}=C:\data`, String.raw`C:\data`],
    ["in single quotes", String.raw`${url}=' a \" b '`, String.raw` a \" b `],
    ["in double quotes", String.raw`${url}=" a \"\\\$\` \n '"`, String.raw` a "\$` + "` \\n '"],
    ["empty", `${url}=`, ""],
    ["after comments and empty lines", `\uFEFF# one\n\n ; two\r\n${url}=a\r\n`, "a"],
  ])("has a value %s", (_, text, expected) => {
    expect(readSettings(writeSettings(text), [url]).get(url)?.value).toBe(expected);
  });

  test.each([
    ["an unknown name of our prefix", "\nSIGNALBOX_PROT=1", "line 2: SIGNALBOX_PROT is no setting"],
    ["a name with another prefix", "PATH=/bin", "line 1: PATH is no setting"],
    ["another file", "SIGNALBOX_CONFIG=/other", "line 1: SIGNALBOX_CONFIG is no setting"],
    ["no setting at all", "# x\nport 8080", "line 2: must be NAME=value"],
    ["a shell's export", "export SIGNALBOX_PORT=1", "line 1: must be NAME=value"],
    ["an unterminated quote", `SIGNALBOX_URL="https://a`, "line 1: quotes must enclose"],
    ["text after the quotes", `SIGNALBOX_URL="a" # b`, "line 1: quotes must enclose"],
    [
      "a repeated setting",
      "SIGNALBOX_PORT=1\nSIGNALBOX_PORT=2",
      "line 2: SIGNALBOX_PORT is set in line 1 already",
    ],
    ["an invalid value", "\n\nSIGNALBOX_PORT=high", "line 3: SIGNALBOX_PORT must be a port number"],
    [
      "a switch that is neither on nor off",
      "SIGNALBOX_INIT=yes",
      "line 1: SIGNALBOX_INIT must be true or",
    ],
    ["an invalid level", "SIGNALBOX_LOG_LEVEL=loud", "line 1: SIGNALBOX_LOG_LEVEL "],
    [
      "an invalid entry of a list",
      "SIGNALBOX_TRUST_PROXY=10.0.0.1,x",
      "line 1: SIGNALBOX_TRUST_PROXY",
    ],
  ])("with %s is rejected with its name and line", (_, text, message) => {
    expect(() => parseConfig({ config: writeSettings(text) }, {})).toThrow(`${config}, ${message}`);
  });

  test("that does not exist is rejected", () => {
    expect(() => parseConfig({ config: join(folder, "none") }, {})).toThrow("can't be read");
  });

  test("has lower priority than flags and variables, and higher than defaults", () => {
    const file = writeSettings(
      "SIGNALBOX_PORT=1\nSIGNALBOX_HOST=::1\nSIGNALBOX_ALLOWED_HOST=a,b\nSIGNALBOX_URL=",
    );
    const environment = { SIGNALBOX_CONFIG: file, SIGNALBOX_PORT: "2", SIGNALBOX_HOST: "" };
    expect(parseConfig({}, environment)).toMatchObject({
      port: 2,
      host: "::1",
      allowedHost: ["a", "b"],
      rateLimit: 6000,
    });
    expect(parseConfig({ port: "3" }, environment).port).toBe(3);
    expect(() => parseConfig({ port: "x" }, environment)).toThrow("--port must be");
  });
});
