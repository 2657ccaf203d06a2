import { checkStatuses } from "../../core/statuses.ts";
import { z } from "zod";
import { Timestamp } from "../../core/fields.ts";
import { MonitorDetails } from "../monitors/schema.ts";

/** Result of a check of an unsaved monitor. */
export const TestCheck = z.object({
  status: z.enum(checkStatuses),
  message: z.string(),
  latencyMs: z.int().nullable(),
  certificateExpiresAt: Timestamp.nullable(),
  details: MonitorDetails,
  number: z.number().nullable(),
});
export type TestCheck = z.infer<typeof TestCheck>;
