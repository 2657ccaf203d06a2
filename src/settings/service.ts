import { commit, mustBeCurrent } from "../audit/commit.ts";
import type { Scope } from "../audit/scope.ts";
import { timestamp } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { openAll, sealAll, type Vault } from "../base/secrets.ts";
import { mustBeAllowed } from "../base/target-guard.ts";
import { parse, validationError } from "../base/validation.ts";
import { retrying } from "../database/store.ts";
import { organizationSettings } from "../database/tables.ts";
import { type Settings, type SettingsPatch, SmtpSettings } from "./schema.ts";
import { changeSettings, findSettings, type SettingsRow } from "./store.ts";

export type SettingsRecord = Settings & { id: string; version: number };

const password = "smtp.password";

export async function getSettings({ store, organizationId }: Scope): Promise<SettingsRecord> {
  return shown(await findSettings(store, organizationId));
}

function shown({ id, smtp, secrets, version, updatedAt }: SettingsRow): SettingsRecord {
  return {
    id,
    smtp: smtp === null ? null : (JSON.parse(smtp) as Settings["smtp"]),
    secretsSet: Object.keys(JSON.parse(secrets) as object),
    version,
    updatedAt,
  };
}

/** The mail server with its password: what an e-mail is sent through. Null where none is set. */
export function smtpOf(vault: Vault, row: SettingsRow): SmtpSettings | null {
  if (row.smtp === null) return null;
  const secrets = openAll(vault, placeOf(row.organizationId), row.secrets);
  return {
    ...(JSON.parse(row.smtp) as Omit<SmtpSettings, "password">),
    password: secrets[password] ?? null,
  };
}

function placeOf(organizationId: string): string {
  return `${organizationId}/settings`;
}

/** Throws VALIDATION_ERROR, PRECONDITION_FAILED. */
export function updateSettings(scope: Scope, patch: SettingsPatch): Promise<SettingsRecord> {
  const { store, vault, organizationId } = scope;
  return retrying(async () => {
    const before = await findSettings(store, organizationId);
    const smtp = smtpAfter(scope, before, patch.smtp);
    const { password: secret = null, ...open } = smtp ?? {};
    const after: SettingsRow = {
      ...before,
      smtp: smtp === null ? null : JSON.stringify(open),
      secrets: sealAll(
        vault,
        placeOf(organizationId),
        secret === null ? {} : { [password]: secret },
      ),
      version: before.version + 1,
      updatedAt: timestamp(scope.clock()),
    };
    return commit(
      scope,
      [...mustBeCurrent(scope, organizationSettings, before), changeSettings(store, after)],
      { action: "settings.updated", subjectId: organizationId, fields: Object.keys(patch) },
      shown(after),
    );
  });
}

/** The mail server as a patch leaves it, saved or not; null where there is none. Throws VALIDATION_ERROR. */
export function smtpAfter(
  { vault, targets }: Pick<Scope, "vault" | "targets">,
  before: SettingsRow,
  patch: SettingsPatch["smtp"],
): SmtpSettings | null {
  if (patch === null) return null;
  const known = smtpOf(vault, before);
  const smtp = patch === undefined ? known : wholeSmtp({ ...known, ...patch });
  if (smtp !== null)
    mustBeAllowed(targets, [{ path: "smtp.host", host: smtp.host, port: smtp.port }]);
  return smtp;
}

/** The merged mail server as a whole; what it lacks is named as the caller would send it. */
function wholeSmtp(merged: object): SmtpSettings {
  try {
    return parse(SmtpSettings, merged, "smtp");
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const details = error.details ?? [];
    throw validationError(details.map(({ path, message }) => ({ path: `smtp.${path}`, message })));
  }
}
