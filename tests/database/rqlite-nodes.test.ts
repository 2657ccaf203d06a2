import { describe, expect, test } from "bun:test";
import { knownNodes } from "../../src/database/rqlite/nodes.ts";

/** What a node says of nodes by their names in Raft: those with an address of requests can be reached. */
const said = (...nodes: [raft: string, host?: string][]) =>
  Response.json({
    nodes: nodes.map(([addr, host]) => ({
      id: addr,
      addr,
      ...(host !== undefined && { api_addr: `http://${host}` }),
      leader: false,
      reachable: host !== undefined,
    })),
  });

const hostsOf = async (known: ReturnType<typeof knownNodes>, response: Response) =>
  (await known.take(response)).map(({ host }) => host);

describe("a node of the database that can't be reached is called", () => {
  test("as it was while it could be", async () => {
    const known = knownNodes(["db1:4001", "db2:4001"]);
    await known.take(said(["10.0.0.1:4002", "10.0.0.1:4001"], ["10.0.0.2:4002", "10.0.0.2:4001"]));
    expect(
      await hostsOf(known, said(["10.0.0.1:4002", "10.0.0.1:4001"], ["10.0.0.2:4002"])),
    ).toEqual(["10.0.0.1:4001", "10.0.0.2:4001"]);
  });

  test("as it is configured, where that is known by its machine", async () => {
    const known = knownNodes(["10.0.0.1:4001", "10.0.0.2:5001", "10.0.0.3:6001"]);
    const now = said(["10.0.0.2:4002"], ["10.0.0.1:4002", "10.0.0.1:4001"], ["10.0.0.3:4002"]);
    expect(await hostsOf(known, now)).toEqual(["10.0.0.2:5001", "10.0.0.1:4001", "10.0.0.3:6001"]);
  });

  test("as the only one that is configured and that no other has", async () => {
    const known = knownNodes(["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]);
    const now = said(
      ["127.0.0.1:12", "127.0.0.1:2"],
      ["127.0.0.1:13"],
      ["127.0.0.1:11", "127.0.0.1:1"],
    );
    expect(await hostsOf(known, now)).toEqual(["127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:1"]);
  });

  test("as the others reach it, where it could be one or the other", async () => {
    const known = knownNodes(["db1:4001", "db2:4001", "db3:4001"]);
    const now = said(["10.0.0.1:4002", "10.0.0.1:4001"], ["10.0.0.2:4002"], ["10.0.0.3:4002"]);
    expect(await hostsOf(known, now)).toEqual(["10.0.0.1:4001", "10.0.0.2:4002", "10.0.0.3:4002"]);
  });
});
