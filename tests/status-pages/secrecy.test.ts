import { adminPaths } from "../../src/http/responses/admin-page.ts";
import { expect, test } from "bun:test";
import { badgeKinds } from "../../src/status-pages/rendering/badges.ts";
import { v2Names } from "../../src/status-pages/formats/statuspage-v2.ts";
import { badgePaths, partPaths } from "../support/public-paths.ts";
import { replyWith, startTarget } from "../support/target.ts";
import { type Client, unknownId } from "../support/appliance.ts";
import { newChannels } from "../support/samples.ts";
import { buildSection, type Visitor, createVisitor } from "../support/visitor.ts";
import { publicPaths } from "../../src/status-pages/site/public-paths.ts";

/** All paths that work without a key. A new public route must be added here. */
const approved = {
  app: [
    // Links in messages.
    "GET /a/:token",
    "GET /a/:token/script",
    "GET /api/push/:token",
    "GET /api/v1/config.schema.json",
    "GET /api/v1/openapi.json",
    "GET /calendars/:token",
    "GET /dashboard/session",
    "GET /docs",
    "GET /docs/https",
    "GET /healthz",
    "GET /manifest.webmanifest",
    // Check-ins of jobs; the code is the credential.
    "GET /ping/:code",
    "GET /ping/:code/:second",
    "GET /ping/:code/:second/:third",
    "GET /push/:token",
    "GET /service-worker.js",
    // Where sign-in providers send people back.
    "GET /sign-in/callback",
    "GET /sign-in/visitor",
    "PATCH /api/push/:token",
    "POST /a/:token",
    "POST /a/:token/call",
    "POST /api/push/:token",
    "POST /dashboard/invitations/accept",
    "POST /dashboard/invitations/look",
    "POST /dashboard/set-up",
    "POST /dashboard/sign-in",
    "POST /dashboard/sign-in/code",
    "POST /dashboard/sign-in/link",
    "POST /dashboard/sign-in/passkey",
    "POST /dashboard/sign-in/passkey/options",
    "POST /dashboard/sign-in/provider",
    "POST /dashboard/sign-out",
    "POST /in/:token",
    "POST /ping/:code",
    "POST /ping/:code/:second",
    "POST /ping/:code/:second/:third",
    "POST /push/:token",
    "POST /v2/alerts",
    "POST /v2/alerts/:id/:action",
    "POST /v2/enqueue",
    "PUT /api/push/:token",
  ],
  pages: [
    "/api/badge/:number/:measure",
    "/api/badge/:number/:measure/:span",
    "/api/status-page/:slug",
    "/api/status-page/:slug/badge",
    "/api/status-page/:slug/incident-history",
    "/api/status-page/:slug/manifest.json",
    "/api/status-page/heartbeat/:slug",
    "/badge/monitor/:id/:kind.svg",
    "/status/:slug",
    "/status/:slug.json",
    "/status/:slug/:verb/:token",
    "/status/:slug/api/v2/:name.json",
    "/status/:slug/embed",
    "/status/:slug/favicon",
    "/status/:slug/feed.atom",
    "/status/:slug/feed.rss",
    "/status/:slug/font.css",
    "/status/:slug/font.woff2",
    "/status/:slug/history",
    "/status/:slug/incidents/:id",
    "/status/:slug/logo",
    "/status/:slug/maintenance.ics",
    "/status/:slug/robots.txt",
    "/status/:slug/sign-in",
    "/status/:slug/style.css",
    "/status/:slug/subscribe",
  ],
  badges: ["status", "uptime", "latency"],
  v2: [
    "summary",
    "status",
    "components",
    "incidents",
    "incidents/unresolved",
    "scheduled-maintenances",
    "scheduled-maintenances/upcoming",
    "scheduled-maintenances/active",
  ],
};

test("only the approved routes work without a key", async () => {
  await using visitor = await createVisitor();
  const { app, stranger } = visitor;
  const open: string[] = [];
  const adminPagePaths: readonly string[] = adminPaths;
  for (const { method, path } of app.routes) {
    // The admin page itself is the same for everyone and contains no records.
    if (method === "GET" && adminPagePaths.includes(path)) continue;
    // The same is true of the files that it loads.
    if (method === "GET" && path.startsWith("/assets/")) continue;
    const filledPath = path.replace(":token", "x").replace(/:\w+/g, unknownId);
    const headers = { Host: "localhost", "Sec-Fetch-Site": "same-origin" };
    const { status } = await app.handle(
      new Request(`http://localhost${filledPath}`, { method, headers }),
    );
    if (status !== 401) open.push(`${method} ${path}`);
  }
  expect(open.sort()).toEqual(approved.app);
  expect((await stranger("GET", "/metrics")).status).toBe(401);
});

test("the paths of public pages are the approved ones", () => {
  const all: readonly string[] = Object.values(publicPaths);
  expect(all.toSorted()).toEqual(approved.pages);
  expect<readonly string[]>(v2Names).toEqual(approved.v2);
  expect<readonly string[]>(badgeKinds).toEqual(approved.badges);
});

const mark = "CANARY";
const markText = (where: string) => `${mark}-${where}`;
const buildLabels = (where: string) => ({
  name: markText(`${where}-name`),
  description: markText(`${where}-description`),
  tags: [markText(`${where}-tag`)],
});
const hidesName = (where: string) => ({ ...buildLabels(where), autoIncidentSeverity: "major" });

async function make(api: Client, noun: string, body: object) {
  const { status, json, text } = await api("POST", `/api/v1/${noun}`, { body });
  expect([noun, status, status === 201 ? "" : text]).toEqual([noun, 201, ""]);
  return json.data;
}

/** Fills every private field of every kind of record of an organization. */
async function fillPrivate(api: Client, who: string) {
  const at = (where: string) => `${who}-${where}`;
  for (const [type, { secrets, others }] of Object.entries(newChannels)) {
    const markedSecrets = Object.fromEntries(
      Object.keys(secrets).map((name) => [name, markText(at(type))]),
    );
    for (const name of Object.keys(secrets))
      if (name.endsWith("Url")) markedSecrets[name] = `https://chat.example/${markText(at(type))}`;
    if (type === "webhook")
      markedSecrets["secret"] = Buffer.from(markText(at(type)).padEnd(48)).toString("base64");
    await make(api, "alert-channels", {
      name: markText(at("channel")),
      type,
      ...others,
      ...markedSecrets,
    });
  }
  await make(api, "monitor-groups", buildLabels(at("group-elsewhere")));
  await make(api, "monitors", {
    type: "ping",
    host: "db.canary.lan",
    ...buildLabels(at("elsewhere")),
  });
  await make(api, "incidents", {
    title: markText(at("private-incident")),
    message: markText(at("private-message")),
    public: false,
  });
  await make(api, "maintenance-windows", {
    title: markText(at("private-window")),
    description: markText(at("private-window-description")),
    startsAt: "2026-11-20T09:00:00.000Z",
    endsAt: "2026-11-20T12:00:00.000Z",
    public: false,
  });
  const hidden = { slug: at("canary-hidden"), title: markText(at("hidden")), visibility: "hidden" };
  await make(api, "status-pages", { ...hidden, hosts: [`${who}.canary.example`] });
  const smtp = {
    host: `${who}.canary.lan`,
    from: `${who}@canary.example`,
    user: markText(at("user")),
  };
  const body = { smtp: { ...smtp, password: markText(at("smtp-password")) } };
  expect((await api("PATCH", "/api/v1/settings", { body })).status).toBe(200);
}

/** Two organizations full of canaries, with pages that show only the public ones. */
async function createEverything(site: { at(path?: string): string }) {
  const visitor = await createVisitor({ allowTarget: ["127.0.0.0/8"] });
  const { api, theirs, group, createJob, monitor, createPage, publish, restart } = visitor;
  await fillPrivate(api, "ours");
  await fillPrivate(theirs.api, "theirs");
  const inGroup = await createJob({ ...hidesName("in-group") });
  const listedJob = await createJob({ ...hidesName("listed") });
  const web = await monitor({
    ...hidesName("web"),
    type: "http",
    url: site.at(`/${markText("path")}?${markText("query")}`),
    headers: { "X-Key": markText("header") },
    method: "POST",
    body: markText("body"),
    basicAuth: { username: markText("username"), password: markText("password") },
    bearerToken: null,
    keyword: markText("keyword"),
    assertions: [
      { source: "header", path: "X-Answer", op: "equals", value: markText("wanted-header") },
    ],
    autoIncidentSeverity: "minor",
    retries: 0,
  });
  const elsewhere = await createJob({ ...hidesName("down-elsewhere") });
  const { id: groupId } = await group({ ...buildLabels("group"), monitorIds: [inGroup.id] });
  const sections = [
    { groupId, name: "Public group", monitors: [{ id: inGroup.id, name: "Public job" }] },
    buildSection("Public section", [listedJob.id, "Public list"], [web.id, "Public web"]),
  ];
  await publish({ sections, showLatency: true, hosts: ["status.team.example"] });
  await createPage({
    slug: "second",
    sections: [buildSection("Public part", [web.id, "Public second"])],
  });
  const password = markText("page-password");
  const locked = { slug: "locked", title: "Locked", visibility: "password", password };
  await createPage({
    ...locked,
    sections: [buildSection(markText("locked-section"), elsewhere.id)],
  });
  for (const one of [inGroup, listedJob, elsewhere]) {
    await one.report({ latency_ms: "34" });
    await one.report({ status: "down", msg: markText("said") });
  }
  await inGroup.report();
  await visitor.advance(61);
  expect(await visitor.readStatus(web.id)).toBe("down");
  await visitor.createIncident({
    title: "Public incident",
    message: "Public message",
    monitorIds: [elsewhere.id, listedJob.id],
  });
  await make(theirs.api, "incidents", { title: "Their incident", message: "Their message" });
  for (const { id } of (await api("GET", "/api/v1/incidents")).json.data)
    await make(api, `incidents/${id}/notes`, { message: markText("note") });
  await restart();
  const tokens = [inGroup, listedJob, elsewhere].map(({ path }) => path.split("/").pop() ?? "");
  const keys = [visitor.ours.writeKey.key, visitor.theirs.writeKey.key];
  const ids = [visitor.ours.id, visitor.theirs.id, elsewhere.id];
  return {
    ...visitor,
    shown: [inGroup.id, listedJob.id, web.id],
    secrets: [...tokens, ...keys, ...ids],
  };
}

/** Requests these paths and all paths that they link to. */
async function crawl({ get }: Visitor, starts: string[], host?: string) {
  const seen = new Map<string, { status: number; text: string }>();
  const waiting = [...starts];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    const { status, text, headers } = await get(path, host === undefined ? {} : { host });
    seen.set(path, { status, text: `${JSON.stringify([...headers])}\n${text}` });
    const found = text.matchAll(/(?:href|src|shortlink|url)(?:="|":")([^"#]+)|<link>([^<]+)</g);
    for (const [, quoted, tagged] of found) {
      const link = URL.parse((quoted ?? tagged ?? "").replaceAll("&amp;", "&"), `http://x${path}`);
      const isFile = link?.pathname.startsWith("/assets/") === true;
      if (link?.protocol === "http:" && !isFile && !waiting.includes(link.pathname))
        waiting.push(link.pathname + (link.pathname.endsWith("/history") ? link.search : ""));
    }
  }
  return seen;
}

test("no public path shows private data or data of another organization", async () => {
  const headers = { "x-answer": markText("answer-header") };
  await using site = await startTarget(replyWith(200, `fine ${markText("answer")}`, headers));
  await using world = await createEverything(site);
  const badges = world.shown.flatMap((id) => badgePaths.map((path) => path.replace(":id", id)));
  const pathsOf = (slug: string) =>
    partPaths.map((part) => `/status/${slug}${part.replace(":id", unknownId)}`);
  const ours = await crawl(world, [...["ours", "second", "locked"].flatMap(pathsOf), ...badges]);
  const theirs = await crawl(world, pathsOf("theirs"));
  const atHost = await crawl(world, ["/", "/status.json", "/history"], "status.team.example");
  const hits: string[] = [];
  const forbidden: [words: RegExp, where: typeof ours][] = [
    [/canary/i, ours],
    [/canary/i, theirs],
    [/canary/i, atHost],
    [/Their|theirs/, ours],
    [/Their|theirs/, atHost],
    [/Public [a-z]|\/ours\b/, theirs],
  ];
  for (const [words, where] of forbidden)
    for (const [path, { text }] of where)
      for (const [found] of text.matchAll(
        new RegExp(`\\S{0,20}(?:${words.source})\\S{0,40}`, `g${words.flags}`),
      ))
        hits.push(`${path}: ${found}`);
  for (const secret of [...world.secrets, Buffer.from(mark).toString("base64").slice(0, 7)])
    for (const where of [ours, theirs, atHost])
      for (const [path, { text }] of where)
        if (text.includes(secret)) hits.push(`${path}: ${secret}`);
  expect(hits).toEqual([]);

  // The public texts must be there: they prove that the crawl reached every page.
  const all = [...ours.values(), ...atHost.values()].map(({ text }) => text).join("\n");
  for (const words of ["job", "list", "web", "second", "group", "section", "part", "incident"])
    expect(all).toContain(`Public ${words}`);
  for (const words of ["Public web is down", "Public job is responding again", "Public message"])
    expect(all).toContain(words);
  expect(badges.map((path) => ours.get(path)?.status)).toEqual(Array(badges.length).fill(200));
  const incidents = [...ours.keys()].filter((path) =>
    /^\/status\/ours\/incidents\/[^/]+$/.test(path),
  );
  expect(incidents.length).toBe(5);
  const routes = [...ours.keys(), ...theirs.keys()].map((path) =>
    path.replace(/^\/status\/[a-z]+(?=[./]|$)/, "").replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, ":id"),
  );
  const known = [...partPaths, ...badgePaths];
  expect(routes.filter((route) => !known.includes(route.replace(/\?month=.*/, "")))).toEqual([]);
});

test("the docs and the health check contain nothing of any organization", async () => {
  await using site = await startTarget();
  await using world = await createEverything(site);
  for (const path of [
    "/",
    "/docs",
    "/docs/https",
    "/healthz",
    "/api/v1/openapi.json",
    "/api/v1/config.schema.json",
    "/push/wrong",
    "/nothing",
  ]) {
    const headers = { Host: "localhost" };
    const response = await world.app.handle(new Request(`http://localhost${path}`, { headers }));
    const text = JSON.stringify([...response.headers]) + (await response.text());
    expect([path, /canary-/i.test(text)]).toEqual([path, false]);
    for (const secret of world.secrets)
      expect([path, text.includes(secret)]).toEqual([path, false]);
  }
});
