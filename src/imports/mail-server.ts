import {
  changeSettings,
  listChanges,
  findSettings,
  patchSettings,
} from "../accounts/settings/service.ts";
import { SettingsPatch } from "../accounts/settings/schema.ts";
import { AppError } from "../core/errors.ts";
import { parse } from "../core/validation.ts";
import { guardVersion } from "../database/references.ts";
import { organizationSettings } from "../database/tables/accounts.ts";
import { buildAuditAndEvent } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import type { Plan, PlannedRecord } from "./plan.ts";

/** Sets the mail server for imported e-mail channels, unless the organization already has one. */
export async function buildMailStatements(
  scope: Scope,
  { smtp }: Plan,
  planned: readonly PlannedRecord[],
  at: string,
) {
  const needed = planned.some(
    ({ noun, fields }) => noun === "alert-channel" && fields["type"] === "email",
  );
  if (smtp === null || !needed) return { statements: [], hints: [] };
  const before = await findSettings(scope.store, scope.organizationId);
  if (before.smtp !== null) return { statements: [], hints: [] };
  try {
    const after = await patchSettings(scope, before, parse(SettingsPatch, { smtp }));
    return {
      statements: [
        guardVersion(organizationSettings, scope.organizationId, before),
        changeSettings(scope, after),
        ...buildAuditAndEvent(
          scope,
          {
            action: "settings.updated",
            subjectId: scope.organizationId,
            fields: listChanges(scope, before, after),
          },
          at,
        ),
      ],
      hints: [
        `E-mails go through ${String(smtp["host"])}:${String(smtp["port"])} (${String(smtp["tls"])}), as they did there. Try it in Settings.`,
      ],
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return {
      statements: [],
      hints: [
        `The mail server could not be imported: ${error.message} Set it in Settings, or e-mails are not sent.`,
      ],
    };
  }
}
