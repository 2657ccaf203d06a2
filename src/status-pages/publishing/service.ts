/** Reads and updates the publication of a status page. */
import { join } from "node:path";
import { Bucket } from "../../core/outgoing/bucket-schema.ts";
import { listChangedFields } from "../../core/field-changes.ts";
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
import { retryOnStaleRead } from "../../database/store.ts";
import { statusPages } from "../../database/tables/status-pages.ts";
import { changedSinceError, commit, guardCurrent, matchesIfMatch } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { getStored } from "../service.ts";
import type { StoredPage } from "../store.ts";
import {
  type Publishing,
  publishingKinds,
  type PublishingPatch,
  PublishingPlan,
} from "./schema.ts";
import { formatPlace, isSamePlace, locatePlace } from "./rules.ts";
import {
  claimPlace,
  findPublishing,
  listPlaces,
  type PlaceRow,
  type PublishingRow,
  putPublishing,
} from "./store.ts";

const kind = "publishing";

type PublishingRecord = Publishing & { version: number };

const buildSecretPath = ({
  organizationId,
  pageId,
}: Pick<PublishingRow, "organizationId" | "pageId">) => `${organizationId}/publishing/${pageId}`;

/** Returns the stored settings with decrypted secrets, or the defaults. */
export function openPublishing(vault: Vault, row: PublishingRow | null): PublishingPlan {
  if (row === null) return PublishingPlan.parse({});
  const secrets = openAll(vault, buildSecretPath(row), row.secrets);
  return PublishingPlan.parse(
    joinSecrets(publishingKinds, kind, JSON.parse(row.settings), secrets),
  );
}

/** Returns the folder of a page in `--publish-dir`. A slug contains no separators. */
export const resolvePublishFolder = (publishDir: string, slug: string) => join(publishDir, slug);

/** The version in ETags. Settings that were never stored have the first one. */
const getVersion = (row: PublishingRow | null) => (row?.version ?? 0) + 1;

const toFailure = ({ failingSince, lastError }: Pick<PlaceRow, "failingSince" | "lastError">) =>
  failingSince === null ? null : { since: failingSince, reason: lastError ?? "" };

function toPublishing(
  vault: Vault,
  row: PublishingRow | null,
  { slug }: Pick<StoredPage, "slug">,
  places: readonly PlaceRow[],
  publishDir: string | null,
): PublishingRecord {
  const plan = openPublishing(vault, row);
  const current = locatePlace(plan, slug);
  const isCurrent = (place: PlaceRow) => current !== null && isSamePlace(place, current);
  const countFiles = ({ files }: PlaceRow) => Object.keys(files).length;
  return {
    ...plan,
    folder: publishDir === null ? null : resolvePublishFolder(publishDir, slug),
    files: places.filter(isCurrent).reduce((sum, place) => sum + countFiles(place), 0),
    publishedAt: row?.publishedAt ?? null,
    failure: row === null ? null : toFailure(row),
    removals: places
      .filter((place) => !isCurrent(place) && countFiles(place) > 0)
      .map((place) => ({
        place: formatPlace(place),
        files: countFiles(place),
        failure: toFailure(place),
      })),
    secretsSet: row === null ? [] : listSecretPaths(publishingKinds, kind, row.secrets),
    version: getVersion(row),
    updatedAt: row?.updatedAt ?? null,
  };
}

/**
 * Columns of a place that follow from the settings of its page. Its secrets are encrypted like the secrets of the
 * settings.
 */
export function toPlaceValues({ organizationId, pageId, settings, secrets }: PublishingRow) {
  const { to, s3 } = JSON.parse(settings) as Pick<PublishingPlan, "to" | "s3">;
  const isFolder = to === "folder";
  return {
    organizationId,
    pageId,
    bucket: isFolder ? null : JSON.stringify(s3),
    secrets: isFolder ? "{}" : secrets,
  };
}

/** Returns the bucket of a place with its decrypted secret; null for a folder. */
export function openBucket(vault: Vault, row: PlaceRow): Bucket | null {
  if (row.bucket === null) return null;
  const { "s3.secretAccessKey": secretAccessKey = null } = openAll(
    vault,
    buildSecretPath(row),
    row.secrets,
  );
  return Bucket.parse({ ...(JSON.parse(row.bucket) as object), secretAccessKey });
}

/** Throws NOT_FOUND. */
export async function getPublishing(
  scope: Scope,
  pageId: string,
  publishDir: string | null,
): Promise<PublishingRecord> {
  const page = await getStored(scope, pageId);
  const row = await findPublishing(scope, pageId);
  const { organizationId } = scope;
  const places = await listPlaces(scope.store, { organizationId, pageId });
  return toPublishing(scope.vault, row, page, places, publishDir);
}

const listTargets = ({ s3 }: PublishingPlan) => listUrlTargets("s3.endpoint", s3?.endpoint);

/** Throws NOT_FOUND, PRECONDITION_FAILED, VALIDATION_ERROR for a blocked endpoint, or for a folder without `--publish-dir`. */
export function updatePublishing(
  scope: Scope,
  pageId: string,
  patch: PublishingPatch,
  publishDir: string | null,
): Promise<PublishingRecord> {
  const { store, vault, organizationId, targets } = scope;
  return retryOnStaleRead(async () => {
    const page = await getStored(scope, pageId);
    const row = await findPublishing(scope, pageId);
    const isCurrent = (tag: string) => tag.startsWith(`"${getVersion(row)}-`);
    if (!matchesIfMatch(scope, isCurrent)) throw changedSinceError();
    const before = new OpenedRecord(publishingKinds, kind, openPublishing(vault, row));
    const after = before.applyPatch(patch, (whole) => parse(PublishingPlan, whole));
    if (after.enabled && after.to === "folder" && publishDir === null)
      throw invalidFieldError("to", "must be s3: a folder needs `serve --publish-dir DIR`");
    const placesBefore = before.derive((fields) => listTargets(fields as PublishingPlan));
    await assertTargetsAllowed(targets, listTargets(after), placesBefore);
    const { settings, secrets } = splitSecrets(publishingKinds, kind, after);
    const key = { organizationId, pageId };
    const places = await listPlaces(store, key);
    const next: PublishingRow = {
      publishedAt: null,
      failingSince: null,
      lastError: null,
      ...row,
      ...key,
      settings: JSON.stringify(settings),
      secrets: sealAll(vault, buildSecretPath(key), secrets),
      version: (row?.version ?? 0) + 1,
      updatedAt: formatTimestamp(scope.clock()),
    };
    const place = locatePlace(after, page.slug);
    const answer = toPublishing(vault, next, page, places, publishDir);
    return commit(
      scope,
      [
        ...guardCurrent({ ...scope, ifMatch: null }, statusPages, page),
        ...putPublishing(store, next),
        ...(place === null ? [] : claimPlace(store, { ...place, ...toPlaceValues(next) })),
      ],
      {
        action: "status-page.publishing-changed",
        subjectId: pageId,
        fields: listChangedFields(
          toPublishing(vault, row, page, places, publishDir),
          answer,
          ["enabled", "to", "s3", "url"],
          patch.s3?.secretAccessKey === undefined ? [] : ["secretAccessKey"],
        ),
      },
      answer,
    );
  });
}
