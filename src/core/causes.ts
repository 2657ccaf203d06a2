/** Things that the failures of several monitors can have in common. */

/** Kinds of causes, the most specific first. */
export const causeKinds = ["certificate", "container-host", "resolver", "host", "address"] as const;
export type CauseKind = (typeof causeKinds)[number];

/** A possible cause of a failure: a host name, an address, or the fingerprint of a certificate. */
export type Cause = { kind: CauseKind; value: string };

/** Addresses or DNS records of a name that changed before a failure. `at` is the first check with the new ones. */
export type ResolvedChange = { name: string; before: string; after: string; at: string };
