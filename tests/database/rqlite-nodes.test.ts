import { describe, expect, test } from "bun:test";
import { createKnownNodes } from "../../src/database/rqlite/nodes.ts";

/** A node's list of nodes by their Raft names; those with an HTTP address can be reached. */
const readText = (...nodes: [raft: string, host?: string][]) =>
  Response.json({
    nodes: nodes.map(([addr, host]) => ({
      id: addr,
      addr,
      ...(host !== undefined && { api_addr: `http://${host}` }),
      leader: false,
      reachable: host !== undefined,
    })),
  });

const learnHosts = async (known: ReturnType<typeof createKnownNodes>, response: Response) =>
  (await known.parseNodes(response)).map(({ host }) => host);

describe("the name of an unreachable database node is", () => {
  test("the one from when it was reachable", async () => {
    const known = createKnownNodes(["db1:4001", "db2:4001"]);
    await known.parseNodes(
      readText(["10.0.0.1:4002", "10.0.0.1:4001"], ["10.0.0.2:4002", "10.0.0.2:4001"]),
    );
    expect(
      await learnHosts(known, readText(["10.0.0.1:4002", "10.0.0.1:4001"], ["10.0.0.2:4002"])),
    ).toEqual(["10.0.0.1:4001", "10.0.0.2:4001"]);
  });

  test("the configured one, if its machine identifies it", async () => {
    const known = createKnownNodes(["10.0.0.1:4001", "10.0.0.2:5001", "10.0.0.3:6001"]);
    const text = readText(["10.0.0.2:4002"], ["10.0.0.1:4002", "10.0.0.1:4001"], ["10.0.0.3:4002"]);
    expect(await learnHosts(known, text)).toEqual([
      "10.0.0.2:5001",
      "10.0.0.1:4001",
      "10.0.0.3:6001",
    ]);
  });

  test("the only configured one that no other node has", async () => {
    const known = createKnownNodes(["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]);
    const text = readText(
      ["127.0.0.1:12", "127.0.0.1:2"],
      ["127.0.0.1:13"],
      ["127.0.0.1:11", "127.0.0.1:1"],
    );
    expect(await learnHosts(known, text)).toEqual(["127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:1"]);
  });

  test("its Raft host, if several configured ones are possible", async () => {
    const known = createKnownNodes(["db1:4001", "db2:4001", "db3:4001"]);
    const text = readText(["10.0.0.1:4002", "10.0.0.1:4001"], ["10.0.0.2:4002"], ["10.0.0.3:4002"]);
    expect(await learnHosts(known, text)).toEqual([
      "10.0.0.1:4001",
      "10.0.0.2:4002",
      "10.0.0.3:4002",
    ]);
  });
});
