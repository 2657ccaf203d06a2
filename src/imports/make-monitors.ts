/** Creates and updates alert channels, monitors and groups from imported records. */
import { columnsOf, editable } from "../monitoring/monitors/record.ts";
import { newId } from "../core/ids.ts";
import { pingCommand } from "../core/system/ping-command.ts";
import { mustBeAllowed } from "../core/security/target-guard.ts";
import { parse } from "../core/validation.ts";
import { mustBeUnchanged } from "../database/references.ts";
import { alertChannels } from "../database/tables/alerting.ts";
import { monitorGroups, monitors } from "../database/tables/monitoring.ts";
import {
  changeChannel,
  findChannel,
  newChannelRow,
  targetsOf as channelTargets,
  columnsOf as channelColumns,
  editable as editableChannel,
} from "../alerting/channels/service.ts";
import { NewAlertChannel } from "../alerting/channels/schema.ts";
import type { Scope } from "../events/scope.ts";
import { MonitorGroupPatch, NewMonitorGroup } from "../monitoring/groups/schema.ts";
import {
  assignMonitors,
  changeGroup,
  channelsOfGroup,
  type GroupRecord,
  insertGroup,
  listGroups,
} from "../monitoring/groups/store.ts";
import { targetsOf } from "../monitoring/monitors/rules.ts";
import { mustFitMonitor } from "../monitoring/monitors/input-service.ts";
import { NewMonitor } from "../monitoring/monitors/schema.ts";
import {
  changeMonitor,
  findMonitor,
  type MonitorRow,
  replaceMonitorChannels,
  insertMonitor,
} from "../monitoring/monitors/store.ts";
import { type Maker, type Making, names, refusalOf } from "./maker.ts";
import type { z } from "zod";
import type { OpenedRecord } from "../core/security/kind-secrets.ts";
import type { Fields } from "../core/collections/objects.ts";
import { firstVersion, nextVersion } from "../database/rows.ts";

export const channel: Maker = {
  async create({ fields }, { scope }) {
    const input = parse(NewAlertChannel, fields);
    const refusal = await refusalOf(() => mustBeAllowed(scope.targets, channelTargets(input)));
    const row = await newChannelRow(
      { ...scope, targets: noTargets(scope) },
      refusal === null ? input : disabled(input),
    );
    return {
      id: row.id,
      statements: [scope.store.db.insert(alertChannels).values(row)],
      notes: refusal === null ? [] : [`Disabled: ${refusal}`],
      isIncomplete: refusal !== null,
    };
  },
  async update({ fields }, id, changed, { scope, at }) {
    const before = await findChannel(scope, id);
    if (before === null) return null;
    const { whole, notes } = changed.has("type")
      ? { whole: fields, notes: [] }
      : patchedOrReplaced(
          NewAlertChannel,
          editableChannel(scope.vault, before),
          changed.fields,
          fields,
        );
    const input = parse(NewAlertChannel, whole);
    const refusal = await refusalOf(() => mustBeAllowed(scope.targets, channelTargets(input)));
    const row = {
      ...before,
      ...channelColumns(scope, id, refusal === null ? input : disabled(input)),
      ...nextVersion(before, at),
    };
    return {
      statements: [
        mustBeUnchanged(alertChannels, scope.organizationId, before),
        changeChannel(scope, row),
      ],
      notes: refusal === null ? notes : [...notes, `Disabled: ${refusal}`],
      isIncomplete: refusal !== null,
    };
  },
};

/** Applies the source's changes to the stored record. If the result is invalid, uses the source's record instead. */
function patchedOrReplaced(
  schema: z.ZodType,
  record: OpenedRecord,
  patch: Fields,
  { pushToken: _token, ...source }: Fields,
): { whole: Fields; notes: string[] } {
  const patched = record.patchedFromSource(patch, source);
  if (schema.safeParse(patched.whole).success) return patched;
  const note =
    "Its changes conflict with later changes here, so all of its fields have the values of the source.";
  return { whole: source, notes: [...patched.notes, note] };
}

const disabled = (input: NewAlertChannel): NewAlertChannel => ({
  ...input,
  enabled: false,
  default: false,
});

/** Target policy that accepts all addresses, for input that was already validated. */
const noTargets = ({ targets }: Scope): Scope["targets"] => ({
  ...targets,
  refresh: async () => {},
  validateName: () => null,
  issueOf: () => null,
});

export const group: Maker = {
  async create({ fields, links }, { scope, now, at, idsOf }) {
    const { paused, ...rest } = fields;
    const input = parse(NewMonitorGroup, rest);
    const alertChannelIds = idsOf("alert-channel", names(links, "alertChannelIds"));
    const record: GroupRecord = {
      ...input,
      id: newId(now),
      paused: paused === true,
      muted: false,
      ...firstVersion(at),
    };
    return {
      id: record.id,
      statements: [
        insertGroup(scope, record),
        ...channelsOfGroup(scope, record.id, alertChannelIds),
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
      ...nextVersion(before, at),
    };
    return {
      statements: [
        mustBeUnchanged(monitorGroups, scope.organizationId, before),
        changeGroup(scope, after),
        ...(has("alertChannelIds")
          ? channelsOfGroup(scope, id, idsOf("alert-channel", names(links, "alertChannelIds")))
          : []),
      ],
      notes: [],
    };
  },
};

export const monitor: Maker = {
  async create({ externalId, fields, links }, making) {
    const { scope, now, at, idsOf, keyOf } = making;
    const { input, token, notes, isIncomplete } = await monitorInput(fields, making);
    const id = newId(now);
    const row: MonitorRow = {
      organizationId: scope.organizationId,
      id,
      ...columnsOf(scope, id, input, undefined, token),
      groupId: null,
      position: 0,
      ...firstVersion(at),
    };
    return {
      id,
      statements: [
        ...insertMonitor(scope, row, at, keyOf(externalId)),
        ...replaceMonitorChannels(
          scope,
          id,
          idsOf("alert-channel", names(links, "alertChannelIds")),
        ),
      ],
      notes,
      isIncomplete,
    };
  },
  async update({ fields }, id, changed, making) {
    const { scope, at, idsOf } = making;
    const { organizationId } = scope;
    const stored = await findMonitor(scope, id);
    if (stored === null) return null;
    const before = stored.monitor;
    const { pushToken: _token, ...ofRecord } = changed.fields;
    const patched = changed.has("type")
      ? { whole: fields, notes: [] }
      : patchedOrReplaced(NewMonitor, editable(scope, before), ofRecord, fields);
    const { input, token, notes, isIncomplete } = await monitorInput(
      { ...patched.whole, pushToken: fields["pushToken"] },
      making,
      before.pushTokenHash,
    );
    const [groupId = null] = idsOf("group", names(changed.links, "groupId"));
    const row: MonitorRow = {
      ...before,
      ...columnsOf(scope, id, input, before, changed.has("pushToken") ? token : undefined),
      ...nextVersion(before, at),
    };
    return {
      statements: [
        mustBeUnchanged(monitors, organizationId, before),
        changeMonitor(scope, row),
        ...(changed.has("alertChannelIds")
          ? replaceMonitorChannels(
              scope,
              id,
              idsOf("alert-channel", names(changed.links, "alertChannelIds")),
            )
          : []),
        ...(changed.has("groupId") ? assignMonitors(scope, groupId, [id], "end", at) : []),
      ],
      notes: [...patched.notes, ...notes],
      isIncomplete,
    };
  },
};

/** Returns the input of a monitor. Pauses it if its target can't be checked from this machine. */
async function monitorInput(
  { pushToken, ...fields }: Fields,
  { scope, tokensInUse }: Making,
  own: string | null = null,
) {
  const input = parse(NewMonitor, fields);
  mustFitMonitor(input);
  const notes: string[] = [];
  const refusal =
    (await refusalOf(() => mustBeAllowed(scope.targets, targetsOf(input)))) ??
    (input.type === "ping" && pingCommand() === null
      ? "This machine has no ping command (Debian, Ubuntu: apt-get install iputils-ping)."
      : null);
  if (refusal !== null) notes.push(`Paused: ${refusal}`);
  let token = typeof pushToken === "string" ? pushToken : undefined;
  if (token !== undefined && tokensInUse.has(tokenHash(token)) && tokenHash(token) !== own) {
    notes.push("Its push token belongs to another monitor here already: it has a new one.");
    token = undefined;
  }
  return {
    input: refusal === null ? input : { ...input, paused: true },
    token,
    notes,
    isIncomplete: refusal !== null,
  };
}

export const tokenHash = (token: string) => Bun.CryptoHasher.hash("sha256", token, "hex");
