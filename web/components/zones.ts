/** Every time zone the browser knows, after those in use and UTC. */
export function zonesWith(...used: string[]): string[] {
  return [...new Set([...used, "UTC", ...Intl.supportedValuesOf("timeZone")])];
}
