/** Reads from a certificate's DER the extensions that decide about its path (RFC 5280 §4.2). */

type CertificateRules = {
  /** Whether the certificate can sign others. */
  isAuthority: boolean;
  /** Maximum number of authorities below this one; null for no limit. */
  maxPathLength: number | null;
  /** Whether the certificate is valid for TLS servers. */
  isForServers: boolean;
  /** Whether the certificate has name constraints, or another critical extension that is not evaluated here. */
  hasUnknownRule: boolean;
};

type Element = { tag: number; content: Buffer };

/** Reads a sequence of DER elements. Ignores a truncated one at the end. */
function parseElements(der: Buffer): Element[] {
  const found: Element[] = [];
  let at = 0;
  while (at + 2 <= der.length) {
    const [tag = 0, first = 0] = der.subarray(at, at + 2);
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    const start = at + 2 + lengthBytes;
    if (lengthBytes > 4 || start > der.length) break;
    const length = lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes);
    if (start + length > der.length) break;
    found.push({ tag, content: der.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}

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
    } else if (name === oid.nameConstraints || (isCritical && !knownExtensions.has(name)))
      rules.hasUnknownRule = true;
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
