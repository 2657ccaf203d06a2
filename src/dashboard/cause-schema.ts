/** Wire format of what happened before a monitor failed. */
import { z } from "zod";
import { causeKinds } from "../core/causes.ts";
import { Id, Timestamp } from "../core/fields.ts";

/** A change to the monitor or its group. */
const Change = z.object({
  at: Timestamp,
  action: z.string(),
  fields: z.array(z.string()),
  actor: z.object({ type: z.string(), id: z.string().nullable(), name: z.string() }),
  subjectId: Id,
  subjectName: z.string().nullable(),
});

/** Another monitor that is failing since about the same time. */
const Neighbor = z.object({
  id: Id,
  name: z.string(),
  status: z.enum(["down", "degraded"]),
  since: Timestamp,
  /** What both failures have in common: an address, a host, a name server or a certificate; null for nothing known. */
  common: z.object({ kind: z.enum(causeKinds), value: z.string() }).nullable(),
  isInGroup: z.boolean(),
});
export type Neighbor = z.infer<typeof Neighbor>;

/** Known facts from the time before a failure. They are not proven causes. */
export const Causes = z.object({
  /** Start of the failure; null if the monitor is not failing. */
  since: Timestamp.nullable(),
  certificateExpiredAt: Timestamp.nullable(),
  /** Change of the addresses or DNS records of its host in the hour before; null if none was seen. */
  resolved: z
    .object({ name: z.string(), before: z.string(), after: z.string(), at: Timestamp })
    .nullable(),
  /** Newest first. */
  changes: z.array(Change),
  /** Those with something in common first, then those of the same group. */
  neighbors: z.array(Neighbor),
  /** All neighbors, also if `neighbors` has only some. */
  neighborCount: z.int(),
});
export type Causes = z.infer<typeof Causes>;
