/** Wire format of held changes, and the query parameter that holds a request. */
import { actorTypes } from "../../core/statuses.ts";
import { z } from "zod";
import { Id, Origin, Timestamp } from "../../core/fields.ts";
import { pageFields, pageSchema, WholeNumber } from "../../core/paging.ts";

/** Maximum hold of a change, in seconds. */
const maxHoldSeconds = 60;

const HoldSeconds = WholeNumber.refine(
  (seconds) => seconds <= maxHoldSeconds,
  `must be at most ${maxHoldSeconds}`,
)
  .optional()
  .meta({
    override: {
      type: "integer",
      minimum: 0,
      maximum: maxHoldSeconds,
      default: 0,
      description:
        "Seconds for which the change is held. Until then nothing is stored, published or sent, and it can be undone. The response is then 202 with the held change.",
    },
  });

/** Query of every route whose change can be held. */
export const HoldQuery = z.strictObject({ hold: HoldSeconds });

/** Returns the requested hold in seconds; 0 for routes that can't be held. */
export const getHoldSeconds = (schema: z.ZodType | undefined, query: unknown): number =>
  schema === HoldQuery ? ((query as z.output<typeof HoldQuery>).hold ?? 0) : 0;

const heldChangeStates = ["waiting", "sent", "failed"] as const;

export const HeldChange = z
  .object({
    id: Id,
    operation: z.string().meta({ description: "Operation ID of the held request." }),
    subjectId: Id.nullable().meta({
      description: "The changed record; null for a new record until it is sent.",
    }),
    title: z.string().nullable().meta({ description: "Title of the record." }),
    origin: Origin.nullable().meta({
      description: "Who opened the changed incident; null for other records.",
    }),
    change: z.record(z.string(), z.unknown()).meta({ description: "Body of the held request." }),
    author: z.object({
      type: z.enum(actorTypes),
      id: z.string().nullable(),
      name: z.string(),
    }),
    state: z.enum(heldChangeStates).meta({
      description: "`failed` if the change was no longer possible at the end of its hold.",
    }),
    secondsLeft: z.int().meta({ description: "Seconds until it is sent; 0 if it is not waiting." }),
    createdAt: Timestamp,
    dueAt: Timestamp.meta({ description: "End of the hold." }),
    sentAt: Timestamp.nullable(),
    error: z.string().nullable().meta({ description: "The reason for a failure; null otherwise." }),
  })
  .meta({
    id: "HeldChange",
    description: "A waiting change, or the outcome of one.",
    example: {
      id: "01a1fb99-1f06-7255-b6bc-740f65e2dffd",
      operation: "updateIncident",
      subjectId: "01a1fb90-6a10-7c3d-9e21-0b1c2d3e4f50",
      title: "Checkout is slow",
      origin: "manual",
      change: { status: "resolved", message: "Back to normal." },
      author: { type: "person", id: "01a1fb90-6a10-7c3d-9e21-0b1c2d3e4f50", name: "Ann" },
      state: "waiting",
      secondsLeft: 10,
      createdAt: "2026-11-20T23:02:00.000Z",
      dueAt: "2026-11-20T23:02:10.000Z",
      sentAt: null,
      error: null,
    },
  });
export type HeldChange = z.infer<typeof HeldChange>;

export const HeldChangePage = pageSchema(HeldChange);
export const HeldChangeQuery = z.strictObject({
  ...pageFields,
  state: z.enum(heldChangeStates).optional(),
});
export type HeldChangeQuery = z.output<typeof HeldChangeQuery>;
