/** Finds settings that a check would ignore, such as a password without a user name, or that no device accepts. */
import { createLookup } from "../../core/collections/objects.ts";

type SettingIssue = { path: string; issue: string };
type Fields = Readonly<Record<string, unknown>>;

/** Credentials with the field without which a check ignores them. */
const credentialPairs = [
  ["password", "username"],
  ["proxyUsername", "proxyUrl"],
  ["proxyPassword", "proxyUsername"],
  ["authPassword", "username"],
  ["privPassword", "authPassword"],
  ["clientKey", "clientCertificate"],
  ["clientCertificate", "clientKey"],
] as const;

/** Further settings of a type, with the field without which a check ignores them. */
const pairsOfType: Readonly<Record<string, readonly (readonly [string, string])[]>> = createLookup({
  rabbitmq: [
    ["virtualHost", "username"],
    ["queue", "username"],
    ["maxMessages", "queue"],
    ["number", "queue"],
  ],
  mqtt: [
    ["waitForMessage", "topic"],
    ["ignoreRetained", "topic"],
    ["assertions", "topic"],
    ["number", "topic"],
  ],
});
/** The default virtual host, which needs no sign-in. */
const defaultVirtualHost = "/";

/** Types with a password of its own: Redis accepts it without a user. */
const ownPasswords: ReadonlySet<unknown> = new Set(["redis"]);

/** Credentials of the versions of SNMP. */
const snmp3Fields = ["username", "authPassword", "privPassword"] as const;
const snmp1Fields = ["community"] as const;

/** Fields that decide whether other settings are used. */
export const decidingFields = [
  ...new Set([
    ...credentialPairs.flat(),
    ...Object.values(pairsOfType).flat(2),
    ...snmp1Fields,
    ...(["snmpVersion", "steps", "host", "tls"] as const),
  ]),
];

/** Returns a setting that the check would ignore, with the reason; null if all are used. */
export function findUnusedSetting(monitor: Fields): SettingIssue | null {
  const isSet = (name: string) => {
    const value = monitor[name];
    const isEmpty = Array.isArray(value) && value.length === 0;
    return ![undefined, null, false, defaultVirtualHost].includes(value as null) && !isEmpty;
  };
  const { type, snmpVersion } = monitor;
  const unused = snmpVersion === "3" ? snmp1Fields : snmp3Fields;
  const unusedField = type === "snmp" ? unused.find(isSet) : undefined;
  if (unusedField !== undefined)
    return { path: unusedField, issue: `is not used with snmpVersion ${String(snmpVersion)}` };
  if (type === "browser") return findUnusedInSteps(monitor);
  if (type === "docker" && isSet("clientKey")) {
    // The socket of this machine and a connection without TLS use no certificate.
    if (!isSet("host")) return requireOther("clientKey", "host");
    if (monitor["tls"] === false) return requireOther("clientKey", "tls");
  }
  for (const [path, needed] of credentialPairs) {
    if (path === "password" && ownPasswords.has(type)) continue;
    if (isSet(path) && !isSet(needed)) return requireOther(path, needed);
  }
  for (const [path, needed] of pairsOfType[String(type)] ?? [])
    if (isSet(path) && !isSet(needed)) return requireOther(path, needed);
  // Directories treat a bind without a password as anonymous (RFC 4513 §5.1.2).
  return type === "ldap" && isSet("username") && !isSet("password")
    ? requireOther("username", "password")
    : null;
}

/** Finds a user name or password that no step of a browser fills into the page. */
function findUnusedInSteps(monitor: Fields): SettingIssue | null {
  const steps = (monitor["steps"] ?? []) as readonly string[];
  const isFilled = (name: string) =>
    steps.some((step) => new RegExp(`^fill .*\\{\\{\\s*${name}\\s*\\}\\}`).test(step));
  const path = ["password", "username"].find(
    (name) => (monitor[name] ?? null) !== null && !isFilled(name),
  );
  if (path === undefined) return null;
  return {
    path,
    issue: `is not used by any step: add a step such as "fill #${path} with {{${path}}}", or remove ${path}`,
  };
}

const requireOther = (path: string, needed: string): SettingIssue => ({
  path,
  issue: `is used only with ${needed}: enter one, or remove ${path}`,
});

const minSnmpPassword = 8;

/** Returns an SNMP password that devices reject as too short: https://www.rfc-editor.org/rfc/rfc3414#section-11.2 */
export function findShortPassword(monitor: Fields): SettingIssue | null {
  if (monitor["type"] !== "snmp") return null;
  const path = (["authPassword", "privPassword"] as const).find((name) => {
    const value = monitor[name];
    return typeof value === "string" && Array.from(value).length < minSnmpPassword;
  });
  return path === undefined
    ? null
    : { path, issue: `must have at least ${minSnmpPassword} characters` };
}

/** Removes the credentials of the other versions of SNMP after its version was changed. */
export function dropOtherVersion(record: Fields, before: Fields): Record<string, unknown> {
  const { snmpVersion } = record;
  const other = snmpVersion === "3" ? snmp1Fields : snmp3Fields;
  const isChanged = (snmpVersion === "3") !== (before["snmpVersion"] === "3");
  return isChanged
    ? { ...record, ...Object.fromEntries(other.map((name) => [name, null])) }
    : { ...record };
}
