/** Wire format of the rules of mail sources. */
import { z } from "zod";
import { line, nullable } from "../../core/fields.ts";

/** A word, or an expression between slashes. */
export type MailPattern = string;

/** Words of a mail about the end of a problem. */
export const usualEndings: readonly MailPattern[] =
  "resolved,recovered,recovery,restored,cleared,ok,success,successful,successfully,succeeded,up,online,back to normal".split(
    ",",
  );

const createPatternsField = (defaultPatterns: readonly MailPattern[]) =>
  z
    .array(line(200))
    .max(20)
    .default([...defaultPatterns]);

export const MailRules = z
  .strictObject({
    searchIn: z.enum(["subject", "all"]).default("subject").meta({
      description: "Part of a mail that is searched: `subject`, or `all` for subject and text.",
    }),
    resolvedWhen: createPatternsField(usualEndings).meta({
      description:
        "A mail with one of these reports the end. Each is a word, without regard to case, or an RE2 expression between slashes, such as `/backup .* done/`.",
      example: ["ok", "/^RECOVERY/"],
    }),
    openWhen: createPatternsField([]).meta({
      description:
        "A mail with one of these reports a problem. Without any, all other mails do. With some, all other mails are ignored.",
    }),
    ignoredWhen: createPatternsField([]).meta({
      description: "A mail with one of these is ignored. They are searched first.",
    }),
    key: nullable(line(200)).meta({
      description:
        "RE2 expression, without slashes, that finds the identity of the problem in subject and text: its first group, or else its whole match. Null for the subject without the words of the state.",
      example: "host=(\\S+)",
    }),
  })
  .meta({ id: "AlertSourceMailRules" });
export type MailRules = z.output<typeof MailRules>;

/** Returns the word of a pattern, or its expression for the library, without regard to case. */
export function readPattern(
  pattern: MailPattern,
): { word: string; expression: "" } | { word: null; expression: string } {
  const isExpression = pattern.length > 2 && pattern.startsWith("/") && pattern.endsWith("/");
  return isExpression
    ? { word: null, expression: `(?i)${pattern.slice(1, -1)}` }
    : { word: pattern, expression: "" };
}
