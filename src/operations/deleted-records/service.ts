/** Lists, restores and removes deleted records. */
import { guardFewDefaults } from "../../alerting/channels/service.ts";
import type { DeletableNoun } from "../../core/deletable-nouns.ts";
import { AppError } from "../../core/errors.ts";
import { monitorBounds } from "../../core/limits.ts";
import { buildPage, deletedBody } from "../../core/paging.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import {
  changeDeletedValue,
  deletableTables,
  membership,
  restoreRecord,
} from "../../database/deleted-records.ts";
import { guardLimit } from "../../database/references.ts";
import { assertFound, notFoundError } from "../../database/rows.ts";
import { guardCondition, type Prepared, type Statement } from "../../database/store.ts";
import { statusPageHosts, subscribers } from "../../database/tables/status-pages.ts";
import { commit, guardUnconditional } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { runInSearchTurn } from "../../events/organization-turns.ts";
import { guardLimits } from "../../imports/records.ts";
import { guardRoomForIncident } from "../../incidents/statements.ts";
import { guardDependencyLimit, guardNoCycle } from "../../monitoring/dependencies/store.ts";
import { applyPauses, guardChannelLimit } from "../../monitoring/groups/store.ts";
import { guardFreeHosts, guardFreeSlug } from "../../status-pages/store.ts";
import type { DeletedRecord, DeletedRecordQuery, Restored } from "./schema.ts";
import {
  type DeletedRow,
  expireDeleted,
  findDeleted,
  findDeletedPage,
  listDeletedValues,
} from "./store.ts";
import { getTableName } from "drizzle-orm";

const noun = "deleted record";

/** Lists the records that can be restored, the last deleted first. */
export async function listDeletedRecords(scope: Scope, query: DeletedRecordQuery) {
  const { rows, total } = await runInSearchTurn(scope, () => findDeletedPage(scope, query));
  return buildPage(query, rows.map(toDeletedRecord), total);
}

const toDeletedRecord = ({ deletedAt, until, actorName, ...row }: DeletedRow): DeletedRecord => ({
  ...row,
  deletedBy: actorName,
  deletedAt: formatTimestamp(deletedAt),
  restorableUntil: formatTimestamp(until),
});

/** Permanently removes a deleted record. Throws NOT_FOUND. */
export async function removeDeletedRecord(scope: Scope, id: string): Promise<typeof deletedBody> {
  const row = assertFound(await findDeleted(scope, id), noun);
  return commit(
    scope,
    [
      guardDeleted(scope, row),
      ...guardUnconditional(scope),
      expireDeleted(scope.organizationId, id),
    ],
    { action: `${row.noun}.purged`, subjectId: id },
    deletedBody,
  );
}

type RestoreChoice = { name?: string | undefined; slug?: string | undefined; notify?: boolean };

/**
 * Restores a deleted record with its history and its links to records that exist. Links to other deleted records return
 * when those are restored. Monitors are checked again. Throws NOT_FOUND, and CONFLICT for a taken name, slug or host,
 * or beyond a limit.
 */
export async function restoreDeletedRecord(
  scope: Scope,
  wanted: DeletableNoun,
  id: string,
  given: RestoreChoice = {},
): Promise<Restored> {
  const { organizationId } = scope;
  const row = assertFound(await findDeleted(scope, id), noun);
  if (row.noun !== wanted) throw notFoundError(noun);
  const at = formatTimestamp(scope.clock());
  const name = given.name ?? row.name;
  const changes = Object.entries({ name: given.name, slug: given.slug }).flatMap(
    ([column, value]) =>
      value === undefined ? [] : [changeDeletedValue(organizationId, row.noun, id, column, value)],
  );
  return commit(
    scope,
    [
      guardDeleted(scope, row),
      ...guardUnconditional(scope),
      ...changes,
      ...(await buildCollisionGuards(scope, row, given)),
      ...restoreRecord(organizationId, row.noun, id, at),
      ...guardLimits(scope, at),
      ...(await (effects[row.noun]?.(scope, id, at) ?? [])),
    ],
    {
      action: `${row.noun}.restored` as const,
      subjectId: id,
      ...(given.notify === false && { data: { notify: false } }),
    } as Parameters<typeof commit>[2],
    // Held changes show the title.
    { id, noun: row.noun, name, title: name },
  );
}

/** Guard that the record is still deleted and can be restored. */
const guardDeleted = ({ organizationId }: Scope, { id }: DeletedRow): Prepared =>
  guardCondition(
    `exists (select 1 from deleted_records
    where organization_id = ? and id = ? and deleted_at > 0)`,
    [organizationId, id],
    () => notFoundError(noun),
  );

/** Nouns whose names identify them in lists and in a configuration. */
const namedNouns: ReadonlySet<DeletableNoun> = new Set([
  "monitor",
  "group",
  "alert-channel",
  "alert-source",
]);

async function buildCollisionGuards(
  scope: Scope,
  row: DeletedRow,
  given: RestoreChoice,
): Promise<Statement[]> {
  const { organizationId } = scope;
  const { id } = row;
  if (row.noun === "status-page") {
    const [stored = ""] = await listDeletedValues(scope, id, "status_pages", "slug");
    const hosts = await listDeletedValues(scope, id, "status_page_hosts", "host");
    return [
      guardFreeSlug(organizationId, id, given.slug ?? stored),
      guardFreeHosts(organizationId, id, hosts),
    ];
  }
  return [
    ...(row.noun === "monitor" ? [await guardFreePushToken(scope, id)] : []),
    ...(namedNouns.has(row.noun) && given.name === undefined
      ? [guardFreeName(organizationId, row)]
      : []),
  ];
}

function guardFreeName(organizationId: string, { noun, name }: DeletedRow): Prepared {
  const table = getTableName(deletableTables[noun][0]);
  return guardCondition(
    `not exists (select 1 from ${table} where organization_id = ? and name = ?)`,
    [organizationId, name],
    () =>
      new AppError(
        "CONFLICT",
        `Another ${noun.replace("-", " ")} has this name now. Choose the name to restore it with.`,
        { details: [{ path: "name", message: "is the name of another record" }] },
      ),
  );
}

async function guardFreePushToken(scope: Scope, id: string): Promise<Prepared> {
  const [hash = null] = await listDeletedValues(scope, id, "monitors", "push_token_hash");
  return guardCondition(
    "not exists (select 1 from monitors where push_token_hash = ?)",
    [hash],
    () => new AppError("CONFLICT", "Another monitor has its push URL now."),
  );
}

/** Guards that restored links form no cycle with links that were added since. */
const guardDependencies = ({ organizationId }: Scope, monitorIds: readonly string[]) => [
  guardDependencyLimit(organizationId),
  guardNoCycle(
    organizationId,
    monitorIds,
    () =>
      new AppError(
        "CONFLICT",
        `It would make a cycle, or more than ${monitorBounds.dependencyLevels.value} levels, with dependencies that were added since. Remove those first.`,
      ),
  ),
];

type Effect = (scope: Scope, id: string, at: string) => Promise<Statement[]> | Statement[];

/** Limits that a restored record can exceed with its links, and its effect on other records. */
const effects: Partial<Record<DeletableNoun, Effect>> = {
  monitor: (scope, id, at) => [
    guardChannelLimit(scope, [id]),
    ...guardDependencies(scope, [id]),
    ...applyPauses(scope.organizationId, at, [id]),
  ],
  group: async (scope, id, at) => {
    const monitorIds = await listDeletedValues(scope, id, membership, "monitor_id");
    return [
      ...guardDependencies(scope, monitorIds),
      ...applyPauses(scope.organizationId, at, monitorIds),
    ];
  },
  "alert-channel": async (scope, id) => [
    guardFewDefaults(scope),
    guardChannelLimit(scope, await listDeletedValues(scope, id, "monitor_channels", "monitor_id")),
  ],
  "status-page": (scope) => [
    guardLimit(scope, "status-page-hosts", statusPageHosts),
    guardLimit(scope, "subscribers", subscribers),
  ],
  incident: ({ organizationId }) => [guardRoomForIncident(organizationId)],
};
