import type { Memory } from "./memory.ts";

export type Address = {
  address: string;
  family: 4 | 6;
  /** Of this machine or of a network behind no public route. */
  isPrivate: boolean;
};

export type Lookup = {
  /** Only addresses of this one. */
  family?: 4 | 6 | null;
  /** The host as the connecting side resolves it. A proxy's target needs no address here. */
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
    | "connecting to the proxy"
    | "waiting for the proxy"
    | "waiting for the answer"
    | "waiting for a message"
    | "reading the answer"
    | "waiting for its turn"
    | "waiting for the browser"
    | "starting the browser"
    | "loading the page"
    | "waiting for the page"
    | "searching the answer";
  /** Possible cause of a timeout while waiting for the answer, as a sentence for the organization; null for none. */
  silence?: string | null;
  memory: Memory;
  /** Certificates of authorities that are trusted in addition to the default ones, in PEM. */
  authorities: string | null;
  /** Addresses of a host, each one judged. Throws TargetFailure for a blocked or unknown one. */
  addressesOf(host: string, port: number | null, manner?: Lookup): Promise<Address[]>;
};
