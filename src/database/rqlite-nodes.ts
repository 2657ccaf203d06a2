/** A node of the database as its leader sees it, or as any other does where there is none. */
export type DatabaseNode = {
  id: string;
  /** `host:port` where it answers requests; empty where it has not said so yet. */
  host: string;
  isLeader: boolean;
  isReachable: boolean;
};

/** Where a node says which others it knows. */
export const nodesPath = "/nodes?ver=2&nonvoters&timeout=1s";

export async function nodesIn(response: Response): Promise<(DatabaseNode & { raft: string })[]> {
  const { nodes } = (await response.json()) as {
    nodes: { id: string; addr: string; api_addr?: string; leader: boolean; reachable: boolean }[];
  };
  return nodes.map(({ id, addr, api_addr: url = "", leader, reachable }) => ({
    id,
    raft: addr,
    host: URL.canParse(url) ? new URL(url).host : "",
    isLeader: leader,
    isReachable: reachable,
  }));
}
