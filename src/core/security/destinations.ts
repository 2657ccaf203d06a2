/** Binds secrets to their destinations. A changed address requires the secret to be entered again. */
import { type Fields, isObject } from "../collections/objects.ts";

/** Whether a changed field still names the same destination, with at least the same protection. */
type IsSameDestination = (before: unknown, after: unknown, records: Records) => boolean;

type Records = { before: Fields; after: Fields };

/**
 * Fields that decide where a secret is sent, with a comparison for each. If the destination changes, the secret must
 * be entered again: a stored secret is never sent to a changed address.
 */
export type Destination<Field extends string = string> = Readonly<
  Partial<Record<Field, IsSameDestination>>
>;

/** For a secret that contains its destination, such as a webhook URL of a chat service. */
export const selfDestination: Destination = {};

/** For a secret with one fixed destination. */
export const fixedDestination: Destination = {};

/** Compares scheme, host and port of two URLs. Path and query can differ. */
export const isSameOrigin = (before: unknown, after: unknown): boolean =>
  originOf(before) === originOf(after);

/** Compares two host names or IP addresses, in any spelling. */
export const isSameHost = (before: unknown, after: unknown): boolean =>
  hostOf(before) === hostOf(after);

export const isSameValue: IsSameDestination = (before, after) => before === after;

/** Compares two lists, including their order. */
export const isSameList: IsSameDestination = (before, after) =>
  JSON.stringify(before) === JSON.stringify(after);

/** Accepts the same or a stronger protection. `values` are in ascending order of strength. */
export function createStrengthCheck(...values: readonly unknown[]) {
  return (before: unknown, after: unknown): boolean =>
    values.indexOf(after) >= values.indexOf(before);
}

/** Compares two objects by the destination fields that they contain. */
export function createFieldsCheck(fields: Destination): IsSameDestination {
  return (before, after, records) => {
    if (!isObject(before) || !isObject(after)) return before === after;
    return Object.entries(fields).every(([name, isSame]) =>
      isSame?.(before[name], after[name], records),
    );
  };
}

/**
 * Accepts a list of records if each `url` has a known origin. A relative path has the origin of the record's `url`.
 */
export const hasNoOtherOrigins: IsSameDestination = (before, after, records) => {
  const ownOrigin = originOf(records.before["url"]);
  const known = new Set([ownOrigin, ...listOrigins(before)]);
  return listOrigins(after).every((origin) => known.has(origin));
};

function listOrigins(list: unknown): (string | null)[] {
  const urls = Array.isArray(list) ? list.map((one) => (isObject(one) ? one["url"] : null)) : [];
  return urls.filter((url) => typeof url !== "string" || !url.startsWith("/")).map(originOf);
}

function originOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const url = URL.parse(value);
  if (url === null) return value;
  const { protocol, hostname, port } = url;
  return `${protocol}//${parseHostName(hostname) ?? hostname}:${port}`;
}

function hostOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const address = value.includes(":") ? URL.parse(`http://[${value}]`)?.hostname : undefined;
  return address ?? parseHostName(value) ?? value.toLowerCase();
}

/**
 * Converts a host to the form of DNS and certificates (UTS 46): lower case, A-labels, no trailing dot. Leaves
 * addresses unchanged.
 */
export function toAsciiName(host: string): string {
  const name = host.replace(/\.$/, "");
  // Leaves an invalid international name unchanged. Its lookup then fails.
  return /^\p{ASCII}*$/u.test(name) ? name.toLowerCase() : (parseHostName(name) ?? name);
}

/** Converts a name to lower-case ASCII without the trailing dot; null if it is not a name. */
export function parseHostName(text: string): string | null {
  const host = /[\s/?#@:*%\\]/.test(text) ? null : URL.parse(`http://${text}/`)?.hostname;
  const name = host?.replace(/\.$/, "") ?? "";
  // Only digits and dots: an IPv4 address, which the URL parser accepts in many spellings.
  return /^[\d.]*$/.test(name) ? null : name;
}
