/** Reads and writes each kind of record of a configuration. */
import { asc } from "drizzle-orm";
import { NewAlertChannel } from "../alerting/channels/schema.ts";
import {
  changeChannel,
  patchChannel,
  type ChannelRow,
  columnsOf as channelColumns,
  matchOrdinary,
  newChannelState,
  openRecord as editableChannel,
  targetsOf as channelTargets,
} from "../alerting/channels/service.ts";
import { NewEscalationPolicy } from "../alerting/policies/schema.ts";
import {
  changePolicy,
  guardTargetsExist,
  insertPolicy,
  listPolicies,
  type PolicyRecord,
} from "../alerting/policies/store.ts";
import { NewSchedule } from "../alerting/schedules/schema.ts";
import { createCalendarAddress, guardPeople } from "../alerting/schedules/service.ts";
import {
  changeSchedule,
  insertSchedule,
  listSchedules,
  type StoredSchedule,
} from "../alerting/schedules/store.ts";
import { type NewAlertSource, WholeSource } from "../alerting/sources/schema.ts";
import {
  assertMailRulesValid,
  createSourceAddress,
  guardSourceReferences,
  inputOf,
} from "../alerting/sources/service.ts";
import {
  changeSource,
  insertSource,
  listStoredSources,
  removeSourceAlerts,
  type StoredSource,
} from "../alerting/sources/store.ts";
import { assertTargetsAllowed } from "../core/security/target-guard.ts";
import { invalidFieldError, parse } from "../core/validation.ts";
import { buildFirstVersion, buildNextVersion } from "../database/rows.ts";
import type { Statement } from "../database/store.ts";
import { alertChannels } from "../database/tables/alerting.ts";
import type { Scope } from "../events/scope.ts";
import { NewMonitorGroup } from "../monitoring/groups/schema.ts";
import {
  changeGroup,
  replaceGroupChannels,
  type GroupRecord,
  insertGroup,
  listGroups,
} from "../monitoring/groups/store.ts";
import { NewMaintenanceWindow } from "../monitoring/maintenance/schema.ts";
import { assertTimesPossible } from "../monitoring/maintenance/service.ts";
import {
  listAllWindows,
  changeWindow,
  insertWindow,
  replaceMembers,
  type StoredWindow,
} from "../monitoring/maintenance/store.ts";
import { buildColumns, openMonitor } from "../monitoring/monitors/record.ts";
import { keepTemporaryPause } from "../monitoring/monitors/pause-rules.ts";
import { NewMonitor } from "../monitoring/monitors/schema.ts";
import { applyMonitorPatch, assertCheckable } from "../monitoring/monitors/service.ts";
import {
  listAllMonitors,
  changeMonitor,
  insertMonitor,
  type MonitorWithLinks,
} from "../monitoring/monitors/store.ts";
import { compileCss } from "../status-pages/custom-css.ts";
import { NewStatusPage } from "../status-pages/schema.ts";
import {
  assertHostsFree,
  assertOpenable,
  assertReadable,
  hashPagePassword,
} from "../status-pages/service.ts";
import {
  changePage,
  findPages,
  insertPage,
  noFiles,
  type StoredPage,
} from "../status-pages/store.ts";
import { buildPatch } from "./patches.ts";
import type { SectionName } from "./sections-schema.ts";
import type { Fields } from "../core/collections/objects.ts";

type VersionedRecord = { id: string; version: number };

/** A record of any kind. */
export type Row = VersionedRecord & Fields;

/** Reads, compares and writes the records of one section. Fields are those of the REST API, including secrets. */
type Resource<R extends VersionedRecord = Row, I extends object = Fields> = {
  /** Lists the section's records in export order. */
  list(scope: Scope): Promise<R[]>;
  fieldsOf(scope: Scope, row: R, last: Fields | null): Fields;
  /** Returns the complete new input. Throws VALIDATION_ERROR with REST field names. */
  read(scope: Scope, row: R | null, entry: Fields): Promise<I>;
  /** Adds slow or non-deterministic values, such as hashes. Called only for records that will be written. */
  sealSecrets?(scope: Scope, input: I, changed: readonly string[]): Promise<I>;
  create(scope: Scope, id: string, input: I, at: string): Statement[];
  change(scope: Scope, row: R, input: I, at: string): Statement[];
};

const defineResource = <R extends VersionedRecord, I extends object>(resource: Resource<R, I>) =>
  resource as unknown as Resource;

const channelResource = defineResource<ChannelRow, NewAlertChannel>({
  list: ({ store, organizationId }) =>
    store.db
      .select()
      .from(alertChannels)
      .where(matchOrdinary({ organizationId }))
      .orderBy(asc(alertChannels.id)),
  fieldsOf: ({ vault }, row) => editableChannel(vault, row).derive((fields) => ({ ...fields })),
  async read(scope, row, entry) {
    if (row !== null && row.type === entry["type"])
      return patchChannel(scope, row, buildPatch("alertChannels", row.type, entry));
    const input = parse(NewAlertChannel, entry);
    await assertTargetsAllowed(scope.targets, channelTargets(input));
    return input;
  },
  create(scope, id, input, at) {
    const { organizationId, store } = scope;
    const row: ChannelRow = {
      organizationId,
      id,
      ...channelColumns(scope, id, input),
      ...newChannelState,
      ...buildFirstVersion(at),
    };
    return [store.db.insert(alertChannels).values(row)];
  },
  change: (scope, row, input, at) => [
    changeChannel(scope, {
      ...row,
      ...channelColumns(scope, row.id, input),
      ...buildNextVersion(row, at),
    }),
  ],
});

const policyResource = defineResource<PolicyRecord, NewEscalationPolicy>({
  list: (scope) => listPolicies(scope),
  fieldsOf: (_scope, row) => {
    const { id: _id, version: _version, createdAt: _created, updatedAt: _updated, ...own } = row;
    return own;
  },
  read: async (_scope, _row, entry) => parse(NewEscalationPolicy, entry),
  create: (scope, id, input, at) => [
    ...insertPolicy(scope, { ...input, id, ...buildFirstVersion(at) }),
    ...guardTargetsExist(scope, input.steps),
  ],
  change: (scope, row, input, at) => [
    ...changePolicy(scope, { ...row, ...input, ...buildNextVersion(row, at) }),
    ...guardTargetsExist(scope, input.steps),
  ],
});

const scheduleResource = defineResource<StoredSchedule, NewSchedule>({
  list: (scope) => listSchedules(scope),
  fieldsOf: (_scope, { name, description, timeZone, layers, noticeHours }) => ({
    name,
    description,
    timeZone,
    layers,
    noticeHours,
  }),
  read: async (_scope, _row, entry) => parse(NewSchedule, entry),
  create: (scope, id, input, at) => [
    guardPeople(scope, input.layers),
    ...insertSchedule(scope, {
      organizationId: scope.organizationId,
      id,
      ...input,
      ...createCalendarAddress(scope, id),
      ...buildFirstVersion(at),
    }),
  ],
  change: (scope, row, input, at) => [
    guardPeople(scope, input.layers),
    ...changeSchedule(scope, { ...row, ...input, ...buildNextVersion(row, at) }),
  ],
});

const sourceResource = defineResource<StoredSource, NewAlertSource>({
  list: (scope) => listStoredSources(scope),
  fieldsOf: (_scope, row) => ({ ...inputOf(row) }),
  async read(_scope, _row, entry) {
    const input = parse(WholeSource, entry);
    await assertMailRulesValid(input);
    return input;
  },
  create: (scope, id, input, at) => {
    const source: StoredSource = {
      organizationId: scope.organizationId,
      id,
      ...input,
      ...createSourceAddress(scope, id),
      ...buildFirstVersion(at),
    };
    return [...insertSource(scope, source), ...guardSourceReferences(scope, source)];
  },
  change: (scope, row, input, at) => {
    const source = { ...row, ...input, ...buildNextVersion(row, at) };
    const isEnding = row.enabled && !source.enabled;
    return [
      ...(isEnding ? [removeSourceAlerts(scope.organizationId, row.id)] : []),
      ...changeSource(scope, source),
      ...guardSourceReferences(scope, source),
    ];
  },
});

type NewGroup = Omit<NewMonitorGroup, "monitorIds" | "paused" | "muted">;

const groupResource = defineResource<GroupRecord, NewGroup>({
  list: (scope) => listGroups(scope),
  fieldsOf: (_scope, group) => ({
    name: group.name,
    description: group.description,
    color: group.color,
    tags: group.tags,
    alertChannelIds: group.alertChannelIds,
    escalationPolicyId: group.escalationPolicyId,
    dependsOn: group.dependsOn,
    slaTarget: group.slaTarget,
  }),
  async read(_scope, _row, entry) {
    const { monitorIds: _members, paused: _p, muted: _m, ...input } = parse(NewMonitorGroup, entry);
    return input;
  },
  create: (scope, id, input, at) => [
    insertGroup(scope, {
      ...input,
      id,
      monitorIds: [],
      paused: false,
      muted: false,
      ...buildFirstVersion(at),
    }),
    ...replaceGroupChannels(scope, id, input.alertChannelIds),
  ],
  change: (scope, row, input, at) => [
    changeGroup(scope, { ...row, ...input, ...buildNextVersion(row, at) }),
    ...replaceGroupChannels(scope, row.id, input.alertChannelIds),
  ],
});

/** Groups and channels of monitors are written after all records exist. */
const monitorResource = defineResource<MonitorWithLinks, NewMonitor>({
  list: (scope) => listAllMonitors(scope),
  fieldsOf: (scope, row) =>
    openMonitor(scope, row).derive((fields) => ({
      ...fields,
      alertChannelIds: row.alertChannelIds,
      dependsOn: row.dependsOn,
    })),
  async read(scope, row, entry) {
    // A person's pause with an end stays.
    const pause = row === null ? {} : keepTemporaryPause(row, entry["paused"] === true);
    const input =
      row !== null && row.type === entry["type"]
        ? await applyMonitorPatch(scope, row, {
            ...buildPatch("monitors", row.type, entry),
            ...pause,
          })
        : parse(NewMonitor, { ...entry, ...pause });
    if (row?.type !== input.type) await assertCheckable(scope, input);
    if (row === null) return input;
    const { alertChannelIds, escalationPolicyId } = row;
    return {
      ...input,
      ...(!("alertChannelIds" in entry) && { alertChannelIds }),
      ...(!("escalationPolicyId" in entry) && { escalationPolicyId }),
    };
  },
  create: (scope, id, input, at) =>
    insertMonitor(
      scope,
      {
        organizationId: scope.organizationId,
        id,
        ...buildColumns(scope, id, input),
        groupId: null,
        position: 0,
        ...buildFirstVersion(at),
      },
      at,
    ),
  change(scope, { alertChannelIds: _channels, dependsOn: _parents, ...row }, input, at) {
    return [
      changeMonitor(scope, {
        ...row,
        ...buildColumns(scope, row.id, input, row),
        ...buildNextVersion(row, at),
      }),
    ];
  },
});

const maintenanceWindowResource = defineResource<StoredWindow, NewMaintenanceWindow>({
  list: (scope) => listAllWindows(scope),
  fieldsOf: (_scope, row) => {
    const { organizationId: _owner, id: _id, version: _version, ...fields } = row;
    const { createdAt: _created, updatedAt: _updated, ...own } = fields;
    return own;
  },
  async read(scope, row, entry) {
    const input = parse(NewMaintenanceWindow, entry);
    const times = ["startsAt", "endsAt", "timeZone", "rrule"] as const;
    if (row === null || times.some((name) => row[name] !== input[name]))
      await assertTimesPossible(scope, input);
    return input;
  },
  create: (scope, id, input, at) => [
    insertWindow({ ...input, organizationId: scope.organizationId, id, ...buildFirstVersion(at) }),
    ...replaceMembers(scope, id, input),
  ],
  change: (scope, row, input, at) => [
    changeWindow({ ...row, ...input, ...buildNextVersion(row, at) }),
    ...replaceMembers(scope, row.id, input),
  ],
});

/** Input of a status page. An undefined password leaves the stored password unchanged. */
type PageInput = Omit<NewStatusPage, "password"> & {
  password?: string | null;
  passwordHash: string | null;
  /** Present if the look changes. */
  stylesheet?: string | null;
};

/** Returns the last applied password if its hash is still stored. The hash of another password can't be reversed. */
function findPassword({ passwordHash }: StoredPage, last: Fields | null): unknown {
  if (passwordHash === null) return null;
  return passwordHash === last?.["passwordHash"] ? last["password"] : undefined;
}

const statusPageResource = defineResource<StoredPage, PageInput>({
  list: async (scope) =>
    (await findPages(scope)).toSorted(
      (a, b) => Number(b.isDefault) - Number(a.isDefault) || (a.id < b.id ? -1 : 1),
    ),
  fieldsOf: (_scope, page, last) => ({
    slug: page.slug,
    title: page.title,
    description: page.description,
    accentColor: page.accentColor,
    theme: page.theme,
    look: page.look,
    visibility: page.visibility,
    allowedRoles: page.allowedRoles,
    visitorProviders: page.visitorProviders,
    allowedAddresses: page.allowedAddresses,
    indexing: page.indexing,
    sections: page.sections,
    hosts: page.hosts,
    showLatency: page.showLatency,
    showPaused: page.showPaused,
    countImpacts: page.countImpacts,
    chatSubscriptions: page.chatSubscriptions,
    historyDays: page.historyDays,
    slaTarget: page.slaTarget,
    timeZone: page.timeZone,
    language: page.language,
    languages: page.languages,
    passwordHash: page.passwordHash,
    password: findPassword(page, last),
  }),
  async read(scope, row, { default: isDefault = false, ...entry }) {
    if (row !== null && row.isDefault !== isDefault)
      throw invalidFieldError("default", "can't be changed: an organization has one such page");
    const { password, ...input } = parse(NewStatusPage, {
      ...entry,
      ...(row?.isDefault === true && entry["slug"] === undefined && { slug: row.slug }),
    });
    const isSet =
      "password" in entry ? password !== null : row !== null && row.passwordHash !== null;
    assertOpenable(input, isSet);
    assertReadable(input.look);
    assertHostsFree(scope, input.hosts);
    const passwordHash = row?.passwordHash ?? null;
    await compileCss(input.look.css);
    return { ...input, passwordHash, ...("password" in entry && { password }) };
  },
  async sealSecrets(scope, input, changed) {
    const { password } = input;
    const styled = changed.includes("look")
      ? { ...input, stylesheet: await compileCss(input.look.css) }
      : input;
    if (!changed.includes("password") || password === undefined) return styled;
    const passwordHash = password === null ? null : await hashPagePassword(scope, password);
    return { ...styled, passwordHash };
  },
  create: (scope, id, { password: _password, ...input }, at) =>
    insertPage(scope, {
      organizationId: scope.organizationId,
      id,
      isDefault: false,
      ...noFiles,
      ...input,
      ...buildFirstVersion(at),
    }),
  change: (scope, row, { password: _password, ...input }, at) =>
    changePage(scope, row, { ...input, ...buildNextVersion(row, at) }),
});

export const resources: Readonly<Record<SectionName, Resource>> = {
  alertChannels: channelResource,
  schedules: scheduleResource,
  escalationPolicies: policyResource,
  alertSources: sourceResource,
  groups: groupResource,
  monitors: monitorResource,
  maintenanceWindows: maintenanceWindowResource,
  statusPages: statusPageResource,
};
