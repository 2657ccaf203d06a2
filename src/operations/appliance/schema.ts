import { z } from "zod";
import { Id, Timestamp } from "../../core/fields.ts";

/** Somebody who runs the whole appliance. */
export const Administrator = z.object({ id: Id, name: z.string(), email: z.string() });
export type Administrator = z.infer<typeof Administrator>;

export const NewAdministrator = z.strictObject({ personId: Id });

/** An organization as those see it who run the appliance: how much it is, not what. */
export const OrganizationEntry = z.object({
  id: Id,
  slug: z.string(),
  name: z.string(),
  createdAt: Timestamp,
  people: z.int(),
  monitors: z.int(),
  statusPages: z.int(),
});
export type OrganizationEntry = z.infer<typeof OrganizationEntry>;

/** The figures of the whole. */
export const ApplianceFigures = z.object({
  /** Of the whole database. */
  dataBytes: z.int(),
  organizations: z.int(),
  people: z.int(),
  monitors: z.int(),
});
export type ApplianceFigures = z.infer<typeof ApplianceFigures>;
