/** Use cases of alert channels: list, read, create, update and delete. */
import { commit, guardCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { deletedBody } from "../../core/paging.ts";
import { createId } from "../../core/ids.ts";
import {
  joinSecrets,
  OpenedRecord,
  listSecretPaths,
  splitSecrets,
} from "../../core/security/kind-secrets.ts";
import { parseSettings } from "../../core/kinds.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { openAll, sealAll, type Vault } from "../../core/security/secrets.ts";
import {
  assertTargetsAllowed,
  listUrlTargets,
  type RecordTarget,
} from "../../core/security/target-guard.ts";
import { invalidFieldError, parse } from "../../core/validation.ts";
import { type Remover, removeRecords } from "../../database/deleted-records.ts";
import { findTargetUses, guardNoTarget } from "../../database/escalation-uses.ts";
import { alertBounds } from "../../core/limits.ts";
import { guardLimit } from "../../database/references.ts";
import { type Prepared, retryOnStaleRead, type Statement } from "../../database/store.ts";
import { contactMethodName } from "../../database/subject-names.ts";
import { alertSourceChannels, alertSources } from "../../database/tables/alert-sources.ts";
import {
  alertChannels,
  deliveries,
  monitorChannels,
  monitorGroupChannels,
} from "../../database/tables/alerting.ts";
import {
  type AlertChannel,
  type AlertChannelPatch,
  NewAlertChannel,
  PersonalChannel,
} from "./schema.ts";
import { addressOf, channelKinds, receiverKinds } from "./kinds-schema.ts";
import { messageKinds } from "./routing-schema.ts";
import { parseNotifyOn, parseQuietHours } from "./rules.ts";
import { and, desc, isNotNull, isNull, sql } from "drizzle-orm";
import { assertFound, matchValues, type Tenant, buildNextVersion } from "../../database/rows.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";

type AlertChannelRecord = AlertChannel & { version: number };

/** Lists the organization's channels, newest first. */
export async function listAlertChannels(scope: Scope): Promise<AlertChannelRecord[]> {
  const rows = await scope.store.db
    .select()
    .from(alertChannels)
    .where(matchOrdinary({ organizationId: scope.organizationId }))
    .orderBy(desc(alertChannels.id));
  return rows.map(toChannelRecord);
}

/** Reads a channel. Throws NOT_FOUND. */
export async function getAlertChannel(scope: Scope, id: string): Promise<AlertChannelRecord> {
  return toChannelRecord(await getRow(scope, id));
}

async function getRow(scope: Scope, id: string): Promise<ChannelRow> {
  return assertFound(await findOrdinaryChannel(scope, id), "alert channel");
}

export function toChannelRecord({
  settings,
  secrets,
  isDefault,
  notifyOn,
  quietHours,
  ...row
}: ChannelRow): AlertChannelRecord {
  return {
    ...parseSettings(receiverKinds, row.type, settings),
    ...row,
    default: isDefault,
    notifyOn: parseNotifyOn(notifyOn),
    quietHours: parseQuietHours(quietHours),
    secretsSet: listSecretPaths(receiverKinds, row.type, secrets),
  };
}

/** Returns the columns of a complete, parsed channel, with sealed secrets. */
export function columnsOf(scope: Scope, id: string, channel: NewAlertChannel) {
  const { settings, secrets } = splitSecrets(receiverKinds, channel.type, channel);
  return {
    name: channel.name,
    type: channel.type,
    enabled: channel.enabled,
    isDefault: channel.default,
    incidents: channel.incidents,
    notifyOn:
      channel.notifyOn.length === messageKinds.length ? null : JSON.stringify(channel.notifyOn),
    quietHours: channel.quietHours && JSON.stringify(channel.quietHours),
    // Only contact methods have one.
    gatewayId: (channel["gatewayId"] ?? null) as string | null,
    settings: JSON.stringify(settings),
    secrets: sealAll(scope.vault, buildChannelPath(scope, id), secrets),
  };
}

/** Returns the settings of the channel's type, with decrypted secrets. Throws if a secret can't be decrypted. */
export function settingsOf(
  vault: Vault,
  row: Pick<ChannelRow, "organizationId" | "id" | "type" | "settings" | "secrets">,
): Record<string, unknown> {
  const secrets = openAll(vault, buildChannelPath(row, row.id), row.secrets);
  const settings = parseSettings(receiverKinds, row.type, row.settings);
  return joinSecrets(receiverKinds, row.type, settings, secrets);
}

function buildChannelPath({ organizationId }: { organizationId: string }, id: string): string {
  return `${organizationId}/alert-channel/${id}`;
}

/** State of a new channel that belongs to no person. */
export const newChannelState = {
  lastDeliveryAt: null,
  lastError: null,
  failingSince: null,
  personId: null,
  position: null,
  afterMinutes: null,
  criticalAfterMinutes: null,
  verifiedAt: null,
  codeHash: null,
  codeExpiresAt: null,
  codeAttempts: null,
  sentOn: null,
  sentMessages: null,
};

/** Creates the row of a new channel without storing it. Throws VALIDATION_ERROR. */
export async function createChannelRow(scope: Scope, input: NewAlertChannel): Promise<ChannelRow> {
  await assertTargetsAllowed(scope.targets, targetsOf(input));
  const now = scope.clock();
  const id = createId(now);
  return {
    organizationId: scope.organizationId,
    id,
    ...columnsOf(scope, id, input),
    ...newChannelState,
    version: 1,
    createdAt: formatTimestamp(now),
    updatedAt: formatTimestamp(now),
  };
}

export async function createAlertChannel(scope: Scope, input: NewAlertChannel) {
  const row = await createChannelRow(scope, input);
  return commit(
    scope,
    [
      scope.store.db.insert(alertChannels).values(row),
      guardLimit(scope, "alert-channels", alertChannels, "person_id is null"),
      ...(input.default ? [guardFewDefaults(scope)] : []),
    ],
    { action: "alert-channel.created", subjectId: row.id },
    toChannelRecord(row),
  );
}

/** Guards that a monitor can have all default channels, which new monitors get. */
export const guardFewDefaults = (scope: Scope) =>
  guardLimit(scope, "alert-channels-of-a-monitor", alertChannels, "is_default");

/** Returns the channel as a client would send it, with decrypted secrets. */
export function openRecord(vault: Vault, row: ChannelRow): OpenedRecord {
  return new OpenedRecord(receiverKinds, row.type, {
    ...settingsOf(vault, row),
    name: row.name,
    type: row.type,
    enabled: row.enabled,
    default: row.isDefault,
    incidents: row.incidents,
    notifyOn: parseNotifyOn(row.notifyOn),
    quietHours: parseQuietHours(row.quietHours),
    ...(row.personId !== null && { gatewayId: row.gatewayId }),
  });
}

/**
 * Applies a patch to a channel without storing it. `parseWhole` parses a complete channel. Throws
 * VALIDATION_ERROR for fields that its type does not accept.
 */
export async function patchChannel(
  scope: Scope,
  before: ChannelRow,
  patch: AlertChannelPatch,
  parseWhole = parseChannel,
) {
  if (patch.type !== undefined && patch.type !== before.type)
    throw invalidFieldError("type", "is fixed when the channel is created");
  const current = openRecord(scope.vault, before);
  const isSecretSent = before.type !== "webhook" || patch["secret"] !== undefined;
  const channel = current.applyPatch(
    patch,
    isSecretSent ? parseWhole : (whole) => parseWithStoredSecret(whole, parseWhole),
  );
  await assertTargetsAllowed(
    scope.targets,
    targetsOf(channel),
    current.derive((fields) => targetsOf({ ...fields, type: before.type })),
  );
  return channel;
}

const applyChannel = (scope: Scope, before: ChannelRow, channel: NewAlertChannel): ChannelRow => ({
  ...before,
  ...columnsOf(scope, before.id, channel),
  ...buildNextVersion(before, formatTimestamp(scope.clock())),
});

/** Returns a channel's row after a patch, with its stored secrets. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function patchChannelRow(scope: Scope, id: string, patch: AlertChannelPatch) {
  const before = await getRow(scope, id);
  return applyChannel(scope, before, await patchChannel(scope, before, patch));
}

/**
 * Updates a channel. Throws NOT_FOUND, PRECONDITION_FAILED, CONFLICT, and VALIDATION_ERROR for
 * fields that its type does not accept.
 */
export function updateAlertChannel(scope: Scope, id: string, patch: AlertChannelPatch) {
  return retryOnStaleRead(async () => {
    const before = await getRow(scope, id);
    const channel = await patchChannel(scope, before, patch);
    const after = applyChannel(scope, before, channel);
    return commit(
      scope,
      [
        ...guardCurrent(scope, alertChannels, before),
        changeChannel(scope, after),
        ...(after.isDefault && !before.isDefault ? [guardFewDefaults(scope)] : []),
      ],
      {
        action: "alert-channel.updated",
        subjectId: id,
        fields: openRecord(scope.vault, before).listChanges(channel),
      },
      toChannelRecord(after),
    );
  });
}

const parseChannel = (whole: Fields): NewAlertChannel =>
  parse((whole["type"] as string) in channelKinds ? NewAlertChannel : PersonalChannel, whole);

/**
 * Parses a channel without validating its stored signing secret. Older versions accepted any text,
 * which still works.
 */
const parseWithStoredSecret = (
  whole: Fields,
  parseWhole: (whole: Fields) => NewAlertChannel,
): NewAlertChannel => ({
  ...parseWhole({ ...whole, secret: null }),
  secret: whole["secret"],
});

/**
 * Deletes a channel and detaches it from monitors and groups. Throws NOT_FOUND, PRECONDITION_FAILED, and CONFLICT for
 * a channel that an escalation policy notifies, or whose gateway a contact method uses.
 */
export function deleteAlertChannel(scope: Scope, id: string): Promise<typeof deletedBody> {
  return retryOnStaleRead(async () => {
    const row = await getRow(scope, id);
    const uses = await findTargetUses(scope, "channel", [id]);
    return commit(
      scope,
      [
        ...guardCurrent(scope, alertChannels, row),
        guardNoTarget(scope, "channel", [id], uses),
        ...removeChannel(scope, id, formatTimestamp(scope.clock())),
      ],
      { action: "alert-channel.deleted", subjectId: id },
      deletedBody,
    );
  });
}

/**
 * Returns the destination that a field of the channel contains, for the target guard. Empty if no
 * field contains one.
 */
export function targetsOf(channel: { type: string; [field: string]: unknown }): RecordTarget[] {
  const { host, port } = channel;
  if (typeof host === "string")
    return [{ path: "host", host, port: typeof port === "number" ? port : null }];
  const { path = null, url } = addressOf(channel.type, channel) ?? {};
  return path === null ? [] : listUrlTargets(path, url?.href);
}

export type ChannelRow = typeof alertChannels.$inferSelect;

/** Matches channels that are not contact methods of people. */
export const matchOrdinary = (values: { organizationId: string; id?: string }) =>
  and(matchValues(alertChannels, values), isNull(alertChannels.personId));

/** Finds a channel that is not a contact method. */
export async function findOrdinaryChannel({ store, organizationId }: Tenant, id: string) {
  const [row] = await store.db
    .select()
    .from(alertChannels)
    .where(matchOrdinary({ organizationId, id }));
  return row ?? null;
}

/** Finds a channel, or a contact method of a person. */
export async function findChannel({ store, organizationId }: Tenant, id: string) {
  const [row] = await store.db
    .select()
    .from(alertChannels)
    .where(matchValues(alertChannels, { organizationId, id }));
  return row ?? null;
}

/** Updates a channel. Messages that were reserved since it was read remain reserved. */
export function changeChannel({ store }: Tenant, row: ChannelRow): Statement {
  const { organizationId, id, sentOn: _day, sentMessages: _sent, ...change } = row;
  return store.db
    .update(alertChannels)
    .set(change)
    .where(matchValues(alertChannels, { organizationId, id }));
}

/** Detaches a channel from its monitors, groups and alert sources, and removes it with its unfinished deliveries. */
export function removeChannel(scope: Tenant & Remover, id: string, at: string): Statement[] {
  const { store, organizationId } = scope;
  const users = [
    [monitors, monitorChannels, monitorChannels.monitorId] as const,
    [monitorGroups, monitorGroupChannels, monitorGroupChannels.groupId] as const,
    [alertSources, alertSourceChannels, alertSourceChannels.sourceId] as const,
  ];
  return [
    ...users.map(
      ([user, attached, userId]) => sql`update ${user} set version = version + 1, updated_at = ${at}
        where organization_id = ${organizationId} and id in (select ${userId} from ${attached}
          where ${attached.organizationId} = ${organizationId} and ${attached.channelId} = ${id})`,
    ),
    recordRemoval(organizationId, id, at),
    store.db
      .delete(deliveries)
      .where(
        and(
          matchValues(deliveries, { organizationId, receiverId: id }),
          isNotNull(deliveries.dueAt),
        ),
      ),
    ...removeRecords(scope, "alert-channel", [id], at),
  ];
}

const removalSql = `insert into alert_timeline (organization_id, record_id, at, type, message)
  select distinct ?1, a.record_id, ?3, 'held', ${contactMethodName}
    || ' was deleted before its quiet hours ended, so the held message is not sent.'
  from deliveries d
    cross join delivery_alerts t on t.organization_id = ?1 and t.delivery_id = d.id
      and not t.withheld
    cross join alerts a on a.organization_id = ?1 and a.id = t.alert_id
    cross join alert_channels c on c.organization_id = ?1 and c.id = d.receiver_id
    left join people p on p.id = c.person_id
  where d.organization_id = ?1 and d.receiver_id = ?2 and d.due_at is not null and d.quiet
    and a.record_id is not null and (select count(*) from alert_timeline e
      where e.organization_id = ?1 and e.record_id = a.record_id) < ${alertBounds.entries.value}`;

/** Adds an entry to the timelines of alerts whose messages the deleted channel held. Must precede the deletion. */
export const recordRemoval = (organizationId: string, channelId: string, at: string): Prepared => ({
  text: removalSql,
  parameters: [organizationId, channelId, at],
});
