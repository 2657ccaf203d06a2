/** The editor of status pages, with its preview. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { createAdminWorld, owner, selectPageFaults } from "../support/admin-world.ts";
import { describeInChromium, findViolations, visitPage } from "../support/browser.ts";
import { pixel } from "../support/images.ts";
import { pollUntil } from "../support/status-client.ts";

describeInChromium("the editor of a status page", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  let id = "";

  beforeAll(async () => {
    world = await createAdminWorld();
    id = (await world.ask("GET", path))[0].id;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const path = "/api/v1/status-pages";
  const open = async (location: string) => {
    const opened = await world.open(browser, location, { viewport: { width: 1440, height: 900 } });
    return opened;
  };
  const readStored = () => world.ask("GET", `${path}/${id}`);
  const previewOf = (page: Page) => page.frameLocator("iframe");
  /** Opens a folded section of the form. */
  const unfold = (page: Page, name: string) =>
    page.getByRole("button", { name: new RegExp(`^${name}`), expanded: false }).click();
  const save = async (page: Page) => {
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
  };
  const discard = async (page: Page) => {
    await page.getByRole("button", { name: "Discard" }).click();
    const request = page.getByRole("dialog", { name: "Discard what you typed?" });
    await request.getByRole("button", { name: "Discard" }).click();
    await request.waitFor({ state: "detached" });
  };

  test("changes appear in the preview at once, and on the page only when they are saved", async () => {
    const address = `${world.url}/status/acme-gmbh`;
    await using opened = await open(`/status-pages/${id}`);
    const { page } = opened;
    const preview = previewOf(page);
    await preview.locator("main").waitFor();
    await page.getByLabel("Title").fill("Acme, all of it");
    await page.getByRole("button", { name: "Add group" }).click();
    await page.getByRole("menuitem", { name: "Production" }).click();
    await page.getByRole("button", { name: /monitors of Production/ }).click();
    const publicName = page.getByLabel("Public name of Checkout");
    await publicName.fill("Paying");
    // The field does not shrink to fit the monitor's own name.
    expect((await publicName.boundingBox())?.width).toBeGreaterThan(150);
    await unfold(page, "Appearance");
    await page.getByLabel("Accent color").fill("#b45309");
    await page.getByText("Dark", { exact: true }).click();
    await preview.getByText("Acme, all of it").waitFor();
    await preview.getByText("Paying").waitFor();
    await preview.locator("html[data-theme=dark]").waitFor();
    const accent = await preview.locator("html").evaluate((root) => root.style.cssText);
    expect(accent).toContain("--accent");
    expect(await (await fetch(address)).text()).not.toContain("Acme, all of it");
    // At this size, a toast at its usual position would cover Save. A click would scroll.
    await page.setViewportSize({ width: 1_200, height: 750 });
    await page.evaluate(() => {
      scrollTo(0, 0);
      document.querySelector<HTMLElement>("form [type=submit]")?.click();
    });
    const rects = await page.waitForFunction(() => {
      const toast = document.querySelector(".toast")?.getBoundingClientRect();
      const button = document.querySelector("form [type=submit]")?.getBoundingClientRect();
      return toast && button && { toast: toast.bottom, button: button.top };
    });
    const { toast, button } = (await rects.jsonValue()) as { toast: number; button: number };
    expect([button > 650, toast <= button]).toEqual([true, true]);
    const text = await pollUntil(address, (text) => text.includes("Acme, all of it"));
    expect(text).toContain("Paying");
    expect(selectPageFaults(opened.faults)).toEqual([]);
  });

  test("sections are moved by keyboard, and a list gets monitors under public names", async () => {
    await using opened = await open(`/status-pages/${id}`);
    const { page } = opened;
    await page.getByRole("button", { name: "Add list" }).click();
    await page.getByLabel("Name of the section").fill("Network");
    await page.getByRole("combobox", { name: "Add a monitor to Network" }).click();
    await page.getByRole("option", { name: "Router" }).click();
    await page.getByRole("combobox", { name: "Add a monitor to Network" }).click();
    await page.getByRole("option", { name: "NAS" }).click();
    await page.getByRole("button", { name: "Move NAS", exact: true }).press("ArrowUp");
    await page.getByRole("button", { name: "Move Network", exact: true }).press("ArrowUp");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe(
      "Move Network",
    );
    await save(page);
    const { sections } = await readStored();
    expect(sections.map(({ name }: { name: string | null }) => name)).toEqual(["Network", null]);
    const [router, nas] = [world.idOf("Router"), world.idOf("NAS")];
    expect(sections[0].monitors.map((one: { id: string }) => one.id)).toEqual([nas, router]);
  });

  test("sections are moved by dragging", async () => {
    await using opened = await open(`/status-pages/${id}`);
    const { page } = opened;
    const sections = page.locator(".section");
    await page
      .getByRole("button", { name: "Move Production", exact: true })
      .dragTo(sections.first());
    await page.getByText("Preview, not saved yet").waitFor();
    await save(page);
    const names = (await readStored()).sections.map((one: { name: string | null }) => one.name);
    expect(names).toEqual([null, "Network"]);
  });

  test("values that the API rejects are marked at their field, and a missing password too", async () => {
    await using opened = await open(`/status-pages/${id}`);
    const { page } = opened;
    await page.getByLabel("Address").fill("Not a slug");
    await page.getByText(/^Preview not updated: slug must/).waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(/^Must have 1 to 63 of a-z/).waitFor();
    expect(await page.getByLabel("Address").getAttribute("aria-invalid")).toBe("true");
    await discard(page);
    expect(await page.getByLabel("Address").inputValue()).toBe("acme-gmbh");
    await unfold(page, "Access");
    await page.getByRole("combobox", { name: "Visibility" }).click();
    await page.getByRole("option", { name: "With a password" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Is required while visibility is password.").waitFor();
  });

  test("another person's change leads to a choice; unsaved values survive leaving the page and a reload", async () => {
    await using opened = await open(`/status-pages/${id}`);
    const { page } = opened;
    await page.getByLabel("Description").fill("Mine");
    await world.ask("PATCH", `${path}/${id}`, { description: "Theirs" });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Load theirs" }).click();
    await page.getByText("Theirs").first().waitFor();
    expect(await page.getByLabel("Description").inputValue()).toBe("Theirs");
    await page.getByLabel("Description").fill("Mine again");
    await page.getByRole("link", { name: "Alert channels" }).click();
    await page.getByText("What you typed is kept").waitFor();
    await page.goBack();
    await page.getByText("What you typed earlier is back.").waitFor();
    await page.reload();
    await page.getByText("What you typed earlier is back.").waitFor();
    expect(await page.getByLabel("Description").inputValue()).toBe("Mine again");
    await previewOf(page).getByText("Mine again").waitFor();
    await discard(page);
    expect(await page.getByLabel("Description").inputValue()).toBe("Theirs");
  });

  test("an invalid logo is rejected at its field; a valid one is on the page and in the preview", async () => {
    await using opened = await open(`/status-pages/${id}`);
    const { page } = opened;
    await unfold(page, "Appearance");
    const file = page.getByRole("group", { name: "Logo", exact: true }).locator("input[type=file]");
    const emptySvg = "<svg/>";
    const type = "image/svg+xml";
    await file.setInputFiles({ name: "a.svg", mimeType: type, buffer: Buffer.from(emptySvg) });
    await page.getByText(/^The file must/).waitFor();
    const good = { name: "a.png", mimeType: "image/png", buffer: Buffer.from(pixel.png) };
    await file.setInputFiles(good);
    await page.getByAltText("Current logo").waitFor();
    await previewOf(page).locator(".name img").waitFor();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByText("Logo removed").waitFor();
    expect((await readStored()).logoUrl).toBeNull();
    expect(selectPageFaults(opened.faults)).toEqual([]);
  });

  test("a section for signed-in people appears only to them, without a flash, after they sign in on the page", async () => {
    const address = `${world.url}/status/acme-gmbh`;
    const secret = "Only for colleagues";
    await world.ask("PATCH", `${path}/${id}`, {
      slug: "acme-gmbh",
      sections: [
        { groupId: world.office.id },
        { name: secret, monitors: [{ id: world.idOf("Blog") }] },
      ],
    });
    await using opened = await open(`/status-pages/${id}`);
    const { page } = opened;
    const preview = previewOf(page);
    await preview.getByText(secret).waitFor();
    await page.getByRole("button", { name: `1 monitor of ${secret}` }).click();
    await page.getByRole("checkbox", { name: `Show ${secret} only to signed-in people` }).check();
    await preview.getByText(secret).waitFor({ state: "detached" });
    await page.getByText("Signed in", { exact: true }).click();
    await preview.getByText(secret).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await save(page);

    await using visit = await visitPage(browser, `${address}/subscribe`);
    const seen: string[] = [];
    visit.page.on("response", async (response) => {
      seen.push(await response.text().catch(() => ""));
    });
    await visit.page.goto(address);
    await visit.page.getByText("Office").waitFor();
    await world.ask("PATCH", `${path}/${id}`, { visibility: "signed-in" });
    await visit.page.goto(`${address}/history`);
    await visit.page.getByText("Sign in to see this page").waitFor();
    expect(await findViolations(visit.page)).toEqual([]);
    await visit.page.getByRole("link", { name: "Sign in" }).click();
    await visit.page.getByLabel("E-mail").fill(owner.email);
    await visit.page.getByLabel("Password", { exact: true }).fill(owner.password);
    expect(seen.filter((text) => text.includes(secret))).toEqual([]);
    await visit.page.getByRole("button", { name: "Sign in" }).click();
    await visit.page.waitForURL(`${address}/history`);
    await visit.page.goto(address);
    await visit.page.getByText(secret).waitFor();
    expect(selectPageFaults([...opened.faults, ...visit.faults])).toEqual([]);
  });
});
