/** The address of `path` on a server that may itself stand under a path, with or without a slash behind it. */
export function addressOn(server: string, path: string): string {
  const url = new URL(server);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
  url.search = "";
  url.hash = "";
  return url.href;
}
