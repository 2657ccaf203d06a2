import { describe, expect, test } from "bun:test";
import { unknownId } from "../support/appliance.ts";
import { createDashboard } from "../support/dashboard.ts";
import { createPager } from "../support/pager.ts";
import { ann, bob, createPublisher } from "../support/publisher.ts";
import { createSampleRecord } from "../support/records.ts";
import { signInMember } from "../support/people.ts";

async function setUp() {
  const dashboard = await createDashboard();
  const person = await signInMember(dashboard, "member");
  const { page } = person;
  const open = (fields: object = {}) => createSampleRecord(dashboard.api, "incidents", fields);
  const [{ id: pageId }] = (await dashboard.api("GET", "/api/v1/status-pages")).json.data;
  return {
    ...dashboard,
    ...person,
    open,
    pageId,
    preview: async (body: object) => {
      const { status, json } = await page("POST", "/dashboard/incident-preview", { body });
      expect(status).toBe(200);
      return json.data.html as string | null;
    },
    audience: async (query: string) =>
      (await page("GET", `/dashboard/incident-audience?${query}`)).json.data,
    traces: async (id: string) =>
      (await page("GET", `/dashboard/incidents/${id}/traces`)).json.data,
  };
}

describe("the public preview", () => {
  test("is the default page with the new incident, and nothing is stored", async () => {
    const { preview, api } = await setUp();
    const html = await preview({
      title: "Slow <b>search</b>",
      severity: "major",
      message: "We look.",
    });
    expect(html).toContain("Slow &lt;b&gt;search&lt;/b&gt;");
    expect(html).toContain("We look.");
    expect(html).toContain("Some systems are affected");
    expect(html).not.toContain("<script");
    expect((await api("GET", "/api/v1/incidents")).json.meta.total).toBe(0);
  });

  test("is the timeline with the update on top; of a resolution the page of the incident", async () => {
    const { preview, open } = await setUp();
    const incidentId = await open({ title: "Slow search", message: "First." });
    const identified = await preview({ incidentId, status: "identified", message: "Found it." });
    expect(identified?.indexOf("Found it.")).toBeLessThan(identified?.indexOf("First.") ?? 0);
    const resolved = await preview({ incidentId, status: "resolved" });
    expect(resolved).toContain("← Current status");
    expect(resolved).toContain("Incident resolved.");
    expect(await preview({ incidentId, title: "Slower search" })).toContain("Slower search");
  });

  test("is empty if the page would not show it: private, hidden, or of another monitor", async () => {
    const { preview, open, api, pageId } = await setUp();
    const incidentId = await open({ title: "Slow search" });
    expect(await preview({ incidentId, public: false })).toBeNull();
    await api("PATCH", `/api/v1/status-pages/${pageId}`, { body: { visibility: "hidden" } });
    expect(await preview({ incidentId })).toBeNull();
  });

  test("names a monitor as the page does, and as another page does", async () => {
    const { preview, monitor, api, pageId } = await setUp();
    const { id } = await monitor({ name: "srv-7" });
    const sections = [{ name: "Shop", groupId: null, monitors: [{ id, name: "Web shop" }] }];
    await api("PATCH", `/api/v1/status-pages/${pageId}`, { body: { sections } });
    const html = await preview({ title: "Slow", monitorIds: [id] });
    expect(html).toContain("Web shop");
    expect(html).not.toContain("srv-7");
    const publicSections = [{ name: "API", groupId: null, monitors: [{ id, name: "Orders" }] }];
    const partners = { slug: "partners", title: "Partners", sections: publicSections };
    const created = await api("POST", "/api/v1/status-pages", { body: partners });
    const statusPageId = created.json.data.id;
    const other = await preview({ title: "Slow", monitorIds: [id], statusPageId });
    expect([other?.includes("Orders"), other?.includes("Web shop")]).toEqual([true, false]);
  });

  test("is in each language that the page offers, with its translation or else the original", async () => {
    const { preview, api, pageId, audience } = await setUp();
    await api("PATCH", `/api/v1/status-pages/${pageId}`, { body: { languages: ["de", "fr"] } });
    const draft = { message: "We look.", translations: { de: { message: "Wir sehen nach." } } };
    const read = async (language: string) => {
      const html = (await preview({ ...draft, title: "Slow", language })) ?? "";
      return ["We look.", "Wir sehen nach.", "Wird untersucht"].filter((text) =>
        html.includes(text),
      );
    };
    expect(await read("en")).toEqual(["We look."]);
    expect(await read("de")).toEqual(["Wir sehen nach.", "Wird untersucht"]);
    expect(await read("fr")).toEqual(["We look."]);
    // A language that the page does not offer.
    expect(await read("ja")).toEqual(["We look."]);
    expect((await audience("")).pages).toMatchObject([{ languages: ["en", "de", "fr"] }]);
  });

  test("has its accent as data, because a frame of the admin page allows no style attributes", async () => {
    const { page, api, pageId } = await setUp();
    await api("PATCH", `/api/v1/status-pages/${pageId}`, { body: { accentColor: "#aa3355" } });
    const { json } = await page("POST", "/dashboard/incident-preview", { body: { title: "Slow" } });
    const { html, style } = json.data;
    expect(style["--accent"]).toStartWith("light-dark(#aa3355");
    expect(html).not.toContain("style=");
  });

  test("of an unknown incident is not found, of a blank title invalid", async () => {
    const { page } = await setUp();
    const request = async (body: object) =>
      (await page("POST", "/dashboard/incident-preview", { body })).status;
    expect(await request({ incidentId: unknownId })).toBe(404);
    expect(await request({ statusPageId: unknownId })).toBe(404);
    expect(await request({ title: " " })).toBe(422);
    expect(await request({ color: "red" })).toBe(422);
  });
});

describe("recipients of an incident", () => {
  test("are channels with incidents enabled; for the resolution those that were notified", async () => {
    const { audience, channel, open } = await setUp();
    const { id, name } = await channel({ name: "On-call" });
    await channel({ name: "Off", enabled: false });
    await channel({ name: "Monitors only", incidents: false });
    expect((await audience("")).updates).toEqual([{ id, name, type: "email" }]);
    const incidentId = await open();
    const known = await audience(`incidentId=${incidentId}`);
    expect([known.updates.length, known.resolution]).toEqual([1, []]);
  });

  test("are subscribers of the pages that show it", async () => {
    const { audience, monitor, api, pageId } = await setUp();
    const shop = await monitor({ name: "Shop" });
    const other = await monitor({ name: "Other" });
    const sections = [{ name: "Shop", groupId: null, monitors: [{ id: shop.id, name: null }] }];
    const second = await createSampleRecord(api, "status-pages", { title: "Shops", sections });
    const body = { type: "webhook", url: "https://hooks.team.example/status" };
    await api("POST", `/api/v1/status-pages/${second}/subscribers`, { body });
    const readPages = async (query: string) =>
      (await audience(query)).pages.map(
        ({ id, subscribers }: { id: string; subscribers: number }) => [id, subscribers],
      );
    const pages = [
      [pageId, 0],
      [second, 1],
    ];
    expect(await readPages("")).toEqual(pages);
    expect(await readPages(`monitorIds=${shop.id}`)).toEqual(pages);
    expect(await readPages(`monitorIds=${other.id}`)).toEqual([[pageId, 0]]);
  });
});

describe("the traces of an incident", () => {
  test("name who posted each update, corrections aside", async () => {
    const { traces, open, page, id: personId, name } = await setUp();
    const id = await open();
    const patch = (body: object) => page("PATCH", `/dashboard/api/v1/incidents/${id}`, { body });
    await patch({ title: "Corrected" });
    await patch({ status: "identified", message: "Found it." });
    const { updates } = (await patch({ severity: "major", status: "resolved" })).json.data;
    const { authors, told } = await traces(id);
    expect(authors.map(({ updateId }: { updateId: string }) => updateId)).toEqual(
      updates.map((update: { id: string }) => update.id),
    );
    expect(authors.map(({ type, id }: { type: string; id: string }) => [type, id])).toEqual([
      ["api-key", authors[0].id],
      ["person", personId],
      ["person", personId],
    ]);
    expect(authors[1].name).toBe(name);
    expect(told).toEqual([]);
  });

  test("contain the states of its monitors, the changes, and the notified channels", async () => {
    const pager = await createPager();
    const hook = await pager.inbox({ name: "On-call" });
    const shop = await pager.createWatchedJob([], { name: "Shop", retries: 0 });
    const { page, name } = await signInMember(pager, "member");
    await shop.changeState("down");
    const id = await createSampleRecord(pager.api, "incidents", { monitorIds: [shop.id] });
    await pager.deliverTwiceAfter(60);
    await shop.changeState("up");
    pager.time.now += 1_000;
    const change = (body: object) => page("PATCH", `/dashboard/api/v1/incidents/${id}`, { body });
    await change({ severity: "critical", title: "Shop is gone" });
    await change({ status: "resolved" });
    pager.time.now += 1_000;
    await shop.changeState("down");
    const { json } = await page("GET", `/dashboard/incidents/${id}/traces`);
    const { states, changes, receipts } = json.data;
    expect(hook.asked.length).toBeGreaterThan(0);
    expect(states).toMatchObject([
      { name: "Shop", status: "down", troubleSeconds: null },
      { name: "Shop", status: "up", troubleSeconds: 70.001 },
    ]);
    expect(changes).toMatchObject([{ name, action: "incident.updated" }]);
    expect(changes[0].fields.toSorted()).toEqual(["severity", "title"]);
    const { updates } = (await pager.api("GET", `/api/v1/incidents/${id}`)).json.data;
    expect(receipts).toEqual([
      {
        updateId: updates[0].id,
        receivers: [{ name: "On-call", count: 1, state: "delivered", reason: null }],
      },
    ]);
  });
});

test("the receipt of a maintenance window names who was notified, and why others were not", async () => {
  await using publisher = await createPublisher();
  const { mailbox, refusals, planWindow, send, theirs } = publisher;
  const { page } = await signInMember(publisher, "viewer");
  await mailbox(ann);
  await mailbox(bob);
  refusals.set(bob, 550);
  const silent = await planWindow({ public: false });
  const { id } = await planWindow();
  await send();
  const read = (id: string) => page("GET", `/dashboard/maintenance-windows/${id}/receipt`);
  const receivers: object[] = (await read(id)).json.data.receivers;
  expect(receivers).toHaveLength(2);
  expect(receivers).toContainEqual({ name: null, count: 1, state: "delivered", reason: null });
  expect(receivers).toContainEqual({
    name: null,
    count: 1,
    state: "failed",
    reason: "The mail server rejected every recipient.",
  });
  expect((await read(silent.id)).json.data).toEqual({ receivers: [] });
  expect((await read(unknownId)).status).toBe(404);
  const other = await signInMember({ ...publisher, ours: theirs } as typeof publisher, "viewer");
  expect((await other.page("GET", `/dashboard/maintenance-windows/${id}/receipt`)).status).toBe(
    404,
  );
});
