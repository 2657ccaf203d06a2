import type { DatabaseNode } from "../file/data-directory.ts";

/** Where a node says which others it knows. */
export const nodesPath = "/nodes?ver=2&nonvoters&timeout=1s";

/** The nodes as one of them says; those that can't be reached are where they were, or where `configured` has one more. */
export function knownNodes(configured: readonly string[]) {
  /** By what nodes call each other: where they are asked. */
  const hosts = new Map<string, string>();

  /** An address that no other node has: of the same machine, or the only one. */
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
    // One that can't be reached doesn't say where it takes requests.
    host: URL.canParse(url) ? new URL(url).host : addr,
    isLeader: leader,
    isReachable: reachable,
  }));
}
