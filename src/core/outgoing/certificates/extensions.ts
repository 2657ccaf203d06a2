/** Reads from a certificate's DER the extensions that decide about its path (RFC 5280 §4.2). */
import { type Element, parseElements } from "./der.ts";
import { type NameConstraints, parseNameConstraints } from "./name-constraints.ts";

type CertificateRules = {
  /** Whether the certificate can sign others. */
  isAuthority: boolean;
  /** Maximum number of authorities below this one; null for no limit. */
  maxPathLength: number | null;
  /** Whether the certificate is valid for TLS servers. */
  isForServers: boolean;
  /** Subject alternative names. */
  names: Element[];
  /** Names for which the certificate can issue others; null for any. */
  nameConstraints: NameConstraints | null;
  /** Whether the certificate has a critical extension, or name constraints, that are not evaluated here. */
  hasUnknownRule: boolean;
};

const tags = { boolean: 0x01, integer: 0x02, octets: 0x04, sequence: 0x30, extensions: 0xa3 };

/** Object identifiers in hexadecimal. */
const oid = {
  keyUsage: "551d0f",
  subjectAltName: "551d11",
  basicConstraints: "551d13",
  nameConstraints: "551d1e",
  certificatePolicies: "551d20",
  extendedKeyUsage: "551d25",
  anyUsage: "551d2500",
  serverAuth: "2b06010505070301",
};
const knownExtensions = new Set([
  oid.keyUsage,
  oid.subjectAltName,
  oid.basicConstraints,
  oid.certificatePolicies,
  oid.extendedKeyUsage,
]);
const keyCertSign = 0x04;

export function parseCertificateRules(der: Buffer): CertificateRules {
  const rules: CertificateRules = {
    isAuthority: false,
    maxPathLength: null,
    isForServers: true,
    names: [],
    nameConstraints: null,
    hasUnknownRule: false,
  };
  let signsCertificates = true;
  for (const { name, isCritical, value } of parseExtensions(der)) {
    const [outer] = parseElements(value);
    const inner = outer === undefined ? [] : parseElements(outer.content);
    if (name === oid.basicConstraints) {
      rules.isAuthority = inner[0]?.tag === tags.boolean && inner[0].content[0] !== 0;
      const length = inner.find(({ tag }) => tag === tags.integer)?.content;
      if (length !== undefined)
        rules.maxPathLength = length.readUIntBE(0, Math.min(length.length, 4));
    } else if (name === oid.keyUsage) {
      signsCertificates = ((outer?.content[1] ?? 0) & keyCertSign) !== 0;
    } else if (name === oid.extendedKeyUsage) {
      const usages = inner.map(({ content }) => content.toString("hex"));
      rules.isForServers = usages.some((one) => one === oid.serverAuth || one === oid.anyUsage);
    } else if (name === oid.subjectAltName) rules.names = inner;
    else if (name === oid.nameConstraints) {
      rules.nameConstraints = parseNameConstraints(inner);
      rules.hasUnknownRule ||= rules.nameConstraints === null;
    } else if (isCritical && !knownExtensions.has(name)) rules.hasUnknownRule = true;
  }
  rules.isAuthority &&= signsCertificates;
  return rules;
}

type Extension = { name: string; isCritical: boolean; value: Buffer };

function parseExtensions(der: Buffer): Extension[] {
  const [certificate] = parseElements(der);
  const [signed] = parseElements(certificate?.content ?? Buffer.alloc(0));
  const list = parseElements(signed?.content ?? Buffer.alloc(0)).find(
    ({ tag }) => tag === tags.extensions,
  );
  const [all] = parseElements(list?.content ?? Buffer.alloc(0));
  return parseElements(all?.content ?? Buffer.alloc(0)).map(({ content }) => {
    const parts = parseElements(content);
    return {
      name: parts[0]?.content.toString("hex") ?? "",
      isCritical: parts.some(({ tag, content }) => tag === tags.boolean && content[0] !== 0),
      value: parts.find(({ tag }) => tag === tags.octets)?.content ?? Buffer.alloc(0),
    };
  });
}
