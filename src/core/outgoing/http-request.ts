import { STATUS_CODES } from "node:http";
import { version } from "../assets.ts";
import { portOf } from "../target-guard.ts";
import { dial } from "./connection.ts";
import type { OutgoingContext } from "./context.ts";
import { TargetFailure } from "./failures.ts";
import { readAnswer } from "./http-answer.ts";

export type HttpRequest = {
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array | null;
  /** Whether a certificate that can't be trusted is a failure. */
  verifyTls: boolean;
  /** Whether it must not go to an address of this machine or the LAN. */
  onlyPublic?: boolean;
};

/** Sends one request over a connection of its own; redirects are not followed. Throws TargetFailure, OwnTrouble. */
export async function send(request: HttpRequest, context: OutgoingContext) {
  const { url, method, body, verifyTls, onlyPublic = false } = request;
  const port = portOf(url);
  context.step = "resolving the name";
  const addresses = await context.addressesOf(url.hostname, port);
  const isPublic = !addresses.every(({ isPrivate }) => isPrivate);
  if (onlyPublic && addresses.some(({ isPrivate }) => isPrivate))
    throw new TargetFailure("Blocked: a public address redirected to a private one.", true);
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const tls = url.protocol === "https:" ? { name } : null;
  const connection = await dial(addresses, port, context, tls);
  const issue = connection.secured?.issue ?? null;
  if (verifyTls && issue !== null) throw new TargetFailure(issue);
  context.step = "waiting for the answer";
  const answer = readAnswer(connection, method, context.memory);
  connection.write(headOf(request));
  if (body !== null) connection.write(body);
  return { answer: await answer, connection, isPublic };
}

/** `HTTP 404 (Not Found)`. */
export function named(status: number): string {
  const phrase = STATUS_CODES[status];
  return phrase === undefined ? `HTTP ${status}` : `HTTP ${status} (${phrase})`;
}

/** As UTF-8 where Latin-1 is not enough: a character must not turn into another byte, such as a line break. */
function octets(value: string): string {
  return /[^\0-\xff]/.test(value) ? Buffer.from(value).toString("latin1") : value;
}

/** The request up to its body (RFC 9112 §3); schemas keep line breaks and framing out of the headers. */
export function headOf({
  url,
  method,
  headers,
  body,
}: Pick<HttpRequest, "url" | "method" | "headers" | "body">): Uint8Array {
  const fields = new Map([
    ["host", ["Host", url.host]],
    ["user-agent", ["User-Agent", `Signalbox/${version}`]],
    ["accept", ["Accept", "*/*"]],
    ["accept-encoding", ["Accept-Encoding", "gzip, deflate, br"]],
  ]);
  for (const [name, value] of Object.entries(headers))
    fields.set(name.toLowerCase(), [name, value]);
  if (body !== null || ["POST", "PUT", "PATCH"].includes(method))
    fields.set("content-length", ["Content-Length", String(Buffer.byteLength(body ?? ""))]);
  fields.set("connection", ["Connection", "close"]);
  const lines = [...fields.values()].map(([name, value = ""]) => `${name}: ${octets(value)}`);
  const start = `${method} ${url.pathname}${url.search} HTTP/1.1`;
  return Buffer.from(`${[start, ...lines].join("\r\n")}\r\n\r\n`, "latin1");
}
