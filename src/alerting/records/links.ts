/** Creates and verifies the signed links in messages. Each acknowledges one alert on behalf of one channel. */
import { timingSafeEqual } from "node:crypto";
import { createToken } from "../../core/ids.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { LinkTarget } from "./rules.ts";

/** Creates the random part of the key that signs the links of an alert: 131 bits. */
export const createLinkKey = (): string => createToken(22);

const idBytes = 16;
/** A truncated HMAC-SHA256 (RFC 2104 §5): short links fit into more messages. */
const signatureBytes = 16;
const tokenBytes = 3 * idBytes + signatureBytes;

/** Characters of a token. */
const tokenLength = Math.ceil((tokenBytes * 8) / 6);

const tokenPattern = new RegExp(`^[\\w-]{${tokenLength}}$`);

export const acknowledgePath = "/a/";
/** Path below a link to which a gateway sends the key that was pressed in a call. */
export const callPath = "/call";
/** Path, after `acknowledgePath` and a sealed script, at which a gateway fetches the script of a call. */
export const scriptPath = "/script";

/** Time in milliseconds within which a gateway fetches a script. It does when someone answers. */
const scriptValidMs = 3_600_000;
const scriptLocation = "script of a call";

/** The script of a call, with its content type. */
type CallScript = { type: string; script: string };

/** Returns the URL with a sealed script: only this appliance can write and read it, and it stores nothing. */
export function buildScriptUrl(vault: Vault, origin: string, call: CallScript, now: number) {
  const sealed = vault.seal(
    JSON.stringify({ ...call, until: now + scriptValidMs }),
    scriptLocation,
  );
  return `${origin}${acknowledgePath}${sealed}${scriptPath}`;
}

/** Returns a sealed script; null if it was not sealed here, or is too old. */
export function openScript(vault: Vault, sealed: string, now: number): CallScript | null {
  try {
    const { until, ...call } = JSON.parse(vault.open(sealed, scriptLocation)) as CallScript & {
      until: number;
    };
    return now <= until ? call : null;
  } catch {
    return null;
  }
}

/** A URL as long as each link in messages, for computing sizes. */
export const buildSampleUrl = (origin: string): string =>
  `${origin}${acknowledgePath}${"x".repeat(tokenLength)}`;

/** Returns the URL of a link; null if an ID is not a UUID. `linkKey` is the alert's: a new one revokes its links. */
export function buildAcknowledgeUrl(
  vault: Vault,
  origin: string,
  target: LinkTarget,
  linkKey: string,
): string | null {
  const ids = listIds(target).map((id) => Buffer.from(id.replaceAll("-", ""), "hex"));
  if (ids.some(({ length }) => length !== idBytes)) return null;
  const token = Buffer.concat([...ids, signTarget(vault, target, linkKey)]).toString("base64url");
  return `${origin}${acknowledgePath}${token}`;
}

/** Returns the target of a token with its signature, which is not verified yet; null if the token is malformed. */
export function parseToken(token: string): { target: LinkTarget; signature: Buffer } | null {
  if (!tokenPattern.test(token)) return null;
  const bytes = Buffer.from(token, "base64url");
  // Several last characters encode the same bytes. Only one of them is valid.
  if (bytes.length !== tokenBytes || bytes.toString("base64url") !== token) return null;
  const [organizationId = "", recordId = "", channelId = ""] = [0, 1, 2].map((index) =>
    formatUuid(bytes.toString("hex", index * idBytes, (index + 1) * idBytes)),
  );
  return {
    target: { organizationId, recordId, channelId },
    signature: bytes.subarray(3 * idBytes),
  };
}

/** Whether this appliance signed a link to the target, and the link is not revoked. Takes constant time. */
export const isSigned = (
  vault: Vault,
  target: LinkTarget,
  linkKey: string,
  signature: Buffer,
): boolean => timingSafeEqual(signTarget(vault, target, linkKey), signature);

const signTarget = (vault: Vault, target: LinkTarget, linkKey: string) =>
  vault
    .sign(JSON.stringify(["acknowledge", linkKey, ...listIds(target)]))
    .subarray(0, signatureBytes);

const listIds = ({ organizationId, recordId, channelId }: LinkTarget) => [
  organizationId,
  recordId,
  channelId,
];

const formatUuid = (hex: string) =>
  hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
