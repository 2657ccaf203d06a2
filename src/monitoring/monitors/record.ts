/** Converts monitors between database rows, editable input and API responses. */
import type { Scope } from "../../events/scope.ts";
import { sha256 } from "../../core/ids.ts";
import {
  joinSecrets,
  OpenedRecord,
  listSecretPaths,
  splitSecrets,
} from "../../core/security/kind-secrets.ts";
import { parseSettings } from "../../core/kinds.ts";
import { openAll, sealAll, type Vault } from "../../core/security/secrets.ts";
import { adjustToPresent } from "./shown-status-rules.ts";
import { monitorKinds } from "./kinds-schema.ts";
import { type Monitor, type NewMonitor } from "./schema.ts";
import type { MonitorRow, StoredMonitor } from "./store.ts";

/** A monitor with the version for its ETag. */
export type MonitorRecord = Monitor & { version: number };

/** Key of the push token in the sealed secrets. The server generates the token, so `secretsSet` omits it. */
const pushToken = "pushToken";

function buildVaultPath({ organizationId }: { organizationId: string }, id: string): string {
  return `${organizationId}/monitor/${id}`;
}

/**
 * Computes the columns of a parsed monitor and seals its secrets. A push monitor gets the imported token `brought`, or
 * else its previous token, or else a new token.
 */
export function buildColumns(
  scope: Scope,
  id: string,
  input: NewMonitor,
  before?: MonitorRow,
  brought?: string,
) {
  const { settings, secrets } = splitSecrets(monitorKinds, input.type, input);
  const known =
    before && openAll(scope.vault, buildVaultPath(scope, id), before.secrets)[pushToken];
  const token = input.type === "push" ? (brought ?? known ?? crypto.randomUUID()) : undefined;
  return {
    name: input.name,
    type: input.type,
    description: input.description,
    tags: JSON.stringify(input.tags),
    intervalSeconds: input.interval,
    timeoutSeconds: input.timeout,
    retries: input.retries,
    confirmations: input.confirmations,
    retryIntervalSeconds: input.retryInterval,
    degradedAfterMs: input.degradedAfterMs,
    successThreshold: input.successThreshold,
    inverted: input.inverted,
    paused: input.paused,
    pausedUntil: input.pausedUntil,
    muted: input.muted,
    autoIncidentSeverity: input.autoIncidentSeverity,
    reminderIntervalSeconds: input.reminderInterval,
    escalationPolicyId: input.escalationPolicyId,
    priority: input.priority,
    settings: JSON.stringify(settings),
    secrets: sealAll(
      scope.vault,
      buildVaultPath(scope, id),
      token === undefined ? secrets : { ...secrets, [pushToken]: token },
    ),
    pushTokenHash: token === undefined ? null : sha256(token),
  };
}

function parseCommonFields(row: MonitorRow) {
  return {
    name: row.name,
    type: row.type,
    description: row.description,
    groupId: row.groupId,
    tags: JSON.parse(row.tags) as string[],
    interval: row.intervalSeconds,
    timeout: row.timeoutSeconds,
    retries: row.retries,
    confirmations: row.confirmations,
    retryInterval: row.retryIntervalSeconds,
    degradedAfterMs: row.degradedAfterMs,
    successThreshold: row.successThreshold,
    inverted: row.inverted,
    paused: row.paused,
    pausedUntil: row.pausedUntil,
    muted: row.muted,
    autoIncidentSeverity: row.autoIncidentSeverity as Monitor["autoIncidentSeverity"],
    reminderInterval: row.reminderIntervalSeconds,
    escalationPolicyId: row.escalationPolicyId,
    priority: row.priority,
  };
}

/** Returns the monitor in the input format, including secrets. */
export function openMonitor({ vault }: Scope, row: MonitorRow): OpenedRecord {
  const fields = { ...openSettings(vault, row), ...parseCommonFields(row) };
  return new OpenedRecord(monitorKinds, row.type, fields);
}

/** Returns the type-specific fields, including decrypted secrets. */
export function openSettings(
  vault: Vault,
  row: Pick<MonitorRow, "organizationId" | "id" | "type" | "settings" | "secrets">,
): Record<string, unknown> {
  const settings = parseSettings(monitorKinds, row.type, row.settings);
  const { [pushToken]: _token, ...secrets } = openAll(
    vault,
    buildVaultPath(row, row.id),
    row.secrets,
  );
  return joinSecrets(monitorKinds, row.type, settings, secrets);
}

type ShownMonitor = Omit<StoredMonitor, "state" | "groupPaused"> & {
  state: Omit<StoredMonitor["state"], "key" | "epoch" | "organizationId" | "monitorId">;
};

/** Returns the monitor as an API response. */
export function toMonitorRecord(scope: Scope, stored: ShownMonitor): MonitorRecord {
  const { monitor, alertChannelIds, dependsOn, screenshotAt, uptime24h } = stored;
  const state = adjustToPresent(
    { ...stored.state, status: stored.state.paused ? "paused" : stored.state.status },
    scope.store.writes.getFailingSince(),
  );
  return {
    ...parseSettings(monitorKinds, monitor.type, monitor.settings),
    ...(monitor.type === "push" && buildPushUrls(scope, monitor)),
    ...(monitor.type === "browser" && { screenshotAt }),
    ...parseCommonFields(monitor),
    id: monitor.id,
    alertChannelIds,
    dependsOn,
    secretsSet: listSecretPaths(monitorKinds, monitor.type, monitor.secrets),
    status: state.status,
    statusSince: state.since,
    lastCheckedAt: state.lastCheckedAt,
    lastMessage: state.lastMessage,
    notJudgedSince: state.notJudgedSince,
    latencyMs: state.latencyMs,
    uptime24h,
    certificateExpiresAt: state.certificateExpiresAt,
    details: state.details === null ? {} : (JSON.parse(state.details) as Monitor["details"]),
    numberValue: state.number,
    version: monitor.version,
    createdAt: monitor.createdAt,
    updatedAt: monitor.updatedAt,
  };
}

/** Returns the push URLs. Null without write access, because everyone who knows a URL can report. */
function buildPushUrls(scope: Scope, { id, secrets }: MonitorRow) {
  if (!scope.mayWrite) return { pushUrl: null, pingUrl: null };
  const token = openAll(scope.vault, buildVaultPath(scope, id), secrets)[pushToken];
  return { pushUrl: `${scope.origin}/push/${token}`, pingUrl: `${scope.origin}/ping/${token}` };
}
