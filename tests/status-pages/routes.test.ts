import { describe, expect, test } from "bun:test";
import { hostname } from "node:os";
import { defaultLook } from "../../src/status-pages/look-schema.ts";
import { findHead, findHeadByHost } from "../../src/status-pages/store.ts";
import { dumpTables, unknownId } from "../support/appliance.ts";
import { createDashboard } from "../support/dashboard.ts";
import { useFullHashing } from "../support/hashing.ts";
import { canary } from "../support/samples.ts";

const path = "/api/v1/status-pages";

async function createPagePublisher() {
  const dashboard = await createDashboard();
  const { api } = dashboard;
  const page = async (body: object = {}) => {
    const { status, json, text } = await api("POST", path, {
      body: { slug: "payments", title: "Payments", ...body },
    });
    expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
    return json.data;
  };
  const pageOf = async (id: string) => (await api("GET", `${path}/${id}`)).json.data;
  const change = (id: string, body: object) => api("PATCH", `${path}/${id}`, { body });
  return { ...dashboard, page, pageOf, change };
}

const plain = {
  id: expect.any(String),
  slug: "payments",
  default: false,
  title: "Payments",
  description: "",
  accentColor: null,
  theme: "auto",
  look: defaultLook,
  visibility: "public",
  allowedRoles: [],
  visitorProviders: [],
  allowedAddresses: [],
  language: "en",
  languages: [],
  indexing: true,
  sections: [],
  hosts: [],
  showLatency: false,
  showPaused: true,
  countImpacts: false,
  chatSubscriptions: false,
  historyDays: 90,
  slaTarget: null,
  timeZone: "UTC",
  logoUrl: null,
  faviconUrl: null,
  fontUrl: null,
  secretsSet: [],
  createdAt: "2026-11-20T10:00:00.000Z",
  updatedAt: "2026-11-20T10:00:00.000Z",
};

describe("creating", () => {
  test("a slug and a title are enough", async () => {
    const { api } = await createPagePublisher();
    const body = { slug: "payments", title: "Payments" };
    const { status, headers, json } = await api("POST", path, { body });
    expect([status, headers.get("location")]).toEqual([201, `${path}/${json.data.id}`]);
    expect(json.data).toEqual(plain);
    expect((await api("GET", `${path}/${json.data.id}`)).json).toEqual(json);
  });

  test("a page is read as it was sent, and can be sent back", async () => {
    const { api, page, pageOf, change, group, monitor } = await createPagePublisher();
    const [a, b, c] = [(await monitor()).id, (await monitor()).id, (await monitor()).id];
    const groupId = (await group({ monitorIds: [a, b] })).id;
    const whole = {
      description: "Card and bank\npayments",
      accentColor: "#2563eb",
      theme: "dark",
      look: {
        ...defaultLook,
        colors: { background: "#f0f4ff", surface: "#ffffff", text: null },
        font: "serif",
        headerLinks: [{ label: "Help", url: "https://team.example/help" }],
      },
      visibility: "hidden",
      sections: [
        {
          name: "Partners",
          groupId: null,
          monitors: [
            { id: c, name: "Card network", showDescription: false, link: "https://cards.example/" },
          ],
          nested: false,
          folding: "folded",
          audience: "everyone",
        },
        {
          name: null,
          groupId,
          monitors: [{ id: b, name: "Bank", showDescription: true, link: null }],
          nested: true,
          folding: "auto",
          audience: "signed-in",
        },
        {
          name: "Later",
          groupId: null,
          monitors: [{ id: a, name: null, showDescription: true, link: null }],
          nested: false,
          folding: "open",
          audience: "everyone",
        },
      ],
      allowedRoles: ["admin", "owner"],
      allowedAddresses: ["10.0.0.0/8", "192.168.1.7", "2001:db8::/32"],
      indexing: false,
      hosts: ["status.team.example", "status.box.team.example"],
      showLatency: true,
      showPaused: true,
      countImpacts: true,
      chatSubscriptions: true,
      historyDays: 365,
      slaTarget: 0.999,
      timeZone: "Europe/Berlin",
      language: "de",
      languages: ["fr", "pt-BR"],
    };
    const result = await page(whole);
    expect(result).toEqual({ ...plain, ...whole });
    expect(await pageOf(result.id)).toEqual(result);
    const { status, json } = await change(result.id, result);
    expect([status, json.data]).toEqual([200, result]);
    expect((await api("GET", path)).json.data).toContainEqual(result);
  });

  test("host names are stored in lower case without duplicates", async () => {
    const { page } = await createPagePublisher();
    const { hosts } = await page({ hosts: ["Status.Team.example", "b.c", "status.TEAM.example"] });
    expect(hosts).toEqual(["status.team.example", "b.c"]);
  });
});

const free = (...ids: string[]) => ({ name: "Part", monitors: ids.map((id) => ({ id })) });
const buildIds = (count: number) =>
  Array.from({ length: count }, (_, index) => unknownId.replace(/.{4}$/, `${1000 + index}`));
const buildNames = (count: number) =>
  Array.from({ length: count }, (_, index) => `h${index}.example`);

const wrong: [field: string, ...values: unknown[]][] = [
  ["slug", null, "", "a b", "Payments", "-a", "a-", "a--b", "ü", "a\n", "x".repeat(64)],
  ["slug", "api", "docs", "status", "admin", "badge", "push", "healthz", "metrics"],
  ["title", null, "", " ", "a\nb", "x".repeat(256)],
  ["description", null, "x".repeat(2001)],
  ["accentColor", "red", "#fff", "#12345g", "#1234567", "url(x)"],
  ["theme", null, "Dark"],
  ["look", null, "serif"],
  ["look.header", { header: "right" }],
  ["look.colors.text", { colors: { text: "red" } }, { colors: { text: "#777777" } }],
  ["look.headerLinks[0].url", { headerLinks: [{ label: "x", url: "javascript:alert(1)" }] }],
  ["visibility", null, "private"],
  ["password", "", "a\nb", "x".repeat(1001)],
  ["sections", null, {}, Array.from({ length: 101 }, () => free())],
  [
    "sections",
    [
      free(...buildIds(500)),
      {
        name: "B",
        monitors: buildIds(1001)
          .slice(500)
          .map((id) => ({ id })),
      },
    ],
  ],
  [
    "sections[1].name",
    [free(), { monitors: [] }],
    [free(), { name: null }],
    [free(), { name: "" }],
  ],
  ["sections[0].groupId", [{ groupId: "7" }]],
  ["sections[1].groupId", [{ groupId: unknownId }, { groupId: unknownId }]],
  ["sections[0].monitors", [{ name: "Part", monitors: null }]],
  ["sections[0].monitors[0].id", [{ name: "Part", monitors: [{ name: "x" }] }], [free("7")]],
  ["sections[0].monitors[0].name", [{ name: "Part", monitors: [{ id: unknownId, name: "" }] }]],
  [
    "sections[0].monitors[0].showDescription",
    [{ name: "Part", monitors: [{ id: unknownId, showDescription: null }] }],
    [{ name: "Part", monitors: [{ id: unknownId, showDescription: "true" }] }],
  ],
  ["sections[0].monitors[1].id", [free(unknownId, unknownId)]],
  ["sections[1].monitors[0].id", [free(unknownId), { ...free(unknownId), groupId: unknownId }]],
  ["sections[0].monitor", [{ name: "Part", monitor: [] }]],
  ["hosts", null, "a.example", buildNames(11)],
  ["hosts[0]", ["a.example:80"], ["https://a.example"], ["a.example/"], ["a.example."], [""], [7]],
  ["hosts[0]", ["127.0.0.1"], ["1.2.3"], ["0x7f.1"], ["a.0x7f"], ["::1"], ["[::1]"], ["1"]],
  ["hosts[0]", ["localhost"], ["a.LOCALHOST"], ["*.example"], ["a_b.example"], ["-a.example"]],
  ["hosts[1]", ["a.example", "müller.example"], ["a.example", `${"x".repeat(64)}.example`]],
  ["showLatency", null, "true"],
  ["historyDays", null, 0, 366, 1.5, "90"],
  ["timeZone", null, "", "Mars/Olympus", "+01:00", "Europe/Berlin ", "x".repeat(65)],
  ["colour", "red"],
];

describe("the appliance's own host names", () => {
  const machineName = hostname().toLowerCase();
  const reserved = [
    `${machineName.replace(/\.local$/, "")}.local`,
    "status.example",
    "STATUS.Example",
    "box.example",
    "Box.EXAMPLE",
    "intranet",
    machineName,
  ];
  test.each(reserved)("are rejected as hosts: %s, alone and after another one", async (host) => {
    const appliance = await createPagePublisher();
    const { id } = await appliance.page();
    const before = dumpTables(appliance);
    for (const hosts of [[host], ["status.team.example", host]]) {
      const at = `hosts[${hosts.length - 1}]`;
      const body = { slug: "other", title: "Other", hosts };
      for (const { status, json } of [
        await appliance.change(id, { hosts }),
        await appliance.api("POST", path, { body }),
      ])
        expect([status, json.error.code, json.error.details[0].path]).toEqual([
          422,
          "VALIDATION_ERROR",
          at,
        ]);
    }
    expect(dumpTables(appliance)).toBe(before);
  });

  test("are dropped from the hosts of older pages, so that those can be sent back", async () => {
    const { database, page, pageOf, change } = await createPagePublisher();
    const result = await page({ hosts: ["old.team.example", "status.team.example"] });
    database.run("UPDATE status_page_hosts SET host = 'status.example' WHERE position = 0");
    const storedPage = await pageOf(result.id);
    expect(storedPage.hosts).toEqual(["status.team.example"]);
    expect((await change(result.id, storedPage)).status).toBe(200);
  });
});

test("invalid values are rejected by field in POST and PATCH, and change nothing", async () => {
  const appliance = await createPagePublisher();
  const { api, page, change } = appliance;
  const { id } = await page();
  const before = dumpTables(appliance);
  for (const [field, ...values] of wrong)
    for (const value of values) {
      const part = { [field.replace(/[[.].*/, "")]: value };
      const body = { slug: "other", title: "Other", ...part };
      for (const { status, json } of [await api("POST", path, { body }), await change(id, part)])
        expect([field, value, status, json.error?.details[0].path]).toEqual([
          field,
          value,
          422,
          field,
        ]);
    }
  const { json } = await api("POST", path, { body: {} });
  const missing = json.error.details.map(({ path }: { path: string }) => path);
  expect(missing).toEqual(["slug", "title"]);
  expect(dumpTables(appliance)).toBe(before);
});

describe("unique values", () => {
  test("a slug that another page has, in any organization, is a conflict that names it", async () => {
    const appliance = await createPagePublisher();
    const { api, page, change, theirs } = appliance;
    await theirs.api("POST", path, { body: { slug: "theirs-2", title: "Theirs" } });
    await page({ slug: "ours-2" });
    const { id } = await page();
    const before = dumpTables(appliance);
    for (const slug of ["ours", "theirs", "ours-2", "theirs-2"]) {
      const created = await api("POST", path, { body: { slug, title: "Mine" } });
      for (const { status, json } of [created, await change(id, { slug })])
        expect([slug, status, json.error.details[0].path]).toEqual([slug, 409, "slug"]);
    }
    expect(dumpTables(appliance)).toBe(before);
    expect((await change(id, { slug: "payments" })).status).toBe(200);
  });

  test("a host that another page has, in any organization, is a conflict until that page drops it", async () => {
    const { api, page, change, theirs } = await createPagePublisher();
    const { id } = await page({ hosts: ["a.example", "b.example"] });
    const take = (hosts: string[]) =>
      theirs.api("POST", path, { body: { slug: "copy", title: "Copy", hosts } });
    const { status, json } = await take(["c.example", "B.example"]);
    expect([status, json.error.details[0].path]).toEqual([409, "hosts"]);
    const other = await api("POST", path, {
      body: { slug: "x", title: "X", hosts: ["a.example"] },
    });
    expect(other.status).toBe(409);
    expect((await change(id, { hosts: ["a.example"] })).status).toBe(200);
    expect((await take(["c.example", "b.example"])).status).toBe(201);
    expect((await change(id, { hosts: ["c.example"] })).status).toBe(409);
  });

  test("of ten simultaneous requests for one slug and host exactly one succeeds", async () => {
    const { api } = await createPagePublisher();
    const body = { slug: "payments", title: "Payments", hosts: ["a.example"] };
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => api("POST", path, { body })),
    );
    const [result, refused] = [201, 409].map((code) =>
      responses.filter(({ status }) => status === code),
    );
    expect([result?.length, refused?.length]).toEqual([1, 9]);
  });
});

describe("the password", () => {
  test("is required for pages with password visibility", async () => {
    const { api, page, change } = await createPagePublisher();
    const body = { slug: "inside", title: "Inside", visibility: "password" };
    const created = await api("POST", path, { body });
    const { id } = await page();
    const request = await change(id, { visibility: "password" });
    await change(id, { visibility: "password", password: canary });
    const cleared = await change(id, { password: null });
    for (const { status, json } of [created, request, cleared])
      expect([status, json.error?.details[0].path]).toEqual([422, "password"]);
    const open = await change(id, { visibility: "public", password: null });
    expect([open.status, open.json.data.secretsSet]).toEqual([200, []]);
  });

  test("is stored as argon2id, unchanged by other patches, and never shown", async () => {
    using _ = useFullHashing();
    const world = await createPagePublisher();
    const { page, change, pageOf, store } = world;
    const created = await page({ visibility: "password", password: canary });
    await change(created.id, { title: "Billing" });
    expect((await pageOf(created.id)).secretsSet).toEqual(["password"]);
    const hash = (await findHead(store, "payments"))?.passwordHash ?? "";
    expect(hash).toStartWith("$argon2id$v=19$m=65536,t=2,p=1$");
    expect(await Bun.password.verify(canary, hash)).toBe(true);
    expect(dumpTables(world)).not.toContain(canary);
    expect(JSON.stringify([created, await pageOf(created.id)])).not.toContain("argon2");
  });
});

test("all pages are listed: the default page first, then the newest", async () => {
  const { api, page, time } = await createPagePublisher();
  for (const slug of ["a", "b", "c"]) {
    time.now += 1000;
    await page({ slug });
  }
  const { json } = await api("GET", path);
  const listed = json.data.map(({ slug }: { slug: string }) => slug);
  expect([listed, json.meta]).toEqual([["ours", "c", "b", "a"], undefined]);
  expect(json.data[0]).toMatchObject({ ...plain, slug: "ours", title: "Ours", default: true });
});

test("a page is deleted with all its data; the default page can't be deleted", async () => {
  const { api, page, monitor, database } = await createPagePublisher();
  const { id } = await page({ sections: [free((await monitor()).id)], hosts: ["a.example"] });
  expect((await api("DELETE", `${path}/${id}`)).json.data).toEqual({ deleted: true });
  for (const table of ["hosts", "sections", "monitors"])
    expect(database.query(`SELECT * FROM status_page_${table}`).values()).toEqual([]);
  const [own] = (await api("GET", path)).json.data;
  const { status, json } = await api("DELETE", `${path}/${own.id}`);
  expect([status, json.error.code]).toEqual([409, "CONFLICT"]);
});

test("a deleted monitor or group is removed from the page, which stays intact", async () => {
  const { api, page, pageOf, group, monitor, change } = await createPagePublisher();
  const [a, b, c] = [(await monitor()).id, (await monitor()).id, (await monitor()).id];
  const groupId = (await group({ monitorIds: [a] })).id;
  const grouped = { groupId, monitors: [{ id: a, name: "Bank" }] };
  const { id } = await page({ sections: [free(b), grouped, free(c)] });
  const readShown = async () =>
    (await pageOf(id)).sections.map(({ monitors }: { monitors: { id: string }[] }) =>
      monitors.map(({ id }) => id),
    );
  expect(await readShown()).toEqual([[b], [a], [c]]);
  await api("DELETE", `/api/v1/monitor-groups/${groupId}`);
  expect(await readShown()).toEqual([[b], [c]]);
  await api("DELETE", `/api/v1/monitors/${b}`);
  expect(await readShown()).toEqual([[], [c]]);
  const { status } = await change(id, { sections: [...(await pageOf(id)).sections, free(a)] });
  expect([status, await readShown()]).toEqual([200, [[], [c], [a]]]);
});

test("another organization's monitor or group is rejected like an unknown one, and nothing is written", async () => {
  const appliance = await createPagePublisher();
  const { api, page, change, theirs } = appliance;
  const createForeign = async (noun: string, body: object) =>
    (await theirs.api("POST", `/api/v1/${noun}`, { body })).json.data.id as string;
  const monitor = await createForeign("monitors", { type: "push", name: "Job" });
  const group = await createForeign("monitor-groups", { name: "Theirs" });
  const { id } = await page();
  const before = dumpTables(appliance);
  const describe = async (sections: object[]) => {
    const body = { slug: "other", title: "Other", sections };
    const responses = [await api("POST", path, { body }), await change(id, { sections })];
    return responses.map(({ status, json }) => [status, json.error.message, json.error.details]);
  };
  const unknown = [await describe([free(unknownId)]), await describe([{ groupId: unknownId }])];
  expect([await describe([free(monitor)]), await describe([{ groupId: group }])]).toEqual(unknown);
  for (const [status] of unknown.flat()) expect(status).toBe(404);
  expect(dumpTables(appliance)).toBe(before);
});

test("the public side finds pages of all organizations by slug and by host, unless they are hidden", async () => {
  const { page, change, store, ours, monitor } = await createPagePublisher();
  const sections = [free((await monitor()).id)];
  const { id } = await page({ sections, hosts: ["a.example"] });
  const findBoth = () =>
    Promise.all([findHead(store, "payments"), findHeadByHost(store, "a.example")]);
  const [bySlug, byHost] = await findBoth();
  expect(bySlug).toMatchObject({ organizationId: ours.id, id });
  expect(byHost).toMatchObject({ organizationId: ours.id, id });
  expect(await findHeadByHost(store, "b.example")).toBe(null);
  await change(id, { visibility: "hidden" });
  expect(await findBoth()).toEqual([null, null]);
});
