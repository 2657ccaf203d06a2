/** Builds certificates with any path, period and extensions, for tests of certificate checks. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

const day = 86_400_000;

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const hex = (text: string) => Buffer.from(text, "hex");
const octets = (content: Uint8Array) => der(0x04, content);
const isTrue = hex("0101ff");
const ecdsaWithSha256 = sequence(hex("06082a8648ce3d040302"));

const nameOf = (common: string) =>
  sequence(der(0x31, sequence(hex("0603550403"), der(0x0c, Buffer.from(common)))));

const time = (at: number) =>
  der(0x18, Buffer.from(`${new Date(at).toISOString().slice(0, 19).replaceAll(/\D/g, "")}Z`));

const extension = (oid: string, isCritical: boolean, value: Buffer) =>
  sequence(der(0x06, hex(oid)), ...(isCritical ? [isTrue] : []), octets(value));

type Wanted = {
  /** Days from now. */
  from?: number;
  to?: number;
  isAuthority?: boolean;
  maxPathLength?: number;
  /** DNS names; addresses of IPv4 as four numbers. */
  names?: readonly string[];
  /** Extended key usages, by OID in hexadecimal. */
  usages?: readonly string[];
  /** Further extensions: OID in hexadecimal, critical, value. */
  more?: readonly (readonly [oid: string, isCritical: boolean, value: Buffer])[];
  isKeyForSigning?: boolean;
};

export type Party = { name: string; key: KeyObject; publicKey: KeyObject };

export function party(name: string): Party {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { name, key: privateKey, publicKey };
}

/** A certificate of the subject by the issuer, in PEM. */
export function certify(
  subject: Party,
  issuer: Party,
  {
    from = -1,
    to = 300,
    isAuthority = false,
    maxPathLength,
    names = [],
    usages,
    more = [],
    isKeyForSigning = true,
  }: Wanted = {},
): string {
  const alternative = names.map((name) =>
    /^[\d.]+$/.test(name)
      ? der(0x87, Buffer.from(name.split(".").map(Number)))
      : der(0x82, Buffer.from(name)),
  );
  const length = maxPathLength === undefined ? [] : [der(0x02, Buffer.from([maxPathLength]))];
  const extensions = [
    ...(isAuthority ? [extension("551d13", true, sequence(isTrue, ...length))] : []),
    ...(isAuthority
      ? [extension("551d0f", true, hex(isKeyForSigning ? "03020106" : "03020780"))]
      : []),
    ...(names.length > 0 ? [extension("551d11", false, sequence(...alternative))] : []),
    ...(usages === undefined
      ? []
      : [extension("551d25", false, sequence(...usages.map((one) => der(0x06, hex(one)))))]),
    ...more.map(([oid, isCritical, value]) => extension(oid, isCritical, value)),
  ];
  const now = Date.now();
  const signed = sequence(
    der(0xa0, hex("020102")),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    nameOf(issuer.name),
    sequence(time(now + from * day), time(now + to * day)),
    nameOf(subject.name),
    subject.publicKey.export({ type: "spki", format: "der" }),
    ...(extensions.length > 0 ? [der(0xa3, sequence(...extensions))] : []),
  );
  const signature = sign("sha256", signed, issuer.key);
  const whole = sequence(signed, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

export const root = (subject: Party, wanted: Wanted = {}) =>
  certify(subject, subject, { to: 3_000, isAuthority: true, ...wanted });

export const keyOf = ({ key }: Party) => key.export({ type: "pkcs8", format: "pem" }).toString();
