import type { DatabaseNode } from "../file/data-directory.ts";

/** Path that lists all nodes a node knows. */
export const nodesPath = "/nodes?ver=2&nonvoters&timeout=1s";

/** Parses the node list of a node. Unreachable nodes retain their last address, or get a remaining configured one. */
export function knownNodes(configured: readonly string[]) {
  /** Request addresses by Raft address. */
  const hosts = new Map<string, string>();

  /** An unassigned configured address on the same machine, or the only one left. */
  function configuredFor(raft: string): string | undefined {
    const taken = new Set(hosts.values());
    const free = configured.filter((host) => !taken.has(host));
    const near = free.filter((host) => machineOf(host) === machineOf(raft));
    return [near, free].find(({ length }) => length === 1)?.[0];
  }

  return {
    hostOf: (raft: string) => hosts.get(raft),
    async take(response: Response): Promise<DatabaseNode[]> {
      const all = await nodesIn(response);
      for (const { raft, host, isReachable } of all) if (isReachable) hosts.set(raft, host);
      return all.map((node) => ({
        ...node,
        host: hosts.get(node.raft) ?? configuredFor(node.raft) ?? node.host,
      }));
    },
  };
}

const machineOf = (host: string) => host.replace(/:\d+$/, "");

async function nodesIn(response: Response): Promise<(DatabaseNode & { raft: string })[]> {
  const { nodes } = (await response.json()) as {
    nodes: { id: string; addr: string; api_addr?: string; leader: boolean; reachable: boolean }[];
  };
  return nodes.map(({ id, addr, api_addr: url = "", leader, reachable }) => ({
    id,
    raft: addr,
    // Unreachable nodes don't report their request address.
    host: URL.canParse(url) ? new URL(url).host : addr,
    isLeader: leader,
    isReachable: reachable,
  }));
}
