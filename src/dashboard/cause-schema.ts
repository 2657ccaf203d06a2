/** Wire format of the changes before a monitor failed, and of failures at the same time. */
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

/** Another monitor that started to fail at about the same time. */
const Neighbor = z.object({
  id: Id,
  name: z.string(),
  status: z.enum(["down", "degraded"]),
  since: Timestamp,
  /** Their shared cause: an address, a host, a name server or a certificate; null if none is known. */
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
  /** Monitors with a shared cause first, then monitors of the same group. */
  neighbors: z.array(Neighbor),
  /** Number of all neighbors; `neighbors` can be shorter. */
  neighborCount: z.int(),
});
export type Causes = z.infer<typeof Causes>;
