import { expect, test } from "bun:test";
import { hostname } from "node:os";
import { createOwnHosts } from "../../src/core/security/own-hosts.ts";
import { lengthenShortHost } from "../../src/server.ts";
import { testAppliance } from "../support/appliance.ts";

const good = ["nas", "nas:3210", "NAS.lan.", "my_box", "192.168.1.5:3210", "[::1]:3210", "evil.io"];
const bad = ["", "a, b", "a b", "a/b", "a@b", "http://a", "a:port", "a..b", "[::1"];

test("an API key works under any host name", async () => {
  const { ours } = await testAppliance();
  for (const Host of good) {
    const { status } = await ours.api("GET", "/api/v1/incidents", { headers: { Host } });
    expect([Host, status]).toEqual([Host, 200]);
  }
});

test("a request without exactly one valid host is malformed, also outside the API", async () => {
  const { app, stranger } = await testAppliance();
  for (const Host of bad) {
    const { status, json } = await stranger("GET", "/healthz", { headers: { Host } });
    expect([Host, status, json.error?.code]).toEqual([Host, 400, "BAD_REQUEST"]);
  }
  const withoutHost = await app.handle(new Request("http://localhost/healthz"));
  expect(withoutHost.status).toBe(400);
});

test("a path is found under a one-letter host name, and the request is unchanged otherwise", async () => {
  const request = new Request("http://n/api/v1/incidents?page=2", {
    method: "POST",
    headers: { Host: "n", Authorization: "Bearer x" },
    body: "{}",
  });
  const lengthened = lengthenShortHost(request);
  expect(new URL(lengthened.url)).toMatchObject({
    pathname: "/api/v1/incidents",
    search: "?page=2",
  });
  expect([
    lengthened.method,
    lengthened.headers.get("host"),
    lengthened.headers.get("authorization"),
  ]).toEqual(["POST", "n", "Bearer x"]);
  expect(await lengthened.text()).toBe("{}");
  expect(lengthenShortHost(new Request("https://n/x")).url).toStartWith("https://");
});

const visitors: [host: string, status: number][] = [
  ["localhost:3210", 200],
  ["192.168.1.5", 200],
  ["[fd00::1]:3210", 200],
  ["status.example", 200],
  ["STATUS.example.", 200],
  ["rebound.evil.io", 421],
  ["192.168.1.5.evil.io", 421],
  ["localhost.evil.io", 421],
];

test("the admin page works only under our own addresses and names", async () => {
  const { stranger } = await testAppliance();
  for (const [Host, expected] of visitors) {
    const { status, text } = await stranger("GET", "/", { headers: { Host } });
    expect([Host, status]).toEqual([Host, expected]);
    if (expected === 421) expect(text).toContain("--allowed-host");
  }
});

test("names in --allowed-host are normalized", () => {
  const given = ["NAS.Lan.", "münchen.example", "box.example:3210"];
  const { includes } = createOwnHosts(given);
  for (const Host of ["nas.lan", "NAS.LAN.:80", "xn--mnchen-3ya.example", "Box.example:443"])
    expect([Host, includes(Host)]).toEqual([Host, true]);
  for (const Host of ["lan", "nas.lan.evil.io", "nas.lan..", ""])
    expect([Host, includes(Host)]).toEqual([Host, false]);
});

test("every host name of the admin page is reserved, and so are --url, addresses and names without a dot", () => {
  const { includes, isReserved } = createOwnHosts(
    ["box.example", "NAS.lan."],
    "https://Links.Example:8443/x",
  );
  const machineName = hostname().toLowerCase();
  const opening = [
    "localhost",
    machineName,
    `${machineName.replace(/\.local$/, "")}.local`,
    "box.example",
    "nas.lan",
  ];
  opening.push("192.168.1.5", "[fd00::1]");
  for (const name of opening)
    for (const spelled of [name, name.toUpperCase(), `${name}:3210`])
      expect([spelled, includes(spelled), isReserved(spelled)]).toEqual([spelled, true, true]);
  for (const name of [
    "links.example",
    "LINKS.example.",
    "fd00::1",
    "nas",
    "intranet",
    "intranet.",
    "",
  ])
    expect([name, isReserved(name)]).toEqual([name, true]);
  for (const name of ["status.box.example", "status.links.example", "lan.example"])
    expect([name, includes(name), isReserved(name)]).toEqual([name, false, false]);
});
