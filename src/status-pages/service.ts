/** Lists, creates, updates and deletes status pages, and sets their logos. */
import { commit, guardCurrent } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { timestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { hashPassword } from "../core/security/passwords.ts";
import { deleted } from "../core/paging.ts";
import { invalid } from "../core/validation.ts";
import { mustBeWithin } from "../database/references.ts";
import { mustName, removeRow, nextVersion } from "../database/rows.ts";
import { retrying, type Statement } from "../database/store.ts";
import { monitorGroups, monitors } from "../database/tables/monitoring.ts";
import { statusPages } from "../database/tables/status-pages.ts";
import { assertLogo, validateAccess, hostsOf, logoUrlOf } from "./rules.ts";
import type { NewStatusPage, StatusPage, StatusPagePatch, StatusPageSection } from "./schema.ts";
import { changePage, findPages, insertPage, type StoredPage } from "./store.ts";

type StatusPageRecord = StatusPage & { version: number };

/** Lists all pages of the organization, the default page first, then newest first. */
export async function listStatusPages(scope: Scope): Promise<StatusPageRecord[]> {
  return (await findPages(scope)).map((page) => shown(scope, page));
}

/** Throws NOT_FOUND. */
export async function getStatusPage(scope: Scope, id: string): Promise<StatusPageRecord> {
  return shown(scope, await getStored(scope, id));
}

/** Returns the stored page, including the password hash and the logo. Throws NOT_FOUND. */
export async function getStored(scope: Scope, id: string): Promise<StoredPage> {
  const [page] = await findPages(scope, id);
  if (page === undefined) throw new AppError("NOT_FOUND", "There is no such status page.");
  return page;
}

function shown({ ownHosts }: Scope, page: StoredPage): StatusPageRecord {
  return {
    ...page,
    default: page.isDefault,
    hosts: hostsOf(page, ownHosts),
    logoUrl: logoUrlOf(page),
    secretsSet: page.passwordHash === null ? [] : ["password"],
  };
}

/** Throws VALIDATION_ERROR if the page asks for a password but has none. */
export function mustBeOpenable(visibility: StatusPage["visibility"], passwordIsSet: boolean) {
  const issue = validateAccess(visibility, passwordIsSet);
  if (issue !== null) throw invalid("password", issue);
}

export const passwordHashOf = ({ organizationId }: Scope, password: string) =>
  hashPassword(password, { lane: "page", client: organizationId });

/** Throws VALIDATION_ERROR for a host name of the appliance itself. */
export function mustBeFree({ ownHosts }: Scope, hosts: readonly string[]) {
  const index = hosts.findIndex((host) => ownHosts.reserves(host));
  if (index !== -1)
    throw invalid(
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
  mustBeOpenable(fields.visibility, password !== null);
  mustBeFree(scope, hosts);
  const passwordHash = password === null ? null : await passwordHashOf(scope, password);
  const now = scope.clock();
  const page: StoredPage = {
    organizationId,
    id: newId(now),
    isDefault: false,
    ...fields,
    sections,
    hosts,
    passwordHash,
    logoType: null,
    logoData: null,
    version: 1,
    createdAt: timestamp(now),
    updatedAt: timestamp(now),
  };
  return commit(
    scope,
    [
      ...mustKnow(scope, sections),
      ...insertPage(scope, page),
      mustBeWithin(scope, "status-pages", statusPages),
    ],
    { action: "status-page.created", subjectId: page.id },
    shown(scope, page),
  );
}

/** Updates a page, or nothing if it throws: the errors of `createStatusPage`, NOT_FOUND, PRECONDITION_FAILED. */
export async function updateStatusPage(scope: Scope, id: string, patch: StatusPagePatch) {
  const { password, ...fields } = patch;
  mustBeFree(scope, patch.hosts ?? []);
  // Hashing is slow: skip it for an unknown page, and do it once for all retries of the write.
  if (password) await getStored(scope, id);
  const passwordHash = password ? await passwordHashOf(scope, password) : password;
  return rewrite(scope, id, Object.keys(patch), (before) => {
    const hash = passwordHash === undefined ? before.passwordHash : passwordHash;
    mustBeOpenable(patch.visibility ?? before.visibility, hash !== null);
    return { ...(fields as Partial<StoredPage>), passwordHash: hash };
  });
}

/**
 * Stores an image as the page's logo. Throws NOT_FOUND, PRECONDITION_FAILED, and VALIDATION_ERROR for bytes that
 * don't match the type.
 */
export function setLogo(scope: Scope, id: string, image: { type: string; bytes: Uint8Array }) {
  assertLogo(image);
  const logo = { logoType: image.type, logoData: image.bytes.toBase64() };
  return rewrite(scope, id, ["logo"], () => logo);
}

/** Throws NOT_FOUND, PRECONDITION_FAILED. */
export function removeLogo(scope: Scope, id: string): Promise<StatusPageRecord> {
  const none = { logoType: null, logoData: null };
  return rewrite(scope, id, ["logo"], () => none);
}

function rewrite(
  scope: Scope,
  id: string,
  named: readonly string[],
  changeOf: (before: StoredPage) => Partial<StoredPage>,
): Promise<StatusPageRecord> {
  return retrying(async () => {
    const before = await getStored(scope, id);
    const updatedAt = timestamp(scope.clock());
    const change = { ...changeOf(before), ...nextVersion(before, updatedAt) };
    return commit(
      scope,
      [
        ...mustKnow(scope, change.sections ?? []),
        ...guardCurrent(scope, statusPages, before),
        ...changePage(scope, before, change),
      ],
      { action: "status-page.updated", subjectId: id, fields: named },
      shown(scope, { ...before, ...change }),
    );
  });
}

function mustKnow(scope: Scope, sections: readonly StatusPageSection[]): Statement[] {
  const groupIds = sections.flatMap(({ groupId }) => groupId ?? []);
  const monitorIds = sections.flatMap(({ monitors }) => monitors.map(({ id }) => id));
  return [
    ...mustName(scope, "sections", monitorGroups, groupIds),
    ...mustName(scope, "sections", monitors, monitorIds),
  ];
}

/**
 * Deletes a page with its logo, sections and hosts. Throws NOT_FOUND, PRECONDITION_FAILED, and CONFLICT for the
 * default page.
 */
export function deleteStatusPage(scope: Scope, id: string): Promise<typeof deleted> {
  return retrying(async () => {
    const page = await getStored(scope, id);
    if (page.isDefault)
      throw new AppError(
        "CONFLICT",
        "The organization's default status page can't be deleted. Hide it instead.",
      );
    return commit(
      scope,
      [...guardCurrent(scope, statusPages, page), removeRow(scope, statusPages, id)],
      { action: "status-page.deleted", subjectId: id },
      deleted,
    );
  });
}
