import type { DatabaseNode } from "./data-directory.ts";

/** Where a node says which others it knows. */
export const nodesPath = "/nodes?ver=2&nonvoters&timeout=1s";

export async function nodesIn(response: Response): Promise<(DatabaseNode & { raft: string })[]> {
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
