import { expect, test } from "bun:test";
import { findHost, rankNeighbors, type FailingMonitor } from "../../src/dashboard/cause-rules.ts";
import { unknownId } from "../support/appliance.ts";
import { getFreePort } from "../support/binary.ts";
import { createWatch } from "../support/check-board.ts";
import { signInMember } from "../support/people.ts";

test("a failing monitor shows who changed it in the hour before, and what failed with it", async () => {
  const watch = await createWatch();
  const { createSite, engine, time, api, group } = watch;
  await using shop = await createSite({ name: "Shop", interval: 60, retries: 0 });
  await using cart = await createSite({ name: "Cart", interval: 60, retries: 0 });
  await using later = await createSite({ name: "Later", interval: 60, retries: 0 });
  const { id: groupId } = await group({ name: "Front", monitorIds: [shop.id] });
  const { page } = await signInMember(watch, "viewer");
  const readCauses = async () =>
    (await page("GET", `/dashboard/monitors/${shop.id}/causes`)).json.data;
  const noCause = {
    certificateExpiredAt: null,
    resolved: null,
    changes: [],
    neighbors: [],
    neighborCount: 0,
  };
  await engine.runOnce();
  expect(await readCauses()).toEqual({ since: null, ...noCause });
  time.now += 2 * 3_600_000;
  await engine.runOnce();
  await api("PATCH", `/api/v1/monitors/${shop.id}`, { body: { timeout: 7 } });
  await api("PATCH", `/api/v1/monitor-groups/${groupId}`, { body: { description: "All shops" } });
  time.now += 60_000;
  shop.failNow();
  cart.failNow();
  await engine.runOnce();
  const since = new Date(time.now).toISOString();
  time.now += 120_000;
  later.failNow();
  await engine.runOnce();
  const found = await readCauses();
  expect(found).toMatchObject({ since, neighborCount: 1 });
  expect(found.neighbors).toMatchObject([
    { id: cart.id, status: "down", common: { kind: "host", value: "127.0.0.1" } },
  ]);
  expect(found.changes).toMatchObject([
    { action: "group.updated", fields: ["description"], subjectName: "Front" },
    { action: "monitor.updated", fields: ["timeout"], subjectName: "Shop" },
  ]);
});

test("a failing monitor shows what failed at the same address under another name", async () => {
  const watch = await createWatch();
  const names = ["127.0.0.1", "localhost"];
  const monitors = [];
  for (const host of names) {
    const body = { type: "tcp", name: host, host, port: getFreePort(), retries: 0 };
    monitors.push((await watch.api("POST", "/api/v1/monitors", { body })).json.data);
  }
  await watch.engine.runOnce();
  const { page } = await signInMember(watch, "viewer");
  for (const [index, { id }] of monitors.entries()) {
    const { neighbors } = (await page("GET", `/dashboard/monitors/${id}/causes`)).json.data;
    const common = { kind: "address", value: "127.0.0.1" };
    expect(neighbors).toMatchObject([{ name: names[1 - index], common }]);
  }
});

test("a failing monitor shows that DNS returned other records before", async () => {
  const watch = await createWatch();
  await using server = await startNameServer();
  const body = {
    type: "dns",
    name: "Shop",
    host: "shop.example",
    resolver: `127.0.0.1:${server.port}`,
    expected: ["192.0.2.7"],
    interval: 60,
    retries: 0,
  };
  const { id } = (await watch.api("POST", "/api/v1/monitors", { body })).json.data;
  await watch.engine.runOnce();
  for (let check = 0; check < 2; check++) {
    watch.time.now += 3_600_000;
    await watch.engine.runOnce();
  }
  server.answerWith("192.0.2.9");
  watch.time.now += 60_000;
  await watch.engine.runOnce();
  const { page } = await signInMember(watch, "viewer");
  const { data } = (await page("GET", `/dashboard/monitors/${id}/causes`)).json;
  const at = new Date(watch.time.now).toISOString();
  const change = { name: "shop.example (A)", before: "192.0.2.7", after: "192.0.2.9", at };
  expect(data).toMatchObject({ since: at, resolved: change });
});

/** A name server that responds to every question with one address. */
async function startNameServer() {
  let address = "192.0.2.7";
  const socket = await Bun.udpSocket({
    hostname: "127.0.0.1",
    socket: {
      data(socket, message, port, from) {
        // The question without additional records, then a pointer to its name, A, IN, a TTL and four bytes.
        const asked = Buffer.from(message);
        const question = asked.subarray(12, asked.indexOf(0, 12) + 5);
        const counts = Buffer.from("81800001000100000000", "hex");
        const record = Buffer.from("c00c000100010000003c0004", "hex");
        const value = Buffer.from(address.split(".").map(Number));
        const parts = [asked.subarray(0, 2), counts, question, record, value];
        socket.send(Buffer.concat(parts), port, from);
      },
    },
  });
  return {
    port: socket.port,
    answerWith: (other: string) => void (address = other),
    [Symbol.asyncDispose]: async () => socket.close(),
  };
}

test("what happened before a failure is hidden from other organizations", async () => {
  const watch = await createWatch();
  await using site = await watch.createSite({ retries: 0 });
  const { page } = await signInMember(watch, "viewer");
  expect((await page("GET", `/dashboard/monitors/${unknownId}/causes`)).status).toBe(404);
  // A monitor of another organization fails on the same host at the same time.
  const { url } = await watch.readMonitor(site.id);
  const body = { type: "http", name: "Foreign", url, retries: 0 };
  const created = await watch.theirs.api("POST", "/api/v1/monitors", { body });
  site.failNow();
  await watch.engine.runOnce();
  const foreign = await watch.theirs.api("GET", `/api/v1/monitors/${created.json.data.id}`);
  expect(foreign.json.data.status).toBe("down");
  const { json } = await page("GET", `/dashboard/monitors/${site.id}/causes`);
  expect(json.data).toMatchObject({ since: expect.any(String), neighborCount: 0 });
});

test("monitors of the same host or address are named before those of the same group", () => {
  const buildOutage = (
    name: string,
    since: number,
    groupId: string | null,
    checked: object,
    causes: FailingMonitor["causes"] = [],
  ) =>
    ({
      id: name,
      name,
      status: "down",
      since: `2026-11-20T10:00:0${since}.000Z`,
      groupId,
      checked: { type: "http", ...checked },
      causes,
    }) satisfies FailingMonitor;
  const buildAddress = (value: string) => ({ kind: "address", value }) as const;
  const ownOutage = buildOutage("own", 0, "g", { url: "https://DB.lan:8443/x" }, [
    buildAddress("10.0.0.7"),
  ]);
  const ranked = rankNeighbors(ownOutage, [
    buildOutage("other", 0, null, { url: "https://a.example" }),
    buildOutage("group", 1, "g", { url: "https://b.example" }),
    buildOutage("port", 3, null, { host: "db.lan", port: 5_432 }),
    buildOutage("path", 2, null, { url: "http://db.lan/y" }, [buildAddress("10.0.0.7")]),
    buildOutage("address", 4, null, { host: "files.lan" }, [buildAddress("10.0.0.7")]),
    buildOutage("elsewhere", 5, null, { host: "mail.lan" }, [buildAddress("10.0.0.8")]),
  ]);
  expect(ranked.map(({ name, common }) => [name, common?.value])).toEqual([
    ["path", "db.lan"],
    ["port", "db.lan"],
    ["address", "10.0.0.7"],
    ["group", undefined],
    ["other", undefined],
    ["elsewhere", undefined],
  ]);
  expect(findHost({ type: "push" })).toBeNull();
  expect(findHost({ type: "http", url: "http://[::1]:80/" })).toBe("::1");
});
