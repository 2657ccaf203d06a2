import { z } from "zod";
import { Timestamp } from "../../core/fields.ts";

/** The program itself, and how much there is of the organization. */
export const About = z.object({
  version: z.string(),
  startedAt: Timestamp,
  counts: z.object({
    monitors: z.int(),
    monitorGroups: z.int(),
    incidents: z.int(),
    alertChannels: z.int(),
    statusPages: z.int(),
    people: z.int(),
    apiKeys: z.int(),
  }),
});
export type About = z.infer<typeof About>;
