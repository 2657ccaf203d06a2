/** Use cases of incident templates: list, read, create, update and delete. */
import { listChangedFields } from "../../core/field-changes.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { createId } from "../../core/ids.ts";
import { deletedBody } from "../../core/paging.ts";
import { guardLimit } from "../../database/references.ts";
import {
  assertFound,
  matchValues,
  removeRow,
  buildFirstVersion,
  buildNextVersion,
} from "../../database/rows.ts";
import { retryOnStaleRead } from "../../database/store.ts";
import { incidentTemplates } from "../../database/tables/incidents.ts";
import { commit, guardCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import type { IncidentTemplatePatch, NewIncidentTemplate } from "./schema.ts";

type TemplateRow = typeof incidentTemplates.$inferSelect;

/** Lists all templates by name. */
export function listTemplates({ store, organizationId }: Scope): Promise<TemplateRow[]> {
  return store.db
    .select()
    .from(incidentTemplates)
    .where(matchValues(incidentTemplates, { organizationId }))
    .orderBy(incidentTemplates.name, incidentTemplates.id);
}

/** Reads a template. Throws NOT_FOUND. */
export async function getTemplate({ store, organizationId }: Scope, id: string) {
  const [row] = await store.db
    .select()
    .from(incidentTemplates)
    .where(matchValues(incidentTemplates, { organizationId, id }));
  return assertFound(row, "incident template");
}

/** Creates a template. Throws CONFLICT at the organization's limit. */
export function createTemplate(scope: Scope, input: NewIncidentTemplate): Promise<TemplateRow> {
  const { store, organizationId } = scope;
  const now = scope.clock();
  const at = formatTimestamp(now);
  const row = { organizationId, id: createId(now), ...input, ...buildFirstVersion(at) };
  return commit(
    scope,
    [
      store.db.insert(incidentTemplates).values(row),
      guardLimit(scope, "incident-templates", incidentTemplates),
    ],
    { action: "incident-template.created", subjectId: row.id },
    row,
  );
}

/** Updates a template. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function updateTemplate(scope: Scope, id: string, patch: IncidentTemplatePatch) {
  const { store, organizationId } = scope;
  return retryOnStaleRead(async () => {
    const before = await getTemplate(scope, id);
    const updatedAt = formatTimestamp(scope.clock());
    const after = {
      ...before,
      ...(patch as Partial<TemplateRow>),
      ...buildNextVersion(before, updatedAt),
    };
    const row = matchValues(incidentTemplates, { organizationId, id });
    return commit(
      scope,
      [
        ...guardCurrent(scope, incidentTemplates, before),
        store.db.update(incidentTemplates).set(after).where(row),
      ],
      {
        action: "incident-template.updated",
        subjectId: id,
        fields: listChangedFields(before, after, Object.keys(patch)),
      },
      after,
    );
  });
}

/** Deletes a template. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteTemplate(scope: Scope, id: string): Promise<typeof deletedBody> {
  return retryOnStaleRead(async () =>
    commit(
      scope,
      [
        ...guardCurrent(scope, incidentTemplates, await getTemplate(scope, id)),
        removeRow(scope, incidentTemplates, id),
      ],
      { action: "incident-template.deleted", subjectId: id },
      deletedBody,
    ),
  );
}
