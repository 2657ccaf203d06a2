import { z } from "zod";
import { Id, idSet } from "../../core/fields.ts";
import { accessBounds } from "../../core/limits.ts";

/** Monitor groups to which a person or API key is limited; null for all monitors. */
export const GroupIds = z.array(Id).nullable();

/** A group limit in a request. Rejects an empty list, with which the account would see no monitor. */
export const GroupLimit = idSet(accessBounds.groups.value)
  .refine((ids) => ids.length > 0, "must name a monitor group, or be null for all monitors")
  .nullable();
