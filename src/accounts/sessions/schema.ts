import { z } from "zod";
import { Id, Timestamp } from "../../core/fields.ts";

/** A browser in which the person is signed in. */
export const SessionEntry = z.object({
  id: Id,
  /** Whether it is the session of this request. */
  current: z.boolean(),
  createdAt: Timestamp,
  lastSeenAt: Timestamp,
  address: z.string(),
  userAgent: z.string(),
});
export type SessionEntry = z.infer<typeof SessionEntry>;
