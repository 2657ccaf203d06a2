import { describe, expect, test } from "bun:test";
import { parseConfig } from "../src/config.ts";
import { AppError } from "../src/core/errors.ts";

/** The error message for these options; null if they are valid. */
function findIssue(flags: Record<string, unknown>, environment: Record<string, string> = {}) {
  try {
    parseConfig(flags, environment);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

describe("--url", () => {
  test.each([
    ["http://nas", "http://nas"],
    ["http://nas:3210/", "http://nas:3210"],
    ["HTTPS://Status.Team.Example//", "HTTPS://Status.Team.Example"],
    ["https://[fd00::1]:8443", "https://[fd00::1]:8443"],
  ])("accepts %s", (url, stored) => {
    expect(parseConfig({ url }, {}).url).toBe(stored);
  });

  test.each([
    ["https://a.example/st", "have no path: Signalbox needs a host name of its own"],
    ["https://a.example/st/", "have no path"],
    ["https://a.example//st", "have no path"],
    ["https://a.example/%2e", "have no path"],
    ["https://a.example?x=1", "have no query or fragment"],
    ["https://a.example/?x=1", "have no query or fragment"],
    ["https://a.example/#top", "have no query or fragment"],
    ["https://ops:secret@a.example", "not contain a user name or password"],
    ["https://ops@a.example/", "not contain a user name or password"],
    ["https://@a.example", "not contain a user name or password"],
    ["a.example", "be a URL such as https://status.team.example"],
    ["ftp://a.example", "be a URL"],
    ["https://", "be a URL"],
    ["https:///st", "be a URL"],
    ["https://a b.example", "be a URL"],
    ["https://a.example:port", "be a URL"],
  ])("rejects %s", (url, issue) => {
    expect(findIssue({ url })).toStartWith(`--url must ${issue}`);
    expect(findIssue({}, { SIGNALBOX_URL: url })).toBe(findIssue({ url }));
    expect(findIssue({ url })).not.toContain("secret");
  });
});

describe("--public-port", () => {
  test("is another port than --port", () => {
    const wrong = "--public-port must be another port than --port, which is 3210.";
    expect(findIssue({ publicPort: "3210" })).toBe(wrong);
    expect(findIssue({ port: "3210", publicPort: "3210" })).toBe(wrong);
    expect(findIssue({ port: "3210" }, { SIGNALBOX_PUBLIC_PORT: "3210" })).toBe(wrong);
    expect(findIssue({ port: "3210", publicPort: "3211" })).toBeNull();
    expect(findIssue({ port: "0", publicPort: "0" })).toBeNull();
  });
});
