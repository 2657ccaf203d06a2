/** Wire format of bulk changes of monitors: the request, its preview, and its result with the undo. */
import { z } from "zod";
import {
  Id,
  idSet,
  integer,
  line,
  Severity,
  Tags,
  Timestamp,
  toPatchShape,
} from "../../core/fields.ts";
import { monitorKinds } from "./kinds-schema.ts";
import { monitorFields, monitorIds, refinePause } from "./schema.ts";

/** Maximum number of monitors of one request. */
export const maxMonitorsInBulk = 5_000;

const isGiven = (value: unknown) => value !== undefined;

const { pausedUntil, interval, timeout, retries, degradedAfterMs, autoIncidentSeverity } =
  toPatchShape(monitorFields);

const { schedule, timeZone, grace, maximumRunTime } = toPatchShape(monitorKinds.push.fields);

/** Lists that can be replaced, or changed by entries, but not both. */
const listChanges = [
  ["tags", "addTags", "removeTags"],
  ["alertChannelIds", "addAlertChannelIds", "removeAlertChannelIds"],
] as const;

/** A change of many monitors. Absent fields stay unchanged. */
export const ChangeOfMany = z
  .strictObject({
    paused: z.boolean().optional(),
    pausedUntil,
    muted: z.boolean().optional(),
    interval,
    timeout,
    retries,
    degradedAfterMs,
    autoIncidentSeverity,
    schedule: schedule.meta({
      description: "Like `timeZone`, `grace` and `maximumRunTime` only of push monitors.",
    }),
    timeZone,
    grace,
    maximumRunTime,
    groupId: Id.nullable()
      .optional()
      .meta({ description: "Monitors that join a group get its alert channels." }),
    positions: z.array(integer(0, 1_000_000_000)).max(maxMonitorsInBulk).optional().meta({
      description:
        "Positions in the group, in the order of `monitorIds`, as in `undo`. The monitors do not get the group's alert channels.",
    }),
    tags: Tags.optional().meta({ description: "Replaces all tags." }),
    addTags: Tags.optional(),
    removeTags: Tags.optional(),
    alertChannelIds: idSet(500).optional().meta({ description: "Replaces all alert channels." }),
    escalationPolicyId: Id.nullable().optional(),
    addAlertChannelIds: idSet(50).optional(),
    removeAlertChannelIds: idSet(50).optional(),
  })
  .refine((change) => Object.values(change).some(isGiven), "must change something")
  .superRefine((change, context) => {
    refinePause(change, context);
    for (const [whole, ...parts] of listChanges)
      for (const part of parts)
        if (isGiven(change[whole]) && isGiven(change[part]))
          context.addIssue({
            code: "custom",
            path: [part],
            message: `can't be used with ${whole}, which replaces the list`,
          });
    if (isGiven(change.positions) && !isGiven(change.groupId))
      context.addIssue({ code: "custom", path: ["positions"], message: "needs groupId" });
  });
export type ChangeOfMany = z.infer<typeof ChangeOfMany>;

const someMonitors = monitorIds.refine((ids) => ids.length > 0, "must name at least one monitor");

/** Requires one position per monitor. */
function checkPositions(
  { monitorIds, change }: { monitorIds?: string[] | undefined; change?: ChangeOfMany | undefined },
  context: z.RefinementCtx,
) {
  const positions = change?.positions;
  if (positions !== undefined && positions.length !== monitorIds?.length)
    context.addIssue({
      code: "custom",
      path: ["change", "positions"],
      message: "must have one position per monitor",
    });
}

const ChangeOfSome = z
  .strictObject({ monitorIds: someMonitors, change: ChangeOfMany })
  .superRefine(checkPositions);
export type ChangeOfSome = z.infer<typeof ChangeOfSome>;

const ManyChanges = z
  .array(ChangeOfSome)
  .min(1)
  .max(maxMonitorsInBulk)
  .superRefine((changes, context) => {
    const known = new Set<string>();
    changes.forEach(({ monitorIds }, index) => {
      if (monitorIds.some((id) => known.has(id)))
        context.addIssue({
          code: "custom",
          path: [index, "monitorIds"],
          message: "must not repeat a monitor of an earlier entry",
        });
      for (const id of monitorIds) known.add(id);
    });
    if (known.size > maxMonitorsInBulk)
      context.addIssue({
        code: "custom",
        message: `must name at most ${maxMonitorsInBulk} monitors`,
      });
  });

/** Monitors with the change that they all get, or their deletion, or several changes of different monitors. */
export const ManyMonitors = z
  .strictObject({
    monitorIds: someMonitors.optional(),
    change: ChangeOfMany.optional(),
    delete: z.literal(true).optional(),
    changes: ManyChanges.optional().meta({
      description: "Different changes of different monitors, in one atomic write.",
    }),
    etag: line(100).optional().meta({
      description:
        "`etag` of the preview: rejects the request if one of the monitors has changed since.",
    }),
    skip: z.boolean().optional().meta({
      description:
        "`true` leaves out monitors that can't be changed this way. Otherwise one of them rejects the whole request.",
    }),
  })
  .superRefine((input, context) => {
    const givenCount = [input.change, input.delete, input.changes].filter(isGiven).length;
    if (givenCount !== 1)
      context.addIssue({
        code: "custom",
        message: "must have exactly one of `change`, `delete` and `changes`",
      });
    else if (isGiven(input.monitorIds) === isGiven(input.changes))
      context.addIssue({
        code: "custom",
        path: ["monitorIds"],
        message: isGiven(input.changes) ? "can't be used with changes" : "is required",
      });
  })
  .superRefine(checkPositions)
  .meta({
    id: "ManyMonitors",
    example: {
      monitorIds: ["01a1fb99-3c58-7a90-b1d2-0f4e6a8c2b35"],
      change: { interval: 30, addTags: ["production"] },
    },
  });
export type ManyMonitors = z.infer<typeof ManyMonitors>;

/** Maximum number of named monitors per entry of a preview. */
export const maxNamed = 20;
/** Maximum number of different changes in a preview. */
export const maxListedChanges = 100;

const someNamed = {
  count: z.int().meta({ description: "Number of monitors." }),
  monitors: z
    .array(z.object({ id: Id, name: z.string() }))
    .meta({ description: `The first ${maxNamed} of them.` }),
};

export const BulkPreview = z
  .object({
    changed: z.int().meta({ description: "Number of monitors that would change." }),
    changes: z
      .array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown(), ...someNamed }))
      .meta({
        description: `The changed values, the most frequent first; at most ${maxListedChanges}.`,
      }),
    unchanged: z.array(
      z.object({
        reason: z.enum(["same", "managed", "invalid"]).meta({
          description:
            "`same`: it has these values already. `managed`: by a configuration. `invalid`: the result would be invalid.",
        }),
        message: z.string(),
        ...someNamed,
      }),
    ),
    etag: z.string().meta({
      description: "Send it with the change, to reject it if one of the monitors has changed.",
    }),
  })
  .meta({
    id: "BulkPreview",
    example: {
      changed: 1,
      changes: [
        {
          field: "interval",
          before: 60,
          after: 30,
          count: 1,
          monitors: [{ id: "01a1fb99-3c58-7a90-b1d2-0f4e6a8c2b35", name: "Database" }],
        },
      ],
      unchanged: [],
      etag: "1x9k3-mi0z7c00",
    },
  });
export type BulkPreview = z.infer<typeof BulkPreview>;

/** Values before a change, as in a request. */
const ValuesBefore = z.object({
  paused: z.boolean().optional(),
  pausedUntil: Timestamp.nullable().optional(),
  muted: z.boolean().optional(),
  interval: z.int().optional(),
  timeout: z.int().optional(),
  retries: z.int().optional(),
  degradedAfterMs: z.int().nullable().optional(),
  autoIncidentSeverity: Severity.nullable().optional(),
  schedule: z.string().nullable().optional(),
  timeZone: z.string().optional(),
  grace: z.int().optional(),
  maximumRunTime: z.int().nullable().optional(),
  groupId: Id.nullable().optional(),
  positions: z.array(z.int()).optional(),
  tags: z.array(z.string()).optional(),
  alertChannelIds: z.array(Id).optional(),
  escalationPolicyId: Id.nullable().optional(),
});

const Undo = z.object({
  changes: z.array(z.object({ monitorIds: z.array(Id), change: ValuesBefore })),
  etag: z.string(),
});

export const BulkResult = z
  .object({
    changed: z.int().meta({ description: "Number of changed or deleted monitors." }),
    undo: Undo.nullable().meta({
      description:
        "The request that restores the values before, unless a monitor has changed since. Null after a deletion, without a change, and if it would be too long for a request.",
    }),
  })
  .meta({ id: "BulkResult" });
export type BulkResult = z.infer<typeof BulkResult>;
