/**
 * Following status pages. Samples are written after the documents that `statuspage-formats.ts` names. Those of
 * incident.io are written after programs that read its widget API.
 */
import { describe, expect, test } from "bun:test";
import {
  followedFormats,
  type FormatName,
} from "../../../../src/monitoring/checks/kinds/statuspage-formats.ts";
import { runCheckOfType, startListener } from "../../../support/check-runs.ts";
import { buildSection, createVisitor } from "../../../support/visitor.ts";
import { buildSummary, serveDocuments } from "../../../support/fakes/statuspage.ts";

const slow = [
  {
    name: "Elevated error rates",
    status: "investigating",
    impact: "minor",
    components: [{ id: "8l4ygp009s5s" }],
  },
];

const instatus = {
  "/summary.json": {
    page: { name: "Supplier", url: "https://instat.us", status: "HASISSUES" },
    activeIncidents: [
      { name: "Elevated error rates", status: "INVESTIGATING", impact: "MAJOROUTAGE" },
    ],
  },
  "/v2/components.json": {
    components: [
      { id: "cl4a8n3070721", name: "API", status: "MAJOROUTAGE", group: null },
      { id: "cl4a8n3070722", name: "Website", status: "UNDERMAINTENANCE", group: null },
    ],
  },
};

const incidentIo = {
  "/api/v1/summary": {
    page_title: "Supplier",
    page_url: "https://status.supplier.example",
    ongoing_incidents: [
      {
        id: "01K",
        name: "Elevated error rates",
        status: "investigating",
        current_worst_impact: "full_outage",
        affected_components: [{ id: "01A", name: "API", current_status: "full_outage" }],
      },
    ],
    in_progress_maintenances: [
      { id: "01M", name: "Move", affected_components: [{ id: "01B", name: "Website" }] },
    ],
    scheduled_maintenances: [],
  },
};

const betterStack = {
  "/index.json": {
    data: {
      id: "165",
      type: "status_page",
      attributes: { company_name: "Supplier", aggregate_state: "downtime" },
    },
    included: [
      { id: "1", type: "status_page_section", attributes: { name: "Services", position: 0 } },
      {
        id: "11",
        type: "status_page_resource",
        attributes: { public_name: "API", status: "downtime", availability: 0.99 },
      },
      {
        id: "12",
        type: "status_page_resource",
        attributes: { public_name: "Website", status: "maintenance", availability: 1 },
      },
      {
        id: "21",
        type: "status_report",
        attributes: {
          title: "Elevated error rates",
          report_type: "manual",
          aggregate_state: "downtime",
          ends_at: null,
          affected_resources: [{ status_page_resource_id: "11", status: "downtime" }],
        },
      },
    ],
  },
};

const kuma = {
  "/api/status-page/default": {
    config: { slug: "default", title: "Supplier" },
    incident: { id: 1, title: "Elevated error rates", content: "", style: "warning" },
    publicGroupList: [
      {
        id: 1,
        name: "Services",
        monitorList: [
          { id: 1, name: "API", sendUrl: 0, type: "http" },
          { id: 2, name: "Website", sendUrl: 0, type: "http" },
        ],
      },
    ],
    maintenanceList: [],
  },
  "/api/status-page/heartbeat/default": {
    heartbeatList: {
      1: [
        { status: 1, time: "2026-11-20 10:00:00.000", msg: "", ping: 12 },
        { status: 0, time: "2026-11-20 10:01:00.000", msg: "", ping: null },
      ],
      2: [{ status: 3, time: "2026-11-20 10:01:00.000", msg: "", ping: 12 }],
    },
    uptimeList: { "1_24": 0.99, "2_24": 1 },
  },
};

const statuspage = {
  "/api/v2/summary.json": {
    ...buildSummary("major_outage", "critical", slow),
    components: [
      { id: "8l4ygp009s5s", name: "API", status: "major_outage" },
      { id: "brv1bkgrwx7q", name: "Website", status: "under_maintenance" },
    ],
  },
};

async function follow(documents: Record<string, unknown>, fields: object = {}) {
  const requests: string[] = [];
  await using server = await startListener((socket) => {
    socket.once("data", (bytes) => requests.push(bytes.toString().split(" ")[1] ?? ""));
    serveDocuments(documents)(socket, (plain) => plain);
  });
  const check = () => runCheckOfType("statuspage", { url: server.url, ...fields });
  return { ...(await check()), requests, again: await check().then(() => requests.length) };
}

describe.each([
  ["statuspage", statuspage],
  ["instatus", instatus],
  ["incident-io", incidentIo],
  ["better-stack", betterStack],
  ["uptime-kuma", kuma],
] as [FormatName, Record<string, unknown>][])("a page in the format of %s", (format, documents) => {
  test("is detected, and its outage named with its component and incident", async () => {
    expect(await follow(documents, { components: ["api "] })).toMatchObject({
      status: "down",
      message: "The status page reports an outage.",
      serverText: "The status page reports an outage. API: “Elevated error rates”",
      details: { page: "Supplier", incident: "Elevated error rates" },
    });
  });

  test("is detected once, then only its own documents are requested", async () => {
    const { requests, again } = await follow(documents);
    const documentCount = Object.keys(documents).length;
    expect(again - requests.slice(0, -documentCount).length).toBe(documentCount);
    expect(requests.slice(-documentCount)).toEqual(Object.keys(documents));
  });

  test("is read with the chosen format, whose maintenance counts as chosen", async () => {
    const maintained = { format, components: ["Website"] };
    expect(await follow(documents, maintained)).toMatchObject({
      status: "up",
      message: "The status page reports maintenance, which counts as up.",
    });
    expect(await follow(documents, { ...maintained, maintenanceAs: "down" })).toMatchObject({
      status: "down",
      serverText: expect.stringMatching(/^The status page reports an outage. Website/),
    });
  });

  test("with unexpected types is no page of this format, or has no trouble", () => {
    const broken = Object.keys(documents).map((_, index) => ({ page: index, data: [], config: 1 }));
    expect(followedFormats[format].read(broken)).toBeNull();
    expect(followedFormats[format].read([null, null])).toBeNull();
  });
});

describe("a followed status page", () => {
  test("as a whole has its own verdict, not that of its worst component", async () => {
    const partly = { "/api/v2/summary.json": buildSummary("major_outage", "major", slow) };
    expect(await follow(partly)).toMatchObject({
      status: "degraded",
      serverText: "The status page reports degraded service. API: “Elevated error rates”",
    });
    const hidden = { "/api/v2/summary.json": buildSummary("operational", "minor", slow) };
    expect(await follow(hidden)).toMatchObject({
      status: "degraded",
      serverText: "The status page reports degraded service. “Elevated error rates”",
    });
  });

  test("with null for an empty list is read as usual", () => {
    const calm = { ...buildSummary("operational", "none"), incidents: null };
    expect(followedFormats.statuspage.read([calm])).toMatchObject({ state: "up", incidents: [] });
    const bare = { ...calm, components: null };
    expect(followedFormats.statuspage.read([bare])).toMatchObject({ state: "up", components: [] });
  });

  test("with an unknown state is degraded, not up", async () => {
    const odd = { "/api/v2/summary.json": buildSummary("on_fire", "odd") };
    expect(await follow(odd)).toMatchObject({ status: "degraded" });
    expect(await follow(odd, { components: ["API"] })).toMatchObject({ status: "degraded" });
    const inherited = { "/api/v2/summary.json": buildSummary("constructor", "constructor") };
    expect(await follow(inherited)).toMatchObject({ status: "degraded" });
  });

  test("of Uptime Kuma without results for a monitor is up, with any ID", () => {
    const monitorList = [{ id: "constructor", name: "API" }];
    const page = { config: { title: "Supplier" }, publicGroupList: [{ monitorList }] };
    expect(followedFormats["uptime-kuma"].read([page, { heartbeatList: {} }])?.state).toBe("up");
  });

  test("has long and misleading texts shortened to one line", async () => {
    const name = `Line\nbreak \u202e ${"x".repeat(500)}`;
    const incidents = [{ name, status: "identified", components: [] }];
    const page = { "/api/v2/summary.json": buildSummary("major_outage", "critical", incidents) };
    const { serverText = "", details } = await follow(page);
    expect(serverText.length).toBeLessThan(300);
    expect(serverText).not.toMatch(/[\n\u202e]/);
    expect(details).toEqual({ page: "Supplier", incident: expect.any(String) });
  });

  test("can be one of Signalbox, in both formats that it serves", async () => {
    const visitor = await createVisitor();
    const monitors = await Promise.all(
      ["API", "Website"].map((name) => visitor.monitor({ type: "push", name })),
    );
    await visitor.publish({ sections: [buildSection("Shop", ...monitors.map(({ id }) => id))] });
    const read = async (format: FormatName, paths: string[]) => {
      const all = await Promise.all(paths.map((path) => visitor.readHtml(path)));
      return followedFormats[format].read(all.map(({ json }) => json()));
    };
    const ownSummary = await read("signalbox", ["/status/ours/api/v2/summary.json"]);
    expect(ownSummary?.components.map(({ name }) => name)).toEqual(["Shop", "API", "Website"]);
    const asKuma = await read("uptime-kuma", [
      "/api/status-page/ours",
      "/api/status-page/heartbeat/ours",
    ]);
    expect(asKuma?.components.map(({ name }) => name)).toEqual(["API", "Website"]);
  });
});
