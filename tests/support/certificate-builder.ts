/** Builds certificates with any path, period and extensions, for tests of certificate checks. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

const day = 86_400_000;

function encodeDer(tag: number, ...parts: readonly Uint8Array[]): Buffer {
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

const encodeSequence = (...parts: readonly Uint8Array[]) => encodeDer(0x30, ...parts);
const parseHex = (text: string) => Buffer.from(text, "hex");
const encodeOctets = (content: Uint8Array) => encodeDer(0x04, content);
const isTrue = parseHex("0101ff");
const ecdsaWithSha256 = encodeSequence(parseHex("06082a8648ce3d040302"));

const encodeName = (common: string) =>
  encodeSequence(
    encodeDer(0x31, encodeSequence(parseHex("0603550403"), encodeDer(0x0c, Buffer.from(common)))),
  );

const encodeTime = (at: number) =>
  encodeDer(0x18, Buffer.from(`${new Date(at).toISOString().slice(0, 19).replaceAll(/\D/g, "")}Z`));

const encodeExtension = (oid: string, isCritical: boolean, value: Buffer) =>
  encodeSequence(
    encodeDer(0x06, parseHex(oid)),
    ...(isCritical ? [isTrue] : []),
    encodeOctets(value),
  );

type CertificateOptions = {
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

export type KeyOwner = { name: string; key: KeyObject; publicKey: KeyObject };

export function createKeyOwner(name: string): KeyOwner {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { name, key: privateKey, publicKey };
}

/** A certificate of the subject by the issuer, in PEM. */
export function issueCertificate(
  subject: KeyOwner,
  issuer: KeyOwner,
  {
    from = -1,
    to = 300,
    isAuthority = false,
    maxPathLength,
    names = [],
    usages,
    more = [],
    isKeyForSigning = true,
  }: CertificateOptions = {},
): string {
  const alternative = names.map((name) =>
    /^[\d.]+$/.test(name)
      ? encodeDer(0x87, Buffer.from(name.split(".").map(Number)))
      : encodeDer(0x82, Buffer.from(name)),
  );
  const length = maxPathLength === undefined ? [] : [encodeDer(0x02, Buffer.from([maxPathLength]))];
  const extensions = [
    ...(isAuthority ? [encodeExtension("551d13", true, encodeSequence(isTrue, ...length))] : []),
    ...(isAuthority
      ? [encodeExtension("551d0f", true, parseHex(isKeyForSigning ? "03020106" : "03020780"))]
      : []),
    ...(names.length > 0 ? [encodeExtension("551d11", false, encodeSequence(...alternative))] : []),
    ...(usages === undefined
      ? []
      : [
          encodeExtension(
            "551d25",
            false,
            encodeSequence(...usages.map((one) => encodeDer(0x06, parseHex(one)))),
          ),
        ]),
    ...more.map(([oid, isCritical, value]) => encodeExtension(oid, isCritical, value)),
  ];
  const now = Date.now();
  const signed = encodeSequence(
    encodeDer(0xa0, parseHex("020102")),
    encodeDer(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    encodeName(issuer.name),
    encodeSequence(encodeTime(now + from * day), encodeTime(now + to * day)),
    encodeName(subject.name),
    subject.publicKey.export({ type: "spki", format: "der" }),
    ...(extensions.length > 0 ? [encodeDer(0xa3, encodeSequence(...extensions))] : []),
  );
  const signature = sign("sha256", signed, issuer.key);
  const certificate = encodeSequence(
    signed,
    ecdsaWithSha256,
    encodeDer(0x03, Buffer.from([0]), signature),
  );
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

/** The value of the name constraints extension, for DNS names and networks such as `10.0.0.0/255.0.0.0`. */
export function constrainNames(permitted: readonly string[], excluded: readonly string[]): Buffer {
  const encodeBase = (base: string) =>
    base.includes("/")
      ? encodeDer(0x87, Buffer.from(base.split(/[./]/).map(Number)))
      : encodeDer(0x82, Buffer.from(base));
  const encodeSubtrees = (tag: number, bases: readonly string[]) =>
    bases.length === 0
      ? []
      : [encodeDer(tag, ...bases.map((base) => encodeSequence(encodeBase(base))))];
  return encodeSequence(...encodeSubtrees(0xa0, permitted), ...encodeSubtrees(0xa1, excluded));
}

export const issueRoot = (subject: KeyOwner, wanted: CertificateOptions = {}) =>
  issueCertificate(subject, subject, { to: 3_000, isAuthority: true, ...wanted });

export const exportKey = ({ key }: KeyOwner) =>
  key.export({ type: "pkcs8", format: "pem" }).toString();
