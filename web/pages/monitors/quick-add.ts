/** Minimal input for a new monitor. All other fields have defaults. */
import { t } from "../../language/text.ts";
export type Target = { name: string } & (
  | { type: "http"; url: string }
  | { type: "tcp"; host: string; port: number }
  | { type: "ping"; host: string }
);

const ipv4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const hostPort = /^([\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}])?):(\d{1,5})$/u;
const hostName = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]*\.)+[\p{L}\p{N}-]+(\/\S*)?$/u;

/**
 * Derives a monitor from pasted text: HTTP for a URL or domain, TCP for `host:port`, ping for an
 * IPv4 address. Returns null for other text.
 */
export function parseTarget(pasted: string): Target | null {
  const text = pasted.trim();
  if (/^https?:\/\/[^\s/?#]+\S*$/i.test(text))
    return { type: "http", name: deriveName(text), url: text };
  const [, host, port] = hostPort.exec(text) ?? [];
  if (host !== undefined && Number(port) >= 1 && Number(port) <= 65535)
    return { type: "tcp", name: text, host, port: Number(port) };
  if (ipv4.test(text)) return { type: "ping", name: text, host: text };
  if (hostName.test(text))
    return { type: "http", name: deriveName(`https://${text}`), url: `https://${text}` };
  return null;
}

function deriveName(address: string): string {
  const url = URL.parse(address);
  if (url === null) return address;
  const path = url.pathname === "/" ? "" : url.pathname.replace(/\/$/, "");
  return `${url.host}${path}`.slice(0, 255);
}

/** Describes the check, for the hint below the field. */
export function describeCheck(target: Target): string {
  if (target.type === "http") return t("Checks {url} every minute.", { url: target.url });
  if (target.type === "tcp")
    return t("Connects to port {port} of {host} every minute.", {
      port: target.port,
      host: target.host,
    });
  return t("Pings {host} every minute.", { host: target.host });
}
