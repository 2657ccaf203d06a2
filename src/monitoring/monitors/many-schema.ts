import { z } from "zod";
import { Id, idSet, Tags } from "../../core/fields.ts";

const monitorIds = idSet(5_000);

/** The whole of a group, or of the ungrouped list for null, in dashboard order. */
export const MonitorOrder = z.strictObject({ groupId: Id.nullable(), monitorIds });
export type MonitorOrder = z.infer<typeof MonitorOrder>;

const isGiven = (value: unknown) => value !== undefined;

export const ChangeOfMany = z
  .strictObject({
    paused: z.boolean().optional(),
    muted: z.boolean().optional(),
    groupId: Id.nullable().optional(),
    addTags: Tags.optional(),
    removeTags: Tags.optional(),
    addAlertChannelIds: idSet(50).optional(),
    removeAlertChannelIds: idSet(50).optional(),
  })
  .refine((change) => Object.values(change).some(isGiven), "must change something");
export type ChangeOfMany = z.infer<typeof ChangeOfMany>;

export const ManyMonitors = z
  .strictObject({
    monitorIds: monitorIds.refine((ids) => ids.length > 0, "must name at least one monitor"),
    change: ChangeOfMany.optional(),
    delete: z.literal(true).optional(),
  })
  .refine(
    (many) => isGiven(many.change) !== isGiven(many.delete),
    "must have either `change` or `delete`",
  );
export type ManyMonitors = z.infer<typeof ManyMonitors>;
