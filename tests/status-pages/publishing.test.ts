/** Status pages as static files: their content, their links, where they go, and what is never in them. */
import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { createFairQueue } from "../../src/core/collections/fair-queue.ts";
import { readSince } from "../../src/events/log.ts";
import { examinePublishing } from "../../src/operations/diagnostics/publishing.ts";
import { closeOrganization } from "../../src/operations/appliance/store.ts";
import { PagePublisher } from "../../src/status-pages/publishing/publisher.ts";
import { computeBackoffMs } from "../../src/core/time/pace.ts";
import { defineTestWith, startBucketService } from "../support/real-targets.ts";
import { createScratch } from "../support/scratch-directories.ts";
import { replyWith, startTarget } from "../support/target.ts";
import { buildSection, createVisitor } from "../support/visitor.ts";
import { pollUntil, waitUntil } from "../support/poll.ts";

const newDirectory = createScratch();

type Settings = Parameters<typeof createVisitor>[0];

/** An appliance with a public page in two languages, an open incident, and a publisher that tests run. */
async function createWorld(
  settings: Settings = {},
  publishDir = newDirectory(),
  monotonic?: () => number,
) {
  const visitor = await createVisitor({
    publishDir,
    allowTarget: ["127.0.0.0/8"],
    ...settings,
  });
  const { monitor, publish, createIncident, appliance, api, time, store } = visitor;
  const { id } = await monitor({ name: "Shop", type: "ping", host: "db.lan" });
  const page = await publish({
    sections: [buildSection("Everything", id)],
    languages: ["de"],
    timeZone: "Europe/Berlin",
  });
  const incident = await createIncident({ title: "Slow answers", monitorIds: [id] });
  const path = `/api/v1/status-pages/${page.id}/publishing`;
  let [elapsed, seq] = [0, 0];
  const createPublisher = (directory: string) =>
    new PagePublisher({
      ...appliance,
      store,
      pageQueue: createFairQueue({ atOnce: 1 }),
      origin: () => "https://box.example",
      publishDir: directory,
      monotonic: monotonic ?? (() => elapsed),
    });
  const publisher = createPublisher(publishDir);
  const folder = join(publishDir, page.slug);
  return {
    ...visitor,
    page,
    incidentId: incident.id as string,
    path,
    folder,
    publishDir,
    createPublisher,
    publisher,
    update: (body: object) => api("PATCH", path, { body }),
    read: async () => (await api("GET", path)).json.data,
    /** Publishes everything that is due after these seconds. */
    runAfter: async (seconds: number) => {
      const events = await readSince(store, seq, 10_000);
      seq = events.at(-1)?.seq ?? seq;
      await publisher.handleEvents(events);
      elapsed += seconds * 1_000;
      time.now += seconds * 1_000;
      await publisher.runOnce();
    },
  };
}

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();

const readAll = (folder: string) =>
  listFiles(folder).map((path) => ({ path, text: readFileSync(join(folder, path), "latin1") }));

describe("the files of a page", () => {
  test("link each other by relative paths in every language, and the appliance for everything else", async () => {
    await using world = await createWorld();
    const { update, folder, runAfter, incidentId, read } = world;
    expect((await update({ enabled: true })).status).toBe(200);
    await runAfter(0);
    const files = listFiles(folder);
    const inEach = ["index.html", "history.html", "status.json", "feed.rss", "feed.atom"];
    for (const path of [...inEach, "maintenance.ics", `incidents/${incidentId}.html`])
      for (const language of ["", "de/"]) expect(files).toContain(language + path);
    expect(files).toContain("api/v2/summary.json");
    expect(
      files.filter((path) => /^assets\/(?:status|copy)-\w+\.(?:js|css)$/.test(path)),
    ).toHaveLength(3);
    expect((await read()).files).toBe(files.length);
    const [style = ""] = files.filter((path) => path.endsWith(".css"));
    const fonts = readFileSync(join(folder, style), "utf8").matchAll(/url\("?([^")]+)/g);
    for (const [, name = ""] of fonts) expect(files).toContain(`assets/${name}`);
    const outside = new Set<string>();
    for (const path of files.filter((one) => one.endsWith(".html"))) {
      const html = readFileSync(join(folder, path), "utf8");
      for (const [, link = ""] of html.matchAll(/ (?:href|src|data-source)="([^"#]+)/g)) {
        if (link.startsWith("data:")) continue;
        const url = new URL(link, `http://files/${path}`);
        if (url.host !== "files") outside.add(link);
        else
          expect([path, link, files.includes(url.pathname.slice(1))]).toEqual([path, link, true]);
      }
    }
    expect([...outside]).toEqual(["https://box.example/status/ours/subscribe"]);
    const german = readFileSync(join(folder, "de/index.html"), "utf8");
    expect(german).toContain('<html lang="de"');
    expect(german).toMatch(/Stand: <time dateTime="[^"]+"/);
    expect(german).toContain(`href="incidents/${incidentId}.html"`);
    expect(german).toContain("Content-Security-Policy");
  });

  test("can be read by other programs, although the appliance's own files can't", async () => {
    await using world = await createWorld();
    const before = process.umask(0o077);
    try {
      await world.update({ enabled: true });
      await world.runAfter(0);
    } finally {
      process.umask(before);
    }
    const modeOf = (path: string) => statSync(join(world.folder, path)).mode & 0o777;
    expect([modeOf("de/index.html"), modeOf("de"), modeOf(".")]).toEqual([0o644, 0o755, 0o755]);
  });

  test("have the address of the copy in feeds, and the time in a file of its own", async () => {
    await using world = await createWorld();
    const { update, folder, runAfter, incidentId, time } = world;
    await update({ enabled: true, url: "https://status.team.example/" });
    await runAfter(0);
    const readFile = (path: string) => readFileSync(join(folder, path), "utf8");
    const address = `https://status.team.example/incidents/${incidentId}.html`;
    for (const path of ["feed.rss", "feed.atom", "api/v2/incidents.json", "de/feed.rss"])
      expect([path, readFile(path).includes(address)]).toEqual([path, true]);
    const asOf = JSON.parse(readFile("as-of.json")).asOf;
    expect(asOf).toBe(new Date(time.now).toISOString());
    await runAfter(61);
    expect(Date.parse(JSON.parse(readFile("as-of.json")).asOf) - Date.parse(asOf)).toBe(61_000);
  });
});

test("nothing that only signed-in people see is published, and a page that is no longer public is emptied", async () => {
  await using world = await createWorld();
  const { monitor, createIncident, changePage, createPage, update, folder, runAfter, page, api } =
    world;
  const markText = (where: string) => `CANARY-${where}`;
  const buildLabels = (where: string) => ({
    name: markText(where),
    description: markText(`${where}-text`),
  });
  const hidden = await monitor({ ...buildLabels("monitor"), type: "ping", host: "db.canary.lan" });
  const publicMonitor = await monitor({
    name: "Web",
    description: markText("internal"),
    type: "ping",
    host: "db.lan",
  });
  await createIncident({
    title: markText("incident"),
    message: markText("text"),
    monitorIds: [hidden.id],
  });
  await createIncident({ title: markText("private"), public: false });
  await api("POST", "/api/v1/maintenance-windows", {
    body: {
      title: markText("window"),
      startsAt: "2026-11-20T09:00:00.000Z",
      endsAt: "2026-11-20T12:00:00.000Z",
      monitorIds: [hidden.id],
    },
  });
  const concealed = { ...buildSection(markText("section"), hidden.id), audience: "signed-in" };
  const open = buildSection("Open", publicMonitor.id);
  await changePage(page.id, { sections: [open, concealed] });
  for (const visibility of ["password", "signed-in", "addresses", "hidden"]) {
    const access = { password: "correct horse", allowedAddresses: ["10.0.0.0/8"] };
    const sections = [buildSection(markText(visibility), hidden.id)];
    const other = await createPage({
      slug: visibility,
      title: markText(visibility),
      visibility,
      sections,
      ...access,
    });
    const body = { enabled: true };
    expect(
      (await api("PATCH", `/api/v1/status-pages/${other.id}/publishing`, { body })).status,
    ).toBe(200);
  }
  await update({ enabled: true });
  await runAfter(0);
  const findLeaks = () =>
    readAll(join(folder, "..")).filter(({ path, text }) => /canary/i.test(path + text));
  expect(findLeaks()).toEqual([]);
  expect(listFiles(join(folder, "..")).every((path) => path.startsWith("ours/"))).toBe(true);
  // The texts of the public section prove that the files are complete.
  expect(readFileSync(join(folder, "index.html"), "utf8")).toContain(">Web<");

  // A section that is opened, then concealed again, leaves no file of its incident.
  await changePage(page.id, { sections: [open, { ...concealed, audience: "everyone" }] });
  await runAfter(6);
  expect(findLeaks().length).toBeGreaterThan(3);
  await changePage(page.id, { sections: [open, concealed] });
  await runAfter(6);
  expect(findLeaks()).toEqual([]);
  await changePage(page.id, { visibility: "password", password: "correct horse" });
  await runAfter(6);
  expect(listFiles(folder)).toEqual([]);
});

test("a new slug moves the files, and leaves those of others", async () => {
  await using world = await createWorld();
  const { update, folder, runAfter, page, api } = world;
  await update({ enabled: true });
  await runAfter(0);
  writeFileSync(join(folder, "note.txt"), "not ours");
  const renameTo = async (slug: string) => {
    const body = { slug };
    expect((await api("PATCH", `/api/v1/status-pages/${page.id}`, { body })).status).toBe(200);
  };
  await renameTo("second");
  await runAfter(10);
  await runAfter(16);
  const second = join(folder, "..", "second");
  expect(listFiles(folder)).toEqual(["note.txt"]);
  expect(listFiles(second)).toContain("de/index.html");
  await renameTo("third");
  expect(
    (await api("POST", "/api/v1/status-pages", { body: { title: "New", slug: "second" } })).status,
  ).toBe(201);
  await runAfter(10);
  // Another page has the slug now, which is not published: the files are removed all the same.
  await runAfter(16);
  expect(existsSync(second)).toBe(false);
  expect(listFiles(join(folder, "..", "third"))).toContain("de/index.html");
});

describe("files of a page are removed", () => {
  const createDeletablePage = async (made: Awaited<ReturnType<typeof createWorld>>) => {
    const { createPage, api, publishDir } = made;
    const page = await createPage({ slug: "second", title: "Second", visibility: "public" });
    const path = `/api/v1/status-pages/${page.id}`;
    expect((await api("PATCH", `${path}/publishing`, { body: { enabled: true } })).status).toBe(
      200,
    );
    await made.runAfter(6);
    return { path, folder: join(publishDir, "second") };
  };

  test("when it is deleted, not before it could be undone, and written again when it is restored", async () => {
    await using world = await createWorld();
    const { api, runAfter } = world;
    const { path, folder } = await createDeletablePage(world);
    const before = listFiles(folder);
    expect(before).toContain("index.html");
    writeFileSync(join(folder, "note.txt"), "not ours");
    expect((await api("DELETE", path)).status).toBe(200);
    await runAfter(6);
    expect(listFiles(folder).length).toBe(before.length + 1);
    await runAfter(16);
    expect(listFiles(folder)).toEqual(["note.txt"]);
    expect((await api("POST", `${path}/restore`)).status).toBe(200);
    await runAfter(6);
    expect(listFiles(folder)).toEqual([...before, "note.txt"].toSorted());
  });

  test("when publication is turned off, and not if it is turned on again in time", async () => {
    await using world = await createWorld();
    const { update, runAfter, read, folder } = world;
    await update({ enabled: true });
    await runAfter(0);
    const { files } = await read();
    await update({ enabled: false });
    await runAfter(6);
    expect((await read()).removals).toEqual([{ place: "the folder ours/", files, failure: null }]);
    await update({ enabled: true });
    await runAfter(16);
    expect(await read()).toMatchObject({ files, removals: [] });
    await update({ enabled: false });
    await runAfter(1);
    await runAfter(16);
    expect([existsSync(folder), (await read()).removals]).toEqual([false, []]);
  });

  test("when its organization is deleted", async () => {
    await using world = await createWorld();
    const { update, runAfter, folder, store, ours, time } = world;
    await update({ enabled: true });
    await runAfter(0);
    const at = new Date(time.now).toISOString();
    await store.atomic(closeOrganization(ours.id, at));
    await world.publisher.handleEvents([{ organizationId: ours.id, type: "organization.deleted" }]);
    await runAfter(16);
    expect(existsSync(folder)).toBe(false);
  });

  test("before another organization that takes the slug can publish there", async () => {
    await using world = await createWorld();
    const { api, runAfter, theirs } = world;
    const { path, folder } = await createDeletablePage(world);
    expect((await api("DELETE", path)).status).toBe(200);
    const body = { title: "Theirs", slug: "second", visibility: "public" };
    const created = await theirs.api("POST", "/api/v1/status-pages", { body });
    expect(created.status).toBe(201);
    const publishing = `/api/v1/status-pages/${created.json.data.id}/publishing`;
    const enabled = await theirs.api("PATCH", publishing, { body: { enabled: true } });
    expect([enabled.status, enabled.json.error?.code]).toEqual([409, "CONFLICT"]);
    await runAfter(6);
    expect(existsSync(folder)).toBe(false);
    expect((await theirs.api("PATCH", publishing, { body: { enabled: true } })).status).toBe(200);
    await runAfter(6);
    expect(readFileSync(join(folder, "index.html"), "utf8")).toContain("Theirs");
    expect(readAll(folder).filter(({ text }) => text.includes("Second"))).toEqual([]);
  });

  test("even if the bucket fails for a while, which is shown; without a valid key only for a week", async () => {
    await using service = await startTarget(replyWith(200));
    await using world = await createWorld();
    const { update, runAfter, read, store, time, ours } = world;
    const s3 = { ...bucketFields, endpoint: service.at("").replace(/\/$/, ""), prefix: "team/" };
    await update({ enabled: true, to: "s3", s3 });
    await runAfter(0);
    const { files } = await read();
    service.setReply(replyWith(403, "<Error><Code>AccessDenied</Code></Error>"));
    // The removal needs the key, which is no longer part of the settings.
    await update({ enabled: false, to: "folder", s3: null });
    await runAfter(1);
    await runAfter(16);
    const reason = "The service answered HTTP 403 (Forbidden): AccessDenied.";
    const [removal] = (await read()).removals;
    expect(removal).toMatchObject({ files, failure: { reason } });
    time.now += 300_000;
    const [diagnosis] = await examinePublishing({ store, clock: () => time.now });
    expect(diagnosis?.problem).toMatchObject({
      organizationId: ours.id,
      message: expect.stringContaining(`/status/team/ since ${removal.failure.since}: ${reason}`),
    });
    service.setReply(replyWith(204));
    service.asked.splice(0);
    await runAfter(11);
    expect(service.asked.map(({ method }) => method)).toEqual(Array(files).fill("DELETE"));
    expect((await read()).removals).toEqual([]);

    await update({ enabled: true, to: "s3", s3 });
    await runAfter(6);
    service.setReply(replyWith(403));
    await update({ enabled: false });
    await runAfter(1);
    await runAfter(16);
    expect((await read()).removals).toHaveLength(1);
    await runAfter(7 * 86_400);
    expect((await read()).removals).toEqual([]);
  });
});

describe("a bucket with files of a page", () => {
  test("is not used by another organization, also not below or above its prefix", async () => {
    await using service = await startTarget(replyWith(200));
    await using world = await createWorld();
    const { update, theirs, runAfter, createPage, api } = world;
    const endpoint = service.at("").replace(/\/$/, "");
    const s3 = { ...bucketFields, endpoint, prefix: "team/" };
    expect((await update({ enabled: true, to: "s3", s3 })).status).toBe(200);
    await runAfter(0);
    const pageId = (await theirs.api("GET", "/api/v1/status-pages")).json.data[0].id;
    const theirPath = `/api/v1/status-pages/${pageId}/publishing`;
    const other = await createPage({ slug: "second", title: "Second" });
    const ownPath = `/api/v1/status-pages/${other.id}/publishing`;
    const tryPrefix = async (call: typeof api, path: string, prefix: string) => {
      const body = { enabled: true, to: "s3", s3: { ...s3, prefix } };
      const { status, json } = await call("PATCH", path, { body });
      return status === 200 ? "accepted" : json.error.details[0].path;
    };
    const prefixes = ["", "team/", "team/de/", "team/shop/", "other/"];
    const tryPrefixes = async (call: typeof api, path: string) => {
      const all: string[] = [];
      for (const prefix of prefixes) all.push(await tryPrefix(call, path, prefix));
      return all;
    };
    const taken = "s3.prefix";
    expect(await tryPrefixes(theirs.api, theirPath)).toEqual([
      taken,
      taken,
      taken,
      taken,
      "accepted",
    ]);
    expect(await tryPrefix(theirs.api, theirPath, "third/")).toBe("accepted");
    await runAfter(6);
    expect(await tryPrefixes(api, ownPath)).toEqual([taken, taken, taken, "accepted", "accepted"]);
  });
});

test("a change is in the files within ten seconds, together with others of the same moment", async () => {
  await using world = await createWorld({}, newDirectory(), () => performance.now());
  const { update, folder, createIncident, publisher } = world;
  await update({ enabled: true });
  await publisher.start();
  try {
    await pollUntil(async () => existsSync(join(folder, "as-of.json")), Boolean);
    const { id } = await createIncident({ title: "Cable cut" });
    await createIncident({ title: "Second cable cut" });
    await pollUntil(
      async () => readFileSync(join(folder, "index.html"), "utf8"),
      (html) => html.includes("Second cable cut"),
    );
    expect(existsSync(join(folder, `incidents/${id}.html`))).toBe(true);
  } finally {
    await publisher.stop();
  }
}, 20_000);

const bucketFields = {
  region: "us-east-1",
  bucket: "status",
  accessKeyId: "backup",
  secretAccessKey: "a-secret-access-key",
};

describe("a bucket", () => {
  test("gets only changed files, with their types and times", async () => {
    await using service = await startTarget(replyWith(200));
    await using world = await createWorld();
    const { update, runAfter, createIncident, read, api, incidentId } = world;
    const s3 = { ...bucketFields, endpoint: service.at("").replace(/\/$/, ""), prefix: "team/" };
    expect((await update({ enabled: true, to: "s3", s3 })).status).toBe(200);
    await runAfter(0);
    const takeRequests = () =>
      service.asked.splice(0).map(({ method, path }) => `${method} ${path}`);
    const [sample] = service.asked.filter(({ path }) => path?.endsWith("/de/index.html"));
    expect(sample?.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "public, max-age=5",
      authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=backup\//),
    });
    const [style] = service.asked.filter(({ path }) => path?.endsWith(".css"));
    expect(style?.headers?.["cache-control"]).toBe("public, max-age=31536000, immutable");
    const first = takeRequests();
    expect(first.length).toBe((await read()).files);
    const findTurn = (end: string) => first.findIndex((one) => one.endsWith(`team/${end}`));
    expect(findTurn(`incidents/${incidentId}.html`)).toBeLessThan(findTurn("index.html"));
    const fixed = ["as-of.json", "history.html", "index.html", "status.json"];
    const inEach = [...fixed.slice(1), `incidents/${incidentId}.html`];
    const timed = [...fixed, ...inEach.map((path) => `de/${path}`), inEach.at(-1)]
      .map((path) => `PUT /status/team/${path}`)
      .toSorted();
    await runAfter(61);
    // An open incident shows its duration.
    expect(takeRequests().toSorted()).toEqual(timed);
    const job = await world.createJob();
    await runAfter(6);
    takeRequests();
    await job.report({ status: "down" });
    await runAfter(6);
    expect(takeRequests().filter((one) => !timed.includes(one) && !one.includes("api/v2"))).toEqual(
      [],
    );
    await api("PATCH", `/api/v1/incidents/${incidentId}`, { body: { status: "resolved" } });
    await runAfter(6);
    expect(takeRequests()).toContain(`PUT /status/team/incidents/${incidentId}.html`);
    await runAfter(61);
    const closed = ["as-of", "de/index", "de/status", "index", "status"];
    expect(
      takeRequests()
        .map((path) => path.replace(/^.*team\/|\.\w+$/g, ""))
        .toSorted(),
    ).toEqual(closed);
    await createIncident({ title: "Cable cut" });
    await runAfter(6);
    const changed = takeRequests();
    expect(changed.length).toBeLessThan(first.length);
    expect(changed.filter((one) => /assets|robots/.test(one))).toEqual([]);
    expect(changed.filter((one) => /incidents\/.*html/.test(one)).length).toBe(2);
  });

  for (const [what, isKilled] of [
    ["fails in the middle of a publication", false],
    ["outlives a kill in the middle of a publication", true],
  ] as const)
    test(`that ${what} keeps nothing that was taken back meanwhile`, async () => {
      const stored = new Map<string, string>();
      let isCut = false;
      await using service = createServer(async (request, response) => {
        const text = await readText(request);
        // The last file of each publication.
        const isRefused = isCut && request.url === "/status/as-of.json";
        if (isRefused) return isKilled ? undefined : void response.writeHead(503).end();
        if (request.method === "PUT") stored.set(request.url ?? "", text);
        else stored.delete(request.url ?? "");
        response.end();
      });
      await new Promise<void>((done) => service.listen(0, "127.0.0.1", () => done()));
      const { port } = service.address() as AddressInfo;
      await using world = await createWorld();
      const { update, runAfter, api, incidentId, createPublisher, publishDir } = world;
      const s3 = { ...bucketFields, endpoint: `http://127.0.0.1:${port}` };
      await update({ enabled: true, to: "s3", s3 });
      await runAfter(0);
      const summary = "/status/api/v2/summary.json";
      const page = `/status/incidents/${incidentId}.html`;
      expect([stored.has(summary), stored.has(page)]).toEqual([true, true]);
      const other = await world.createIncident({ title: "Internal matter" });
      await api("DELETE", `/api/v1/incidents/${incidentId}`);
      isCut = true;
      const publication = runAfter(6);
      await waitUntil(() => stored.get(summary)?.includes("Internal matter") === true);
      if (!isKilled) await publication;
      isCut = false;
      await api("DELETE", `/api/v1/incidents/${other.id}`);
      await api("POST", `/api/v1/incidents/${incidentId}/restore`);
      const next = isKilled ? createPublisher(publishDir) : null;
      await next?.handleEvents([{ organizationId: world.ours.id, type: "status-page.updated" }]);
      await (next?.runOnce() ?? runAfter(11));
      const all = [...stored].filter(([, text]) => text.includes("Internal matter"));
      expect(all.map(([path]) => path)).toEqual([]);
      expect(stored.has(page)).toBe(true);
      service.closeAllConnections();
      await publication.catch(() => {});
    });

  defineTestWith(
    ["moto_server"],
    "of another program holds the same files, until they are outdated",
    async () => {
      await using service = await startBucketService("status");
      await using world = await createWorld();
      const { update, runAfter, read, incidentId, api, changePage, page } = world;
      await update({
        enabled: true,
        to: "s3",
        s3: { ...bucketFields, endpoint: service.endpoint },
      });
      await runAfter(0);
      const { files, publishedAt, failure } = await read();
      expect([failure, publishedAt !== null]).toEqual([null, true]);
      const listKeys = async () =>
        (await service.client.list()).contents?.map(({ key }) => key) ?? [];
      expect((await listKeys()).length).toBe(files);
      expect((await service.client.file("index.html").stat()).type).toBe(
        "text/html; charset=utf-8",
      );
      expect(await service.client.file("index.html").text()).toContain("Slow answers");
      const path = `/api/v1/incidents/${incidentId}`;
      expect((await api("DELETE", path)).status).toBe(200);
      await changePage(page.id, { languages: [] });
      await runAfter(6);
      expect(
        (await listKeys()).filter((key) => key.includes(incidentId) || key.startsWith("de/")),
      ).toEqual([]);
      expect(await service.client.file("index.html").text()).not.toContain("Slow answers");
    },
  );

  test("that fails is shown, retried with increasing pauses, and tried at once with new settings", async () => {
    await using service = await startTarget(
      replyWith(403, "<Error><Code>AccessDenied</Code></Error>"),
    );
    await using world = await createWorld();
    const { update, runAfter, read, time, store, ours } = world;
    const s3 = { ...bucketFields, endpoint: service.at("").replace(/\/$/, "") };
    await update({ enabled: true, to: "s3", s3 });
    await runAfter(0);
    const since = new Date(time.now).toISOString();
    const reason = "The service answered HTTP 403 (Forbidden): AccessDenied.";
    expect((await read()).failure).toEqual({ since, reason });
    const hasAttempted = async (seconds: number) => {
      const before = service.asked.length;
      await runAfter(seconds);
      return service.asked.length > before;
    };
    expect([
      await hasAttempted(9),
      await hasAttempted(2),
      await hasAttempted(15),
      await hasAttempted(6),
    ]).toEqual([false, true, false, true]);
    expect((await read()).failure.since).toBe(since);
    const delays = [1, 2, 6, 7, 60].map((failures) => computeBackoffMs(failures, 10_000, 600_000));
    expect(delays).toEqual([10_000, 20_000, 320_000, 600_000, 600_000]);
    const examine = () => examinePublishing({ store, clock: () => time.now });
    expect((await examine()).map(({ problem }) => problem)).toEqual([undefined]);
    time.now += 300_000;
    expect((await examine()).map(({ problem }) => problem)).toMatchObject([
      { name: "publishing", organizationId: ours.id, message: expect.stringContaining(reason) },
    ]);
    service.setReply(replyWith(200));
    await update({ url: "https://status.team.example" });
    await runAfter(1);
    expect((await read()).failure).toBeNull();
    expect((await examine()).map(({ problem }) => problem)).toEqual([undefined]);
  });
});

test("a missing folder of --publish-dir is a failure that is shown, and not created", async () => {
  const publishDir = newDirectory();
  await using world = await createWorld({}, publishDir);
  await world.update({ enabled: true });
  rmSync(publishDir, { recursive: true });
  await world.runAfter(0);
  expect((await world.read()).failure.reason).toBe(
    `The folder ${publishDir} of --publish-dir does not exist.`,
  );
  expect(existsSync(publishDir)).toBe(false);
});

test("a file that can't be written leaves no part of it, and a part of a killed process is removed with its file", async () => {
  await using world = await createWorld();
  const { folder, update, runAfter, read } = world;
  mkdirSync(join(folder, "feed.rss", "taken"), { recursive: true });
  await update({ enabled: true });
  await runAfter(0);
  expect((await read()).failure).not.toBeNull();
  expect(listFiles(folder).filter((path) => path.endsWith(".part"))).toEqual([]);
  rmSync(join(folder, "feed.rss"), { recursive: true });
  await runAfter(30);
  expect((await read()).failure).toBeNull();
  writeFileSync(join(folder, "index.html.part"), "<html>");
  await update({ enabled: false });
  await runAfter(1);
  await runAfter(16);
  expect(existsSync(folder)).toBe(false);
});

test("a folder gets all files if it is another one than before, or if other programs changed them", async () => {
  await using world = await createWorld();
  await world.update({ enabled: true });
  await world.runAfter(0);
  const files = listFiles(world.folder);
  const [style = ""] = files.filter((path) => path.endsWith(".css"));
  rmSync(join(world.folder, style));
  writeFileSync(join(world.folder, "feed.rss"), "old");
  const publishFromStart = async (directory: string) => {
    const publisher = world.createPublisher(directory);
    await publisher.start();
    await publisher.runOnce();
    await publisher.stop();
  };
  await publishFromStart(world.publishDir);
  expect(listFiles(world.folder)).toEqual(files);
  expect(readFileSync(join(world.folder, "feed.rss"), "utf8")).toContain("<rss");
  const otherDirectory = newDirectory();
  await publishFromStart(otherDirectory);
  expect(listFiles(join(otherDirectory, world.page.slug))).toEqual(files);
});

describe("the settings", () => {
  test("reject blocked places, and never return the secret or send it elsewhere", async () => {
    await using world = await createWorld({ publishDir: null, denyTarget: ["10.0.0.0/8"] });
    const { update, read, theirs, path, store } = world;
    expect((await update({ enabled: true })).json.error.details).toEqual([
      { path: "to", message: "must be s3: a folder needs `serve --publish-dir DIR`" },
    ]);
    const s3 = { ...bucketFields, endpoint: "http://127.0.0.1:9" };
    const detailsOf = async (body: object) => (await update(body)).json.error?.details?.[0]?.path;
    expect(await detailsOf({ enabled: true, to: "s3" })).toBe("s3");
    expect(await detailsOf({ s3: { ...s3, endpoint: "http://10.0.0.1" } })).toBe("s3.endpoint");
    expect(await detailsOf({ s3: { ...s3, prefix: "../other/" } })).toBe("s3.prefix");
    expect(await detailsOf({ path: "/etc" })).toBe("path");
    const saved = await update({ enabled: true, to: "s3", s3 });
    expect([saved.status, saved.text.includes(bucketFields.secretAccessKey)]).toEqual([200, false]);
    expect((await read()).secretsSet).toEqual(["s3.secretAccessKey"]);
    expect(await detailsOf({ s3: { endpoint: "http://127.0.0.1:10" } })).toBe("s3.secretAccessKey");
    expect((await update({ s3: { prefix: "team/" } })).status).toBe(200);
    expect((await theirs.api("GET", path)).status).toBe(404);
    const events = JSON.stringify(await readSince(store, 0, 10_000));
    expect(events).toContain("status-page.publishing-changed");
    expect(events).not.toContain(bucketFields.secretAccessKey);
  });
});
