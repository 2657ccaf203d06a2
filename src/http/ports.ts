import type { Port, Tls } from "./listener.ts";

export type Ports = ReturnType<typeof createPorts>;

/**
 * Manages the main port, and the optional second port that serves only public pages. `onChange` receives the numbers
 * of the open ports.
 */
export function createPorts(
  main: Port,
  openPublic: (number: number) => Port,
  onChange: (numbers: readonly number[]) => void,
) {
  let publicPort: Port | null = null;
  /** Closed ports that still have pending requests. */
  const closing = new Set<Port>();
  const open = () => (publicPort === null ? [main] : [main, publicPort]);
  /** Ports of other protocols. */
  const others: number[] = [];
  const report = () => onChange([...open().map(({ number }) => number), ...others]);
  const listAll = () => [...open(), ...closing];

  return {
    /**
     * Opens, moves or closes the public port. The old port finishes its pending requests. Throws an Error and leaves
     * the old port open if the new one can't be opened.
     */
    usePublic(number: number | undefined) {
      const before = publicPort;
      publicPort = number === undefined ? null : openPublic(number);
      report();
      if (before === null) return;
      closing.add(before);
      void before.stop().then(() => closing.delete(before));
    },
    /** Adds a port that another part has opened. */
    useOther(number: number) {
      others.push(number);
      report();
    },
    useTls(tls: Tls) {
      for (const port of open()) port.useTls(tls);
    },
    /** Returns the number of the public port; null if it is closed. */
    publicNumber: () => publicPort?.number ?? null,
    pendingRequests: () => listAll().reduce((sum, { pendingRequests }) => sum + pendingRequests, 0),
    stop: (closeActive?: boolean) => Promise.all(listAll().map((port) => port.stop(closeActive))),
  };
}
