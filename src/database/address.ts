/** Parses the address of a database cluster. */
import { readFileSync } from "node:fs";
import { DataError } from "../core/errors.ts";
import { decodePercent } from "../core/text/formatting.ts";

/** Address and credentials of a rqlite cluster. */
export type ClusterAddress = {
  /** `host:port` of each configured node. */
  hosts: readonly string[];
  user: string | null;
  password: string | null;
  isSecure: boolean;
  /** CA certificates (PEM) for the nodes, instead of the system's certificates. */
  ca: string | null;
};

/** Describes the error in an address without quoting it; null for a valid address. */
export function findAddressIssue(text: string): string | null {
  return parseAddress(text) === null
    ? "must be an address such as rqlite://user@host1:4001,host2:4001,host3:4001"
    : null;
}

export const hasPassword = (text: string) => (parseAddress(text)?.password ?? null) !== null;

/** Parses a cluster address and reads the files in it. Throws DATA_UNUSABLE. */
export function parseClusterAddress(text: string, passwordFile?: string): ClusterAddress {
  const parts = parseAddress(text);
  if (parts === null) throw new DataError("DATA_UNUSABLE", `--database ${findAddressIssue(text)}`);
  const { caFile, ...address } = parts;
  const password =
    passwordFile === undefined
      ? address.password
      : readOptionFile("--database-password-file", passwordFile).replace(/\r?\n$/, "");
  return { ...address, password, ca: caFile && readOptionFile("The file of ca=", caFile) };
}

function readOptionFile(option: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new DataError("DATA_UNUSABLE", `${option} can't be read: ${(error as Error).message}`);
  }
}

function parseAddress(
  text: string,
): (Omit<ClusterAddress, "ca"> & { caFile: string | null }) | null {
  const [, scheme, user, password, list = "", query = ""] =
    /^(rqlites?):\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/?#@]+)\/?(?:\?([^#]*))?$/.exec(text) ?? [];
  const hosts = list.split(",").map((host) => (/:\d+$/.test(host) ? host : `${host}:4001`));
  const parameters = new URLSearchParams(query);
  const isKnown = [...parameters.keys()].every((name) => name === "ca");
  const isSecure = scheme === "rqlites";
  const urls = hosts.map((host) => `${isSecure ? "https" : "http"}://${host}`);
  if (scheme === undefined || !isKnown || !urls.every((url) => URL.canParse(url))) return null;
  return {
    // Normalizes hosts to the format of rqlite's redirects.
    hosts: urls.map((url) => new URL(url).host),
    user: user ? decodePercent(user) : null,
    password: password === undefined ? null : decodePercent(password),
    isSecure,
    caFile: parameters.get("ca"),
  };
}
