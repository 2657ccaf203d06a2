/** Fields with a list: Enter selects an option, and never submits the form. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { createAdminWorld, findRow, moveTo, selectPageFaults } from "../support/admin-world.ts";
import { describeInChromium } from "../support/browser.ts";
import { replyWith } from "../support/target.ts";

/**
 * Dialogs of the command palette with every kind of such field. All forms share one frame, see
 * `tests/web/forms.test.ts`.
 */
const dialogs = ["Create monitor", "Schedule maintenance"];

const lists = "form input[aria-haspopup=listbox]:visible:enabled";

/** Every field with a list in a form, also in collapsed sections. */
async function findLists(page: Page) {
  await page
    .locator("form .fold > button[aria-expanded=false]")
    .evaluateAll((folds) => folds.forEach((fold) => (fold as HTMLElement).click()));
  return page.locator(lists).all();
}

/** Presses Enter in a field with a list until an option is chosen, and twice more. */
async function pressEnter(page: Page, list: ReturnType<Page["locator"]>) {
  await list.focus();
  for (const key of ["Enter", "Enter", "ArrowDown", "Enter", "Enter", "Enter"])
    await page.keyboard.press(key);
  // Closes the list, which would cover the next field.
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
}

async function openFromPalette(page: Page, label: string) {
  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.type(label);
  await page.getByRole("option", { name: label }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: label }).locator("form").waitFor();
}

describeInChromium("fields with a list", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  beforeAll(async () => {
    world = await createAdminWorld();
    const { ask, site } = world;
    await ask("POST", "/api/v1/alert-channels", {
      type: "webhook",
      name: "Pager",
      url: site.at("/hook"),
    });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("Enter in a field with a list never sends its form", async () => {
    await using open = await world.open(browser, "/");
    const { page } = open;
    const sent: string[] = [];
    page.on("request", (request) => {
      // A test check and previews send what is typed, and store nothing.
      const isPreview = /preview/.test(request.url());
      if (request.method() !== "GET" && !isPreview)
        sent.push(`${request.method()} ${request.url()}`);
    });
    await page.getByText("Web shop").first().waitFor();
    for (const label of dialogs) {
      await openFromPalette(page, label);
      await page.locator(lists).first().waitFor();
      for (const list of await findLists(page))
        if (await list.isVisible()) await pressEnter(page, list);
      expect([label, sent]).toEqual([label, []]);
      await page.reload();
      await page.getByText("Web shop").first().waitFor();
    }
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("an incident starts with the monitors that are down; while typing, Enter adds the first match, and a second Enter adds nothing", async () => {
    world.site.setReply(replyWith(503), "/checkout");
    await world.ask("POST", `/api/v1/monitors/${world.idOf("Checkout")}/check`);
    await using open = await world.open(browser, "/");
    const { page } = open;
    await findRow(page, "Checkout").getByRole("img", { name: "Down" }).first().waitFor();
    for (const [label, down] of [
      ["Create incident", ["Checkout"]],
      ["Schedule maintenance", []],
    ] as const) {
      await openFromPalette(page, label);
      const form = page.getByRole("dialog", { name: label }).locator("form");
      await form.getByRole("combobox", { name: /monitors$/i }).fill("shop");
      await page.getByRole("option", { name: "Web shop" }).waitFor();
      for (const key of ["Enter", "Enter", "Enter"]) await page.keyboard.press(key);
      const chosen = await form.locator(".mantine-Pill-label").allTextContents();
      expect(chosen).toEqual([...down, "Web shop"]);
      await page.reload();
      await page.getByText("Web shop").first().waitFor();
    }
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("from the filter, ↓ leads to the first row, Enter opens it, and Escape clears; single-key shortcuts can be turned off", async () => {
    await using open = await world.open(browser, "/settings/profile");
    const { page } = open;
    const focused = page.locator(":focus");
    const search = page.getByRole("searchbox", { name: "Filter monitors" });
    // At once, before the list is filtered.
    async function typeInFilter(text: string, key: string) {
      await page.keyboard.press("/");
      await page.keyboard.type(text);
      await page.keyboard.press(key);
    }
    await page.getByRole("switch", { name: "Single-key shortcuts" }).waitFor();
    for (const key of "gm") await page.keyboard.press(key);
    await findRow(page, "Blog").waitFor();
    await typeInFilter("shop", "ArrowDown");
    await page
      .getByRole("link", { name: /^Web shop/ })
      .and(focused)
      .waitFor();
    await page.keyboard.press("/");
    await page.keyboard.press("Escape");
    await findRow(page, "Blog").waitFor();
    expect([await search.inputValue(), await search.and(focused).count()]).toEqual(["", 1]);
    await typeInFilter("nas", "Enter");
    await page.getByRole("heading", { name: "NAS" }).waitFor();

    await moveTo(page, "/settings/profile");
    await page.getByRole("switch", { name: "Single-key shortcuts" }).press("Space");
    await moveTo(page, "/monitors");
    await page.getByRole("link", { name: /^NAS/ }).focus();
    for (const key of ["p", "e", "j", "?", "n"]) await page.keyboard.press(key);
    await page.keyboard.press("ArrowDown");
    await page
      .getByRole("link", { name: /^Blog/ })
      .or(page.getByRole("button", { name: /^Ungrouped/ }))
      .and(focused)
      .waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByRole("dialog", { name: "Search and commands" }).waitFor();
    expect((await world.ask("GET", `/api/v1/monitors/${world.idOf("NAS")}`)).paused).toBe(false);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });
});
