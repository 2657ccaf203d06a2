/** Determines which secrets of a record are stored, and which must be entered again. */
import { joinSecrets, findStrandedSecrets } from "../../../src/core/security/kind-secrets.ts";
import type { Kind, Kinds } from "../../../src/core/kinds.ts";
import { formatFieldPath } from "../../../src/core/text/formatting.ts";
import { t } from "../../language/text.ts";

type Values = Record<string, unknown>;

/** The stored secrets of a record that an editor knows, by path. */
export type StoredSecrets = {
  isSet(path: string): boolean;
  /** Whether the secret must be entered again, because its destination changed. */
  needsReentry(path: string): boolean;
  /** The error of a secret. If it must be entered again, the text explains why. */
  errorOf(path: string): string | undefined;
};

/** Fields of a type that contain secrets, entirely or in part. */
export const listSecretFields = (secrets: Kind["secrets"]): string[] =>
  Object.keys(secrets).map((path) => path.split(".")[0] ?? path);

/** Compares the stored record with the edited `body`. `record` is null for a new record. */
export function createStoredSecrets(
  kinds: Kinds,
  type: string,
  record: (Values & { secretsSet: readonly string[] }) | null,
  body: Values,
  errorOf: (path: string) => string | undefined,
): StoredSecrets {
  const set = new Set(record?.secretsSet);
  for (const path of Object.keys(kinds[type]?.secrets ?? {}))
    if (record !== null && path.endsWith(".*")) {
      const field = path.slice(0, -2);
      for (const name of Object.keys(record[field] ?? {})) set.add(formatFieldPath([field, name]));
    }
  // Placeholders: the values are unknown here, only whether they are set.
  const known = Object.fromEntries([...set].map((path) => [path, "set"]));
  const current = joinSecrets(kinds, type, record ?? {}, known);
  const strandedPaths = new Set(
    findStrandedSecrets(kinds, type, current, body).map((keys) => formatFieldPath(keys)),
  );
  return {
    isSet: (path) => set.has(path),
    needsReentry: (path) => strandedPaths.has(path),
    errorOf(path) {
      const error = errorOf(path);
      return error !== undefined && strandedPaths.has(path)
        ? explainReentry(kinds[type], path)
        : error;
    },
  };
}

function explainReentry(kind: Kind | undefined, path: string): string {
  const field = path.split(".")[0] ?? "";
  const isHeader = kind?.secrets[`${field}.*`] !== undefined;
  const mayBeNone = path !== field || kind?.fields[field]?.safeParse(null).success === true;
  if (isHeader) return t("The address changed: enter this again for the new one, or remove it.");
  return mayBeNone
    ? t("The address changed: enter this again for the new one, or clear it.")
    : t("The address changed: enter this again for the new one.");
}

/** Placeholder of an empty secret field. */
export function placeholderOf(secrets: StoredSecrets, path: string): string | undefined {
  if (secrets.needsReentry(path)) return t("Enter it again for the new address");
  return secrets.isSet(path) ? t("Set; leave empty to keep it") : undefined;
}

/** For forms of records without secrets. */
export const noSecrets: StoredSecrets = {
  isSet: () => false,
  needsReentry: () => false,
  errorOf: () => undefined,
};
