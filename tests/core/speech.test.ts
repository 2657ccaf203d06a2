/** How texts are read on the phone. */
import { expect, test } from "bun:test";
import { cutSpeech, toSpeech } from "../../src/core/text/speech.ts";

test.each([
  ["Checkout is down since 14:05 UTC", "Checkout is down since 14 05 UTC."],
  ["482913 is the code", "4 8 2 9 1 3 is the code."],
  ["HTTP 500 (Internal Server Error).", "HTTP 500 Internal Server Error."],
  ["db-01.example.com:5432 is down", "db 01 dot example dot com 5432 is down."],
  ["192.0.2.10 is at 99.5%", "192 dot 0 dot 2 dot 10 is at 99 dot 5 percent."],
  ["See https://box.lan/a/x for more", "See for more."],
  ["A & B\n\nC_D: “late”", "A and B. C D: late."],
  ["- see status - @all", "see status all."],
  ["  ", ""],
])("%j is read as %j", (text, spoken) => {
  expect(toSpeech(text)).toBe(spoken);
});

test("a long text ends after a word", () => {
  expect(cutSpeech("one two three", 13)).toBe("one two three");
  expect(cutSpeech("one two three", 12)).toBe("one two.");
  expect(cutSpeech("x".repeat(30), 10).length).toBeLessThanOrEqual(10);
});
