import { expect, test } from "bun:test";
import { suggestName } from "../../src/core/text/suggestion.ts";

const known = ["interval", "alertChannels", "webhookUrl", "url", "group"];

test.each([
  ["intervall", "interval"],
  ["alertchannels", "alertChannels"],
  ["webhook_url", "webhookUrl"],
  ["gruop", "group"],
])("a typing error gets the most similar field as a suggestion: %s", (typed, meant) => {
  expect(suggestName(typed, known)).toBe(`; did you mean ${meant}?`);
});

test.each(["ul", "colour", "x", "", "a".repeat(10_000)])(
  "a name unlike all others gets no suggestion: %s",
  (typed) => {
    expect(suggestName(typed, known)).toBe("");
  },
);
