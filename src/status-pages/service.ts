/** Lists, creates, updates and deletes status pages, and sets their files. */
import { removeRecords } from "../database/deleted-records.ts";
import { commit, guardCurrent } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { listChangedFields } from "../core/field-changes.ts";
import { formatTimestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { createId } from "../core/ids.ts";
import { hashPassword } from "../core/security/passwords.ts";
import { deletedBody } from "../core/paging.ts";
import { invalidFieldError } from "../core/validation.ts";
import { guardLimit } from "../database/references.ts";
import { guardFieldExists, buildNextVersion } from "../database/rows.ts";
import { retryOnStaleRead, type Statement } from "../database/store.ts";
import { monitorGroups, monitors } from "../database/tables/monitoring.ts";
import { statusPages } from "../database/tables/status-pages.ts";
import { findUnreadableText } from "./rendering/palette-rules.ts";
import { compileCss } from "./custom-css.ts";
import type { Look } from "./look-schema.ts";
import {
  assertFont,
  assertImage,
  buildFileUrl,
  type FileName,
  filePaths,
  findMissingAccess,
  selectEffectiveHosts,
} from "./rules.ts";
import type { NewStatusPage, StatusPage, StatusPagePatch, StatusPageSection } from "./schema.ts";
import { changePage, findPages, insertPage, noFiles, type StoredPage } from "./store.ts";

type StatusPageRecord = StatusPage & { version: number };

/** Lists all pages of the organization, the default page first, then newest first. */
export async function listStatusPages(scope: Scope): Promise<StatusPageRecord[]> {
  // Callers limited to monitor groups can't see status pages.
  if (scope.groupIds !== null) return [];
  return (await findPages(scope)).map((page) => toStatusPageRecord(scope, page));
}

/** Throws NOT_FOUND. */
export async function getStatusPage(scope: Scope, id: string): Promise<StatusPageRecord> {
  return toStatusPageRecord(scope, await getStored(scope, id));
}

/** Returns the stored page, including the password hash and the logo. Throws NOT_FOUND. */
export async function getStored(scope: Scope, id: string): Promise<StoredPage> {
  const [page] = await findPages(scope, id);
  if (page === undefined) throw new AppError("NOT_FOUND", "There is no such status page.");
  return page;
}

function toStatusPageRecord({ ownHosts }: Scope, page: StoredPage): StatusPageRecord {
  return {
    ...page,
    default: page.isDefault,
    hosts: selectEffectiveHosts(page, ownHosts),
    logoUrl: buildFileUrl(page.slug, filePaths.logo, page.logoData),
    faviconUrl: buildFileUrl(page.slug, filePaths.favicon, page.faviconData),
    fontUrl: buildFileUrl(page.slug, filePaths.font, page.fontData),
    secretsSet: page.passwordHash === null ? [] : ["password"],
  };
}

/** Throws VALIDATION_ERROR if the page lacks the password or the addresses that its visibility requires. */
export function assertOpenable(
  page: Pick<StatusPage, "visibility" | "allowedAddresses">,
  passwordIsSet: boolean,
) {
  const missing = findMissingAccess(page, passwordIsSet);
  if (missing !== null) throw invalidFieldError(missing.field, missing.issue);
}

/** Throws VALIDATION_ERROR if the colors make texts unreadable. */
export function assertReadable(look: Look) {
  const unreadable = findUnreadableText(look);
  if (unreadable !== null) throw invalidFieldError(unreadable.field, unreadable.issue);
}

/** Applies a patch of a look, whose absent fields keep their value. Throws VALIDATION_ERROR for unreadable texts. */
export function changeLook(before: Look, patch: StatusPagePatch["look"]): Look {
  const look = { ...before, ...(patch as Partial<Look> | undefined) };
  assertReadable(look);
  return look;
}

export const hashPagePassword = ({ organizationId }: Scope, password: string) =>
  hashPassword(password, { lane: "page", client: organizationId });

/** Throws VALIDATION_ERROR for a host name of the appliance itself. */
export function assertHostsFree({ ownHosts }: Scope, hosts: readonly string[]) {
  const index = hosts.findIndex((host) => ownHosts.isReserved(host));
  if (index !== -1)
    throw invalidFieldError(
      `hosts[${index}]`,
      "must be a name with a dot that is not this appliance's own (see --url and --allowed-host)",
    );
}

/**
 * Creates a page. Throws VALIDATION_ERROR for a missing password or a reserved host, NOT_FOUND for an unknown
 * monitor or group, CONFLICT for a taken slug or host.
 */
export async function createStatusPage(
  scope: Scope,
  { password, sections, hosts, ...fields }: NewStatusPage,
): Promise<StatusPageRecord> {
  const { organizationId } = scope;
  assertOpenable(fields, password !== null);
  assertReadable(fields.look);
  assertHostsFree(scope, hosts);
  const stylesheet = await compileCss(fields.look.css);
  const passwordHash = password === null ? null : await hashPagePassword(scope, password);
  const now = scope.clock();
  const page: StoredPage = {
    organizationId,
    id: createId(now),
    isDefault: false,
    ...fields,
    sections,
    hosts,
    passwordHash,
    ...noFiles,
    stylesheet,
    version: 1,
    createdAt: formatTimestamp(now),
    updatedAt: formatTimestamp(now),
  };
  return commit(
    scope,
    [
      ...guardReferences(scope, sections),
      ...insertPage(scope, page),
      guardLimit(scope, "status-pages", statusPages),
    ],
    { action: "status-page.created", subjectId: page.id },
    toStatusPageRecord(scope, page),
  );
}

/** Updates a page, or nothing if it throws: the errors of `createStatusPage`, NOT_FOUND, PRECONDITION_FAILED. */
export async function updateStatusPage(scope: Scope, id: string, patch: StatusPagePatch) {
  const { password, ...fields } = patch;
  assertHostsFree(scope, patch.hosts ?? []);
  const css = patch.look?.css as string | undefined;
  const compiled = css === undefined ? {} : { stylesheet: await compileCss(css) };
  // Hashing is slow: skip it for an unknown page, and do it once for all retries of the write.
  if (password) await getStored(scope, id);
  const passwordHash = password ? await hashPagePassword(scope, password) : password;
  return rewritePage(scope, id, Object.keys(patch), (before) => {
    const hash = passwordHash === undefined ? before.passwordHash : passwordHash;
    const { visibility = before.visibility, allowedAddresses = before.allowedAddresses } = patch;
    assertOpenable({ visibility, allowedAddresses }, hash !== null);
    const look = patch.look && { look: changeLook(before.look, patch.look) };
    return { ...(fields as Partial<StoredPage>), ...look, ...compiled, passwordHash: hash };
  });
}

/**
 * Stores the logo, favicon or font of a page. Throws NOT_FOUND, PRECONDITION_FAILED, and VALIDATION_ERROR for bytes
 * that don't match the type.
 */
export function setFile(
  scope: Scope,
  id: string,
  name: FileName,
  upload: { type: string; bytes: Uint8Array },
): Promise<StatusPageRecord> {
  if (name === "font") assertFont(upload.bytes);
  else assertImage(upload, name);
  const change = buildFileChange(name, upload.type, upload.bytes.toBase64());
  return rewritePage(scope, id, [name], () => change);
}

/** Throws NOT_FOUND, PRECONDITION_FAILED. */
export function removeFile(scope: Scope, id: string, name: FileName): Promise<StatusPageRecord> {
  const change = buildFileChange(name, null, null);
  return rewritePage(scope, id, [name], () => change);
}

function buildFileChange(name: FileName, type: string | null, data: string | null) {
  if (name === "font") return { fontData: data };
  return name === "logo"
    ? { logoType: type, logoData: data }
    : { faviconType: type, faviconData: data };
}

/** Columns of fields whose values are not in the audit log. */
const columnsWithoutValues: Record<
  string,
  "passwordHash" | "logoData" | "faviconData" | "fontData" | undefined
> = {
  password: "passwordHash",
  logo: "logoData",
  favicon: "faviconData",
  font: "fontData",
};

function rewritePage(
  scope: Scope,
  id: string,
  changedFields: readonly string[],
  changeOf: (before: StoredPage) => Partial<StoredPage>,
): Promise<StatusPageRecord> {
  return retryOnStaleRead(async () => {
    const before = await getStored(scope, id);
    const updatedAt = formatTimestamp(scope.clock());
    const change = { ...changeOf(before), ...buildNextVersion(before, updatedAt) };
    const after = toStatusPageRecord(scope, { ...before, ...change });
    return commit(
      scope,
      [
        ...guardReferences(scope, change.sections ?? []),
        ...guardCurrent(scope, statusPages, before),
        ...changePage(scope, before, change),
      ],
      {
        action: "status-page.updated",
        subjectId: id,
        fields: listChangedFields(
          toStatusPageRecord(scope, before),
          after,
          changedFields,
          changedFields.filter((name) => {
            const column = columnsWithoutValues[name];
            return column !== undefined && column in change && change[column] !== before[column];
          }),
        ),
      },
      after,
    );
  });
}

function guardReferences(scope: Scope, sections: readonly StatusPageSection[]): Statement[] {
  const groupIds = sections.flatMap(({ groupId }) => groupId ?? []);
  const monitorIds = sections.flatMap(({ monitors }) => monitors.map(({ id }) => id));
  return [
    ...guardFieldExists(scope, "sections", monitorGroups, groupIds),
    ...guardFieldExists(scope, "sections", monitors, monitorIds),
  ];
}

/**
 * Deletes a page with its logo, sections and hosts. Throws NOT_FOUND, PRECONDITION_FAILED, and CONFLICT for the
 * default page.
 */
export function deleteStatusPage(scope: Scope, id: string): Promise<typeof deletedBody> {
  return retryOnStaleRead(async () => {
    const page = await getStored(scope, id);
    if (page.isDefault)
      throw new AppError(
        "CONFLICT",
        "The organization's default status page can't be deleted. Hide it instead.",
      );
    return commit(
      scope,
      [
        ...guardCurrent(scope, statusPages, page),
        ...removeRecords(scope, "status-page", [id], formatTimestamp(scope.clock())),
      ],
      { action: "status-page.deleted", subjectId: id },
      deletedBody,
    );
  });
}
