/** Lists imports and undoes an import. */
import { formatTimestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { assertFound } from "../database/rows.ts";
import { retryOnStaleRead, type Statement, guardCondition } from "../database/store.ts";
import { commitEach } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { applyAllPauses } from "../monitoring/groups/store.ts";
import { buildRemovalStatements } from "./remove.ts";
import type { ImportReport, ImportRun } from "./schema.ts";
import { findImport, type ImportRow, listImportRows, findRecordsOfImport } from "./store.ts";
import { findExisting } from "./prepare.ts";
import { type Noun, nouns } from "./rules.ts";

/** Lists imports, newest first. */
export async function listImports(scope: Scope): Promise<ImportRun[]> {
  return (await listImportRows(scope)).map(toImportRun);
}

const toImportRun = ({
  id,
  source,
  status,
  actorName,
  createdAt,
  report,
}: ImportRow): ImportRun => ({
  id,
  source,
  status,
  actorName,
  createdAt,
  report: report === null ? null : (JSON.parse(report) as ImportReport),
});

/**
 * Deletes the records that an import created, including later additions to them. Records that existed before the
 * import remain as they are. Throws NOT_FOUND, and CONFLICT for an import that is not done.
 */
export function undoImport(scope: Scope, id: string): Promise<ImportRun> {
  const { organizationId, store } = scope;
  return retryOnStaleRead(async () => {
    const row = assertFound(await findImport(scope, id), "import");
    if (row.status !== "done")
      throw new AppError(
        "CONFLICT",
        row.status === "undone"
          ? "This import was undone already."
          : "This import is not done yet.",
      );
    const at = formatTimestamp(scope.clock());
    const records = await findRecordsOfImport(scope, id);
    const existingIds = await findExisting(scope, records);
    const idsOf = (noun: Noun) =>
      records.flatMap((one) =>
        one.noun === noun && existingIds.has(one.recordId) ? [one.recordId] : [],
      );
    const all = Object.fromEntries(nouns.map((noun) => [noun, idsOf(noun)])) as Record<
      Noun,
      string[]
    >;
    const statements: Statement[] = [
      guardCondition(
        "exists (select 1 from imports where organization_id = ? and id = ? and status = 'done')",
        [organizationId, id],
        () => new AppError("CONFLICT", "This import was undone already."),
      ),
      ...(await buildRemovalStatements(scope, all, at)),
      ...(await applyAllPauses(scope, at)),
      {
        text: "delete from external_records where organization_id = ? and import_id = ?",
        parameters: [organizationId, id],
      },
      {
        text: "update imports set status = 'undone' where organization_id = ? and id = ?",
        parameters: [organizationId, id],
      },
    ];
    await commitEach(scope, statements, { action: "monitor.deleted", subjectIds: all.monitor }, {});
    return toImportRun(assertFound(await findImport({ store, organizationId }, id), "import"));
  });
}
