/** Rules that bind a secret to its destination: a changed address needs the secret again. */
import { type Fields, isObject } from "../collections/objects.ts";

/** Whether a changed field still names the same destination with at least the same protection. */
type IsSameDestination = (before: unknown, after: unknown, records: Records) => boolean;

type Records = { before: Fields; after: Fields };

/**
 * Fields that decide where a secret is sent, each with a comparison of its values. If one of them names another
 * destination, the secret must be entered again: a sealed secret never follows a changed address.
 */
export type Destination<Field extends string = string> = Readonly<
  Partial<Record<Field, IsSameDestination>>
>;

/** For a secret that contains its destination, such as the webhook URL of a chat. */
export const itsOwnAddress: Destination = {};

/** For a secret with one fixed destination. */
export const fixedAddress: Destination = {};

/** Scheme, host and port of a URL; path and query can change. */
export const sameOrigin = (before: unknown, after: unknown): boolean =>
  originOf(before) === originOf(after);

/** A host name or an IP address, in any spelling. */
export const sameHost = (before: unknown, after: unknown): boolean =>
  hostOf(before) === hostOf(after);

export const sameValue: IsSameDestination = (before, after) => before === after;

/** A list of the same values in the same order. */
export const sameList: IsSameDestination = (before, after) =>
  JSON.stringify(before) === JSON.stringify(after);

/** A protection that can stay the same or get stronger; `values` ascend in strength. */
export function noWeaker(...values: readonly unknown[]) {
  return (before: unknown, after: unknown): boolean =>
    values.indexOf(after) >= values.indexOf(before);
}

/** An object whose destination is in these fields. */
export function sameIn(fields: Destination): IsSameDestination {
  return (before, after, records) => {
    if (!isObject(before) || !isObject(after)) return before === after;
    return Object.entries(fields).every(([name, isSame]) =>
      isSame?.(before[name], after[name], records),
    );
  };
}

/** A list of records with a URL each, none of another origin than before; a path is one of the record's own `url`. */
export const noOtherOrigins: IsSameDestination = (before, after, records) => {
  const own = originOf(records.before["url"]);
  const known = new Set([own, ...originsIn(before)]);
  return originsIn(after).every((origin) => known.has(origin));
};

function originsIn(list: unknown): (string | null)[] {
  const urls = Array.isArray(list) ? list.map((one) => (isObject(one) ? one["url"] : null)) : [];
  return urls.filter((url) => typeof url !== "string" || !url.startsWith("/")).map(originOf);
}

function originOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const url = URL.parse(value);
  if (url === null) return value;
  const { protocol, hostname, port } = url;
  return `${protocol}//${plainName(hostname) ?? hostname}:${port}`;
}

function hostOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const address = value.includes(":") ? URL.parse(`http://[${value}]`)?.hostname : undefined;
  return address ?? plainName(value) ?? value.toLowerCase();
}

/** Converts a host to the form of DNS and certificates (UTS 46): lower case, A-labels, no trailing dot. Addresses stay unchanged. */
export function asciiName(host: string): string {
  const name = host.replace(/\.$/, "");
  // An invalid international name is looked up unchanged, and does not exist.
  return /^\p{ASCII}*$/u.test(name) ? name.toLowerCase() : (plainName(name) ?? name);
}

/** A name in lower case and ASCII, without the root's dot; null when it is none. */
export function plainName(text: string): string | null {
  const host = /[\s/?#@:*%\\]/.test(text) ? null : URL.parse(`http://${text}/`)?.hostname;
  const name = host?.replace(/\.$/, "") ?? "";
  // Of digits and dots alone is an IPv4 address, however it was written.
  return /^[\d.]*$/.test(name) ? null : name;
}
