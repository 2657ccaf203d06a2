/** Creates, reads, changes and deletes sign-in providers. Only administrators of the appliance can. */
import { AppError } from "../../core/errors.ts";
import { type ChangedField, listChangedFields } from "../../core/field-changes.ts";
import { createId } from "../../core/ids.ts";
import { deletedBody } from "../../core/paging.ts";
import { findCertificateIssue } from "../../core/security/certificates.ts";
import {
  joinSecrets,
  listSecretPaths,
  OpenedRecord,
  splitSecrets,
} from "../../core/security/kind-secrets.ts";
import { openAll, sealAll, type Vault } from "../../core/security/secrets.ts";
import { assertTargetsAllowed, listUrlTargets } from "../../core/security/target-guard.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { invalidFieldError, parse } from "../../core/validation.ts";
import { buildFirstVersion, buildNextVersion } from "../../database/rows.ts";
import { retryOnStaleRead, type Statement, type Store } from "../../database/store.ts";
import type { AuditAction } from "../../events/catalog.ts";
import type { SignedInContext } from "../../http/visitor-context.ts";
import { guardAdministrator } from "../people/store.ts";
import { buildAuditRows } from "../sessions/service.ts";
import {
  type IdentityProvider,
  type IdentityProviderPatch,
  type NewIdentityProvider,
  type ProviderOrganization,
  type ProviderButton,
  providerKinds,
  ProviderSettings,
} from "./schema.ts";
import {
  addProvider,
  changeProvider,
  countIdentities,
  findProviderOrganizations,
  findProvider,
  findProviders,
  presetOf,
  type ProviderRow,
  removeProvider,
  replaceProviderOrganizations,
} from "./store.ts";

const kind = "provider";
const buildSecretPath = (id: string) => `identity-provider/${id}`;

/** A provider with its decrypted secret and its organizations. */
export type OpenedProvider = ProviderSettings &
  Pick<ProviderRow, "id" | "name" | "enabled" | "version"> & {
    organizations: readonly ProviderOrganization[];
  };

function openSettings(vault: Vault, { id, settings, secrets }: ProviderRow): ProviderSettings {
  const opened = openAll(vault, buildSecretPath(id), secrets);
  const settingsWithSecrets = joinSecrets(providerKinds, kind, JSON.parse(settings), opened);
  return ProviderSettings.parse(settingsWithSecrets);
}

/** Reads a provider with its secret. Throws NOT_FOUND for an unknown provider or one that is turned off. */
export async function openProvider(
  { store, vault }: { store: Store; vault: Vault },
  id: string,
): Promise<OpenedProvider> {
  const row = await findProvider(store, id);
  if (row === null || !row.enabled) throw providerNotFoundError();
  const { name, enabled, version } = row;
  const organizations = (await findProviderOrganizations(store, id)).get(id) ?? [];
  return { ...openSettings(vault, row), id, name, enabled, version, organizations };
}

const providerNotFoundError = () =>
  new AppError("NOT_FOUND", "There is no such sign-in provider, or it was turned off.");

function toRecord(
  row: ProviderRow,
  organizations: readonly ProviderOrganization[],
  people: number,
): IdentityProvider {
  const { id, name, enabled, settings, secrets, createdAt, updatedAt } = row;
  return {
    ...(JSON.parse(settings) as Omit<ProviderSettings, "clientSecret">),
    id,
    name,
    enabled,
    organizations: [...organizations],
    secretsSet: listSecretPaths(providerKinds, kind, secrets),
    people,
    createdAt,
    updatedAt,
  };
}

/** Lists all providers, oldest first. */
export async function listIdentityProviders({ store }: SignedInContext) {
  const rows = await findProviders(store);
  const organizations = await findProviderOrganizations(store);
  const people = await countIdentities(store);
  return rows.map((row) => toRecord(row, organizations.get(row.id) ?? [], people.get(row.id) ?? 0));
}

/** Lists the providers that the sign-in page offers, oldest first. */
export async function listProviderButtons(
  store: Store,
  organizationId?: string,
): Promise<ProviderButton[]> {
  const organizations =
    organizationId === undefined ? null : await findProviderOrganizations(store);
  const isOffered = (id: string) =>
    organizations === null ||
    (organizations.get(id) ?? []).some((one) => one.organizationId === organizationId);
  const rows = (await findProviders(store)).filter(({ id, enabled }) => enabled && isOffered(id));
  const buttons = rows.map(({ id, name, settings }) => {
    // Providers of earlier versions have no `isDirect`.
    const { preset, isDirect = false } = JSON.parse(settings) as Partial<ProviderSettings>;
    return { id, name, preset: preset ?? ("other" as const), isDirect };
  });
  return buttons.filter(({ preset }) => preset !== "proxy");
}

/** Reads the provider for trusted headers, the oldest one that is turned on; null for none. */
export async function openHeaderProvider(context: {
  store: Store;
  vault: Vault;
}): Promise<OpenedProvider | null> {
  const rows = (await findProviders(context.store)).filter(({ enabled }) => enabled);
  const row = rows.find((one) => presetOf(one) === "proxy");
  return row === undefined ? null : openProvider(context, row.id);
}

const listTargets = ({ issuer }: Pick<ProviderSettings, "issuer">) =>
  listUrlTargets("issuer", issuer);

function assertCertificates({ certificateAuthorities }: ProviderSettings) {
  const issue = certificateAuthorities && findCertificateIssue(certificateAuthorities);
  if (issue) throw invalidFieldError("certificateAuthorities", issue);
}

function sealSettings(vault: Vault, id: string, providerSettings: ProviderSettings) {
  const { settings, secrets } = splitSecrets(providerKinds, kind, providerSettings);
  return {
    settings: JSON.stringify(settings),
    secrets: sealAll(vault, buildSecretPath(id), secrets),
  };
}

/**
 * Returns the audit rows of a change, for the organizations of the provider, or for those of the
 * administrator if it has none.
 */
function buildProviderAudit(
  context: SignedInContext,
  action: AuditAction & `identity-provider.${string}`,
  subjectId: string,
  providerOrganizations: readonly ProviderOrganization[],
  fields?: readonly ChangedField[],
): Statement[] {
  const { person, organizations } = context.session;
  const ids =
    providerOrganizations.length > 0
      ? providerOrganizations.map((one) => one.organizationId)
      : organizations.map(({ id }) => id);
  return buildAuditRows(
    [...new Set(ids)],
    context,
    { type: "person", id: person.id, name: person.name },
    { action, subjectId, ...(fields && { fields }) },
  );
}

/**
 * Adds a provider. Throws VALIDATION_ERROR, NOT_FOUND for an unknown organization, CONFLICT beyond the
 * limit, and FORBIDDEN if the person is no longer an administrator.
 */
export async function createIdentityProvider(
  context: SignedInContext,
  { name, enabled, organizations, ...whole }: NewIdentityProvider,
): Promise<IdentityProvider> {
  const { store, vault, clock, targets, session } = context;
  assertCertificates(whole);
  await assertTargetsAllowed(targets, listTargets(whole));
  const now = clock();
  const id = createId(now);
  const row: ProviderRow = {
    id,
    name,
    enabled,
    ...sealSettings(vault, id, whole),
    ...buildFirstVersion(formatTimestamp(now)),
  };
  await store.atomic([
    guardAdministrator(session.person.id),
    ...addProvider(store, row),
    ...replaceProviderOrganizations(store, id, organizations),
    ...buildProviderAudit(context, "identity-provider.created", id, organizations),
  ]);
  return toRecord(row, organizations, 0);
}

/**
 * Changes a provider. A changed issuer needs the client secret again. Throws NOT_FOUND,
 * VALIDATION_ERROR, and FORBIDDEN if the person is no longer an administrator.
 */
export function updateIdentityProvider(
  context: SignedInContext,
  id: string,
  { name, enabled, organizations, ...patch }: IdentityProviderPatch,
): Promise<IdentityProvider> {
  const { store, vault, clock, targets, session } = context;
  return retryOnStaleRead(async () => {
    const before = await getProviderRow(store, id);
    const record = new OpenedRecord(providerKinds, kind, openSettings(vault, before));
    const patchedSettings = record.applyPatch(patch, (fields) => parse(ProviderSettings, fields));
    assertCertificates(patchedSettings);
    const targetsBefore = record.derive((fields) => listTargets(fields as ProviderSettings));
    await assertTargetsAllowed(targets, listTargets(patchedSettings), targetsBefore);
    const after: ProviderRow = {
      ...before,
      name: name ?? before.name,
      enabled: enabled ?? before.enabled,
      ...sealSettings(vault, id, patchedSettings),
      ...buildNextVersion(before, formatTimestamp(clock())),
    };
    const organizationsBefore = (await findProviderOrganizations(store, id)).get(id) ?? [];
    const organizationsAfter = organizations ?? organizationsBefore;
    const isReassigned = !Bun.deepEquals(organizationsAfter, organizationsBefore);
    const changes = [
      ...listChangedFields(before, after, ["name", "enabled"]),
      ...record.listChanges(patchedSettings),
      ...(isReassigned ? ["organizations"] : []),
    ];
    await store.atomic([
      guardAdministrator(session.person.id),
      ...changeProvider(store, before, after),
      ...(isReassigned ? replaceProviderOrganizations(store, id, organizationsAfter) : []),
      ...buildProviderAudit(
        context,
        "identity-provider.updated",
        id,
        [...organizationsBefore, ...organizationsAfter],
        changes,
      ),
    ]);
    return toRecord(after, organizationsAfter, (await countIdentities(store)).get(id) ?? 0);
  });
}

/**
 * Deletes a provider. The people remain, without their accounts there; its sessions end. Throws
 * NOT_FOUND, and FORBIDDEN if the person is no longer an administrator.
 */
export async function deleteIdentityProvider(context: SignedInContext, id: string) {
  const { store, session } = context;
  await getProviderRow(store, id);
  const organizations = (await findProviderOrganizations(store, id)).get(id) ?? [];
  await store.atomic([
    guardAdministrator(session.person.id),
    ...buildProviderAudit(context, "identity-provider.deleted", id, organizations),
    removeProvider(store, id),
  ]);
  return deletedBody;
}

async function getProviderRow(store: Store, id: string): Promise<ProviderRow> {
  const row = await findProvider(store, id);
  if (row === null) throw new AppError("NOT_FOUND", "There is no sign-in provider with this id.");
  return row;
}
