/** Defines the sections of a configuration and the fields of their entries. */
import { z } from "zod";
import { channelFields } from "../alerting/channels/schema.ts";
import { channelKinds } from "../alerting/channels/kinds-schema.ts";
import { EscalationStep, policyFields } from "../alerting/policies/schema.ts";
import { sourceFields } from "../alerting/sources/schema.ts";
import { scheduleFields, ScheduleLayer } from "../alerting/schedules/schema.ts";
import type { Kinds } from "../core/kinds.ts";
import type { LimitName } from "../core/limits.ts";
import { groupFields } from "../monitoring/groups/schema.ts";
import { windowFields } from "../monitoring/maintenance/schema.ts";
import { monitorKinds } from "../monitoring/monitors/kinds-schema.ts";
import { monitorFields } from "../monitoring/monitors/schema.ts";
import { NewStatusPageSection, statusPageFields } from "../status-pages/schema.ts";
import { configKey, configSections } from "./schema.ts";

type Shape = Readonly<Record<string, z.ZodType>>;

/** A field that refers to records by key, with the corresponding REST field that contains IDs. */
type Reference = { as: string; to: SectionName; many: boolean };

type Section = {
  /** Name of the records in `external_records` and in messages. */
  noun:
    | "alert-channel"
    | "schedule"
    | "escalation-policy"
    | "alert-source"
    | "group"
    | "monitor"
    | "maintenance-window"
    | "status-page";
  /** Field with the record's name. */
  naming: "name" | "title";
  /** Name of the limit on these records. */
  limit: LimitName;
  kinds: Kinds | null;
  /** REST fields that all types have. */
  common: Shape;
  references: Readonly<Record<string, Reference>>;
  /** REST fields that keep their stored value if an entry omits them, as secrets do. */
  unmanaged: readonly string[];
};

export type SectionName = (typeof configSections)[number];

const createListReference = (as: string, to: SectionName): Reference => ({ as, to, many: true });
const alertChannels = createListReference("alertChannelIds", "alertChannels");
const dependsOn = createListReference("dependsOn", "monitors");

const escalationPolicy: Reference = {
  as: "escalationPolicyId",
  to: "escalationPolicies",
  many: false,
};

const { monitorIds: _members, ...ofGroup } = groupFields;

/** Files can pause a monitor only without an end: once the end is in the past, the whole file would be rejected. */
const { pausedUntil: _end, ...ofMonitor } = monitorFields;

/** The sections of a configuration. */
export const sections: Readonly<Record<SectionName, Section>> = {
  alertChannels: {
    noun: "alert-channel",
    naming: "name",
    limit: "alert-channels",
    kinds: channelKinds,
    common: channelFields,
    references: {},
    unmanaged: [],
  },
  schedules: {
    noun: "schedule",
    naming: "name",
    limit: "schedules",
    kinds: null,
    common: scheduleFields,
    references: {},
    unmanaged: [],
  },
  escalationPolicies: {
    noun: "escalation-policy",
    naming: "name",
    limit: "escalation-policies",
    kinds: null,
    common: policyFields,
    references: {},
    unmanaged: [],
  },
  alertSources: {
    noun: "alert-source",
    naming: "name",
    limit: "alert-sources",
    kinds: null,
    common: sourceFields,
    references: { alertChannels, escalationPolicy },
    unmanaged: [],
  },
  groups: {
    noun: "group",
    naming: "name",
    limit: "monitor-groups",
    kinds: null,
    common: ofGroup,
    references: { alertChannels, escalationPolicy, dependsOn },
    unmanaged: [],
  },
  monitors: {
    noun: "monitor",
    naming: "name",
    limit: "monitors",
    kinds: monitorKinds,
    common: ofMonitor,
    references: {
      group: { as: "groupId", to: "groups", many: false },
      alertChannels,
      escalationPolicy,
      dependsOn,
    },
    unmanaged: [
      "paused",
      "pausedUntil",
      "muted",
      "alertChannelIds",
      "escalationPolicyId",
      "manualStatus",
      "manualMessage",
      "manualUntil",
    ],
  },
  maintenanceWindows: {
    noun: "maintenance-window",
    naming: "title",
    limit: "maintenance-windows",
    kinds: null,
    common: windowFields,
    references: {
      monitors: createListReference("monitorIds", "monitors"),
      groups: createListReference("groupIds", "groups"),
    },
    unmanaged: [],
  },
  statusPages: {
    noun: "status-page",
    naming: "title",
    limit: "status-pages",
    kinds: null,
    common: statusPageFields,
    references: {},
    unmanaged: ["password"],
  },
};

export const sectionNames: readonly SectionName[] = configSections;

const Key = z.string().regex(configKey, "must be the key of a record");

const PageSection = z.strictObject({
  name: NewStatusPageSection.shape.name,
  group: Key.nullable()
    .default(null)
    .meta({ description: "Shows all monitors of the group, in its order." }),
  monitors: z
    .array(
      z.strictObject({
        monitor: Key,
        name: NewStatusPageSection.shape.monitors.unwrap().element.shape.name,
        showDescription: z.boolean().default(false),
        link: NewStatusPageSection.shape.monitors.unwrap().element.shape.link,
      }),
    )
    .default([]),
  nested: NewStatusPageSection.shape.nested,
  folding: NewStatusPageSection.shape.folding,
  audience: NewStatusPageSection.shape.audience,
});

/** A target by the e-mail address of a person, or by the key of a schedule or channel. */
const PolicyTarget = z.union([
  z.strictObject({ person: z.string() }),
  z.strictObject({ schedule: Key }),
  z.strictObject({ channel: Key }),
]);

const PolicySteps = z.array(
  z.strictObject({
    afterMinutes: EscalationStep.shape.afterMinutes,
    targets: z.array(PolicyTarget),
  }),
);
const { personIds: _people, ...ofLayer } = ScheduleLayer.shape;

const Layer = z.strictObject({
  ...ofLayer,
  people: z
    .array(z.string())
    .min(1)
    .meta({ description: "E-mail addresses of people, in the order of the rotation." }),
});

const omitReferences = ({ common, references }: Section): [string, z.ZodType][] => {
  const byIds = new Set(Object.values(references).map(({ as }) => as));
  return Object.entries(common).filter(([name]) => !byIds.has(name));
};

/** Returns the fields of an entry by section and type, with their configuration names. */
export function fieldsOf(section: SectionName, type: string | null): Shape {
  const id = `${section} ${type}`;
  const known = shapes.get(id);
  if (known !== undefined) return known;
  const shape = buildShape(section, type);
  shapes.set(id, shape);
  return shape;
}

const shapes = new Map<string, Shape>();

function buildShape(section: SectionName, type: string | null): Shape {
  const sectionDefinition = sections[section];
  return {
    ...Object.fromEntries(omitReferences(sectionDefinition)),
    ...Object.fromEntries(
      Object.entries(sectionDefinition.references).map(([name, { many }]) => [
        name,
        many ? z.array(Key).default([]) : Key.nullable().default(null),
      ]),
    ),
    ...(section === "escalationPolicies" && {
      steps: PolicySteps.default([]).meta({
        description:
          "Steps, each later than the previous one. A target is the e-mail address of a `person`, or the key of a `schedule` or `channel`.",
      }),
    }),
    ...(section === "schedules" && { layers: z.array(Layer).default([]) }),
    ...(section === "statusPages" && {
      sections: z.array(PageSection).default([]),
      default: z.boolean().default(false).meta({
        description: "Whether it is the default page, which every organization has.",
      }),
    }),
    ...(type !== null && sectionDefinition.kinds?.[type]?.fields),
  };
}
