import { changeSettings, findSettings, settingsAfter } from "../accounts/settings/service.ts";
import { SettingsPatch } from "../accounts/settings/schema.ts";
import { AppError } from "../core/errors.ts";
import { parse } from "../core/validation.ts";
import { mustBeUnchanged } from "../database/references.ts";
import { organizationSettings } from "../database/tables/accounts.ts";
import { auditAndEvent } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import type { Plan, Planned } from "./plan.ts";

/** Sets the mail server for imported e-mail channels, unless the organization already has one. */
export async function mailStatements(
  scope: Scope,
  { smtp }: Plan,
  planned: readonly Planned[],
  at: string,
) {
  const needed = planned.some(
    ({ noun, fields }) => noun === "alert-channel" && fields["type"] === "email",
  );
  if (smtp === null || !needed) return { statements: [], hints: [] };
  const before = await findSettings(scope.store, scope.organizationId);
  if (before.smtp !== null) return { statements: [], hints: [] };
  try {
    const after = await settingsAfter(scope, before, parse(SettingsPatch, { smtp }));
    return {
      statements: [
        mustBeUnchanged(organizationSettings, scope.organizationId, before),
        changeSettings(scope, after),
        ...auditAndEvent(
          scope,
          { action: "settings.updated", subjectId: scope.organizationId, fields: ["smtp"] },
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
