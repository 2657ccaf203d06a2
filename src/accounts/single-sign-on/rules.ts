/** Decides what the claims of a sign-in provider mean: address, groups and role. */
import { isObject } from "../../core/collections/objects.ts";
import { isAtLeast, type Role } from "../../core/roles.ts";
import type { ProviderOrganization, ProviderSettings } from "../identity-providers/schema.ts";

/** Claims about a person, verified by signature or received from the UserInfo endpoint. */
export type VerifiedClaims = {
  issuer: string;
  /** Permanent ID of the account at the issuer. */
  subject: string;
  /** Address, whether verified or not; null for none. */
  email: string | null;
  /** Whether the provider or an administrator vouches for the address. */
  isEmailVerified: boolean;
  /** Name to show; null for none. */
  name: string | null;
  groups: readonly string[];
};

type Claims = Readonly<Record<string, unknown>>;

/** Characters that no name or group contains. */
const isPlain = (text: string) => !/\p{Cc}/u.test(text) && text.isWellFormed();

/** Returns a text claim of 1 to `max` characters; null for anything else. */
function readText(value: unknown, max: number): string | null {
  if (typeof value !== "string") return null;
  const text = value.trim();
  return text !== "" && text.length <= max && isPlain(text) ? text : null;
}

/** Returns the value of a claim by its name, or by a path with dots such as `realm_access.roles`. */
function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name
    .split(".")
    .reduce<unknown>(
      (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      claims,
    );
}

/**
 * Adds the claims of the UserInfo endpoint to those of the ID token. An address counts as verified
 * only if both statements are about the same address.
 */
export function mergeClaims(idToken: Claims, userInfo: Claims): Claims {
  const isSame = userInfo["email"] === undefined || userInfo["email"] === idToken["email"];
  const { email_verified: verified, ...further } = userInfo;
  const canAdd = isSame || idToken["email"] === undefined;
  return {
    ...further,
    ...(canAdd && verified !== undefined && { email_verified: verified }),
    ...idToken,
  };
}

/** Whether the claims lack a value that the UserInfo endpoint could add. */
export function needsUserInfo(claims: Claims, settings: ProviderSettings, usesGroups: boolean) {
  return (
    claims["email"] === undefined ||
    (claims["email_verified"] === undefined && !settings.trustsEmail) ||
    claims["name"] === undefined ||
    (usesGroups && findClaim(claims, settings.groupsClaim) === undefined)
  );
}

/**
 * Whether Entra ID left the groups out because there are too many, and named a link to them instead.
 *
 * https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference#groups-overage-claim
 */
export function lacksGroups(claims: Claims, { groupsClaim }: ProviderSettings): boolean {
  const claimNames = claims["_claim_names"];
  return (
    findClaim(claims, groupsClaim) === undefined &&
    isObject(claimNames) &&
    Object.hasOwn(claimNames, groupsClaim)
  );
}

/**
 * Returns the groups of a claim: a list of texts, one text, or the keys of an object, as Zitadel
 * sends roles. Other values have no groups.
 */
function readGroups(claims: Claims, { groupsClaim }: ProviderSettings): string[] {
  const value = findClaim(claims, groupsClaim);
  const list = Array.isArray(value) ? value : isObject(value) ? Object.keys(value) : [value];
  return [...new Set(list.flatMap((one) => readText(one, 255) ?? []))];
}

/** Reads the claims. Authelia and Zitadel can send `email_verified` as a text. */
export function readClaims(
  issuer: string,
  subject: string,
  claims: Claims,
  settings: ProviderSettings,
): VerifiedClaims {
  const email = readText(claims["email"], 254);
  const verified = claims["email_verified"];
  const isVerified = verified === true || verified === "true";
  return {
    issuer,
    subject,
    email,
    isEmailVerified: email !== null && (isVerified || settings.trustsEmail),
    name: readText(claims["name"], 100) ?? readText(claims["preferred_username"], 100),
    groups: readGroups(claims, settings),
  };
}

/** Whether the address is in one of the allowed domains. All are allowed if none is listed. */
export function isDomainAllowed(email: string | null, domains: readonly string[]): boolean {
  if (domains.length === 0) return true;
  const domain = email?.slice(email.lastIndexOf("@") + 1).toLowerCase() ?? "";
  return domains.includes(domain);
}

/** Returns the highest role of the groups; null if none is mapped. */
function findMappedRole(
  { groupRoles }: Pick<ProviderOrganization, "groupRoles">,
  groups: readonly string[],
): Role | null {
  const mapped = groupRoles.filter(({ group }) => groups.includes(group)).map(({ role }) => role);
  return mapped.reduce<Role | null>(
    (highest, role) => (highest === null || isAtLeast(role, highest) ? role : highest),
    null,
  );
}

/** A person's role in an organization, and whether it comes from a group of the provider. */
export type Grant = { role: Role | null; isGranted: boolean };

/**
 * Returns the role after a sign-in, by the person's mapped groups. Without a mapped group, a role from a group is replaced
 * by the default role; without a default role, the membership ends. A role that people gave stays unchanged.
 */
export function grantAfter(
  opened: ProviderOrganization,
  groups: readonly string[],
  now: Grant,
): Grant {
  const mapped = findMappedRole(opened, groups);
  if (mapped !== null) return { role: mapped, isGranted: true };
  if (opened.groupRoles.length === 0 || !now.isGranted) return { role: now.role, isGranted: false };
  return { role: opened.defaultRole, isGranted: opened.defaultRole !== null };
}

/** Returns the role of a person whom the provider adds; null if it adds none to this organization. */
export function findFirstGrant(opened: ProviderOrganization, groups: readonly string[]): Grant {
  const role = findMappedRole(opened, groups) ?? opened.defaultRole;
  return { role, isGranted: role !== null && opened.groupRoles.length > 0 };
}

/** Returns `text` if it is a path of this appliance, or "/". */
export function toLocalPath(text: string | undefined): string {
  const isLocal =
    text !== undefined && /^\/(?![/\\])[\x21-\x7e]{0,500}$/.test(text) && !text.includes("\\");
  return isLocal ? text : "/";
}
