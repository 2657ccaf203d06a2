/** Applies the name constraints of an authority to the names of a server's certificate (RFC 5280 §4.2.1.10). */
import { type Element, parseElements } from "./der.ts";

/** Bases of permitted and excluded names. */
export type NameConstraints = { permitted: Element[]; excluded: Element[] };

const tags = { permitted: 0xa0, excluded: 0xa1, email: 0x81, dns: 0x82, uri: 0x86, address: 0x87 };
/** Kinds of names that a server's certificate can have in addition to the evaluated ones. */
const otherTags = new Set([tags.email, tags.uri]);
/** Maximum number of comparisons between a name and a base. */
const maxComparisons = 10_000;

/** Reads the extension; null if it is invalid, or constrains names that are not evaluated here. */
export function parseNameConstraints(subtrees: readonly Element[]): NameConstraints | null {
  const found: NameConstraints = { permitted: [], excluded: [] };
  for (const { tag, content } of subtrees) {
    if (tag !== tags.permitted && tag !== tags.excluded) return null;
    for (const subtree of parseElements(content)) {
      const [base, ...distances] = parseElements(subtree.content);
      if (base === undefined || distances.length > 0 || !isEvaluated(base)) return null;
      found[tag === tags.permitted ? "permitted" : "excluded"].push(base);
    }
  }
  return found.permitted.length + found.excluded.length === 0 ? null : found;
}

const isEvaluated = ({ tag, content: { length } }: Element) =>
  tag === tags.address ? length === 8 || length === 32 : tag === tags.dns || otherTags.has(tag);

/** Whether an authority with these constraints can issue a certificate with these names. */
export function permitsNames(
  { permitted, excluded }: NameConstraints,
  names: readonly Element[],
): boolean {
  if (names.length * (permitted.length + excluded.length) > maxComparisons) return false;
  return names.every((name) => {
    const isSameKind = ({ tag }: Element) => tag === name.tag;
    const [allowed, denied] = [permitted.filter(isSameKind), excluded.filter(isSameKind)];
    if (otherTags.has(name.tag)) return allowed.length + denied.length === 0;
    return (
      (allowed.length === 0 || allowed.some((base) => isWithin(name, base))) &&
      !denied.some((base) => isWithin(name, base) || coversByWildcard(name, base))
    );
  });
}

const readDomain = ({ content }: Element) => content.toString("latin1").toLowerCase();

/** Whether a name such as `*.shop.example` includes names of the subtree. */
const coversByWildcard = (name: Element, base: Element) =>
  name.tag === tags.dns &&
  readDomain(name).startsWith("*.") &&
  readDomain(base).endsWith(readDomain(name).slice(1));

/** Whether a name is in the subtree of a base of the same kind. */
function isWithin(name: Element, base: Element): boolean {
  if (name.tag === tags.address) return isInNetwork(name.content, base.content);
  const [domain, parent] = [readDomain(name), readDomain(base)];
  return (
    parent === "" ||
    domain === parent ||
    domain.endsWith(parent.startsWith(".") ? parent : `.${parent}`)
  );
}

/** Whether the address is in the network, which is an address and its mask. */
const isInNetwork = (address: Buffer, network: Buffer) =>
  network.length === address.length * 2 &&
  address.every((byte, index) => {
    const mask = network[address.length + index] ?? 0;
    return (byte & mask) === ((network[index] ?? 0) & mask);
  });
