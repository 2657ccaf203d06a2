/** Wire format of monitor groups: input, response and dashboard order. */
import { z } from "zod";
import {
  bodySchema,
  Id,
  idSet,
  line,
  nullable,
  optionalParagraphs,
  SlaTarget,
  toPatchShape,
  Tags,
  Timestamp,
} from "../../core/fields.ts";
import { DependsOn } from "../dependencies/schema.ts";

/** Group colors of the admin page. */
export const Color = z
  .enum([
    "gray",
    "red",
    "orange",
    "amber",
    "yellow",
    "lime",
    "green",
    "teal",
    "cyan",
    "blue",
    "indigo",
    "violet",
    "purple",
    "pink",
  ])
  .meta({ id: "Color" });

const maxMonitors = 5_000;
const maxChannels = 50;

export const groupFields = {
  name: line(255).meta({ example: "Payments" }),
  description: optionalParagraphs(2000).default(""),
  color: Color.default("gray"),
  tags: Tags.default([]),
  alertChannelIds: idSet(maxChannels)
    .default([])
    .meta({ description: "Attached to every monitor that joins the group from now on." }),
  escalationPolicyId: nullable(Id).meta({
    description: "Set for every monitor without a policy that joins the group from now on.",
  }),
  dependsOn: DependsOn,
  slaTarget: nullable(SlaTarget).meta({
    example: 0.999,
    description:
      "Uptime target of reports about the group and its monitors. Null for the target of the organization.",
  }),
  monitorIds: idSet(maxMonitors).default([]).meta({
    description:
      "The complete membership, in dashboard order; a monitor placed here leaves its previous group.",
  }),
};

const readOnly = ["id", "createdAt", "updatedAt"];

/** Error for a changed `paused` or `muted`, which REST can't change. */
export const setInAdminPage = "can only be set in the admin page";

const storedFlag = z.boolean().optional().meta({
  readOnly: true,
  description: "Accepted with its stored value only: it is set in the admin page.",
});
const falseFlag = storedFlag.refine((value) => value !== true, setInAdminPage);

export const NewMonitorGroup = bodySchema(
  readOnly,
  z
    .strictObject({ ...groupFields, paused: falseFlag, muted: falseFlag })
    .meta({ id: "NewMonitorGroup", example: { name: "Payments", color: "blue", tags: ["eu"] } }),
);
export type NewMonitorGroup = z.infer<typeof NewMonitorGroup>;

export const MonitorGroupPatch = bodySchema(
  readOnly,
  z
    .strictObject({ ...toPatchShape(groupFields), paused: storedFlag, muted: storedFlag })
    .meta({ id: "MonitorGroupPatch", example: { description: "Card and bank payments" } }),
);
export type MonitorGroupPatch = z.infer<typeof MonitorGroupPatch>;

export const MonitorGroup = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string(),
    color: Color,
    tags: z.array(z.string()),
    alertChannelIds: z.array(Id),
    escalationPolicyId: Id.nullable(),
    dependsOn: z.array(Id),
    slaTarget: z.number().nullable(),
    monitorIds: z.array(Id),
    paused: z.boolean().meta({ description: "True when the group was paused as a whole." }),
    muted: z.boolean().meta({ description: "True when the group was muted as a whole." }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: "MonitorGroup",
    description: "A folder of the Monitors page.",
    example: {
      id: "01a1fb99-2b10-7c44-8f0e-6a3d5b7c9e12",
      name: "Payments",
      description: "Card and bank payments",
      color: "blue",
      tags: ["eu"],
      alertChannelIds: [],
      escalationPolicyId: null,
      dependsOn: [],
      slaTarget: 0.999,
      monitorIds: ["01a1fb99-3c58-7a90-b1d2-0f4e6a8c2b35"],
      paused: false,
      muted: false,
      createdAt: "2026-11-20T23:02:00.000Z",
      updatedAt: "2026-11-20T23:02:00.000Z",
    },
  });
export type MonitorGroup = z.infer<typeof MonitorGroup>;

/** The dashboard order, with all groups. */
export const GroupOrder = z.strictObject({ groupIds: idSet(5_000) });
export type GroupOrder = z.infer<typeof GroupOrder>;
