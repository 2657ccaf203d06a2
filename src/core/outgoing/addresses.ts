/** Resolves host names for outgoing connections, and rejects blocked addresses. */
import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { sharedLoopbackIssue, isPrivate, type TargetGuard } from "../security/target-guard.ts";
import { toAsciiName } from "../security/destinations.ts";
import type { Lookup } from "./context.ts";
import { BlockedTarget, LocalFailure, TargetFailure } from "./failures.ts";
import { hasFileHandles, noFileHandlesReason } from "./file-handles.ts";

/**
 * Resolves a host through the hosts file and DNS, without a cache. Rejects the host if any of its addresses is
 * blocked.
 */
export async function resolveAllowedAddresses(
  targets: TargetGuard,
  host: string,
  port: number | null,
  { family = null, as = "target" }: Lookup = {},
) {
  const asciiHost = toAsciiName(host.replace(/^\[|\]$/g, ""));
  const isName = isIP(asciiHost) === 0;
  const role = as === "proxy" ? "proxy" : "target";
  if (isName) assertNotBlocked(role, targets.validateName(asciiHost), null);
  const found = isName ? await lookUpAddresses(asciiHost, as === "behind a proxy") : [asciiHost];
  await targets.refresh();
  for (const address of found) assertNotBlocked(role, targets.findIssue(address, port), address);
  const all = found.map((address) => ({
    address,
    family: isIP(address) as 4 | 6,
    isPrivate: isPrivate(address),
  }));
  const familyAddresses = all.filter((each) => family === null || each.family === family);
  if (all.length > 0 && familyAddresses.length === 0)
    throw new TargetFailure(`The ${isName ? "name has" : "host is"} no IPv${family} address.`);
  return familyAddresses;
}

function assertNotBlocked(role: "target" | "proxy", issue: string | null, address: string | null) {
  if (issue === sharedLoopbackIssue)
    throw new LocalFailure(`the ${role} ${issue} (see --allow-target)`);
  if (issue !== null) throw new BlockedTarget(issue, address, role);
}

async function lookUpAddresses(host: string, canBeUnknown: boolean): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    if (canBeUnknown) return [];
    const { code } = error as NodeJS.ErrnoException;
    // Failing name servers of the domain and an unreachable resolver produce the same code.
    if (!hasFileHandles()) throw new LocalFailure(noFileHandlesReason, true);
    if (!unansweredCodes.has(code ?? ""))
      throw new TargetFailure("The host name was not found in DNS.");
    if (await canReachNameServers())
      throw new TargetFailure("The name servers returned no address for this name.");
    throw silentNameServersError();
  }
}

export const silentNameServersError = () =>
  new LocalFailure("the name servers of this machine don't respond", true);

/**
 * Lookup errors that don't prove that the name is missing. Bun also reports `ESERVFAIL` when no file handle is free.
 */
const unansweredCodes = new Set(["EAI_AGAIN", "EAI_FAIL", "ESERVFAIL", "ETIMEOUT", "ECONNREFUSED"]);

/** Whether the name servers of this machine respond at all. Every name server knows localhost (RFC 6761 §6.3). */
export async function canReachNameServers(): Promise<boolean> {
  try {
    await new Resolver({ timeout: 1_000, tries: 1 }).resolve4("localhost");
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== "ETIMEOUT" && code !== "ECONNREFUSED" && code !== "EREFUSED";
  }
}
