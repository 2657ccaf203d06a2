import { z } from "zod";
import { EmailAddress } from "../core/fields.ts";
import { SmtpPatch } from "../accounts/settings/schema.ts";

/** `smtp` is what would be saved; without it the stored mail server is tried. */
export const NewTestMail = z.strictObject({ to: EmailAddress, smtp: SmtpPatch.optional() });
export type NewTestMail = z.output<typeof NewTestMail>;

/** What became of it, in a sentence. */
export const TestMail = z.object({ delivered: z.boolean(), message: z.string() });
export type TestMail = z.infer<typeof TestMail>;
