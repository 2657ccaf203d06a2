/** Converts headers that belong to the connection. Only Host has an equivalent. */
import type { Fields } from "../core/collections/objects.ts";

type HttpTarget = {
  fields: Fields;
  notes: string[];
  /** Parts of the check that are not supported here. */
  missing: string[];
};

const connectionHeaders =
  /^(?:connection|content-length|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** Separates a Host header, in any case, from the others. */
export function separateHost(headers: Record<string, string>) {
  const isHost = ([name]: readonly [string, string]) => name.toLowerCase() === "host";
  const all = Object.entries(headers);
  return {
    host: all.find(isHost)?.[1] ?? null,
    headers: Object.fromEntries(all.filter((header) => !isHost(header))),
  };
}

/** Removes headers that a monitor can't send. */
export function selectHeaders(
  headers: Record<string, string>,
  notes: string[],
): Record<string, string> {
  const ownHeaders = Object.entries(headers).filter(([name]) => !connectionHeaders.test(name));
  const lost = Object.keys(headers).filter(
    (name) => connectionHeaders.test(name) && name !== "Host",
  );
  if (lost.length > 0)
    notes.push(`Without the header ${lost.join(", ")}, which belongs to the connection.`);
  return Object.fromEntries(ownHeaders);
}

/**
 * Applies a Host header that differs from the URL's host. The URL then contains the header's name,
 * and `connectTo` the host.
 */
export function applyHostHeader(target: HttpTarget, header: string) {
  const url = URL.parse(String(target.fields["url"]));
  const other = URL.parse(`${url?.protocol ?? "http:"}//${header}`);
  if (url === null || other === null || header.includes("/"))
    return void target.missing.push(`the header Host: ${header}`);
  if (other.host === url.host) return;
  if (other.port !== "" && other.port !== url.port)
    return void target.missing.push(`the header Host: ${header}, whose port is another`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  url.hostname = other.hostname;
  Object.assign(target.fields, { url: url.href, connectTo: host });
  target.notes.push(
    `Connects to ${host} and requests ${url.host}${url.protocol === "https:" ? ", also in TLS" : ""}.`,
  );
}
