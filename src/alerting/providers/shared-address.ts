/** The address of `path` on a server that may itself stand under a path, with or without a slash behind it. */
export function addressOn(server: string, path: string): string {
  const url = new URL(server);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
  url.search = "";
  url.hash = "";
  return url.href;
}

/**
 * Whether services take this for the address of a page: an appliance is often opened under a name without
 * a dot (`http://nas:3210`), which Discord refuses with the whole message, and behind which the buttons of
 * Teams open nothing. https://github.com/grafana/grafana/issues/65270 and
 * https://github.com/MicrosoftDocs/msteams-docs/issues/4033
 */
export function hasDottedHost(url: string): boolean {
  return new URL(url).hostname.replace(/\.$/, "").includes(".");
}
