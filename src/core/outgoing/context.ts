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
  /** What the host is for whoever connects. What a proxy connects to need not have an address here. */
  as?: "target" | "proxy" | "behind a proxy";
};

/** What a connection is made with. */
export type OutgoingContext = {
  /** Ends when the time is up: whatever was opened closes then. */
  signal: AbortSignal;
  /** What is being done, for the sentence that says where the time was used up. */
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
  /** Certificates of authorities that are trusted beside the usual ones, in PEM. */
  authorities: string | null;
  /** Addresses of a host, each one judged. Throws TargetFailure for a blocked or unknown one. */
  addressesOf(host: string, port: number | null, manner?: Lookup): Promise<Address[]>;
};
