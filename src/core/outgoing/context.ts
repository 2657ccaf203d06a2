import type { Memory } from "./memory.ts";

export type Address = {
  address: string;
  family: 4 | 6;
  /** Whether the address belongs to this machine or to a private network. */
  isPrivate: boolean;
};

export type Lookup = {
  /** Restricts the lookup to this address family. */
  family?: 4 | 6 | null;
  /** Purpose of the host. A target behind a proxy can lack a local address, because the proxy resolves it. */
  as?: "target" | "proxy" | "behind a proxy";
};

/** Settings and limits of one outgoing operation. */
export type OutgoingContext = {
  /** Aborts after the timeout, and closes everything that was opened. */
  signal: AbortSignal;
  /** Current step, for the message of a timeout. */
  step:
    | "resolving the name"
    | "connecting"
    | "starting TLS"
    | "connecting to the proxy"
    | "waiting for the proxy"
    | "waiting for the response"
    | "waiting for a message"
    | "reading the response"
    | "waiting for its turn"
    | "waiting for the browser"
    | "starting the browser"
    | "loading the page"
    | "waiting for the page"
    | "searching the response";
  /** Possible cause of a timeout while waiting for a response, as a sentence for users; null for none. */
  silence?: string | null;
  memory: Memory;
  /** Additional trusted certificate authorities, in PEM. */
  authorities: string | null;
  /** Resolves and checks the addresses of a host. Throws TargetFailure for a blocked or unknown host. */
  addressesOf(host: string, port: number | null, lookup?: Lookup): Promise<Address[]>;
};
