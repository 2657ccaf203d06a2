import type { Vault } from "../core/secrets.ts";

const placeOf = (organizationId: string) => `live/${organizationId}`;

/** The place of an event in the log as pages know it: the log is everybody's, and its numbers would tell how busy others are. */
export function positionOf(vault: Vault, organizationId: string, seq: number): string {
  return vault.sealNumber(seq, placeOf(organizationId));
}

/** The inverse; null for a position that this organization never had. */
export function seqOf(vault: Vault, organizationId: string, position: string): number | null {
  return vault.openNumber(position, placeOf(organizationId));
}
