/** An admin page with a record of each kind and four problems, and the list of its pages. */
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { adminPaths } from "../../src/http/responses/admin-page.ts";
import { createAdminWorld } from "./admin-world.ts";
import { replyWith } from "./target.ts";
import { pollUntil } from "./poll.ts";

export const troubled = ["Checkout", "Web shop", "Router", "Blog"];

/** Pages without a session. */
const entrances = ["/sign-in", "/set-up", "/invitation"];

export async function createLayoutWorld() {
  const world = await createAdminWorld();
  const { site, idOf } = world;
  const create = (path: string, body?: object) => world.ask("POST", `/api/v1${path}`, body);
  const ids: Record<string, string> = {};
  ids["monitors"] = idOf("Checkout");
  for (const name of ["Images", "Sitemap"])
    await create("/monitors", {
      type: "http",
      name,
      url: site.at("/fine"),
      groupId: world.production.id,
    });
  const channels = [];
  for (const [name, path] of [
    ["On-call", "/hook"],
    ["Bereitschaft im Leitstand Süd", "/broken"],
  ])
    channels.push(
      (await create("/alert-channels", { type: "webhook", name, url: site.at(path) })).id,
    );
  ids["alert-channels"] = channels[0];
  site.setReply(replyWith(500), "/broken");
  for (const name of troubled) {
    const path = `/monitors/${idOf(name)}`;
    await world.ask("PATCH", `/api/v1${path}`, { alertChannelIds: channels, tags: ["eu"] });
    site.setReply(replyWith(502), `/${name.toLowerCase().replaceAll(" ", "-")}`);
    await create(`${path}/check`);
  }
  const from = new Date(Date.now() + 3_600_000).toISOString();
  const until = new Date(Date.now() + 7_200_000).toISOString();
  ids["maintenance"] = (
    await create("/maintenance-windows", { title: "Upgrade", startsAt: from, endsAt: until })
  ).id;
  ids["incidents"] = (
    await create("/incidents", {
      title: "Card payments are slow for some customers in Germany and Austria",
      message: "We are looking.",
      severity: "major",
      monitorIds: [idOf("Checkout")],
    })
  ).id;
  const past = await create("/incidents", { title: "Search found nothing", message: "Looking." });
  await create(`/incidents/${past.id}/resolve`);
  const listAlerts = () => world.ask("GET", "/api/v1/alerts");
  ids["alerts"] = (await pollUntil(listAlerts, (alerts) => alerts.length > 0))[0].id;
  ids["on-call"] = (await create("/schedules", { name: "Platform" })).id;
  const source = { name: "Prometheus", type: "alertmanager", alertChannelIds: channels };
  ids["alert-sources"] = (await create("/alert-sources", source)).id;
  ids["status-pages"] = (await world.ask("GET", "/api/v1/status-pages"))[0].id;
  const sections = [{ name: null, groupId: world.production.id, monitors: [] }];
  await world.ask("PATCH", `/api/v1/status-pages/${ids["status-pages"]}`, { sections });
  return { ...world, listPages: (page: Page) => listPages(page, ids) };
}

/** All pages behind the sign-in, with a record each, and all sections of the settings. */
async function listPages(page: Page, ids: Record<string, string>) {
  const sections = await page
    .locator("main a[href^='/settings/']")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
  expect(sections.length).toBeGreaterThan(10);
  const paths = adminPaths
    .filter((path) => !entrances.includes(path) && !path.includes(":section"))
    .map((path) => path.replace(":id", ids[/([^/]+)\/:id/.exec(path)?.[1] ?? ""] ?? "missing"));
  expect(paths.filter((path) => path.includes("missing"))).toEqual([]);
  const statusPage = `/status-pages/${ids["status-pages"]}`;
  const tabs = [`${statusPage}?tab=subscribers`, `${statusPage}?tab=addresses`];
  return [...paths, ...tabs, "/maintenance?view=calendar", ...sections];
}

/** Waits until the page has had the same number of elements for 20 frames. Its stream never ends. */
export const waitUntilLoaded = (page: Page) =>
  page.evaluate(async () => {
    let [count, since] = [0, 0];
    while (since < 20) {
      await new Promise(requestAnimationFrame);
      const next = document.querySelectorAll("*").length;
      since = next === count ? since + 1 : 0;
      count = next;
    }
  });
