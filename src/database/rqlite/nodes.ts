import type { DatabaseNode } from "../file/data-directory.ts";

/** Request path for the list of all nodes, including non-voting ones. */
export const nodesPath = "/nodes?ver=2&nonvoters&timeout=1s";

/**
 * Parses node lists, and remembers the request address of each node. Unreachable nodes get their last known address,
 * or else a configured one that no other node has.
 */
export function createKnownNodes(configured: readonly string[]) {
  /** Request addresses by Raft address. */
  const hosts = new Map<string, string>();

  /** Returns the only unassigned configured address on the same machine, or else the only unassigned one at all. */
  function findConfigured(raft: string): string | undefined {
    const assignedHosts = new Set(hosts.values());
    const free = configured.filter((host) => !assignedHosts.has(host));
    const near = free.filter((host) => machineOf(host) === machineOf(raft));
    return [near, free].find(({ length }) => length === 1)?.[0];
  }

  return {
    hostOf: (raft: string) => hosts.get(raft),
    async parseNodes(response: Response): Promise<DatabaseNode[]> {
      const all = await parseNodeList(response);
      for (const { raft, host, isReachable } of all) if (isReachable) hosts.set(raft, host);
      return all.map((node) => ({
        ...node,
        host: hosts.get(node.raft) ?? findConfigured(node.raft) ?? node.host,
      }));
    },
  };
}

const machineOf = (host: string) => host.replace(/:\d+$/, "");

async function parseNodeList(response: Response): Promise<(DatabaseNode & { raft: string })[]> {
  const { nodes } = (await response.json()) as {
    nodes: { id: string; addr: string; api_addr?: string; leader: boolean; reachable: boolean }[];
  };
  return nodes.map(({ id, addr, api_addr: url = "", leader, reachable }) => ({
    id,
    raft: addr,
    // Falls back to the Raft address, because unreachable nodes don't report their request address.
    host: URL.canParse(url) ? new URL(url).host : addr,
    isLeader: leader,
    isReachable: reachable,
  }));
}
