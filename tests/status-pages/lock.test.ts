import { expect, test } from "bun:test";
import {
  buildSection,
  describeShape,
  type Visitor,
  createVisitor,
  readWords,
} from "../support/visitor.ts";

const password = "correct horse battery";

/** A page with a password, one monitor and an incident. */
async function setUpLocked() {
  const visitor = await createVisitor();
  const { id } = await visitor.monitor({ name: "Secret shop" });
  const page = await visitor.createPage({
    slug: "locked",
    title: "Locked & <b>",
    visibility: "password",
    password,
    sections: [buildSection("All", id)],
    showLatency: true,
    showPaused: true,
  });
  const incident = await visitor.createIncident({ title: "Secret trouble" });
  const parts = ["", "/", ".json", "/feed.rss", "/feed.atom", "/logo", "/history"];
  const paths = [...parts, `/incidents/${incident.id}`, "/api/v2/summary.json"].map(
    (part) => `/status/locked${part}`,
  );
  return { ...visitor, monitorId: id, pageId: page.id, paths };
}

async function enter({ get }: Pick<Visitor, "get">, text: string) {
  const response = await get("/status/locked", { method: "POST", form: { password: text } });
  const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
  return { ...response, cookie, location: response.headers.get("location") };
}

test("a page with a password shows strangers its title and nothing else, at any path", async () => {
  await using world = await setUpLocked();
  const { get, paths, monitorId } = world;
  for (const path of paths) {
    const { status, text, headers } = await get(path);
    expect([path, status, headers.get("cache-control")]).toEqual([path, 403, "no-store"]);
    expect(readWords(text, ".name b")).toEqual(["Locked & <b>"]);
    expect(readWords(text, "h1")).toEqual(["Enter the password"]);
    expect(describeShape(text)).toContain("input id name type autocomplete required autofocus");
    expect(text).not.toContain("Secret");
    expect(text).not.toContain(monitorId);
  }
  for (const kind of ["status", "uptime", "latency"])
    expect((await get(`/badge/monitor/${monitorId}/${kind}.svg`)).status).toBe(404);
});

test("visitors with the password read the whole page for 30 days, and later users of the browser do not", async () => {
  await using world = await setUpLocked();
  const { get, paths, time } = world;
  const { status, location, cookie, headers } = await enter(world, password);
  expect([status, location]).toEqual([303, "/status/locked"]);
  expect(headers.get("set-cookie")).toMatch(/; HttpOnly; SameSite=Lax$/);
  const read = (path: string) => get(path, { headers: { Cookie: cookie } });
  const canRead = async (path: string) => (await read(path)).status;
  for (const path of paths.filter((path) => !path.endsWith("/logo"))) {
    const { status, headers } = await read(path);
    // No shared cache can store it for others.
    const stored = headers.get("cache-control");
    expect([path, status, stored]).toEqual([path, 200, "private, no-cache"]);
  }
  for (const path of paths) expect((await get(path)).status).toBe(403);
  time.now += 30 * 86_400_000 - 1;
  expect(await canRead("/status/locked")).toBe(200);
  time.now += 1;
  expect(await canRead("/status/locked")).toBe(403);
});

test("the password leads to the address that the visitor opened, with its past time and language", async () => {
  await using world = await setUpLocked();
  await world.changePage(world.pageId, { languages: ["de"] });
  const read = async (address: string) => (await world.get(address)).text;
  const pathOf = (html: string) => /name="path" value="([^"]*)"/.exec(html)?.[1] ?? "";
  const past = "/status/locked?at=2026-11-20T15:05%2B01:00&lang=de";
  const redirectPath = pathOf(await read(past)).replaceAll("&amp;", "&");
  expect(redirectPath).toBe(past);
  const post = async (form: Record<string, string>) =>
    world.get("/status/locked?lang=de", { method: "POST", form });
  const wrong = await post({ path: redirectPath, password: "guess" });
  expect(pathOf(wrong.text).replaceAll("&amp;", "&")).toBe(past);
  const { status, headers } = await post({ path: redirectPath, password });
  expect([status, headers.get("location")]).toEqual([303, past]);
  expect(pathOf(await read("/status/locked/history?month=2026-10&x=1"))).toBe(
    "/status/locked/history?month=2026-10",
  );
  for (const path of ["//evil.example", "/status/locked?at=//e", "/status/other?at=1"])
    expect((await post({ path, password })).headers.get("location")).toBe("/status/locked?lang=de");
});

test("a new password locks the page for visitors with the old one", async () => {
  await using world = await setUpLocked();
  const { get, changePage, pageId } = world;
  const { cookie } = await enter(world, password);
  const canRead = async () => (await get("/status/locked", { headers: { Cookie: cookie } })).status;
  expect(await canRead()).toBe(200);
  await changePage(pageId, { password: "another one" });
  expect(await canRead()).toBe(403);
});

test("a wrong password, a made-up cookie and another page's cookie are rejected", async () => {
  await using world = await setUpLocked();
  const { get, createPage, pageId } = world;
  const other = await createPage({ slug: "other", visibility: "password", password });
  for (const text of ["", "Correct horse battery", `${password} `, "x".repeat(5_000)]) {
    const { status, cookie } = await enter(world, text);
    expect([status, cookie]).toEqual([403, ""]);
  }
  const { cookie } = await enter(world, password);
  const value = cookie.slice(cookie.indexOf("=") + 1);
  for (const forged of [
    `signalbox_page_${other.id}=${value}`,
    `signalbox_page_${pageId}=`,
    `signalbox_page_${pageId}=9999999999999`,
    `signalbox_page_${pageId}=${value.slice(0, -2)}AA`,
  ])
    for (const slug of ["locked", "other"])
      if (forged !== cookie)
        expect((await get(`/status/${slug}`, { headers: { Cookie: forged } })).status).toBe(403);
});

test("wrong passwords are limited per address, and the response has the wait", async () => {
  await using world = await setUpLocked();
  const responses: number[] = [];
  for (let guess = 0; guess < 12; guess++) responses.push((await enter(world, "guess")).status);
  expect(responses.slice(0, 10)).toEqual(Array(10).fill(403));
  expect(responses.slice(10)).toEqual([429, 429]);
  const { status, headers } = await enter(world, password);
  expect([status, Number(headers.get("retry-after")) > 0]).toEqual([429, true]);
  world.time.now += 60_000;
  expect((await enter(world, password)).status).toBe(303);
});
