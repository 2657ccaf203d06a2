import { type Place, portOf } from "../../core/target-guard.ts";

/** Where a channel's alerts go, as far as its own fields say, and the field that says so. */
export function targetsOf(channel: { [field: string]: unknown }): Place[] {
  return ["url", "server", "webhookUrl"].flatMap((path) => {
    const text = channel[path];
    const url = typeof text === "string" ? URL.parse(text) : null;
    return url === null ? [] : [{ path, host: url.hostname, port: portOf(url) }];
  });
}
