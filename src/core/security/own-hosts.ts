import { isIP } from "node:net";
import { hostname } from "node:os";
import { domainToASCII } from "node:url";

/** Decides which host names belong to the appliance. */
export type OwnHosts = {
  /** Whether the admin page is served under this Host header. */
  includes: (host: string) => boolean;
  /**
   * Whether status pages can't use this name: hosts of the appliance, the host of `--url`, addresses, and names
   * without a dot.
   */
  isReserved: (host: string) => boolean;
};

/** Normalizes a Host header or an option: lower case, without port and trailing dot. */
export function normalizeHostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}

const addressPattern = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;

/** Creates the host names from the values of `--allowed-host` and `--url`, in ASCII as in browsers' requests. */
export function createOwnHosts(allowed: readonly string[], url?: string): OwnHosts {
  const machineName = normalizeHostName(hostname());
  const toAsciiHost = (name: string) => normalizeHostName(domainToASCII(name) || name);
  const names = new Set([
    "localhost",
    machineName,
    `${machineName.replace(/\.local$/, "")}.local`,
    ...allowed.map((name) => toAsciiHost(name.replace(/:\d*$/, ""))),
  ]);
  const linked = url === undefined ? null : normalizeHostName(new URL(url).hostname);
  const isOwnName = (name: string) => addressPattern.test(name) || names.has(name);
  return {
    includes: (host) => isOwnName(normalizeHostName(host)),
    isReserved(host) {
      const name = normalizeHostName(host);
      return isOwnName(name) || name === linked || isIP(name) !== 0 || !name.includes(".");
    },
  };
}
