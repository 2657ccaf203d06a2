import type { DatabaseNode } from "./data-directory.ts";

/** Where a node says which others it knows. */
export const nodesPath = "/nodes?ver=2&nonvoters&timeout=1s";

/** The nodes as one of them says; those that can't be reached are where they were. */
export function knownNodes() {
  /** By what nodes call each other: where they are asked. */
  const hosts = new Map<string, string>();
  return {
    hostOf: (raft: string) => hosts.get(raft),
    async take(response: Response): Promise<DatabaseNode[]> {
      const all = await nodesIn(response);
      for (const { raft, host, isReachable } of all) if (isReachable) hosts.set(raft, host);
      return all.map((node) => ({ ...node, host: hosts.get(node.raft) ?? node.host }));
    },
  };
}

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
