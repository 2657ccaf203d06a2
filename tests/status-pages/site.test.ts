import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { assets } from "../../src/core/assets.ts";
import { escapeTags } from "../../src/core/text/formatting.ts";
import { createAssetRoutes } from "../../src/http/responses/web-files.ts";
import { unknownId } from "../support/appliance.ts";
import { pixel } from "../support/images.ts";
import { waitUntil } from "../support/poll.ts";
import {
  buildSection,
  type SiteResponse,
  describeShape,
  createVisitor,
  readWords,
} from "../support/visitor.ts";

describe("the default page", () => {
  test("exists for every new organization, complete and without problems", async () => {
    await using visitor = await createVisitor();
    for (const [slug, title] of [
      ["ours", "Ours"],
      ["theirs", "Theirs"],
    ]) {
      const { text, type, headers } = await visitor.readHtml(`/status/${slug}`);
      expect(type).toBe("text/html; charset=utf-8");
      expect(headers.get("cache-control")).toBe("no-cache");
      expect(readWords(text, "title")).toEqual([title ?? ""]);
      expect(readWords(text, "h1")).toEqual(["No status yet"]);
    }
  });

  test("runs only its own script file, and its only inline style is its accent", async () => {
    await using visitor = await createVisitor();
    await visitor.publish({ accentColor: "#2563eb", theme: "dark" });
    const { text, headers } = await visitor.readHtml("/status/ours");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect([headers.get("x-content-type-options"), headers.get("referrer-policy")]).toEqual([
      "nosniff",
      "no-referrer",
    ]);
    const shape = describeShape(text);
    expect(shape.filter((tag) => tag.startsWith("script"))).toEqual([
      "script src data-words defer",
    ]);
    expect(shape.filter((tag) => / (style|on\w+)\b/.test(tag))).toEqual([
      "html lang dir data-theme style",
    ]);
    expect(text).toContain('data-theme="dark" style="--accent:light-dark(#2563eb, #5182ef)"');
  });

  test("names the files that the site serves", async () => {
    await using visitor = await createVisitor();
    const { text } = await visitor.readHtml("/status/ours");
    const paths = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(
      ([, path = ""]) => path,
    );
    expect(paths).toHaveLength(3);
    const folder = join(assets.web, "assets/public");
    const files = createAssetRoutes(folder, "/assets/public");
    const read = async (path: string) => {
      const response = await files.handle(new Request(`http://localhost${path}`));
      return Bun.gunzipSync(await response.bytes());
    };
    for (const path of paths) expect((await read(path)).length).toBeGreaterThan(0);
    const styles = paths.find((path) => path.endsWith(".css")) ?? "";
    const css = new TextDecoder().decode(await read(styles));
    const fonts = [...css.matchAll(/url\("(.+?)"\)/g)].map(([, path = ""]) => path);
    expect(fonts.some((path) => path.includes("inter-cyrillic"))).toBe(true);
    for (const path of fonts) expect((await read(path)).length).toBeGreaterThan(0);
  });
});

describe("sections", () => {
  test("show groups in their order and chosen monitors, with public names if they have one", async () => {
    await using visitor = await createVisitor();
    const { group, monitor, publish, readHtml } = visitor;
    const [a, b, c] = [
      (await monitor({ name: "db-1" })).id,
      (await monitor({ name: "db-2" })).id,
      (await monitor({ name: "net" })).id,
    ];
    const groupId = (await group({ name: "Databases", monitorIds: [b, a] })).id;
    const named = { groupId, monitors: [{ id: a, name: "Orders" }] };
    await publish({ sections: [named, buildSection("Partners", [c, "Card network"])] });
    const { text } = await readHtml("/status/ours");
    expect(readWords(text, ".sec h2")).toEqual(["Databases", "Partners"]);
    expect(readWords(text, ".comp b")).toEqual(["db-2", "Orders", "Card network"]);
    expect(readWords(text, ".word")).toEqual(Array(3).fill("Not checked yet"));
    expect(describeShape(text).filter((tag) => tag.startsWith("i "))).toHaveLength(3 * 90);
  });

  test("use a monitor's public name everywhere on the page", async () => {
    await using visitor = await createVisitor();
    const { group, monitor, publish, readHtml, changeMonitor, restart } = visitor;
    const { id } = await monitor({ name: "db-1.internal" });
    const groupId = (await group({ name: "Databases" })).id;
    await publish({ sections: [{ groupId }, buildSection("Partners", [id, "Orders"])] });
    expect(readWords((await readHtml("/status/ours")).text, ".comp b")).toEqual(["Orders"]);
    await changeMonitor(id, { groupId });
    await restart();
    expect(readWords((await readHtml("/status/ours")).text, ".comp b")).toEqual(["Orders"]);
  });

  test("show descriptions of monitors if the page asks for it, and only there", async () => {
    await using visitor = await createVisitor();
    const { group, monitor, publish, createPage, readHtml, changeMonitor, restart } = visitor;
    const buildDescribed = (description: string) => monitor({ description });
    const [a, b, c] = [
      await buildDescribed("Orders &\n<b>"),
      await buildDescribed("Inner"),
      await buildDescribed(""),
    ];
    const groupId = (await group({ monitorIds: [a.id, b.id] })).id;
    const [one, empty] = [a, c].map(({ id }) => ({ id, showDescription: true }));
    await publish({
      sections: [
        { groupId, monitors: [one] },
        { name: "Part", monitors: [empty] },
      ],
    });
    await createPage({ slug: "second", sections: [{ groupId }] });
    const readShown = async (slug: string) => {
      const json = (await readHtml(`/status/${slug}.json`)).json();
      const { components } = (await readHtml(`/status/${slug}/api/v2/components.json`)).json();
      return [
        readWords((await readHtml(`/status/${slug}`)).text, ".comp .about"),
        json.sections.flatMap(({ monitors }: { monitors: { description: unknown }[] }) =>
          monitors.map(({ description }) => description),
        ),
        components
          .filter(({ group }: { group: unknown }) => !group)
          .map((one: { description: unknown }) => one.description),
      ];
    };
    const text = "Orders &\n<b>";
    expect(await readShown("ours")).toEqual([
      [text],
      [text, undefined, undefined],
      [escapeTags(text), null, null],
    ]);
    expect(await readShown("second")).toEqual([[], [undefined, undefined], [null, null]]);
    await changeMonitor(a.id, { description: "Bought things" });
    await restart();
    expect((await readShown("ours"))[0]).toEqual(["Bought things"]);
  });

  test("show a state in words, each monitor once, and empty sections as such", async () => {
    await using visitor = await createVisitor();
    const { createJob, monitor, publish, readHtml } = visitor;
    const [up, down] = [await createJob({ name: "Up" }), await createJob({ name: "Down" })];
    const paused = await monitor({ name: "Paused one", paused: true });
    await up.report();
    await down.report({ status: "down" });
    const sections = [buildSection("Jobs", up.id, down.id, paused.id), buildSection("Later")];
    await publish({ sections, showLatency: true });
    const { text } = await readHtml("/status/ours");
    expect(readWords(text, ".word")).toEqual(["Up", "Down", "Paused"]);
    expect(readWords(text, "h1")).toEqual(["Down is down. Everything else is up."]);
    expect(text).toContain("Nothing is shown here yet.");
    const json = (await readHtml("/status/ours.json")).json();
    expect(json).toMatchObject({
      status: "down",
      headline: "Down is down. Everything else is up.",
    });
    expect(json.sections[0].monitors.map(({ status }: { status: string }) => status)).toEqual([
      "up",
      "down",
      "paused",
    ]);
  });

  test("show a paused group within a second, and its states again afterwards", async () => {
    await using visitor = await createVisitor();
    const { createJob, group, pauseGroup, publish, readHtml, restart } = visitor;
    const down = await createJob({ name: "Down" });
    await down.report({ status: "down" });
    const { id } = await group({ monitorIds: [down.id] });
    await publish({ sections: [{ name: "Jobs", groupId: id, monitors: [] }] });
    const readText = async () => {
      await restart();
      const { text } = await readHtml("/status/ours");
      return [readWords(text, "h1"), readWords(text, ".word")].flat();
    };
    expect(await readText()).toEqual(["Down is down", "Down"]);
    await pauseGroup(id, true);
    expect(await readText()).toEqual(["No status yet", "Paused"]);
    await pauseGroup(id, false);
    expect(await readText()).toEqual(["No status yet", "Not checked yet"]);
  });

  test("are omitted while they are paused if the page chooses so; their incidents remain", async () => {
    await using visitor = await createVisitor();
    const { api, group, monitor, pauseGroup, publish, readHtml, restart } = visitor;
    const [one, other] = [await monitor({ name: "Broken" }), await monitor({ name: "Works" })];
    const { id } = await group({ monitorIds: [one.id] });
    const sections = [{ groupId: id }, buildSection("Others", other.id)];
    await publish({ sections, showPaused: false });
    await api("POST", "/api/v1/incidents", { body: { title: "Orders fail", monitorId: one.id } });
    await pauseGroup(id, true);
    await restart();
    const { text } = await readHtml("/status/ours");
    expect([text.includes("Others"), text.includes("Works")]).toEqual([true, true]);
    expect(text).toContain("Orders fail");
    expect(readWords(text, ".word")).toEqual(["Not checked yet"]);
    await publish({ sections, showPaused: true });
    await restart();
    expect(readWords((await readHtml("/status/ours")).text, ".word")).toContain("Paused");
  });

  test("of a deleted group are removed, with the names they gave", async () => {
    await using visitor = await createVisitor();
    const { api, group, monitor, publish, readHtml, get } = visitor;
    const { id } = await monitor();
    const groupId = (await group({ monitorIds: [id] })).id;
    await publish({ sections: [{ groupId, monitors: [{ id, name: "Public" }] }] });
    expect((await api("DELETE", `/api/v1/monitor-groups/${groupId}`)).status).toBe(200);
    expect((await readHtml("/status/ours.json")).json().sections).toEqual([]);
    expect((await get(`/badge/monitor/${id}/status.svg`)).status).toBe(404);
  });
});

describe("a page that is not public", () => {
  test("gives the same 404, whether it is hidden, private or unknown", async () => {
    await using visitor = await createVisitor();
    const { api, createIncident, monitor, createPage, get } = visitor;
    const [shown, free] = [await monitor(), await monitor()];
    const sections = [buildSection("All", shown.id)];
    const { id } = await createPage({
      slug: "hidden",
      visibility: "hidden",
      sections,
      hosts: ["hidden.example"],
    });
    const logo = { raw: pixel.png, headers: { "Content-Type": "image/png" } };
    expect((await api("PUT", `/api/v1/status-pages/${id}/logo`, logo)).status).toBe(200);
    const [open, secret] = [await createIncident(), await createIncident({ public: false })];
    const theirs = await visitor.theirs.api("POST", "/api/v1/incidents", {
      body: { title: "Slow" },
    });
    const parts = ["", "/", ".json", "/feed.rss", "/feed.atom", "/logo", "/history"];
    const paths = [
      ...["hidden", "unknown"].flatMap((slug) =>
        [...parts, "/api/v2/summary.json", `/incidents/${open.id}`].map(
          (part) => `/status/${slug}${part}`,
        ),
      ),
      ...[secret.id, theirs.json.data.id, unknownId, "7", open.id.toUpperCase()].map(
        (incidentId) => `/status/ours/incidents/${incidentId}`,
      ),
      ...["logo", "nothing", "api/v2/page.json", "history?month=2027-01"].map(
        (part) => `/status/ours/${part}`,
      ),
      ...["OURS", "-", "", "%6furs", "ours%2f"].map((slug) => `/status/${slug}`),
      ...["status", "uptime", "latency"].flatMap((kind) =>
        [shown.id, free.id, unknownId].map(
          (monitorId) => `/badge/monitor/${monitorId}/${kind}.svg`,
        ),
      ),
      "/badge/monitor/7/status.svg",
      `/badge/monitor/${shown.id}/name.svg`,
    ];
    const summarize = ({ status, headers, text }: SiteResponse) => [status, [...headers], text];
    const unknown = summarize(await get("/status/nobody"));
    const unknownBadge = summarize(await get(`/badge/monitor/${unknownId}/status.svg`));
    expect([unknown[0], unknownBadge[0]]).toEqual([404, 404]);
    for (const path of paths) {
      const expectedResponse = path.startsWith("/badge/") ? unknownBadge : unknown;
      expect([path, ...summarize(await get(path))]).toEqual([path, ...expectedResponse]);
    }
    await visitor.restart();
    expect(summarize(await get("/", { host: "hidden.example" }))).toEqual(unknown);
  });

  test("accepts only GET and HEAD", async () => {
    await using visitor = await createVisitor();
    for (const method of ["PUT", "PATCH", "DELETE"])
      expect([method, (await visitor.get("/status/ours", { method })).status]).toEqual([
        method,
        404,
      ]);
    expect((await visitor.get("/status/ours", { method: "POST", form: {} })).status).toBe(404);
    expect((await visitor.ask("/status/ours", { method: "HEAD" }))?.status).toBe(200);
  });
});

test("an address that was served before still depends on method, query, language and visibility", async () => {
  await using visitor = await createVisitor();
  const { get, publish } = visitor;
  await publish({ languages: ["de"] });
  const path = "/status/ours";
  const languageOf = async (query: string, accepted: string) =>
    (await get(path + query, { headers: { "Accept-Language": accepted } })).headers.get(
      "content-language",
    );
  for (const _round of [1, 2, 3]) {
    expect(await languageOf("", "de")).toBe("de");
    expect(await languageOf("", "en")).toBe("en");
    expect(await languageOf("?lang=de", "en")).toBe("de");
    expect((await get(`${path}?at=nonsense`)).status).toBe(422);
    expect((await visitor.ask(path, { method: "HEAD" }))?.status).toBe(200);
    for (const method of ["POST", "PUT", "DELETE"])
      expect([method, (await get(path, { method })).status]).toEqual([method, 404]);
  }
  await publish({ languages: ["fr"] });
  await waitUntil(async () => (await languageOf("?lang=de", "fr")) === "fr");
  await publish({ visibility: "hidden" });
  await waitUntil(async () => (await get(path)).status === 404);
});

describe("a host of its own", () => {
  const host = "status.team.example";
  test("has the whole page at its root, in any case and on any port", async () => {
    await using visitor = await createVisitor();
    const { publish, restart, readHtml, ask, createIncident } = visitor;
    await publish({ hosts: [host] });
    const { id } = await createIncident();
    await restart();
    for (const name of [host, `${host}:8080`, "STATUS.Team.Example", `${host}.`])
      expect(readWords((await readHtml("/", { host: name })).text, "title")).toEqual(["Ours"]);
    const paths = [
      ".json",
      "/feed.rss",
      "/feed.atom",
      "/history",
      `/incidents/${id}`,
      "/api/v2/summary.json",
    ];
    for (const path of paths) await readHtml(path === ".json" ? "/status.json" : path, { host });
    const { text } = await readHtml("/", { host });
    const links = [...text.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, link]) => link ?? "");
    for (const link of links) await readHtml(link, { host });
    expect(links).toContain("/");
    expect(links.filter((link) => link.startsWith("/status/"))).toEqual([]);
    for (const other of ["other.example", `${host}.evil.example`, `evil.${host}`])
      expect(await ask("/", { host: other })).toBeNull();
    expect(await ask("/docs", { host })).toBeNull();
  });

  test("shares one copy and one canonical address with nine others, on any port", async () => {
    await using visitor = await createVisitor();
    const { publish, restart, readHtml, createIncident } = visitor;
    const hosts = [host, ...Array.from({ length: 9 }, (_, index) => `s${index}.example`)];
    await publish({ hosts });
    await restart();
    const paths = ["/", "/status.json", "/feed.atom", "/maintenance.ics", "/api/v2/summary.json"];
    const first = new Map<string, string>();
    const readAll = async () => {
      for (const path of paths)
        first.set(path, (await readHtml(path, { host: "s0.example:6666" })).text);
    };
    await readAll();
    expect(first.get("/feed.atom")).toContain(`<link href="http://${host}:3210"/>`);
    // Further changes within the second show together: a second copy would already have the last
    // one.
    for (let change = 0; change < 3; change++) {
      await createIncident();
      await readAll();
    }
    await createIncident();
    for (const name of hosts)
      for (const request of [name, `${name.toUpperCase()}.`, `${name}:3210`, `${name}:8080`])
        for (const [path, text] of first)
          expect([request, (await readHtml(path, { host: request })).text]).toEqual([
            request,
            text,
          ]);
    expect((await readHtml("/status/ours.json")).text).toBe(first.get("/status.json") ?? "");
  });

  test("that belongs to the appliance has no effect, even if it is in the database", async () => {
    await using visitor = await createVisitor();
    const { ask, database, publish, restart } = visitor;
    await publish({ hosts: ["status.team.example"] });
    for (const name of ["status.example", "box.example", "localhost", "nas", "127.0.0.1"]) {
      database.run("UPDATE status_page_hosts SET host = ?", [name]);
      await restart();
      for (const spelled of [name, name.toUpperCase(), `${name}.`, `${name}:3210`])
        for (const path of ["/", "/history", "/status.json"])
          expect([spelled, path, await ask(path, { host: spelled })]).toEqual([
            spelled,
            path,
            null,
          ]);
      expect(await ask("/", { host: name, method: "POST", form: { password: "x" } })).toBeNull();
    }
  });

  test("serves its own page, not another organization's", async () => {
    await using visitor = await createVisitor();
    const { publish, restart, readHtml, theirs } = visitor;
    const { json } = await theirs.api("GET", "/api/v1/status-pages");
    const path = `/api/v1/status-pages/${json.data[0].id}`;
    await theirs.api("PATCH", path, { body: { hosts: ["theirs.example"] } });
    await publish({ hosts: [host] });
    await restart();
    expect(readWords((await readHtml("/", { host })).text, "title")).toEqual(["Ours"]);
    expect(readWords((await readHtml("/", { host: "theirs.example" })).text, "title")).toEqual([
      "Theirs",
    ]);
  });
});

test("a logo is served with its type, and an SVG that is opened directly can do nothing", async () => {
  await using visitor = await createVisitor();
  const { api, defaultPage, readHtml, restart } = visitor;
  const path = `/api/v1/status-pages/${(await defaultPage()).id}/logo`;
  for (const [type, raw] of [
    ["image/png", pixel.png],
    ["image/webp", pixel.webp],
    ["image/svg+xml", pixel.svg],
  ] as const) {
    expect((await api("PUT", path, { raw, headers: { "Content-Type": type } })).status).toBe(200);
    await restart();
    const [, src = ""] = /<img src="([^"]+)"/.exec((await readHtml("/status/ours")).text) ?? [];
    const logo = await readHtml(src);
    expect([logo.type, logo.headers.get("x-content-type-options")]).toEqual([type, "nosniff"]);
    expect(logo.headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    );
    expect(logo.bytes).toEqual(raw);
  }
});

test("only the full address of a public page's logo is cached for long", async () => {
  await using visitor = await createVisitor();
  const { api, defaultPage, publish, readHtml, restart } = visitor;
  await publish({ hosts: ["status.team.example"] });
  const { id } = await defaultPage();
  const image = { raw: pixel.png, headers: { "Content-Type": "image/png" } };
  const { json } = await api("PUT", `/api/v1/status-pages/${id}/logo`, image);
  await restart();
  const whole = json.data.logoUrl;
  const readCaching = async (path: string, host?: string, headers = {}) =>
    (await readHtml(path, { headers, ...(host && { host }) })).headers.get("cache-control");
  const forLong = "public, max-age=31536000, immutable";
  expect(await readCaching(whole)).toBe(forLong);
  expect(await readCaching(whole, "status.team.example")).toBe(forLong);
  for (const path of [
    "/status/ours/logo",
    "/status/ours/logo?",
    "/status/ours/logo?v=1",
    `${whole}x`,
  ])
    expect([path, await readCaching(path)]).toEqual([path, "no-cache"]);
  expect(await readCaching("/logo", "status.team.example")).toBe("no-cache");
  await publish({ visibility: "password", password: "open sesame" });
  await restart();
  const form = { password: "open sesame" };
  const opened = await visitor.get("/status/ours", { method: "POST", form });
  const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
  for (const path of [whole, "/status/ours/logo"])
    expect(await readCaching(path, undefined, { cookie })).toBe("private, no-cache");
});

test("without the style sheet, name, state, since, uptime and latency are separate words in this order", async () => {
  await using visitor = await createVisitor();
  const { createJob, publish, insertPastHeartbeats, restart, readHtml } = visitor;
  const { id, report } = await createJob({ name: "database" });
  await insertPastHeartbeats(id, { ago: 3_600_000, seconds: 3_600 });
  await report({ latency_ms: "34" });
  await publish({ sections: [buildSection("All", id)], showLatency: true, historyDays: 90 });
  await restart();
  const { text } = await readHtml("/status/ours");
  const [line = ""] = readWords(text, ".line").map((words) => words.replace(/\s+/g, " ").trim());
  expect(line).toMatch(/^database Up since \S.* \d+(\.\d\d)? % 34 ms$/);
  const [legend = ""] = readWords(text, ".legend").map((words) => words.replace(/\s+/g, " "));
  expect(legend).toContain("90 days, today on the right");
  expect(text).toContain('<span data-recent="30"><span class="whole">90</span></span>');
});

test("a link to an incident has a preview with its title, its state and the page's logo", async () => {
  await using visitor = await createVisitor();
  const { api, defaultPage, createIncident, postUpdate, readHtml, restart } = visitor;
  const { id } = await createIncident({
    title: "Zahlungen „scheitern“ <b>",
    message: "**Wir** schauen.",
  });
  const preview = async () => {
    await restart();
    const { text } = await readHtml(`/status/ours/incidents/${id}`);
    const found = text.matchAll(/<meta property="og:([\w:]+)" content="([^"]*)"/g);
    return Object.fromEntries([...found].map(([, name, content]) => [name, content]));
  };
  const words = {
    type: "article",
    site_name: expect.any(String),
    title: "Zahlungen „scheitern“ &lt;b&gt;",
    description: "Investigating: Wir schauen.",
    url: expect.stringMatching(new RegExp(`^http.*/status/ours/incidents/${id}$`)),
  };
  expect(await preview()).toEqual(words);
  const image = { raw: pixel.png, headers: { "Content-Type": "image/png" } };
  await api("PUT", `/api/v1/status-pages/${(await defaultPage()).id}/logo`, image);
  expect(await preview()).toEqual({
    ...words,
    image: expect.stringMatching(/^http.*\/status\/ours\/logo\?v=/),
  });
  await postUpdate(id, { status: "resolved" });
  expect((await preview())["description"]).toStartWith("Resolved: ");
});
