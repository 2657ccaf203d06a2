const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
/** Matches a Dot-string (RFC 5321 §4.1.2) of at most 64 characters (§4.5.3.1.1). */
const localPart = new RegExp(`^(?=.{1,64}$)${atom}(?:\\.${atom})*$`);
const label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
/**
 * Matches domains, including LAN hosts such as `nas`. The last label must contain a letter, which excludes IP
 * addresses.
 */
const domainName = new RegExp(`^(?:${label}\\.)*(?!\\d+$)${label}$`);
/** Maximum length of a Path (RFC 5321 §4.5.3.1.3) without its angle brackets. */
const maxLength = 254;

/**
 * Normalizes an e-mail address, with an international domain in ASCII (RFC 5890 §2.3.2.1); null for an invalid
 * address.
 */
export function toAsciiEmail(text: string): string | null {
  const at = text.lastIndexOf("@");
  const [local, domain] = [text.slice(0, at), toAsciiDomain(text.slice(at + 1))];
  if (at === -1 || domain === null || !localPart.test(local)) return null;
  const address = `${local}@${domain}`;
  return address.length <= maxLength ? address : null;
}

function toAsciiDomain(text: string): string | null {
  // Rejects characters that URL.parse would decode, or at which it would end the name.
  if (/[\s/?#%:\\@]/.test(text)) return null;
  const isAscii = /^\p{ASCII}*$/u.test(text);
  const domain = isAscii ? text : (URL.parse(`http://${text}`)?.hostname ?? "");
  return domainName.test(domain) ? domain : null;
}
