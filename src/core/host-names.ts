/** A name in lower case and ASCII, without the root's dot; null when it is none. */
export function plainName(text: string): string | null {
  const host = /[\s/?#@:*%\\]/.test(text) ? null : URL.parse(`http://${text}/`)?.hostname;
  const name = host?.replace(/\.$/, "") ?? "";
  // Of digits and dots alone is an IPv4 address, however it was written.
  return /^[\d.]*$/.test(name) ? null : name;
}
