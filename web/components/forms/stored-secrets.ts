/** Which secrets of a record are stored, and which a form must ask for again. */
import { joinSecrets, strandedSecrets } from "../../../src/core/security/kind-secrets.ts";
import type { Kind, Kinds } from "../../../src/core/kinds.ts";
import { fieldPath } from "../../../src/core/text/words.ts";

type Values = Record<string, unknown>;

/** What an editor knows of the secrets that are stored with a record, by path. */
export type StoredSecrets = {
  isSet(path: string): boolean;
  /** Whether it has to be entered again, since the record would be sent to another address. */
  isAsked(path: string): boolean;
  /** What is wrong with a secret, in the words of this page. */
  errorOf(path: string): string | undefined;
};

/** The fields of a type that hold its secrets, whole or in part. */
export const fieldsWith = (secrets: Kind["secrets"]): string[] =>
  Object.keys(secrets).map((path) => path.split(".")[0] ?? path);

/** The secrets of a record as it is shown, while `body` is what would be sent; null for a new record. */
export function storedSecrets(
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
      for (const name of Object.keys(record[field] ?? {})) set.add(fieldPath([field, name]));
    }
  // Only that they are set matters.
  const known = Object.fromEntries([...set].map((path) => [path, "set"]));
  const current = joinSecrets(kinds, type, record ?? {}, known);
  const asked = new Set(strandedSecrets(kinds, type, current, body).map((keys) => fieldPath(keys)));
  return {
    isSet: (path) => set.has(path),
    isAsked: (path) => asked.has(path),
    errorOf(path) {
      const error = errorOf(path);
      return error !== undefined && asked.has(path) ? askedAgain(kinds[type], path) : error;
    },
  };
}

function askedAgain(kind: Kind | undefined, path: string): string {
  const field = path.split(".")[0] ?? "";
  const isHeader = kind?.secrets[`${field}.*`] !== undefined;
  const mayBeNone = path !== field || kind?.fields[field]?.safeParse(null).success === true;
  const without = isHeader ? ", or remove it" : mayBeNone ? ", or clear it" : "";
  return `The address changed: enter this again for the new one${without}.`;
}

/** What an empty field says of the secret behind it. */
export function placeholderOf(secrets: StoredSecrets, path: string): string | undefined {
  if (secrets.isAsked(path)) return "Enter it again for the new address";
  return secrets.isSet(path) ? "Set; leave empty to keep it" : undefined;
}

/** For forms whose records have none. */
export const noSecrets: StoredSecrets = {
  isSet: () => false,
  isAsked: () => false,
  errorOf: () => undefined,
};
