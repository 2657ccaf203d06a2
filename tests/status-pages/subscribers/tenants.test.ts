import { describe, expect, test } from "bun:test";
import { type TestResponse, dumpTables, unknownId } from "../../support/appliance.ts";
import { ann, createPublisher } from "../../support/publisher.ts";

const webhook = { type: "webhook", url: "https://hooks.team.example/status" };

/** A response without its request id. */
const removeRequestId = ({ status, text }: TestResponse) => [
  status,
  text.replace(/"requestId":"[^"]+"/, ""),
];

describe.concurrent("of another organization or page", () => {
  /**
   * The same mailbox and webhook on a page of theirs, on our default page, and on another of ours.
   */
  async function setUpThree() {
    const publisher = await createPublisher();
    const { api, theirs } = publisher;
    const [their] = (await theirs.api("GET", "/api/v1/status-pages")).json.data;
    const theirPath = `/api/v1/status-pages/${their.id}/subscribers`;
    const added = await theirs.api("POST", theirPath, {
      body: { type: "email", email: ann, confirmed: true },
    });
    expect(added.status).toBe(201);
    const other = await publisher.createPage();
    const otherPath = `/api/v1/status-pages/${other.id}/subscribers`;
    return {
      ...publisher,
      theirPath,
      theirOne: added.json.data as { id: string },
      otherPath,
      ourOne: await publisher.mailbox(),
      otherOne: await publisher.mailbox(ann, otherPath),
      asUs: api,
    };
  }

  test("every route responds as if there were none, and changes nothing", async () => {
    await using world = await setUpThree();
    const { asUs, path, theirPath, otherPath, theirOne, otherOne } = world;
    const unknownPage = `/api/v1/status-pages/${unknownId}/subscribers`;
    const before = dumpTables(world);
    const pairs: [method: string, theirs: string, unknown: string][] = [
      ["GET", theirPath, unknownPage],
      ["GET", `${theirPath}-export`, `${unknownPage}-export`],
      ["POST", theirPath, unknownPage],
    ];
    for (const method of ["GET", "DELETE"])
      for (const foreign of [
        `${theirPath}/${theirOne.id}`,
        `${path}/${theirOne.id}`,
        `${otherPath}/${theirOne.id}`,
        `${path}/${otherOne.id}`,
        `${theirPath}/${otherOne.id}`,
      ])
        pairs.push([method, foreign, `${path}/${unknownId}`]);
    for (const [method, foreign, unknown] of pairs) {
      const options = method === "POST" ? { body: webhook } : {};
      const expected = removeRequestId(await asUs(method, unknown, options));
      expect([foreign, ...removeRequestId(await asUs(method, foreign, options))]).toEqual([
        foreign,
        ...expected,
      ]);
      expect(expected[0]).toBe(404);
    }
    expect(dumpTables(world)).toBe(before);
  });

  test("no subscriber is listed or notified", async () => {
    await using world = await setUpThree();
    const { asUs, theirs, path, theirPath, otherPath } = world;
    for (const [api, at] of [
      [asUs, path],
      [asUs, otherPath],
      [theirs.api, theirPath],
    ] as const) {
      expect((await api("GET", at)).json.meta.total).toBe(1);
      expect((await api("GET", `${at}-export`)).json.data).toHaveLength(1);
    }
    const hidden = await world.monitor();
    await world.createIncident({ title: "Of our default page", monitorId: hidden.id });
    await theirs.api("POST", "/api/v1/incidents", { body: { title: "Theirs" } });
    await world.send();
    expect(world.listSubjects()).toEqual(["Investigating: Of our default page – Acme status"]);
  });

  test("leaving one page does not affect the others", async () => {
    await using world = await setUpThree();
    await world.api("DELETE", `${world.path}/${world.ourOne.id}`);
    expect((await world.asUs("GET", world.otherPath)).json.meta.total).toBe(1);
    expect((await world.theirs.api("GET", world.theirPath)).json.meta.total).toBe(1);
  });
});
