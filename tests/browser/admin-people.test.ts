import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminWorld, owner, ownFaults } from "../support/admin-world.ts";
import {
  type Browser,
  hasChromium,
  launchChromium,
  visit,
  violations,
} from "../support/browsing.ts";

if (hasChromium)
  describe("people and organizations in Chromium", () => {
    let browser: Browser;
    let world: Awaited<ReturnType<typeof adminWorld>>;
    beforeAll(async () => {
      browser = await launchChromium();
      world = await adminWorld();
    });
    afterAll(async () => {
      await browser.close();
      await world[Symbol.asyncDispose]();
    });

    test("a viewer joins by a link that is shown once, and sees no action they may not do", async () => {
      await using open = await world.open(browser, "/settings/people");
      const { page } = open;
      page.setDefaultTimeout(10_000);
      await page.getByRole("button", { name: "Invite somebody" }).click();
      await page.getByLabel("E-mail").fill("vera@acme.example");
      await page.getByRole("combobox", { name: "Role" }).click();
      await page.getByRole("option", { name: /^viewer/ }).click();
      await page.getByRole("button", { name: "Make invitation" }).click();
      const shown = page.getByLabel("Invitation link");
      await shown.waitFor();
      expect(await violations(page)).toEqual([]);
      const link = (await shown.textContent()) ?? "";
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByText("vera@acme.example").waitFor();

      const address = new URL(link);
      await using other = await visit(browser, `${world.url}/invitation${address.hash}`);
      const theirs = other.page;
      await theirs.getByLabel("Your name").fill("Vera Rubin");
      await theirs.getByLabel("Choose a password").fill("dark matter it is");
      await theirs.keyboard.press("Enter");
      await theirs.getByText("Web shop").first().waitFor();
      // Told to the page of the one who invited.
      await page.getByText("Vera Rubin").waitFor();

      await theirs.getByRole("link", { name: "Settings" }).click();
      await theirs.getByText("Time zone").waitFor();
      const names = await theirs
        .getByRole("navigation", { name: "Settings" })
        .getByRole("link")
        .allTextContents();
      expect(names).toEqual(["Organization", "People", "My profile", "About"]);
      expect(await theirs.getByRole("button", { name: "Save" }).count()).toBe(0);
      await theirs.getByRole("link", { name: "People" }).click();
      await theirs.getByText(owner.email).waitFor();
      expect(await theirs.getByRole("button", { name: /Invite|Actions for/ }).count()).toBe(0);
      await theirs.goto(`${world.url}/settings/api-keys`);
      await theirs.getByText("This needs the role admin").waitFor();

      await page.getByRole("button", { name: "Actions for Vera Rubin" }).click();
      await page.getByRole("menuitem", { name: /^member/ }).click();
      await page.getByText("Vera Rubin is member now, and has to sign in again").waitFor();
      await page.getByRole("button", { name: "Actions for Vera Rubin" }).click();
      await page.getByRole("menuitem", { name: "Remove" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await page.getByText("Removed Vera Rubin").waitFor();
      await page.getByRole("link", { name: "Audit log" }).click();
      await page
        .getByText(/gave .* another role/)
        .first()
        .waitFor();
      await page.getByText("Vera Rubin joined").first().waitFor();
      expect([ownFaults(open.faults), ownFaults(other.faults)]).toEqual([[], []]);
    });

    test("another organization shows nothing of this one, and a link leads to the one that has the record", async () => {
      await using open = await world.open(browser, "/settings/organization");
      const { page } = open;
      page.setDefaultTimeout(10_000);
      const switcher = page.getByRole("button", { name: "Organization and account" });
      const current = page.locator(".rail-person-words");
      await page.getByLabel("Name of the new organization").fill("Umbrella");
      await page.getByRole("button", { name: "Make organization" }).click();
      await current.getByText("Umbrella").waitFor();
      await page.getByRole("link", { name: "Monitors" }).click();
      await page.getByRole("heading", { name: "What shall Signalbox watch?" }).waitFor();
      expect(await page.getByText("Web shop").count()).toBe(0);

      // A link to a record of the other one switches to it.
      await page.goto(`${world.url}/monitors/${world.idOf("Web shop")}`);
      await page.getByRole("heading", { name: "Web shop" }).waitFor();
      await current.getByText(owner.organization).waitFor();

      // Switching by hand leaves the record's page and stays.
      await switcher.click();
      await page.getByRole("menuitem", { name: "Umbrella" }).click();
      await page.getByRole("heading", { name: "What shall Signalbox watch?" }).waitFor();
      await current.getByText("Umbrella").waitFor();
      expect(new URL(page.url()).pathname).toBe("/monitors");

      // What waits to be undone is done where it belongs, before the switch.
      await page.keyboard.press("Control+k");
      await page.keyboard.type("switch to acme");
      await page.keyboard.press("Enter");
      await page.getByText("Blog").first().waitFor();
      await page
        .getByRole("listitem")
        .filter({ hasText: "Blog" })
        .getByRole("button", { name: /Actions/ })
        .click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await switcher.click();
      await page.getByRole("menuitem", { name: "Umbrella" }).click();
      await current.getByText("Umbrella").waitFor();
      const left = await world.ask("GET", "/api/v1/monitors?per_page=100");
      expect(left.map(({ name }: { name: string }) => name)).not.toContain("Blog");

      // Another tab looks at another organization, and neither moves the other.
      const opening = page.waitForEvent("popup");
      await page.evaluate(() => void window.open("/monitors"));
      const tab = await opening;
      await tab.getByRole("button", { name: "Organization and account" }).click();
      await tab.getByRole("menuitem", { name: owner.organization }).click();
      await tab.getByText("Web shop").first().waitFor();
      await page.reload();
      await current.getByText("Umbrella").waitFor();
      await tab.close();
      await open.shifts();
      expect(ownFaults(open.faults)).toEqual([]);
    });
  });
