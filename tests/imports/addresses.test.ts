import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { inflateFixture, importKuma } from "../support/kuma-fixtures.ts";
import { createVisitor, type Visitor } from "../support/visitor.ts";

const now = Date.parse("2026-11-22T05:00:00.000Z");
const titleOf = (svg: string) => /<title>(.*?)<\/title>/.exec(svg)?.[1];

describe("addresses of an imported Uptime Kuma", () => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await createVisitor();
    visitor.time.now = now;
    await importKuma(visitor.ours.scope, inflateFixture("kuma-2-acme.db"));
    await visitor.restart();
  });

  test("jobs report to their old push address, by any method and with any parameters", async () => {
    const path = "/api/push/FAKEpushTokenAcmeNightly00000001";
    const monitors = (await visitor.ours.api("GET", "/api/v1/monitors?q=Nightly")).json.data;
    const readHeartbeats = async () =>
      (await visitor.ours.api("GET", `/api/v1/monitors/${monitors[0].id}/heartbeats?limit=1`)).json
        .data[0];
    const cases = [
      ["GET", "?status=up&msg=OK&ping=12.6", { status: "up", latencyMs: 13 }],
      ["POST", "", { status: "up", latencyMs: null }],
      [
        "PUT",
        "?status=down&msg=Disk%20full&ping=&what=ever",
        { status: "down", message: "Disk full" },
      ],
      ["PATCH", "?status=broken&ping=NaN", { status: "down", latencyMs: null }],
    ] as const;
    for (const [method, query, wanted] of cases) {
      visitor.time.now += 10_000;
      const { status, json } = await visitor.stranger(method, `${path}${query}`);
      expect([method, status, json]).toEqual([method, 200, { ok: true }]);
      expect(await readHeartbeats()).toMatchObject(wanted);
    }
    expect((await visitor.stranger("GET", "/api/push/wrong")).status).toBe(404);
  });

  test("badges of monitors on a page use the old monitor number", async () => {
    const readBadge = async (path: string) =>
      titleOf((await visitor.readHtml(`/api/badge/${path}`)).text);
    expect(await readBadge("6/status")).toBe("Status: pending");
    expect(await readBadge("6/status?label=Shop")).toBe("Shop: pending");
    expect(await readBadge("6/uptime")).toBe("Uptime (24h): 100%");
    expect(await readBadge("14/uptime/30d")).toMatch(/^Uptime \(30d\): 65\.\d\d%$/);
    expect(await readBadge("6/ping/720?label=Ping")).toMatch(/^Ping: \d+ ms$/);
    expect(await readBadge("6/cert-exp")).toBe("Cert Exp.: No/Bad Cert");
    // A monitor on no page, an unknown monitor, and an unknown badge.
    for (const path of ["56/status", "9999/status", "6/secrets"])
      expect([path, (await visitor.ask(`/api/badge/${path}`))?.status ?? 404]).toEqual([path, 404]);
  });

  test("pages preserve their addresses, and widgets can read their JSON", async () => {
    expect((await visitor.readHtml("/status/acme-public")).text).toContain("Acme Status");
    const { config, publicGroupList, incident, incidents } = (
      await visitor.readHtml("/api/status-page/acme-public")
    ).json();
    expect(config).toMatchObject({ slug: "acme-public", title: "Acme Status", theme: "dark" });
    expect(publicGroupList[0]).toMatchObject({
      id: 1,
      name: "Customer facing",
      monitorList: expect.arrayContaining([
        { id: 6, name: "Acme website", sendUrl: 0, type: "http" },
      ]),
    });
    expect(incident).toEqual(incidents[0]);
    expect(incident.createdDate).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);
    const { heartbeatList, uptimeList } = (
      await visitor.readHtml("/api/status-page/heartbeat/acme-public")
    ).json();
    expect(heartbeatList["6"].at(-1)).toEqual({
      status: 1,
      time: expect.stringMatching(/^2026-11-22 04:/),
      msg: "",
      ping: expect.any(Number),
    });
    expect(uptimeList["6_24"]).toBe(1);
    expect(Object.keys(heartbeatList).length).toBe(Object.keys(uptimeList).length);
  });

  test("pages have the newer addresses of Uptime Kuma: feed, badge, incident history and manifest", async () => {
    const read = async (path: string) => visitor.readHtml(`/api/status-page/acme-public/${path}`);
    const { incident } = (await visitor.readHtml("/api/status-page/acme-public")).json();
    const history = (await read("incident-history")).json();
    expect(history).toMatchObject({ ok: true, total: history.incidents.length, hasMore: false });
    expect(history.incidents).toContainEqual({ ...incident, pin: true, active: true });
    expect((await read("manifest.json")).json()).toMatchObject({
      name: "Acme Status",
      start_url: "/status/acme-public",
    });
    expect(titleOf((await read("badge?label=Acme")).text)).toBe("Acme: Down");
    expect((await visitor.readHtml("/status/acme-public/rss")).text).toContain("<rss");
  });

  test("the dashboards of the document find their addresses and fields", async () => {
    const text = await Bun.file(join(import.meta.dir, "../../docs/dashboards.md")).text();
    const paths = [...text.matchAll(/signalbox\.lan:3210(\/[^\s`]*SLUG[^\s`]*)/g)].map(([, path]) =>
      `${path}`.replace("SLUG", "acme-public"),
    );
    for (const path of paths) expect((await visitor.readHtml(path)).text.length).toBeGreaterThan(0);
    // Homepage and Dashy combine the address and the slug themselves. Glance reads the fields in quotes.
    const page = (await visitor.readHtml("/status/acme-public.json")).json();
    const [, template = ""] = /template: \|([^]*?)```/.exec(text) ?? [];
    const monitor = page.sections[0].monitors[0];
    for (const [, type, name = ""] of template.matchAll(/\.(String|Array) "(\w+)"/g)) {
      const value = page[name] ?? page.sections[0][name] ?? monitor[name];
      expect([name, type === "Array" ? Array.isArray(value) : typeof value]).toEqual([
        name,
        type === "Array" ? true : "string",
      ]);
    }
    const { heartbeatList } = (
      await visitor.readHtml("/api/status-page/heartbeat/acme-public")
    ).json();
    for (const heartbeats of Object.values<{ status: number }[]>(heartbeatList))
      expect(heartbeats.every(({ status }) => [0, 1, 2, 3].includes(status))).toBe(true);
  });

  test("hidden monitors appear nowhere", async () => {
    const pages = (await visitor.ours.api("GET", "/api/v1/status-pages")).json.data;
    const { id } = pages.find(({ slug }: { slug: string }) => slug === "acme-internal") ?? pages[0];
    await visitor.changePage(id, { slug: "secret-page", visibility: "hidden" });
    await visitor.restart();
    for (const path of ["secret-page", "heartbeat/secret-page", "none"])
      expect((await visitor.get(`/api/status-page/${path}`)).status).toBe(404);
  });
});
