import type { StatusPage } from "./status-world.ts";

/** The paths of a page's parts behind its address; `/status.json` is that of a page at the root. */
export const parts = [
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

/** Everything public of the typical page, by path. */
export const publicPaths = ({ incidentIds, monitorIds }: StatusPage) => [
  ...parts.map((part) => `/status/acme${part}`),
  "/status/acme.json",
  `/status/acme/incidents/${incidentIds[0]}`,
  `/badge/monitor/${monitorIds[0]}/status.svg`,
  `/badge/monitor/${monitorIds[0]}/uptime.svg`,
  "/status-files/status.css",
  "/status-files/status.js",
  "/status-files/inter.woff2",
];

/** An answer with its bytes as they came over the wire. */
export async function asked(address: string, headers: Record<string, string> = {}, method = "GET") {
  const sent = { "Accept-Encoding": "identity", ...headers };
  const response = await fetch(address, { method, headers: sent, decompress: false });
  return { response, status: response.status, bytes: Buffer.from(await response.bytes()) };
}

/** Figures that may have gone on by a second between two answers. */
export const steady = (bytes: Uint8Array) =>
  new TextDecoder().decode(bytes).replace(/"(updated|created)_?At"[^,}]*|<updated>[^<]*/gi, "");

/** The text at an address as soon as it is as wanted; throws when it is not within a minute. */
export async function until(
  address: string,
  isWanted: (text: string) => boolean,
  headers: Record<string, string> = {},
): Promise<string> {
  const patience = performance.now() + 60_000;
  for (;;) {
    const text = await (await fetch(address, { headers })).text();
    if (isWanted(text)) return text;
    if (performance.now() > patience) throw new Error(`${address} still says ${text}`);
    await Bun.sleep(20);
  }
}
