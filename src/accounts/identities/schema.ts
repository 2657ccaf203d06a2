import { z } from "zod";
import { Id, Timestamp } from "../../core/fields.ts";
import { Preset } from "../identity-providers/schema.ts";

/** The signed-in person's account at a sign-in provider. */
export const Identity = z.object({
  id: Id,
  provider: z.object({ id: Id, name: z.string(), preset: Preset }),
  /** Address that the provider sent last; null for none. */
  email: z.string().nullable(),
  createdAt: Timestamp,
  lastUsedAt: Timestamp,
});
export type Identity = z.infer<typeof Identity>;
