/** Status pages for some visitors only: who can open them, and what others see of their parts. */
import { describe, expect, test } from "bun:test";
import { visibilities } from "../../src/status-pages/access-rules.ts";
import { isInRanges } from "../../src/status-pages/site/access.ts";
import { publicPaths } from "../../src/status-pages/site/public-paths.ts";
import { createCookieBrowser, startIdentityProvider } from "../support/identity-provider.ts";
import { addressOf, createPerson, signInMember, signInVisitor } from "../support/people.ts";
import { badgePaths, partPaths } from "../support/public-paths.ts";
import { buildSection, createVisitor, readWords, type Visitor } from "../support/visitor.ts";

const markText = (where: string) => `CANARY-${where}`;
const host = "localhost";
const password = "correct horse battery";
const inside = { "X-Address": "10.1.2.3" };

/** Signs in on a status page as a browser does, and returns the cookie of the page; null if it is rejected. */
async function visit(made: Visitor, slug: string, page: { page: Visitor["api"] }) {
  const started = await made.get(`/status/${slug}/sign-in?to=/status/${slug}/history`, { host });
  expect(started.status).toBe(302);
  const location = new URL(started.headers.get("location") ?? "", "http://localhost");
  expect(location.pathname).toBe("/status-pages");
  const body = { visit: location.searchParams.get("visit") ?? "" };
  const approved = await page.page("POST", "/dashboard/status-pages/visit", { body });
  if (approved.status !== 200) return null;
  const url = new URL(approved.json.data.url);
  const [own = ""] = (started.headers.get("set-cookie") ?? "").split(";");
  const path = url.pathname + url.search;
  // A code is not accepted in another browser.
  expect((await made.get(path, { host })).status).toBe(403);
  const back = await made.get(path, { host, headers: { Cookie: own } });
  expect([back.status, back.headers.get("location")]).toEqual([303, `/status/${slug}/history`]);
  const [cookie = ""] = back.headers.getSetCookie()[0]?.split(";") ?? [];
  return cookie;
}

/** A section with monitors that only signed-in people see, and everything that only touches these. */
async function addConcealed(made: Visitor) {
  const { monitor, group, createIncident, api } = made;
  const buildLabels = (where: string) => ({
    name: markText(`${where}-name`),
    description: markText(`${where}-description`),
  });
  const listed = await monitor({ ...buildLabels("listed"), type: "ping", host: "db.canary.lan" });
  const grouped = await monitor({ ...buildLabels("grouped"), type: "ping", host: "db.canary.lan" });
  const { id: groupId } = await group({ ...buildLabels("group"), monitorIds: [grouped.id] });
  const incident = await createIncident({
    title: markText("incident"),
    message: markText("message"),
    severity: "critical",
    monitorIds: [listed.id],
  });
  const plan = {
    title: markText("window"),
    description: markText("window-description"),
    startsAt: "2026-11-20T09:00:00.000Z",
    endsAt: "2026-11-20T12:00:00.000Z",
  };
  for (const [index, members] of [{ monitorIds: [listed.id] }, { groupIds: [groupId] }].entries()) {
    const body = { ...plan, title: `${plan.title}-${index}`, ...members };
    expect((await api("POST", "/api/v1/maintenance-windows", { body })).status).toBe(201);
  }
  const sections = [
    {
      ...buildSection(markText("section"), [listed.id, markText("public-name")]),
      audience: "signed-in",
    },
    { groupId, name: null, monitors: [], audience: "signed-in" },
  ];
  return { sections, incidentId: incident.id as string, monitorIds: [listed.id, grouped.id] };
}

const kumaPaths = Object.entries(publicPaths).flatMap(([name, path]) =>
  name.startsWith("uptimeKuma") && path.includes(":slug") ? [path] : [],
);

/** Every public path of a page with these records. */
const pathsOf = (slug: string, incidentId: string, monitorIds: readonly string[]) => [
  ...partPaths.map((part) => `/status/${slug}${part.replace(":id", incidentId)}`),
  ...monitorIds.map((id) => `/status/${slug}/api/v2/components/${id}.json`),
  ...kumaPaths.map((path) => path.replace(":slug", slug)),
  ...monitorIds.flatMap((id) => badgePaths.map((path) => path.replace(":id", id))),
];

/** Pages of every restricted visibility, and a public one, with everything concealed in them. */
async function createWorld() {
  const visitor = await createVisitor({ addressOf, rendersPerMinute: 100_000 });
  const { monitor, publish, createPage, api } = visitor;
  const { id } = await monitor({ name: "Shop", type: "ping", host: "db.lan" });
  const open = buildSection("Open", id);
  const concealed = await addConcealed(visitor);
  const page = await publish({ sections: [open, ...concealed.sections] });
  const pageIds = new Map<string, string>([["ours", page.id]]);
  const allowedAddresses = ["10.0.0.0/8", "2001:db8::/32"];
  const access = { password, allowedAddresses, allowedRoles: ["admin", "owner"] };
  for (const visibility of visibilities.filter((one) => !["public", "hidden"].includes(one))) {
    const sections = concealed.sections.map((one) => ({ ...one, audience: "everyone" }));
    const { id: pageId } = await createPage({ slug: visibility, visibility, sections, ...access });
    pageIds.set(visibility, pageId);
  }
  const paths = [...pageIds.keys()].flatMap((slug) =>
    pathsOf(slug, concealed.incidentId, concealed.monitorIds),
  );
  const createToken = async (slug: string) => {
    const tokens = `/api/v1/status-pages/${pageIds.get(slug)}/access-tokens`;
    const { status, json } = await api("POST", tokens, { body: { name: "Feed reader" } });
    expect(status).toBe(201);
    return { ...(json.data as { id: string; token: string }), tokens };
  };
  return { ...visitor, ...concealed, pageIds, paths: [...new Set(paths)], createToken };
}

type Credentials = { headers?: Record<string, string>; token?: string };

/** Requests all paths as a visitor, and returns the responses as text with headers. */
async function crawl({ get }: Visitor, paths: readonly string[], sent: Credentials = {}) {
  const found = new Map<string, { status: number; text: string; headers: Headers }>();
  for (const path of paths) {
    const query = sent.token === undefined ? "" : `?accessToken=${sent.token}`;
    const { status, text, headers } = await get(path + query, {
      host,
      headers: sent.headers ?? {},
    });
    found.set(path, { status, text: `${JSON.stringify([...headers])}\n${text}`, headers });
  }
  return found;
}

const listLeaks = (found: Awaited<ReturnType<typeof crawl>>) =>
  [...found].flatMap(([path, { text }]) =>
    [...text.matchAll(/\S{0,30}canary-\S{0,40}/gi)].map(([words]) => `${path}: ${words}`),
  );

test("no visitor without the right sees anything of a restricted page or part, at any public path", async () => {
  await using world = await createWorld();
  const { pageIds, paths, api, store } = world;
  const owner = await signInMember(world, "owner");
  const member = await signInMember(world, "member");
  const viewer = await signInMember(world, "viewer");
  const outsider = await createPerson(world, world.theirs.id, "owner");
  const theirs = await signInVisitor(world, outsider.id);
  const cookieOf = async (slug: string, person: { page: Visitor["api"] }) => ({
    headers: { Cookie: (await visit(world, slug, person)) ?? "" },
  });
  const revoked = await world.createToken("signed-in");
  expect((await api("DELETE", `${revoked.tokens}/${revoked.id}`)).status).toBe(200);
  const passes = {
    ours: await cookieOf("ours", owner),
    restricted: await cookieOf("signed-in", owner),
  };
  const value = passes.restricted.headers.Cookie.split("=")[1];
  const limited = await cookieOf("ours", member);
  expect(limited.headers.Cookie).not.toBe("");
  await store.atomic([
    {
      text: "update memberships set group_ids = '[]' where person_id = ?",
      parameters: [member.id],
    },
  ]);
  const visitors: Record<string, Credentials> = {
    stranger: {},
    "a member with another role": await cookieOf("signed-in", viewer),
    "a member who was limited to groups": limited,
    "a member of another organization": await cookieOf("signed-in", theirs),
    "a session cookie of the admin page": { headers: { Cookie: owner.cookie } },
    "a revoked token": { token: revoked.token },
    "an API key": { token: world.ours.writeKey.key },
    "an address outside": { headers: { "X-Address": "192.168.1.7" } },
    "a forged cookie": {
      headers: { Cookie: `signalbox_pass_${pageIds.get("signed-in")}=v1.a.b.c` },
    },
    "a pass of another page": {
      headers: { Cookie: `signalbox_pass_${pageIds.get("ours")}=${value}` },
    },
  };
  for (const [who, sent] of Object.entries(visitors)) {
    const found = await crawl(world, paths, sent);
    expect([who, listLeaks(found)]).toEqual([who, []]);
    expect([403, 429]).toContain(found.get("/status/signed-in.json")?.status ?? 0);
  }

  // The same crawl with each credential finds the page's parts. It also proves that cached entries are not
  // shared.
  const readers: Record<string, Credentials> = {
    "signed-in": passes.restricted,
    ours: passes.ours,
    addresses: { headers: inside },
  };
  for (const slug of pageIds.keys()) {
    const { token } = await world.createToken(slug);
    for (const sent of [{ token }, ...(readers[slug] === undefined ? [] : [readers[slug]])]) {
      const pathsOfPage = paths.filter((path) => path.split("/").includes(slug));
      const found = await crawl(world, pathsOfPage, sent);
      for (const part of ["", "/feed.rss", "/feed.atom", "/api/v2/summary.json"])
        for (const word of part.includes("feed") ? ["incident", "window"] : ["section", "incident"])
          expect([
            slug,
            part,
            found.get(`/status/${slug}${part}`)?.text.includes(markText(word)),
          ]).toEqual([slug, part, true]);
      for (const [path, { status, headers }] of found) {
        if (status !== 200) continue;
        const cached = headers.get("cache-control");
        expect([slug, path, cached]).toEqual([slug, path, "private, no-cache"]);
        const reads = headers.get("access-control-allow-origin");
        if ("headers" in sent) expect([slug, path, reads]).toEqual([slug, path, null]);
      }
    }
  }
  expect(listLeaks(await crawl(world, paths))).toEqual([]);

  // A stranger who knows the tags of cached responses learns nothing from conditions, ranges and HEAD.
  const read = await crawl(world, paths, passes.restricted);
  for (const [path, { status, headers }] of read) {
    if (status !== 200 || !path.includes("/signed-in")) continue;
    const tag = headers.get("etag") ?? "*";
    for (const [method, condition] of [
      ["GET", { "If-None-Match": tag }],
      ["GET", { Range: "bytes=0-99" }],
      ["HEAD", {}],
    ] as const) {
      const sent = { host, method, headers: condition };
      const stranger = await world.get(path, sent);
      expect([403, 404]).toContain(stranger.status);
      expect(stranger.headers.get("etag")).toBeNull();
    }
  }

  // The right ends with the role, and with the session.
  const readStatus = async (sent: Credentials) =>
    (await crawl(world, ["/status/signed-in.json"], sent)).get("/status/signed-in.json")?.status;
  expect(await readStatus(passes.restricted)).toBe(200);
  await store.atomic([
    { text: "update memberships set role = 'viewer' where person_id = ?", parameters: [owner.id] },
  ]);
  expect(await readStatus(passes.restricted)).toBe(403);
  await store.atomic([
    { text: "update memberships set role = 'owner' where person_id = ?", parameters: [owner.id] },
  ]);
  expect(await readStatus(passes.restricted)).toBe(200);
  await owner.page("POST", "/dashboard/sign-out");
  expect(await readStatus(passes.restricted)).toBe(403);
  expect(listLeaks(await crawl(world, paths, passes.ours))).toEqual([]);
});

test("anonymous visitors get the same bytes as without the sections for signed-in people", async () => {
  await using visitor = await createVisitor();
  const { monitor, publish, createIncident, restart } = visitor;
  const { id } = await monitor({ name: "Shop", type: "ping", host: "db.lan" });
  const open = buildSection("Open", id);
  await createIncident({ title: "Open trouble", monitorIds: [id] });
  await publish({ sections: [open] });
  const unknown = "01a1fb99-5e83-7f22-8d4b-6c8e0f2a4b57";
  const listPaths = (incidentId: string, ids: string[]) =>
    pathsOf("ours", incidentId, [id, ...ids]).concat("/status/ours/history?month=2026-10");
  const before = await crawl(visitor, listPaths(unknown, [unknown]));
  const concealed = await addConcealed(visitor);
  await publish({ sections: [concealed.sections[0], open, concealed.sections[1]] });
  await restart();
  const [hidden = ""] = concealed.monitorIds;
  const after = await crawl(visitor, listPaths(concealed.incidentId, [hidden]));
  const replaceIds = (found: typeof before) =>
    [...found].map(([path, { status, text }]) => {
      const path2 = path.replace(concealed.incidentId, unknown).replace(hidden, unknown);
      return [path2, status, text];
    });
  expect(replaceIds(after)).toEqual(replaceIds(before));
  // A forged pass gets the same pages, from the same cache.
  const forged = { headers: { Cookie: "signalbox_pass_x=1" } };
  expect(replaceIds(await crawl(visitor, [...after.keys()], forged))).toEqual(replaceIds(before));
});

describe("a page for addresses", () => {
  test("opens for ranges of both families, under its own names and those of the appliance", async () => {
    const cases: [string, boolean][] = [
      ["10.255.0.1", true],
      ["::ffff:10.0.0.1", true],
      ["11.0.0.1", false],
      ["2001:db8:1::5", true],
      ["2001:db9::5", false],
      ["192.0.2.7", true],
      ["192.0.2.8", false],
      ["", false],
    ];
    const allowed = ["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"];
    for (const [address, isAllowed] of cases)
      expect([address, isInRanges(allowed, address)]).toEqual([address, isAllowed]);

    await using visitor = await createVisitor({ addressOf });
    const hosts = ["status.team.example"];
    await visitor.publish({ visibility: "addresses", allowedAddresses: allowed, hosts });
    const other = { slug: "other", hosts: ["other.team.example"] };
    await visitor.createPage(other);
    await visitor.restart();
    const requestStatus = async (
      path: string,
      host: string,
      headers: Record<string, string> = inside,
    ) => (await visitor.get(path, { host, headers })).status;
    expect(await requestStatus("/status/ours", "localhost")).toBe(200);
    expect(await requestStatus("/", "status.team.example")).toBe(200);
    expect(await requestStatus("/status/ours", "status.team.example")).toBe(200);
    // By DNS rebinding, a website could use the address of its visitor.
    expect(await requestStatus("/status/ours", "evil.example")).toBe(403);
    expect(await requestStatus("/status/ours", "other.team.example")).toBe(403);
    const closed = await visitor.get("/status/ours", {
      host,
      headers: { "X-Address": "192.0.2.8" },
    });
    expect(readWords(closed.text, "h1")).toEqual(["This page is not open to your network"]);
    expect(closed.text).toContain("192.0.2.8");
  });

  test("takes its addresses as a list of addresses and ranges", async () => {
    await using visitor = await createVisitor();
    const patch = async (body: object) => {
      const { id } = await visitor.defaultPage();
      const { status, json } = await visitor.api("PATCH", `/api/v1/status-pages/${id}`, { body });
      return [status, json.error?.details[0].path ?? null];
    };
    expect(await patch({ visibility: "addresses" })).toEqual([422, "allowedAddresses"]);
    for (const wrong of ["10.0.0.0/33", "10.0.0", "host.example", "0.0.0.0/0", "::/0", ""])
      expect(await patch({ allowedAddresses: [wrong] })).toEqual([422, "allowedAddresses[0]"]);
    expect(await patch({ visibility: "addresses", allowedAddresses: ["::1"] })).toEqual([
      200,
      null,
    ]);
    expect(await patch({ allowedAddresses: [] })).toEqual([422, "allowedAddresses"]);
  });
});

test("a page without indexing has noindex in its head and headers, and a robots.txt at its own host", async () => {
  await using visitor = await createVisitor();
  const hosts = ["status.team.example"];
  const readRobots = async () => {
    const { text } = await visitor.get("/robots.txt", { host: "status.team.example" });
    const { text: html, headers } = await visitor.readHtml("/status/ours");
    return [
      text,
      html.includes('<meta name="robots" content="noindex"/>'),
      headers.get("x-robots-tag"),
    ];
  };
  await visitor.publish({ hosts });
  await visitor.restart();
  expect(await readRobots()).toEqual(["User-agent: *\nAllow: /\n", false, null]);
  await visitor.publish({ indexing: false });
  await visitor.restart();
  expect(await readRobots()).toEqual(["User-agent: *\nDisallow: /\n", true, "noindex"]);
});

describe("access tokens", () => {
  test("are listed without their value, limited per page, and audited with their name", async () => {
    await using world = await createWorld();
    const { token, tokens, id } = await world.createToken("ours");
    expect(token).toMatch(/^sbp_[0-9A-Za-z]{43}$/);
    const { text, json } = await world.api("GET", tokens);
    expect(text).not.toContain(token);
    expect(json.data).toEqual([{ id, name: "Feed reader", createdAt: expect.any(String) }]);
    const other = `/api/v1/status-pages/${world.pageIds.get("password")}/access-tokens/${id}`;
    expect((await world.api("DELETE", other)).status).toBe(404);
    expect((await world.theirs.api("GET", tokens)).status).toBe(404);
    const body = { name: "Another" };
    for (let count = 1; count < 50; count++) await world.api("POST", tokens, { body });
    expect((await world.api("POST", tokens, { body })).status).toBe(409);
    expect((await world.api("DELETE", `${tokens}/${id}`)).status).toBe(200);
    const { rows } = {
      rows: await world.store.query<{ action: string; changes: string }>(
        "select action, changes from audit_entries where action like '%.token-%' order by seq",
        [],
      ),
    };
    expect([rows[0]?.action, rows.at(-1)?.action]).toEqual([
      "status-page.token-created",
      "status-page.token-revoked",
    ]);
    expect(rows[0]?.changes).toContain("Feed reader");
  });

  test("open only their page, for web pages of any origin; wrong ones are limited per network", async () => {
    await using world = await createWorld();
    const { token } = await world.createToken("password");
    const read = (path: string, value = token) =>
      world.get(`${path}?accessToken=${value}`, { host });
    const ownData = await read("/status/password.json");
    expect([ownData.status, ownData.headers.get("access-control-allow-origin")]).toEqual([
      200,
      "*",
    ]);
    for (const path of ["/status/addresses.json", "/status/signed-in", "/status/ours.json"])
      expect((await read(path)).status).toBe(403);
    const statuses: number[] = [];
    for (let count = 0; count < 62; count++)
      statuses.push((await read("/status/password", "wrong")).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([403, 429]);
    expect((await read("/status/password.json")).status).toBe(200);
  });
});

test("a visitor signs in, and reads why that fails, in the language that they chose", async () => {
  await using visitor = await createVisitor({ addressOf, allowTarget: ["127.0.0.0/8"] });
  await using provider = await startIdentityProvider(() => visitor.time.now);
  const admin = await signInMember(visitor, "owner", { administrator: true });
  const body = {
    name: "Keycloak",
    issuer: provider.issuer,
    clientId: "signalbox",
    organizations: [{ organizationId: visitor.ours.id, defaultRole: null }],
  };
  const added = await admin.page("POST", "/dashboard/identity-providers", { body });
  const providerId = added.json.data.id as string;
  await visitor.publish({
    visibility: "signed-in",
    languages: ["de", "fr"],
    visitorProviders: [{ providerId, domains: [] }],
  });
  const wantedPath = "/status/ours/history?month=2026-10&lang=de";
  const closed = await visitor.get(`${wantedPath}&utm_source=mail`, { host });
  expect(closed.status).toBe(403);
  expect(closed.text).toContain('lang="de"');
  const to = encodeURIComponent(wantedPath);
  const link = `/status/ours/sign-in?provider=${providerId}&lang=de&to=${to}`;
  expect(closed.text).toContain(Bun.escapeHTML(link));

  const start = async () => {
    const started = await visitor.get(link, { host });
    const [own = ""] = (started.headers.get("set-cookie") ?? "").split(";");
    const browser = createCookieBrowser(visitor);
    return { own, browser, gone: await browser.comeBack(started.headers.get("location") ?? "") };
  };
  const { own, browser, gone } = await start();
  const back = await browser.comeBack(provider.authorize(gone.headers.get("location") ?? ""));
  const approved = await browser.comeBack(back.headers.get("location") ?? "");
  const url = new URL(approved.headers.get("location") ?? "");
  const done = await visitor.get(url.pathname + url.search, { host, headers: { Cookie: own } });
  expect(done.headers.get("location")).toBe(wantedPath);
  const fail = async () => {
    const started = await start();
    const path = provider.authorize(started.gone.headers.get("location") ?? "");
    const { status, text } = await started.browser.comeBack(path);
    expect(text).toContain('lang="de"');
    expect(text).toContain('/status/ours/sign-in">Erneut anmelden</a>');
    // The browser still has the address.
    const again = await visitor.get("/status/ours/sign-in", {
      host,
      headers: { Cookie: started.own },
    });
    expect(again.text).toContain(Bun.escapeHTML(`to=${to}`));
    return [status, ...readWords(text, "h1"), ...readWords(text, ".lock p")];
  };
  const { claims } = provider.state;
  await visitor.publish({ visitorProviders: [{ providerId, domains: ["acme.example"] }] });
  expect(await fail()).toEqual([
    403,
    "Ihr Konto bei Keycloak darf diese Seite nicht sehen",
    "Melden Sie sich mit einem anderen Konto an, oder fragen Sie die Personen, die Ihnen diese Adresse geschickt haben.",
  ]);
  await visitor.publish({ visitorProviders: [{ providerId, domains: [] }] });
  provider.state.returned = { error: "access_denied", error_description: "Not in group" };
  expect(await fail()).toEqual([
    403,
    "Keycloak hat die Anmeldung abgelehnt",
    "access_denied: Not in group",
  ]);
  provider.state.returned = {};
  provider.state.claims = { ...claims, aud: "grafana" };
  const unusable = [
    403,
    "Die Anmeldung funktioniert gerade nicht",
    "Versuchen Sie es in ein paar Minuten noch einmal.",
  ];
  expect(await fail()).toEqual(unusable);
  provider.state.claims = claims;
  await admin.page("PATCH", `/dashboard/identity-providers/${providerId}`, {
    body: { clientId: "other" },
  });
  provider.state.answer = () => new Response(null, { status: 500 });
  const failed = (await start()).gone;
  expect([failed.status, readWords(failed.text, "h1")]).toEqual([
    503,
    ["Die Anmeldung funktioniert gerade nicht"],
  ]);
  for (const elsewhere of [
    "//evil.example",
    "/status/ours?lang=de&x",
    "/status/ours?next=//e",
    "/status/ours?at=//e",
    "/status/ours?at=1%0d",
  ]) {
    const signInPath = `/status/ours/sign-in?account&to=${encodeURIComponent(elsewhere)}`;
    const cookie = (await visitor.get(signInPath, { host })).headers.get("set-cookie");
    expect(cookie).toMatch(/~\/status\/ours;/);
  }
});

test("accounts of a sign-in provider see the page and nothing else, as long as page and provider accept them", async () => {
  await using visitor = await createVisitor({ addressOf, allowTarget: ["127.0.0.0/8"] });
  await using provider = await startIdentityProvider(() => visitor.time.now);
  const admin = await signInMember(visitor, "owner", { administrator: true });
  const settings = { name: "Keycloak", issuer: provider.issuer, clientId: "signalbox" };
  const createProvider = async (organizationId: string) => {
    const body = { ...settings, organizations: [{ organizationId, defaultRole: null }] };
    const added = await admin.page("POST", "/dashboard/identity-providers", { body });
    expect(added.status).toBe(201);
    return added.json.data.id as string;
  };
  const providerId = await createProvider(visitor.ours.id);
  const foreignId = await createProvider(visitor.theirs.id);
  const concealed = await addConcealed(visitor);
  const page = await visitor.publish({
    sections: concealed.sections,
    visitorProviders: [{ providerId, domains: ["Team.example"] }],
  });
  const path = `/api/v1/status-pages/${page.id}`;
  const foreign = { visitorProviders: [{ providerId: foreignId, domains: [] }] };
  expect((await visitor.api("PATCH", path, { body: foreign })).status).toBe(404);

  const signIn = async () => {
    const chosen = await visitor.get("/status/ours/sign-in", { host });
    expect(readWords(chosen.text, ".go")).toEqual(["Sign in", "Continue with Keycloak"]);
    const started = await visitor.get(`/status/ours/sign-in?provider=${providerId}`, { host });
    const [own = ""] = (started.headers.get("set-cookie") ?? "").split(";");
    const browser = createCookieBrowser(visitor);
    const gone = await browser.comeBack(started.headers.get("location") ?? "");
    const back = await browser.comeBack(provider.authorize(gone.headers.get("location") ?? ""));
    if (back.status !== 302) return { status: back.status, cookie: "", browser };
    const approved = await browser.comeBack(back.headers.get("location") ?? "");
    const url = new URL(approved.headers.get("location") ?? "");
    const done = await visitor.get(url.pathname + url.search, { host, headers: { Cookie: own } });
    const [cookie = ""] = done.headers.getSetCookie()[0]?.split(";") ?? [];
    return { status: done.status, cookie, browser };
  };
  const { status, cookie, browser } = await signIn();
  expect(status).toBe(303);
  const isReadable = async () =>
    (await visitor.get("/status/ours.json", { host, headers: { Cookie: cookie } })).text.includes(
      markText("section"),
    );
  expect(await isReadable()).toBe(true);
  expect((await browser.page("GET", "/session")).json.data.state).toBe("signed-out");

  for (const claims of [
    { email: "ada@other.example" },
    { email_verified: false },
    { email: "ada@team.example.evil.example" },
  ]) {
    const before = provider.state.claims;
    provider.state.claims = { ...before, ...claims };
    expect((await signIn()).status).toBe(403);
    provider.state.claims = before;
  }

  const changeProvider = (body: object) =>
    admin.page("PATCH", `/dashboard/identity-providers/${providerId}`, { body });
  await changeProvider({ enabled: false });
  expect(await isReadable()).toBe(false);
  await changeProvider({ enabled: true });
  expect(await isReadable()).toBe(true);
  await visitor.changePage(page.id, { visitorProviders: [{ providerId, domains: ["a.example"] }] });
  expect(await isReadable()).toBe(false);
  await visitor.changePage(page.id, { visitorProviders: [{ providerId, domains: [] }] });
  expect(await isReadable()).toBe(true);
  visitor.time.now += 12 * 3_600_000;
  expect(await isReadable()).toBe(false);
  await changeProvider({ organizations: [] });
  const keptFields = { title: "Ours again", visitorProviders: [{ providerId, domains: [] }] };
  await visitor.changePage(page.id, keptFields);
});
