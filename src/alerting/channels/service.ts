/** Use cases of alert channels: list, read, create, update and delete. */
import { commit, guardCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { timestamp } from "../../core/time/clock.ts";
import { deleted } from "../../core/paging.ts";
import { newId } from "../../core/ids.ts";
import {
  joinSecrets,
  OpenedRecord,
  secretsSetOf,
  splitSecrets,
} from "../../core/security/kind-secrets.ts";
import { settingsIn } from "../../core/kinds.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { openAll, sealAll, type Vault } from "../../core/security/secrets.ts";
import { mustBeAllowed, type Place, portOf } from "../../core/security/target-guard.ts";
import { invalid, parse } from "../../core/validation.ts";
import { mustBeWithin } from "../../database/references.ts";
import { retrying, type Statement } from "../../database/store.ts";
import {
  alertChannels,
  deliveries,
  monitorChannels,
  monitorGroupChannels,
} from "../../database/tables/alerting.ts";
import { type AlertChannel, type AlertChannelPatch, NewAlertChannel } from "./schema.ts";
import { addressOf, channelKinds } from "./kinds-schema.ts";
import { desc, sql } from "drizzle-orm";
import { found, matching, removeRow, type Tenant, nextVersion } from "../../database/rows.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";

type AlertChannelRecord = AlertChannel & { version: number };

/** Lists the organization's channels, newest first. */
export async function listAlertChannels(scope: Scope): Promise<AlertChannelRecord[]> {
  const rows = await scope.store.db
    .select()
    .from(alertChannels)
    .where(matching(alertChannels, { organizationId: scope.organizationId }))
    .orderBy(desc(alertChannels.id));
  return rows.map(shown);
}

/** Reads a channel. Throws NOT_FOUND. */
export async function getAlertChannel(scope: Scope, id: string): Promise<AlertChannelRecord> {
  return shown(await getRow(scope, id));
}

async function getRow(scope: Scope, id: string): Promise<ChannelRow> {
  return found(await findChannel(scope, id), "alert channel");
}

function shown({ settings, secrets, isDefault, ...row }: ChannelRow): AlertChannelRecord {
  return {
    ...settingsIn(channelKinds, row.type, settings),
    ...row,
    default: isDefault,
    secretsSet: secretsSetOf(channelKinds, row.type, secrets),
  };
}

/** Returns the columns of a complete, parsed channel, with sealed secrets. */
export function columnsOf(scope: Scope, id: string, channel: NewAlertChannel) {
  const { settings, secrets } = splitSecrets(channelKinds, channel.type, channel);
  return {
    name: channel.name,
    type: channel.type,
    enabled: channel.enabled,
    isDefault: channel.default,
    incidents: channel.incidents,
    settings: JSON.stringify(settings),
    secrets: sealAll(scope.vault, placeOf(scope, id), secrets),
  };
}

/** Returns the settings of the channel's type, with decrypted secrets. Throws if a secret can't be decrypted. */
export function settingsOf(
  vault: Vault,
  row: Pick<ChannelRow, "organizationId" | "id" | "type" | "settings" | "secrets">,
): Record<string, unknown> {
  const secrets = openAll(vault, placeOf(row, row.id), row.secrets);
  const settings = settingsIn(channelKinds, row.type, row.settings);
  return joinSecrets(channelKinds, row.type, settings, secrets);
}

function placeOf({ organizationId }: { organizationId: string }, id: string): string {
  return `${organizationId}/alert-channel/${id}`;
}

/** Creates the row of a new channel without storing it. Throws VALIDATION_ERROR. */
export async function newChannelRow(scope: Scope, input: NewAlertChannel): Promise<ChannelRow> {
  await mustBeAllowed(scope.targets, targetsOf(input));
  const now = scope.clock();
  const id = newId(now);
  return {
    organizationId: scope.organizationId,
    id,
    ...columnsOf(scope, id, input),
    lastDeliveryAt: null,
    lastError: null,
    failingSince: null,
    version: 1,
    createdAt: timestamp(now),
    updatedAt: timestamp(now),
  };
}

export async function createAlertChannel(scope: Scope, input: NewAlertChannel) {
  const row = await newChannelRow(scope, input);
  return commit(
    scope,
    [
      scope.store.db.insert(alertChannels).values(row),
      mustBeWithin(scope, "alert-channels", alertChannels),
      ...(input.default ? [guardFewDefaults(scope)] : []),
    ],
    { action: "alert-channel.created", subjectId: row.id },
    shown(row),
  );
}

/** Guards that a monitor can have all default channels, which new monitors get. */
export const guardFewDefaults = (scope: Scope) =>
  mustBeWithin(scope, "alert-channels-of-a-monitor", alertChannels, "is_default");

/** Returns the channel as a client would send it, with decrypted secrets. */
export function editable(vault: Vault, row: ChannelRow): OpenedRecord {
  return new OpenedRecord(channelKinds, row.type, {
    ...settingsOf(vault, row),
    name: row.name,
    type: row.type,
    enabled: row.enabled,
    default: row.isDefault,
    incidents: row.incidents,
  });
}

/**
 * Applies a patch to a channel without storing it. Throws VALIDATION_ERROR for fields that its type
 * does not accept.
 */
export async function changedChannel(scope: Scope, before: ChannelRow, patch: AlertChannelPatch) {
  if (patch.type !== undefined && patch.type !== before.type)
    throw invalid("type", "is fixed when the channel is created");
  const current = editable(scope.vault, before);
  const isSecretSent = before.type !== "webhook" || patch["secret"] !== undefined;
  const channel = current.patched(patch, isSecretSent ? parsed : parsedWithStoredSecret);
  await mustBeAllowed(
    scope.targets,
    targetsOf(channel),
    current.derive((fields) => targetsOf({ ...fields, type: before.type })),
  );
  return channel;
}

async function rowAfter(scope: Scope, before: ChannelRow, patch: AlertChannelPatch) {
  const channel = await changedChannel(scope, before, patch);
  return {
    ...before,
    ...columnsOf(scope, before.id, channel),
    ...nextVersion(before, timestamp(scope.clock())),
  };
}

/** Returns a channel's row after a patch, with its stored secrets. Throws NOT_FOUND, VALIDATION_ERROR. */
export const changedChannelRow = async (scope: Scope, id: string, patch: AlertChannelPatch) =>
  rowAfter(scope, await getRow(scope, id), patch);

/**
 * Updates a channel. Throws NOT_FOUND, PRECONDITION_FAILED, CONFLICT, and VALIDATION_ERROR for
 * fields that its type does not accept.
 */
export function updateAlertChannel(scope: Scope, id: string, patch: AlertChannelPatch) {
  return retrying(async () => {
    const before = await getRow(scope, id);
    const after = await rowAfter(scope, before, patch);
    return commit(
      scope,
      [
        ...guardCurrent(scope, alertChannels, before),
        changeChannel(scope, after),
        ...(after.isDefault && !before.isDefault ? [guardFewDefaults(scope)] : []),
      ],
      { action: "alert-channel.updated", subjectId: id, fields: Object.keys(patch) },
      shown(after),
    );
  });
}

const parsed = (whole: Fields) => parse(NewAlertChannel, whole);

/**
 * Parses a channel without validating its stored signing secret. Older versions accepted any text,
 * which still works.
 */
const parsedWithStoredSecret = (whole: Fields): NewAlertChannel => ({
  ...parsed({ ...whole, secret: null }),
  secret: whole["secret"],
});

/** Deletes a channel and detaches it from monitors and groups. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteAlertChannel(scope: Scope, id: string): Promise<typeof deleted> {
  return retrying(async () => {
    const row = await getRow(scope, id);
    return commit(
      scope,
      [
        ...guardCurrent(scope, alertChannels, row),
        ...removeChannel(scope, id, timestamp(scope.clock())),
      ],
      { action: "alert-channel.deleted", subjectId: id },
      deleted,
    );
  });
}

/**
 * Returns the destination that a field of the channel contains, for the target guard. Empty if no
 * field contains one.
 */
export function targetsOf(channel: { type: string; [field: string]: unknown }): Place[] {
  const { path = null, url } = addressOf(channel.type, channel) ?? {};
  return path === null || url === undefined
    ? []
    : [{ path, host: url.hostname, port: portOf(url) }];
}

export type ChannelRow = typeof alertChannels.$inferSelect;

export async function findChannel({ store, organizationId }: Tenant, id: string) {
  const [row] = await store.db
    .select()
    .from(alertChannels)
    .where(matching(alertChannels, { organizationId, id }));
  return row ?? null;
}

export function changeChannel({ store }: Tenant, row: ChannelRow): Statement {
  const { organizationId, id, ...change } = row;
  return store.db
    .update(alertChannels)
    .set(change)
    .where(matching(alertChannels, { organizationId, id }));
}

/** Detaches a channel from its monitors and groups, and removes it with its deliveries. */
export function removeChannel(tenant: Tenant, id: string, at: string): Statement[] {
  const { store, organizationId } = tenant;
  const users = [
    [monitors, monitorChannels, monitorChannels.monitorId] as const,
    [monitorGroups, monitorGroupChannels, monitorGroupChannels.groupId] as const,
  ];
  return [
    ...users.map(
      ([user, attached, userId]) => sql`update ${user} set version = version + 1, updated_at = ${at}
        where organization_id = ${organizationId} and id in (select ${userId} from ${attached}
          where ${attached.organizationId} = ${organizationId} and ${attached.channelId} = ${id})`,
    ),
    store.db.delete(deliveries).where(matching(deliveries, { organizationId, receiverId: id })),
    removeRow(tenant, alertChannels, id),
  ];
}
