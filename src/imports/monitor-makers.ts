/** Creates and updates alert channels, monitors and groups from imported records. */
import { buildColumns, openMonitor } from "../monitoring/monitors/record.ts";
import { listChangedFields } from "../core/field-changes.ts";
import { createId } from "../core/ids.ts";
import { findPingCommand } from "../core/system/ping-command.ts";
import { assertTargetsAllowed } from "../core/security/target-guard.ts";
import { parse } from "../core/validation.ts";
import { guardVersion } from "../database/references.ts";
import { alertChannels } from "../database/tables/alerting.ts";
import { monitorGroups, monitors } from "../database/tables/monitoring.ts";
import {
  changeChannel,
  findOrdinaryChannel,
  createChannelRow,
  targetsOf as channelTargets,
  columnsOf as channelColumns,
  openRecord as openChannelRecord,
} from "../alerting/channels/service.ts";
import { NewAlertChannel } from "../alerting/channels/schema.ts";
import type { Scope } from "../events/scope.ts";
import { MonitorGroupPatch, NewMonitorGroup } from "../monitoring/groups/schema.ts";
import {
  assignMonitors,
  changeGroup,
  replaceGroupChannels,
  type GroupRecord,
  insertGroup,
  listGroups,
} from "../monitoring/groups/store.ts";
import { listTargets } from "../monitoring/monitors/rules.ts";
import { assertMonitorFits } from "../monitoring/monitors/input-service.ts";
import { keepTemporaryPause } from "../monitoring/monitors/pause-rules.ts";
import { NewMonitor } from "../monitoring/monitors/schema.ts";
import {
  changeMonitor,
  findMonitor,
  type MonitorRow,
  replaceMonitorChannels,
  insertMonitor,
} from "../monitoring/monitors/store.ts";
import { type RecordMaker, type MakingContext, getLinkedIds, findRefusal } from "./maker.ts";
import type { z } from "zod";
import type { OpenedRecord } from "../core/security/kind-secrets.ts";
import type { Fields } from "../core/collections/objects.ts";
import { buildFirstVersion, buildNextVersion } from "../database/rows.ts";

export const channelMaker: RecordMaker = {
  async create({ fields }, { scope }) {
    const input = parse(NewAlertChannel, fields);
    const refusal = await findRefusal(() =>
      assertTargetsAllowed(scope.targets, channelTargets(input)),
    );
    const row = await createChannelRow(
      { ...scope, targets: acceptAllTargets(scope) },
      refusal === null ? input : disableChannel(input),
    );
    return {
      id: row.id,
      statements: [scope.store.db.insert(alertChannels).values(row)],
      notes: refusal === null ? [] : [`Disabled: ${refusal}`],
      isIncomplete: refusal !== null,
    };
  },
  async update({ fields }, id, changed, { scope, at }) {
    const before = await findOrdinaryChannel(scope, id);
    if (before === null) return null;
    const { fields: patchedFields, notes } = changed.has("type")
      ? { fields, notes: [] }
      : patchOrReplace(
          NewAlertChannel,
          openChannelRecord(scope.vault, before),
          changed.fields,
          fields,
        );
    const input = parse(NewAlertChannel, patchedFields);
    const refusal = await findRefusal(() =>
      assertTargetsAllowed(scope.targets, channelTargets(input)),
    );
    const channel = refusal === null ? input : disableChannel(input);
    const row = {
      ...before,
      ...channelColumns(scope, id, channel),
      ...buildNextVersion(before, at),
    };
    return {
      statements: [
        guardVersion(alertChannels, scope.organizationId, before),
        changeChannel(scope, row),
      ],
      notes: refusal === null ? notes : [...notes, `Disabled: ${refusal}`],
      isIncomplete: refusal !== null,
      changes: openChannelRecord(scope.vault, before).listChanges(channel),
    };
  },
};

/** Applies the source's changes to the stored record. If the result is invalid, uses the source's record instead. */
function patchOrReplace(
  schema: z.ZodType,
  record: OpenedRecord,
  patch: Fields,
  { pushToken: _token, ...source }: Fields,
): { fields: Fields; notes: string[] } {
  const patched = record.applyPatchFromSource(patch, source);
  if (schema.safeParse(patched.fields).success) return patched;
  const note =
    "Its changes conflict with later changes here, so all of its fields have the values of the source.";
  return { fields: source, notes: [...patched.notes, note] };
}

const disableChannel = (input: NewAlertChannel): NewAlertChannel => ({
  ...input,
  enabled: false,
  default: false,
});

/** Target policy that accepts all addresses, for input that was already validated. */
const acceptAllTargets = ({ targets }: Scope): Scope["targets"] => ({
  ...targets,
  refresh: async () => {},
  validateName: () => null,
  findIssue: () => null,
});

export const groupMaker: RecordMaker = {
  async create({ fields, links }, { scope, now, at, idsOf }) {
    const { paused, ...rest } = fields;
    const input = parse(NewMonitorGroup, rest);
    const alertChannelIds = idsOf("alert-channel", getLinkedIds(links, "alertChannelIds"));
    const record: GroupRecord = {
      ...input,
      id: createId(now),
      paused: paused === true,
      muted: false,
      ...buildFirstVersion(at),
    };
    return {
      id: record.id,
      statements: [
        insertGroup(scope, record),
        ...replaceGroupChannels(scope, record.id, alertChannelIds),
      ],
      notes: [],
    };
  },
  async update(planned, id, { fields, links, has }, { scope, at, idsOf }) {
    const [before] = await listGroups(scope, id);
    if (before === undefined) return null;
    const { paused = before.paused, ...rest } = fields;
    const patch = parse(MonitorGroupPatch, rest) as Partial<GroupRecord>;
    const after = {
      ...before,
      ...patch,
      paused: paused === true,
      ...buildNextVersion(before, at),
    };
    const alertChannelIds = has("alertChannelIds")
      ? idsOf("alert-channel", getLinkedIds(links, "alertChannelIds"))
      : before.alertChannelIds;
    return {
      statements: [
        guardVersion(monitorGroups, scope.organizationId, before),
        changeGroup(scope, after),
        ...(has("alertChannelIds") ? replaceGroupChannels(scope, id, alertChannelIds) : []),
      ],
      notes: [],
      changes: listChangedFields(before, { ...after, alertChannelIds }, [
        ...Object.keys(patch),
        "paused",
        "alertChannelIds",
      ]),
    };
  },
};

export const monitorMaker: RecordMaker = {
  async create({ externalId, fields, links }, context) {
    const { scope, now, at, idsOf, keyOf } = context;
    const { input, token, notes, isIncomplete } = await parseMonitorInput(fields, context);
    const id = createId(now);
    const row: MonitorRow = {
      organizationId: scope.organizationId,
      id,
      ...buildColumns(scope, id, input, undefined, token),
      groupId: null,
      position: 0,
      ...buildFirstVersion(at),
    };
    return {
      id,
      statements: [
        ...insertMonitor(scope, row, at, keyOf(externalId)),
        ...replaceMonitorChannels(
          scope,
          id,
          idsOf("alert-channel", getLinkedIds(links, "alertChannelIds")),
        ),
      ],
      notes,
      isIncomplete,
    };
  },
  async update({ fields }, id, changed, context) {
    const { scope, at, idsOf } = context;
    const { organizationId } = scope;
    const stored = await findMonitor(scope, id);
    if (stored === null) return null;
    const before = stored.monitor;
    const { pushToken: _token, ...ofRecord } = changed.fields;
    // A temporary pause by a person stays.
    const pause = keepTemporaryPause(before, ofRecord["paused"] === true);
    const patch = { ...ofRecord, ...pause };
    const patched = changed.has("type")
      ? { fields, notes: [] }
      : patchOrReplace(NewMonitor, openMonitor(scope, before), patch, fields);
    const { input, token, notes, isIncomplete } = await parseMonitorInput(
      { ...patched.fields, ...pause, pushToken: fields["pushToken"] },
      context,
      before.pushTokenHash,
    );
    const [groupId = null] = idsOf("group", getLinkedIds(changed.links, "groupId"));
    const row: MonitorRow = {
      ...before,
      ...buildColumns(scope, id, input, before, changed.has("pushToken") ? token : undefined),
      ...buildNextVersion(before, at),
    };
    const alertChannelIds = changed.has("alertChannelIds")
      ? idsOf("alert-channel", getLinkedIds(changed.links, "alertChannelIds"))
      : stored.alertChannelIds;
    return {
      statements: [
        guardVersion(monitors, organizationId, before),
        changeMonitor(scope, row),
        ...(changed.has("alertChannelIds")
          ? replaceMonitorChannels(scope, id, alertChannelIds)
          : []),
        ...(changed.has("groupId") ? assignMonitors(scope, groupId, [id], "end", at) : []),
      ],
      notes: [...patched.notes, ...notes],
      isIncomplete,
      changes: [
        ...openMonitor(scope, before).listChanges({
          ...input,
          groupId: changed.has("groupId") ? groupId : before.groupId,
        }),
        ...listChangedFields(stored, { alertChannelIds }, ["alertChannelIds"]),
      ],
    };
  },
};

/** Returns the input of a monitor. Pauses it if its target can't be checked from this machine. */
async function parseMonitorInput(
  { pushToken, ...fields }: Fields,
  { scope, tokensInUse }: MakingContext,
  own: string | null = null,
) {
  const input = parse(NewMonitor, fields);
  assertMonitorFits(input);
  const notes: string[] = [];
  const refusal =
    (await findRefusal(() => assertTargetsAllowed(scope.targets, listTargets(input)))) ??
    (input.type === "ping" && findPingCommand() === null
      ? "This machine has no ping command (Debian, Ubuntu: apt-get install iputils-ping)."
      : null);
  if (refusal !== null) notes.push(`Paused: ${refusal}`);
  let token = typeof pushToken === "string" ? pushToken : undefined;
  if (token !== undefined && tokensInUse.has(hashToken(token)) && hashToken(token) !== own) {
    notes.push("Its push token belongs to another monitor here already: it has a new one.");
    token = undefined;
  }
  if (token !== undefined) tokensInUse.add(hashToken(token));
  return {
    input: refusal === null ? input : { ...input, paused: true, pausedUntil: null },
    token,
    notes,
    isIncomplete: refusal !== null,
  };
}

export const hashToken = (token: string) => Bun.CryptoHasher.hash("sha256", token, "hex");
