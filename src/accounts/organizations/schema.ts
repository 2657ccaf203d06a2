import { z } from "zod";
import { bodySchema, Id, line, SlaTarget, Timestamp, TimeZone } from "../../core/fields.ts";

export const OrganizationName = line(255);

export const OrganizationRecord = z.object({
  id: Id,
  slug: z.string(),
  name: z.string(),
  /** Time zone of the admin page. */
  timeZone: z.string(),
  /** Uptime target of reports; null for none. */
  slaTarget: z.number().nullable(),
  createdAt: Timestamp,
});

export type OrganizationRecord = z.infer<typeof OrganizationRecord>;

export const OrganizationPatch = bodySchema(
  ["id", "slug", "createdAt"],
  z.strictObject({
    name: OrganizationName.optional(),
    timeZone: TimeZone.optional(),
    slaTarget: SlaTarget.nullable().optional(),
  }),
);
export type OrganizationPatch = z.output<typeof OrganizationPatch>;

export const NewOrganization = z.strictObject({
  name: OrganizationName,
  timeZone: TimeZone.optional(),
});
export type NewOrganization = z.output<typeof NewOrganization>;
