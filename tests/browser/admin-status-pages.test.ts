/** Status pages on the admin page: list, addresses, subscribers. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { findLookFlaws, defineLookTests } from "../support/admin-looks.ts";
import { createAdminWorld, selectPageFaults, visitAs } from "../support/admin-world.ts";
import { describeInChromium } from "../support/browser.ts";

describeInChromium("status pages on the admin page", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  let id = "";

  beforeAll(async () => {
    world = await createAdminWorld();
    id = (await world.ask("GET", path))[0].id;
    const checkout = { id: world.idOf("Checkout"), name: "Paying" };
    await world.ask("PATCH", `${path}/${id}`, {
      title: "Acme, all of it",
      sections: [{ groupId: world.production.id, monitors: [checkout] }],
    });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const path = "/api/v1/status-pages";
  const open = async (location: string) => {
    const opened = await world.open(browser, location, { viewport: { width: 1440, height: 900 } });
    return opened;
  };
  const previewOf = (page: Page) => page.frameLocator("iframe");

  test("subscribers are added, found, exported and deleted", async () => {
    await using opened = await open(`/status-pages/${id}?tab=subscribers`);
    const { page } = opened;
    await page.getByText("No subscribers yet").waitFor();
    const add = page.getByRole("button", { name: "Add subscriber" });
    for (const email of ["ann@team.example", "bob@team.example"]) {
      await add.first().click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("E-mail address").fill(email);
      await dialog.getByRole("switch").click();
      await dialog.getByRole("button", { name: "Add subscriber" }).click();
      await dialog.waitFor({ state: "detached" });
      await page.getByText(email, { exact: true }).waitFor();
    }
    await page.getByLabel("Search addresses").fill("bob");
    await page.getByText("ann@team.example", { exact: true }).waitFor({ state: "detached" });
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export CSV" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("subscribers-acme-gmbh.csv");
    const csv = await Bun.file(await download.path()).text();
    expect(csv.split("\r\n").map((line) => line.split(",")[1])).toEqual([
      "address",
      "ann@team.example",
      "bob@team.example",
      undefined,
    ] as string[]);
    await page.getByRole("button", { name: "Actions for bob@team.example" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByText("No subscriber matches these filters.").waitFor();
    await page.getByRole("button", { name: /Undo/ }).click();
    await page.getByText("bob@team.example", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Subscribers 2" }).waitFor();
  });

  test("a badge is shown as text to copy", async () => {
    await using opened = await open(`/status-pages/${id}?tab=addresses`);
    const { page } = opened;
    const badge = page.getByAltText("Paying: status");
    await badge.waitFor();
    expect(await badge.evaluate((image) => (image as HTMLImageElement).naturalWidth)).not.toBe(0);
    await page.getByText(/^\[!\[Paying: status\]\(http/).waitFor();
  });

  test("a custom host name shows whether it works, and its requirements", async () => {
    const hosts = ["status.acme.example", "new.acme.example"];
    await world.ask("PATCH", `${path}/${id}`, { hosts });
    await using opened = await open(`/status-pages/${id}`);
    const { page } = opened;
    let works = false;
    // The tests do not depend on the machine's name servers.
    await page.route("**/host-check", async (route) => {
      const { host } = route.request().postDataJSON() as { host: string };
      const address = `https://${host}`;
      const isFirst = host === hosts[0];
      await route.fulfill({
        json: {
          data: {
            host,
            address,
            record: { type: "CNAME", value: "signalbox.acme.example" },
            works: isFirst || works,
            message:
              isFirst || works
                ? `${address} shows this page.`
                : "There is no DNS record for this name yet.",
            certificateExpiresAt: isFirst ? "2027-02-12T09:00:00.000Z" : null,
          },
        },
      });
    });
    await page.getByRole("link", { name: "Addresses and badges" }).click();
    const first = page.locator(".host-name", { hasText: "status.acme.example" });
    await first
      .getByText(/^https:\/\/status\.acme\.example shows this page\. The certificate/)
      .waitFor();
    const second = page.locator(".host-name", { hasText: "new.acme.example" });
    await second.getByText("There is no DNS record for this name yet.").waitFor();
    await second.getByText("new.acme.example. CNAME signalbox.acme.example").waitFor();
    expect(await findLookFlaws(page, "status-page-hosts")).toEqual([]);
    works = true;
    await second.getByRole("button", { name: "Check again" }).click();
    await second.getByText("https://new.acme.example shows this page.").waitFor();
    expect(await second.getByText("CNAME").count()).toBe(0);
    expect(selectPageFaults(opened.faults)).toEqual([]);
    await world.ask("PATCH", `${path}/${id}`, { hosts: [] });
  });

  test("another page starts hidden, and its deletion can be undone", async () => {
    await using opened = await open("/status-pages");
    const { page } = opened;
    await page.getByText("Acme, all of it").waitFor();
    await page.keyboard.press("n");
    await page.getByRole("dialog").getByLabel("Title").fill("Card payments");
    expect(await page.getByRole("dialog").getByLabel("Address").inputValue()).toBe("card-payments");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Card payments" }).waitFor();
    expect((await fetch(`${world.url}/status/card-payments`)).status).toBe(404);
    await previewOf(page).getByText("Office").waitFor();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Status pages" }).waitFor();
    expect(await page.getByRole("link", { name: /^Card payments/ }).count()).toBe(0);
    await page.getByRole("button", { name: /Undo/ }).click();
    await page.getByRole("link", { name: /^Card payments/ }).waitFor();
  });

  test("a viewer sees a page's content and subscribers, and no action", async () => {
    await using opened = await visitAs(browser, world, "viewer", `/status-pages/${id}`);
    const { page } = opened;
    await page.getByText("Paying").waitFor();
    for (const name of ["Save", "Create status page", "Add subscriber"])
      expect([name, await page.getByRole("button", { name }).count()]).toEqual([name, 0]);
    await page.getByRole("link", { name: /^Subscribers/ }).click();
    await page.getByText("ann@team.example").waitFor();
    expect(await page.getByRole("button", { name: /^Delete/ }).count()).toBe(0);
    expect(selectPageFaults(opened.faults)).toEqual([]);
  });

  defineLookTests((path) => open(path), {
    "status-pages": () => ["/status-pages"],
    "status-page": () => [`/status-pages/${id}`],
    "status-page-subscribers": () => [`/status-pages/${id}?tab=subscribers`, "Add subscriber"],
    "status-page-addresses": () => [`/status-pages/${id}?tab=addresses`],
  });
});
