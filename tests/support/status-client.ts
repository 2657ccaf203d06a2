import type { StatusPage } from "./status-world.ts";

/** Paths of a page's formats relative to its URL; `/status.json` belongs to a page at the root. */
export const pageParts = [
  "",
  "/history",
  "/feed.rss",
  "/feed.atom",
  "/api/v2/summary.json",
  "/api/v2/status.json",
  "/api/v2/components.json",
  "/api/v2/incidents.json",
  "/api/v2/incidents/unresolved.json",
  "/api/v2/scheduled-maintenances.json",
];

/** Every public path of the typical page. */
export const listPublicPaths = ({ incidentIds, monitorIds }: StatusPage) => [
  ...pageParts.map((part) => `/status/acme${part}`),
  "/status/acme.json",
  `/status/acme/incidents/${incidentIds[0]}`,
  `/badge/monitor/${monitorIds[0]}/status.svg`,
  `/badge/monitor/${monitorIds[0]}/uptime.svg`,
];

/** A response with its bytes as transferred. */
export async function requestBytes(
  address: string,
  headers: Record<string, string> = {},
  method = "GET",
) {
  const sent = { "Accept-Encoding": "identity", ...headers };
  const response = await fetch(address, { method, headers: sent, decompress: false });
  return { response, status: response.status, bytes: Buffer.from(await response.bytes()) };
}

/** Durations that can differ by a second between two responses. */
export const maskTimes = (bytes: Uint8Array) =>
  new TextDecoder().decode(bytes).replace(/"(updated|created)_?At"[^,}]*|<updated>[^<]*/gi, "");

/** Polls a URL until its text satisfies the condition. Throws after a minute. */
export async function pollUntil(
  address: string,
  isWanted: (text: string) => boolean,
  headers: Record<string, string> = {},
): Promise<string> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const text = await (await fetch(address, { headers })).text();
    if (isWanted(text)) return text;
    if (performance.now() > deadline) throw new Error(`${address} still says ${text}`);
    await Bun.sleep(20);
  }
}
