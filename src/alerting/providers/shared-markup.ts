/** Text that Markdown shows as it is. Addresses stay whole, so that people can open them. */
export function markdown(text: string): string {
  return text.replace(
    /(https?:\/\/[^\s<>()[\]*`~|\\@]+)|[\\*_~`|>#[\]]/g,
    (found, address?: string) => address ?? `\\${found}`,
  );
}

/** Text that HTML, and what took its escapes from it, shows as it is. */
export function entities(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Text in which `@all`, `<!all>` and `<users/all>` call nobody: a space of no width follows the sign. */
export function withoutMentions(text: string): string {
  return text.replace(/(?<![A-Za-z0-9])@|<(?=\S)/g, (sign) => `${sign}\u200b`);
}
