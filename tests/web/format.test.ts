import { expect, test } from "bun:test";
import { formatReason } from "../../web/components/display/format.ts";

test.each([
  ["HTTP 503, expected 200-299.", "HTTP 503, expected 200\u2060–\u2060299."],
  ["Answered in 1686 ms, more than 800 ms.", "Answered in 1,686\u202fms, more than 800\u202fms."],
  ["The certificate ended on 2026-11-22.", "The certificate ended on 2026-11-22."],
  ["db-1-2 answered 12.4 ms late", "db-1-2 answered 12.4 ms late"],
])("a check's message uses the page's formats: %s", (reason, words) => {
  expect(formatReason(reason)).toBe(words);
});
