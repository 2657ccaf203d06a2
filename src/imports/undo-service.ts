/** Lists imports and undoes an import. */
import { timestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { found } from "../database/rows.ts";
import { retrying, type Statement, mustText } from "../database/store.ts";
import { commitEach } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { followAllPauses } from "../monitoring/groups/store.ts";
import { removalStatements } from "./remove.ts";
import type { ImportReport, ImportRun } from "./schema.ts";
import { findImport, type ImportRow, listImportRows, recordsOfImport } from "./store.ts";
import { existing } from "./prepare.ts";
import { type Noun, nouns } from "./rules.ts";

/** Lists imports, newest first. */
export async function listImports(scope: Scope): Promise<ImportRun[]> {
  return (await listImportRows(scope)).map(shown);
}

const shown = ({ id, source, status, actorName, createdAt, report }: ImportRow): ImportRun => ({
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
  return retrying(async () => {
    const row = found(await findImport(scope, id), "import");
    if (row.status !== "done")
      throw new AppError(
        "CONFLICT",
        row.status === "undone"
          ? "This import was undone already."
          : "This import is not done yet.",
      );
    const at = timestamp(scope.clock());
    const records = await recordsOfImport(scope, id);
    const here = await existing(scope, records);
    const of = (noun: Noun) =>
      records.flatMap((one) => (one.noun === noun && here.has(one.recordId) ? [one.recordId] : []));
    const all = Object.fromEntries(nouns.map((noun) => [noun, of(noun)])) as Record<Noun, string[]>;
    const statements: Statement[] = [
      {
        ...mustText(
          "exists (select 1 from imports where organization_id = ? and id = ? and status = 'done')",
        ),
        parameters: [organizationId, id],
        otherwise: () => new AppError("CONFLICT", "This import was undone already."),
      },
      ...(await removalStatements(scope, all, at)),
      ...(await followAllPauses(scope, at)),
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
    return shown(found(await findImport({ store, organizationId }, id), "import"));
  });
}
