/** Use cases of alert sources: records, their address, the log of their requests, replay and preview. */
import { isIP } from "node:net";
import { AppError } from "../../core/errors.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { createId, createToken, sha256 } from "../../core/ids.ts";
import { buildPage, deletedBody } from "../../core/paging.ts";
import { openAll, sealAll } from "../../core/security/secrets.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { mapListed } from "../../core/text/streamed-list.ts";
import { findExpressionIssue } from "../../core/text/expressions.ts";
import { invalidFieldError, parse } from "../../core/validation.ts";
import { type Remover, removeRecords } from "../../database/deleted-records.ts";
import { guardLimit } from "../../database/references.ts";
import {
  assertFound,
  buildFirstVersion,
  buildNextVersion,
  guardFieldExists,
} from "../../database/rows.ts";
import { retryOnStaleRead, type Statement } from "../../database/store.ts";
import { alertSources } from "../../database/tables/alert-sources.ts";
import { alertChannels, escalationPolicies } from "../../database/tables/alerting.ts";
import { commit, guardCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { consumeLimit, type RateLimit } from "../../http/access/rate-limit.ts";
import { buildSourceResolution } from "../../incidents/by-source.ts";
import { readPattern } from "./mail-schema.ts";
import { readRequest, sourcePath } from "./receive.ts";
import { boundReport } from "./rules.ts";
import {
  type AlertSource,
  type AlertSourcePatch,
  type LoggedSourceRequest,
  type NewAlertSource,
  type NewSourcePreview,
  type SourceRequestQuery,
  WholeSource,
} from "./schema.ts";
import type { SnsVerifier } from "./aws-sns.ts";
import type { SourceWriter } from "./source-writer.ts";
import {
  changeSource,
  countSourceAlerts,
  findRequest,
  findRequestPage,
  insertSource,
  listSourceIncidents,
  listStoredSources,
  removeSourceAlerts,
  type RequestRow,
  type StoredSource,
} from "./store.ts";

/** A source with the version for its ETag. */
type SourceRecord = AlertSource & { version: number };

export type SourceDependencies = {
  sourceWriter: SourceWriter;
  verifySns: SnsVerifier;
  replayLimit: RateLimit;
};

const tokenLength = 32;

const buildVaultPath = ({ organizationId }: { organizationId: string }, id: string) =>
  `${organizationId}/alert-source/${id}`;

/** Columns of a new address. */
export function createSourceAddress(scope: Scope, id: string) {
  const token = createToken(tokenLength);
  return {
    secrets: sealAll(scope.vault, buildVaultPath(scope, id), { token }),
    tokenHash: sha256(token),
  };
}

type Counts = { openAlerts: number; lastRequestAt: string | null };
const noCounts: Counts = { openAlerts: 0, lastRequestAt: null };

function toRecord(scope: Scope, source: StoredSource, counts: Counts = noCounts): SourceRecord {
  const { secrets, tokenHash: _hash, organizationId: _owner, ...record } = source;
  const token = scope.mayWrite
    ? openAll(scope.vault, buildVaultPath(scope, source.id), secrets)["token"]
    : undefined;
  const address = token === undefined ? null : buildAddress(scope, source, token);
  return { ...record, ...counts, address };
}

/** A mail address of any host works, because the token is unique. So a host that mail programs reject is replaced. */
function buildAddress({ origin }: Scope, { type, name }: StoredSource, token: string): string {
  if (type !== "email") return `${origin}${sourcePath}${token}`;
  const host = URL.parse(origin)?.hostname ?? "";
  const label = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 20)
    .replace(/^-+|-+$/g, "");
  const isName = host.includes(".") && isIP(host) === 0;
  return `${label || "alerts"}+${token}@${isName ? host : "signalbox.internal"}`;
}

/** Throws VALIDATION_ERROR for an invalid expression of mail rules. Schemas can't check expressions, because that is asynchronous. */
export async function assertMailRulesValid({ mailRules }: Pick<NewAlertSource, "mailRules">) {
  if (mailRules === null) return;
  for (const name of ["resolvedWhen", "openWhen", "ignoredWhen"] as const)
    for (const [index, pattern] of mailRules[name].entries())
      await assertExpression(`mailRules.${name}[${index}]`, readPattern(pattern).expression);
  await assertExpression("mailRules.key", mailRules.key ?? "");
}

async function assertExpression(path: string, expression: string) {
  const issue = expression === "" ? null : await findExpressionIssue(expression);
  if (issue !== null) throw invalidFieldError(path, issue);
}

/** Lists all sources by name. */
export async function listSources(scope: Scope): Promise<SourceRecord[]> {
  const [sources, counts] = await Promise.all([listStoredSources(scope), countSourceAlerts(scope)]);
  return sources.map((source) => toRecord(scope, source, counts.get(source.id)));
}

/** Reads a source. Throws NOT_FOUND. */
export async function getSource(scope: Scope, id: string): Promise<SourceRecord> {
  const [source, counts] = await Promise.all([getStored(scope, id), countSourceAlerts(scope)]);
  return toRecord(scope, source, counts.get(id));
}

async function getStored(scope: Scope, id: string): Promise<StoredSource> {
  const [source] = await listStoredSources(scope, id);
  return assertFound(source, "alert source");
}

/** Guards that the channels and the policy of a source exist. */
export const guardSourceReferences = (
  scope: Scope,
  {
    alertChannelIds,
    escalationPolicyId,
  }: Pick<StoredSource, "alertChannelIds" | "escalationPolicyId">,
): Statement[] => [
  ...guardFieldExists(scope, "alertChannelIds", alertChannels, alertChannelIds),
  ...guardFieldExists(
    scope,
    "escalationPolicyId",
    escalationPolicies,
    escalationPolicyId === null ? [] : [escalationPolicyId],
  ),
];

export const guardSourceLimit = (scope: Scope) => guardLimit(scope, "alert-sources", alertSources);

/** Creates a source. Throws NOT_FOUND for an unknown channel or policy, and CONFLICT beyond the limit. */
export async function createSource(scope: Scope, input: NewAlertSource): Promise<SourceRecord> {
  await assertMailRulesValid(input);
  const now = scope.clock();
  const id = createId(now);
  const source: StoredSource = {
    organizationId: scope.organizationId,
    id,
    ...input,
    ...createSourceAddress(scope, id),
    ...buildFirstVersion(formatTimestamp(now)),
  };
  return commit(
    scope,
    [
      ...guardSourceReferences(scope, source),
      ...insertSource(scope, source),
      guardSourceLimit(scope),
    ],
    { action: "alert-source.created", subjectId: id },
    toRecord(scope, source),
  );
}

/**
 * Updates a source. Disabling it ends its open alerts. Throws NOT_FOUND, also for an unknown channel or policy,
 * VALIDATION_ERROR and PRECONDITION_FAILED.
 */
export function updateSource(scope: Scope, id: string, patch: AlertSourcePatch) {
  return retryOnStaleRead(async () => {
    const before = await getStored(scope, id);
    const input = parse(WholeSource, { ...inputOf(before), ...patch });
    await assertMailRulesValid(input);
    const after: StoredSource = {
      ...before,
      ...input,
      ...buildNextVersion(before, formatTimestamp(scope.clock())),
    };
    const counts = (await countSourceAlerts(scope)).get(id);
    const isEnding = before.enabled && !after.enabled;
    return commit(
      scope,
      [
        ...guardCurrent(scope, alertSources, before),
        ...guardSourceReferences(scope, after),
        ...(isEnding ? await buildEnding(scope, [id]) : []),
        ...changeSource(scope, after),
      ],
      {
        action: "alert-source.updated",
        subjectId: id,
        fields: listChangedFields(before, after, Object.keys(patch)),
      },
      toRecord(scope, after, isEnding && counts ? { ...counts, openAlerts: 0 } : counts),
    );
  });
}

/** Returns the fields of a source as a client sends them. */
export function inputOf(source: StoredSource): NewAlertSource {
  const { name, type, enabled, alertChannelIds, escalationPolicyId } = source;
  const { priority, incidentSeverity, resolveAfterMinutes, mapping, mailRules } = source;
  return {
    name,
    type,
    enabled,
    alertChannelIds,
    escalationPolicyId,
    priority,
    incidentSeverity,
    resolveAfterMinutes,
    mapping,
    mailRules,
  };
}

/** Forgets the alerts of sources, and resolves the incidents that they opened. */
async function buildEnding(scope: Scope, sourceIds: readonly string[]): Promise<Statement[]> {
  const { organizationId, store } = scope;
  const now = scope.clock();
  const incidents = await listSourceIncidents(scope, sourceIds);
  const resolutions = incidents.map(({ sourceId, sourceName, incidentId }) =>
    buildSourceResolution(
      store,
      { organizationId, id: sourceId, name: sourceName },
      incidentId,
      `${sourceName} no longer reports alerts.`,
      now,
    ),
  );
  return [
    ...(await Promise.all(resolutions)).flat(),
    ...sourceIds.map((id) => removeSourceAlerts(organizationId, id)),
  ];
}

/** Removes sources so that they can be restored. Their open alerts end. */
export const buildSourceRemoval = async (
  scope: Scope & Remover,
  ids: readonly string[],
  at: string,
): Promise<Statement[]> => [
  ...(await buildEnding(scope, ids)),
  ...removeRecords(scope, "alert-source", ids, at),
];

/** Deletes a source. Its open alerts end, and its address stops working at once. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteSource(scope: Scope, id: string): Promise<typeof deletedBody> {
  return retryOnStaleRead(async () => {
    const source = await getStored(scope, id);
    return commit(
      scope,
      [
        ...guardCurrent(scope, alertSources, source),
        ...(await buildSourceRemoval(scope, [id], formatTimestamp(scope.clock()))),
      ],
      { action: "alert-source.deleted", subjectId: id },
      deletedBody,
    );
  });
}

/** Replaces the address of a source. The previous one stops working at once. Throws NOT_FOUND. */
export function rotateAddress(scope: Scope, id: string): Promise<SourceRecord> {
  return retryOnStaleRead(async () => {
    const before = await getStored(scope, id);
    const after = {
      ...before,
      ...createSourceAddress(scope, id),
      ...buildNextVersion(before, formatTimestamp(scope.clock())),
    };
    const counts = (await countSourceAlerts(scope)).get(id);
    return commit(
      scope,
      [...guardCurrent(scope, alertSources, before), ...changeSource(scope, after)],
      { action: "alert-source.address-renewed", subjectId: id },
      toRecord(scope, after, counts),
    );
  });
}

/** Lists a page of the requests to a source, newest first. Throws NOT_FOUND. */
export async function listRequests(scope: Scope, id: string, query: SourceRequestQuery) {
  await getStored(scope, id);
  const { rows, total } = await findRequestPage(scope, id, query);
  return { data: mapListed(rows, toLoggedRequest), meta: buildPage(query, [], total).meta };
}

const toLoggedRequest = (row: RequestRow): LoggedSourceRequest => row;

/**
 * Handles a logged request again, with the present settings of its source. Throws NOT_FOUND, CONFLICT for one without a
 * text, and the errors of the request.
 */
export async function replayRequest(
  scope: Scope,
  { sourceWriter, verifySns, replayLimit }: SourceDependencies,
  id: string,
  requestId: string,
) {
  const source = await getStored(scope, id);
  const row = assertFound(await findRequest(scope, id, requestId), "request");
  if (row.body === null) throw new AppError("CONFLICT", "The body of this request was not stored.");
  consumeLimit(replayLimit, scope.organizationId);
  const request = {
    path: row.path,
    headers: JSON.parse(row.headers) as Record<string, string>,
    body: row.body,
    bytes: row.bytes,
  };
  // The signature of an accepted request was verified when it arrived.
  const verify = row.status === 200 ? null : verifySns;
  const outcome = await sourceWriter.add({
    source,
    request,
    ...(await readRequest(source, request, row.body, verify)),
    replayOf: row.id,
  });
  return commit(
    scope,
    [],
    { action: "alert-source.replayed", subjectId: id },
    { id: outcome.id, outcome: outcome.message },
  );
}

/** Returns the alerts that a sample would report. Throws VALIDATION_ERROR with the path that finds nothing. */
export async function previewSample(
  { organizationId }: Pick<Scope, "organizationId">,
  { type, mapping, mailRules, body, path }: NewSourcePreview,
) {
  await assertMailRulesValid({ mailRules });
  const { reports } = await readRequest(
    { organizationId, type, mapping, mailRules },
    { path, headers: {} },
    body,
    null,
  );
  return { alerts: reports.map(boundReport) };
}
