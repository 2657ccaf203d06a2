import { describe, expect, test } from "bun:test";
import { testAppliance } from "../../support/appliance.ts";
import { createWatch } from "../../support/check-board.ts";

const name = "Shop";
const buildHttp = (url: string) => ({ type: "http", name, url });
const buildTcp = (host: string, port = 80) => ({ type: "tcp", name, host, port });

async function readRejection(body: object) {
  const { ours, database } = await testAppliance();
  const { status, json } = await ours.api("POST", "/api/v1/monitors", { body });
  const stored = database.query("SELECT count(*) AS count FROM monitors").get();
  return { status, path: json.error?.details?.[0]?.path, stored };
}

const noRows = { count: 0 };

describe("an invalid target is rejected with its field", () => {
  const cases: [string, object, string][] = [
    ["a URL with another scheme", buildHttp("ftp://intranet.lan/"), "url"],
    ["a URL with credentials", buildHttp("http://user:secret@intranet.lan/"), "url"],
    ["a URL with control characters", buildHttp("http://intranet.lan/\r\nX-Injected: 1"), "url"],
    ["a URL with a port of 0", buildHttp("http://intranet.lan:0/"), "url"],
    ["a URL with a port of 70000", buildHttp("http://intranet.lan:70000/"), "url"],
    ["a URL with a host that starts with a hyphen", buildHttp("http://-f.lan/"), "url"],
    ["a host that starts with a hyphen", { type: "ping", name, host: "-f" }, "host"],
    ["a port of 0", buildTcp("db.lan", 0), "port"],
    ["a port of 70000", buildTcp("db.lan", 70_000), "port"],
    ["an interval below 5", { ...buildHttp("http://a.lan/"), interval: 4 }, "interval"],
    [
      "a timeout above the interval",
      { ...buildHttp("http://a.lan/"), interval: 5, timeout: 6 },
      "timeout",
    ],
    ["an invalid JSON path", { ...buildHttp("http://a.lan/"), jsonPath: "$..a" }, "jsonPath"],
    [
      "an unknown record type",
      { type: "dns", name, host: "a.lan", recordType: "WKS" },
      "recordType",
    ],
  ];
  for (const [what, body, path] of cases)
    test(what, async () => {
      expect(await readRejection(body)).toEqual({ status: 422, path, stored: noRows });
    });
});

describe("a blocked address is rejected when it is saved", () => {
  const addresses = [
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "0251.0376.0251.0376",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "0.0.0.0",
    "[::]",
    "224.0.0.1",
    "255.255.255.255",
    "127.0.0.1:3210",
    "[::1]:3210",
  ];
  for (const address of addresses)
    test(`http://${address}/`, async () => {
      expect(await readRejection(buildHttp(`http://${address}/`))).toEqual({
        status: 422,
        path: "url",
        stored: noRows,
      });
    });

  test("also for TCP ports, certificates and name servers", async () => {
    expect(await readRejection(buildTcp("169.254.169.254"))).toMatchObject({ path: "host" });
    expect(await readRejection({ type: "tls", name, host: "fe80::1" })).toMatchObject({
      path: "host",
    });
    const dns = { type: "dns", name, host: "a.lan", resolver: "169.254.169.253" };
    expect(await readRejection(dns)).toMatchObject({ path: "resolver" });
  });

  test("also in a patch, which then changes nothing", async () => {
    const { ours } = await testAppliance();
    const { json } = await ours.api("POST", "/api/v1/monitors", {
      body: buildHttp("http://a.lan/"),
    });
    const path = `/api/v1/monitors/${json.data.id}`;
    const patch = { url: "http://169.254.169.254/" };
    expect(await ours.api("PATCH", path, { body: patch })).toMatchObject({ status: 422 });
    expect((await ours.api("GET", path)).json.data.url).toBe("http://a.lan/");
  });

  test("unless it is in an allowed range", async () => {
    const { ours } = await testAppliance({ allowTarget: ["169.254.0.0/16"] });
    const body = buildHttp("http://169.254.169.254/");
    expect(await ours.api("POST", "/api/v1/monitors", { body })).toMatchObject({ status: 201 });
  });
});

test("a name that resolves to the appliance itself can be saved, but its checks are down without connecting", async () => {
  const { api, engine, readMonitor, readBeats } = await createWatch();
  const { json } = await api("POST", "/api/v1/monitors", {
    body: { ...buildHttp("http://localhost:3210/"), retries: 3 },
  });
  await engine.runOnce();
  const message = "Blocked: the target is this appliance itself.";
  expect(await readMonitor(json.data.id)).toMatchObject({ status: "down", lastMessage: message });
  expect(await readBeats(json.data.id)).toMatchObject([{ status: "down", message }]);
});

describe("a target that was blocked after it was saved", () => {
  async function createClosable() {
    let shared = false;
    const appliance = await testAppliance({ isShared: () => shared });
    const { api } = appliance.ours;
    const make = async (path: string, body: object) =>
      (await api("POST", path, { body })).json.data.id as string;
    const monitor = await make("/api/v1/monitors", buildHttp("http://127.0.0.1:9/"));
    const channel = await make("/api/v1/alert-channels", {
      type: "webhook",
      name: "Hook",
      url: "http://127.0.0.1:9/",
    });
    const smtp = { host: "127.0.0.1", port: 9, from: "a@team.example", tls: "none" };
    await api("PATCH", "/api/v1/settings", { body: { smtp } });
    shared = true;
    return {
      api,
      monitor: `/api/v1/monitors/${monitor}`,
      channel: `/api/v1/alert-channels/${channel}`,
    };
  }

  test("does not prevent other changes of its monitor, channel or mail server", async () => {
    const { api, monitor, channel } = await createClosable();
    const monitorRecord = (await api("GET", monitor)).json.data;
    const changes: [string, object][] = [
      [monitor, { muted: true }],
      [monitor, { paused: true }],
      [monitor, { name: "Renamed", alertChannelIds: [] }],
      [monitor, monitorRecord],
      [channel, { enabled: false }],
      [channel, { default: false }],
      ["/api/v1/settings", { smtp: { from: "b@team.example" } }],
    ];
    for (const [path, body] of changes)
      expect([path, body, (await api("PATCH", path, { body })).status]).toEqual([path, body, 200]);
  });

  test("can't be entered again", async () => {
    const { api, monitor, channel } = await createClosable();
    const changes: [string, object, string][] = [
      [monitor, { url: "http://127.0.0.1:10/" }, "url"],
      [channel, { url: "http://127.0.0.2:9/" }, "url"],
      ["/api/v1/settings", { smtp: { port: 10 } }, "smtp.host"],
    ];
    for (const [path, body, field] of changes) {
      const { status, json } = await api("PATCH", path, { body });
      expect([status, json.error.details[0].path]).toEqual([422, field]);
    }
  });
});
