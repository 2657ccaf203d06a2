import { checkStatuses } from "../../core/statuses.ts";
import { z } from "zod";
import { Timestamp } from "../../core/fields.ts";

/** What one check of an unsaved monitor found. */
export const TestCheck = z.object({
  status: z.enum(checkStatuses),
  message: z.string(),
  latencyMs: z.int().nullable(),
  certificateExpiresAt: Timestamp.nullable(),
});
export type TestCheck = z.infer<typeof TestCheck>;
