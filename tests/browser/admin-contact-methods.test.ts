/** Own contact methods in the settings: added, verified by a code, and their look. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAdminWorld, selectPageFaults } from "../support/admin-world.ts";
import { findLookFlaws } from "../support/admin-looks.ts";
import { describeInChromium, storePicture } from "../support/browser.ts";

describeInChromium("contact methods", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  beforeAll(async () => {
    world = await createAdminWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("a person adds one, receives a code and verifies it", async () => {
    await using open = await world.open(browser, "/settings/contact-methods");
    const { page } = open;
    await page.getByText("No one can page you yet").waitFor();
    await storePicture(page, "contact-methods-empty.png");
    await page.getByRole("button", { name: "Add contact method" }).click();
    const adding = page.getByRole("dialog", { name: "Add contact method" });
    await adding
      .getByRole("combobox", { name: "Type" })
      .or(adding.getByLabel("Type"))
      .first()
      .click();
    await page.getByRole("option", { name: "Webhook" }).click();
    await adding.getByLabel("Name", { exact: true }).fill("Phone");
    await adding.getByLabel("URL", { exact: true }).fill(world.site.at("/phone"));
    await storePicture(page, "contact-methods-add.png");
    await adding.getByRole("button", { name: "Add and verify" }).click();
    const verifying = page.getByRole("dialog", { name: "Verify Phone" });
    await verifying.getByRole("button", { name: "Send code" }).click();
    await verifying.getByText("A code was sent.").waitFor();
    const message = world.site.asked.findLast(({ path }) => path === "/phone");
    const code = /\b\d{6}\b/.exec(message?.body ?? "")?.[0] ?? "";
    await verifying.getByLabel("Code", { exact: true }).fill(code);
    await storePicture(page, "contact-methods-verify.png");
    await verifying.getByRole("button", { name: "Verify", exact: true }).click();
    const list = page.getByRole("list", { name: "Contact methods" });
    await list.getByText("Verified").waitFor();
    expect(await findLookFlaws(page, "contact-methods")).toEqual([]);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("with an SMS channel, a person enters only a number", async () => {
    const sms = { type: "sms", name: "On-call SMS", preset: "custom", to: "+491701234567" };
    const url = world.site.at("/sms?to={{to}}&text={{text}}");
    await world.ask("POST", "/api/v1/alert-channels", { ...sms, url, method: "GET" });
    await using open = await world.open(browser, "/settings/contact-methods");
    const { page } = open;
    await page.getByRole("button", { name: "Add contact method" }).click();
    const adding = page.getByRole("dialog", { name: "Add contact method" });
    await adding.getByLabel("Type").first().click();
    await page.getByRole("option", { name: "SMS" }).click();
    const through = adding.getByRole("combobox", { name: "Send through" });
    expect(await through.inputValue()).toBe("On-call SMS");
    expect(await adding.getByLabel("URL", { exact: true }).count()).toBe(0);
    await adding.getByLabel("To", { exact: true }).fill("+491709999999");
    await storePicture(page, "contact-methods-gateway.png");
    await adding.getByRole("button", { name: "Add and verify" }).click();
    const verifying = page.getByRole("dialog", { name: "Verify SMS" });
    await verifying.getByRole("button", { name: "Send code" }).click();
    await verifying.getByText("A code was sent.").waitFor();
    const sent = world.site.asked.findLast(({ path }) => path.startsWith("/sms"));
    expect(sent?.path).toContain("to=%2B491709999999");
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test.each([390, 1440])(
    "at %i px, Verify and the menu of a method are side by side",
    async (width) => {
      const body = { type: "webhook", name: `Width ${width}`, url: world.site.at("/phone") };
      await world.ask("POST", "/api/v1/contact-methods", body);
      await using open = await world.open(browser, "/settings/contact-methods", {
        viewport: { width, height: 844 },
      });
      const row = open.page.getByRole("listitem").filter({ hasText: body.name });
      const boxOf = async (name: string) => {
        const box = await row.getByRole("button", { name }).boundingBox();
        return box ?? { x: 0, y: 0, width: 0, height: 0 };
      };
      await row.getByRole("button", { name: "Verify" }).waitFor();
      const [verify, menu] = [await boxOf("Verify"), await boxOf(`Actions for ${body.name}`)];
      expect(menu.x).toBeGreaterThanOrEqual(verify.x + verify.width);
      expect(menu.y).toBeLessThan(verify.y + verify.height);
      expect(menu.y + menu.height).toBeGreaterThan(verify.y);
    },
  );
});
