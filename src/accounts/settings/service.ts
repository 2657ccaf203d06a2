/** Reads and updates the settings of an organization. */
import { z } from "zod";
import { commit, guardCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { findCertificateIssue, parseSubjects } from "../../core/security/certificates.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import {
  joinSecrets,
  OpenedRecord,
  listSecretPaths,
  splitSecrets,
} from "../../core/security/kind-secrets.ts";
import { openAll, sealAll, type Vault } from "../../core/security/secrets.ts";
import { assertTargetsAllowed, type RecordTarget } from "../../core/security/target-guard.ts";
import { invalidFieldError, parse } from "../../core/validation.ts";
import { type Prepared, retryOnStaleRead, type Store } from "../../database/store.ts";
import { organizationSettings } from "../../database/tables/accounts.ts";
import {
  type ReportMail,
  type Settings,
  settingsKinds,
  type SettingsPatch,
  type SmtpSettings,
  type TrustedAuthority,
} from "./schema.ts";
import { guardMembers } from "../../database/references.ts";
import { monitorGroups } from "../../database/tables/monitoring.ts";
import { statusPages } from "../../database/tables/status-pages.ts";
import { guardFieldExists, matchValues, buildNextVersion } from "../../database/rows.ts";

type SettingsRecord = Settings & { id: string; version: number };

type StoredSmtp = NonNullable<Settings["smtp"]>;

/** Defaults for rows of versions that lacked these fields. */
const addedDefaults = { auth: "password", tenant: null, clientId: null } as const;

const kind = "organization";
const Whole = z.object(settingsKinds[kind].fields);

export async function getSettings({ store, organizationId }: Scope): Promise<SettingsRecord> {
  return toSettingsRecord(await findSettings(store, organizationId));
}

/** Lists the certificate authorities in the order of the file. */
export async function listAuthorities(scope: Scope): Promise<TrustedAuthority[]> {
  const { certificateAuthorities } = await getSettings(scope);
  return parseSubjects(certificateAuthorities ?? "").map(({ name, endsAt, pem }) => ({
    name,
    expiresAt: formatTimestamp(endsAt),
    pem,
  }));
}

function toSettingsRecord(row: SettingsRow): SettingsRecord {
  const { id, smtp, certificateAuthorities, keepDeletedDays, oneAlertPerCause } = row;
  const { reportMails, secrets, version, updatedAt } = row;
  return {
    id,
    smtp: smtp === null ? null : { ...addedDefaults, ...(JSON.parse(smtp) as StoredSmtp) },
    certificateAuthorities,
    keepDeletedDays,
    oneAlertPerCause,
    reportMails,
    secretsSet: listSecretPaths(settingsKinds, kind, secrets),
    version,
    updatedAt,
  };
}

/** Returns the mail server with decrypted secrets; null if none is set. */
export function openSmtp(vault: Vault, row: SettingsRow): SmtpSettings | null {
  if (row.smtp === null) return null;
  const secrets = openAll(vault, buildSettingsPath(row.organizationId), row.secrets);
  const { smtp } = joinSecrets(settingsKinds, kind, { smtp: JSON.parse(row.smtp) }, secrets);
  const unset = { password: null, clientSecret: null, serviceAccountKey: null };
  return { ...unset, ...addedDefaults, ...(smtp as StoredSmtp) };
}

function buildSettingsPath(organizationId: string): string {
  return `${organizationId}/settings`;
}

/** Updates the settings. Throws VALIDATION_ERROR, NOT_FOUND, PRECONDITION_FAILED. */
export function updateSettings(scope: Scope, patch: SettingsPatch): Promise<SettingsRecord> {
  const { store, organizationId } = scope;
  return retryOnStaleRead(async () => {
    const before = await findSettings(store, organizationId);
    const after = await patchSettings(scope, before, patch);
    return commit(
      scope,
      [
        ...guardCurrent(scope, organizationSettings, before),
        ...guardReported(scope, patch.reportMails ?? [], before.reportMails),
        changeSettings(scope, after),
      ],
      {
        action: "settings.updated",
        subjectId: organizationId,
        fields: listChanges(scope, before, after),
      },
      toSettingsRecord(after),
    );
  });
}

/**
 * Guards that the groups, pages and people of reports exist; else NOT_FOUND. Those of stored reports can have been deleted
 * since.
 */
function guardReported(
  scope: Scope,
  mails: readonly ReportMail[],
  stored: readonly ReportMail[],
): Prepared[] {
  const listNew = (list: (mail: ReportMail) => readonly (string | null)[]) => {
    const known = new Set(stored.flatMap(list));
    return mails.flatMap(list).filter((id) => id !== null && !known.has(id)) as string[];
  };
  const people = listNew(({ to }) => to.map(({ personId }) => personId));
  return [
    ...guardFieldExists(
      scope,
      "reportMails",
      monitorGroups,
      listNew(({ groupId }) => [groupId]),
    ),
    ...guardFieldExists(
      scope,
      "reportMails",
      statusPages,
      listNew(({ statusPageId }) => [statusPageId]),
    ),
    ...(people.length === 0 ? [] : [guardMembers(scope, "reportMails", people)]),
  ];
}

/** Lists the changed settings, for the audit log. */
export const listChanges = ({ vault }: Scope, before: SettingsRow, after: SettingsRow) => [
  ...openSettings(vault, before).listChanges({ smtp: openSmtp(vault, after) }),
  ...listChangedFields(before, after, [
    "certificateAuthorities",
    "oneAlertPerCause",
    "reportMails",
  ]),
];

const openSettings = (vault: Vault, row: SettingsRow) =>
  new OpenedRecord(settingsKinds, kind, { smtp: openSmtp(vault, row) });

/** Applies a patch to the settings without storing them. Throws VALIDATION_ERROR. */
export async function patchSettings(
  scope: Scope,
  before: SettingsRow,
  patch: SettingsPatch,
): Promise<SettingsRow> {
  const { vault, organizationId } = scope;
  const smtp = await patchSmtp(scope, before, patch.smtp);
  const { settings, secrets } = splitSecrets(settingsKinds, kind, { smtp });
  const { certificateAuthorities = before.certificateAuthorities } = patch;
  const issue = certificateAuthorities && findCertificateIssue(certificateAuthorities);
  if (issue) throw invalidFieldError("certificateAuthorities", issue);
  return {
    ...before,
    smtp: smtp === null ? null : JSON.stringify(settings["smtp"]),
    certificateAuthorities,
    keepDeletedDays: patch.keepDeletedDays ?? before.keepDeletedDays,
    oneAlertPerCause: patch.oneAlertPerCause ?? before.oneAlertPerCause,
    reportMails: addStartTimes(patch.reportMails, before.reportMails, scope.clock()),
    secrets: sealAll(vault, buildSettingsPath(organizationId), secrets),
    ...buildNextVersion(before, formatTimestamp(scope.clock())),
  };
}

/** Adds the time from which each report is sent: a report that was set up before keeps its time. */
function addStartTimes(
  next: readonly ReportMail[] | undefined,
  before: SettingsRow["reportMails"],
  now: number,
): SettingsRow["reportMails"] {
  if (next === undefined) return before;
  return next.map((mail) => {
    const isSame = (other: ReportMail) =>
      (["interval", "groupId", "statusPageId"] as const).every(
        (name) => mail[name] === other[name],
      );
    return { ...mail, since: before.find(isSame)?.since ?? now };
  });
}

export const changeSettings = ({ store, organizationId }: Scope, row: SettingsRow) =>
  store.db
    .update(organizationSettings)
    .set(row)
    .where(matchValues(organizationSettings, { organizationId }));

const listTargets = (smtp: SmtpSettings | null): RecordTarget[] =>
  smtp === null ? [] : [{ path: "smtp.host", host: smtp.host, port: smtp.port }];

/** Returns the mail server after a patch; null if none is left. Throws VALIDATION_ERROR. */
export async function patchSmtp(
  { vault, targets }: Pick<Scope, "vault" | "targets">,
  before: SettingsRow,
  patch: SettingsPatch["smtp"],
): Promise<SmtpSettings | null> {
  const record = openSettings(vault, before);
  const { smtp } = record.applyPatch({ smtp: patch }, (whole) => parse(Whole, whole));
  const placesBefore = record.derive((fields) =>
    listTargets(fields["smtp"] as SmtpSettings | null),
  );
  if (smtp !== null) await assertTargetsAllowed(targets, listTargets(smtp), placesBefore);
  return smtp;
}

type SettingsRow = typeof organizationSettings.$inferSelect;

/** Reads the settings row, which every organization has from its creation. */
export async function findSettings(store: Store, organizationId: string): Promise<SettingsRow> {
  const [row] = await store.db
    .select()
    .from(organizationSettings)
    .where(matchValues(organizationSettings, { organizationId }));
  if (row === undefined) throw new Error("An organization has no settings.");
  return row;
}
