import { expect, test } from "bun:test";
import { dumpTables, unknownId } from "../support/appliance.ts";
import { createDashboard } from "../support/dashboard.ts";
import { pixel } from "../support/images.ts";
import { signInMember } from "../support/people.ts";

/** The editor of our default page, and its preview next to the form. */
async function openEditor() {
  const dashboard = await createDashboard();
  const { page } = await signInMember(dashboard, "member");
  const [{ id }] = (await dashboard.api("GET", "/api/v1/status-pages")).json.data;
  const path = `/dashboard/status-pages/${id}/preview`;
  return {
    ...dashboard,
    id,
    path,
    preview: (body: object) => page("POST", path, { body }),
  };
}

test("a preview shows unsaved changes with the page's own text and markup, and stores nothing", async () => {
  const world = await openEditor();
  const { id } = await world.monitor({ name: "router-7" });
  const group = await world.group({ name: "Payments", monitorIds: [(await world.monitor()).id] });
  const before = dumpTables(world);
  const { status, json } = await world.preview({
    title: "Acme <status>",
    description: "All of it.",
    theme: "dark",
    sections: [
      { name: "Network", monitors: [{ id, name: "Internet" }] },
      { name: null, groupId: group.id },
    ],
  });
  expect(status).toBe(200);
  const { html } = json.data;
  expect(html).toStartWith("<!doctype html>");
  for (const part of ["Acme &lt;status&gt;", "All of it.", 'data-theme="dark"', "Internet"])
    expect(html).toContain(part);
  for (const part of ["Network", "Payments", "Router"]) expect(html).toContain(part);
  expect(html).not.toContain("router-7");
  expect(dumpTables(world)).toBe(before);
});

test("a preview has no script and no style of its own, and its links open a new tab", async () => {
  const { preview } = await openEditor();
  const { html, style } = (await preview({ accentColor: "#2563eb" })).json.data;
  expect(html).not.toContain("<script");
  expect(html).not.toContain("style=");
  expect(html).toContain('<base target="_blank"/>');
  expect(html).toMatch(/"\/assets\/public\/status[\w-]*\.css"/);
  expect(style["--accent"]).toStartWith("light-dark(#");
  expect((await preview({ accentColor: null })).json.data.style).toEqual({});
});

test("a page that is not public yet has a preview, including its logo", async () => {
  const { api, id, preview } = await openEditor();
  await api("PUT", `/api/v1/status-pages/${id}/logo`, {
    raw: pixel.png,
    headers: { "Content-Type": "image/png" },
  });
  for (const visibility of ["hidden", "password"]) {
    const { status, json } = await preview({ visibility });
    expect([visibility, status]).toEqual([visibility, 200]);
    expect(json.data.html).toContain('src="data:image/png;base64,');
  }
});

test("invalid values are reported by field, and another organization's records are not shown", async () => {
  const world = await openEditor();
  const { preview, path, theirs } = world;
  const invalid = await preview({ title: "", historyDays: 0 });
  expect(invalid.status).toBe(422);
  expect(invalid.json.error.details.map((detail: { path: string }) => detail.path)).toEqual([
    "title",
    "historyDays",
  ]);
  const body = { type: "ping", name: "Their router", host: "10.0.0.1" };
  const { id } = (await theirs.api("POST", "/api/v1/monitors", { body })).json.data;
  const { html } = (await preview({ sections: [{ name: "All", monitors: [{ id }] }] })).json.data;
  expect(html).not.toContain("Their router");
  const { page } = await signInMember(world, "viewer");
  expect((await page("POST", path, { body: {} })).status).toBe(403);
  const other = await signInMember(world, "member");
  const unknown = path.replace(/[^/]+(?=\/preview)/, unknownId);
  expect((await other.page("POST", unknown, { body: {} })).status).toBe(404);
});
