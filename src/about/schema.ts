import { z } from "zod";
import { Timestamp } from "../base/fields.ts";

/** The appliance itself, and how much of it is the organization's. */
export const About = z.object({
  version: z.string(),
  startedAt: Timestamp,
  /** Of the whole database. */
  dataBytes: z.int(),
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
