/** People, invitations, roles and organizations on the admin page. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAdminWorld, owner, selectPageFaults, visitAs } from "../support/admin-world.ts";
import { describeInChromium, findViolations, visitPage } from "../support/browser.ts";
import type { Json } from "../support/json.ts";
import { pollUntil } from "../support/poll.ts";

describeInChromium("people and organizations", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  beforeAll(async () => {
    world = await createAdminWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("a viewer joins by a link that is shown once, and sees no forbidden action", async () => {
    await using open = await world.open(browser, "/settings/people");
    const { page } = open;
    await page.getByRole("button", { name: "Invite people" }).click();
    await page.getByLabel("E-mail").fill("vera@acme.example");
    await page.getByRole("combobox", { name: "Role" }).click();
    await page.getByRole("option", { name: /^viewer/ }).click();
    await page.getByRole("button", { name: "Create invitation" }).click();
    const linkField = page.getByLabel("Invitation link");
    await linkField.waitFor();
    expect(await findViolations(page)).toEqual([]);
    const link = (await linkField.textContent()) ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("vera@acme.example").waitFor();

    const address = new URL(link);
    await using other = await visitPage(browser, `${world.url}/invitation${address.hash}`);
    const theirs = other.page;
    await theirs.getByLabel("Your name").fill("Vera Rubin");
    await theirs.getByLabel("Choose a password").fill("dark matter it is");
    await theirs.keyboard.press("Enter");
    await theirs.getByText("Web shop").first().waitFor();
    // The inviting person's page shows it.
    await page.getByText("Vera Rubin").waitFor();

    await theirs.getByRole("link", { name: "Settings" }).click();
    await theirs.getByText("Time zone").waitFor();
    const names = await theirs
      .getByRole("navigation", { name: "Settings" })
      .getByRole("link")
      .allTextContents();
    expect(names).toEqual([
      "Organization",
      "People",
      "Incident templates",
      "Configuration",
      "Recently deleted",
      "My profile",
      "Contact methods",
      "About",
    ]);
    expect(await theirs.getByRole("button", { name: "Save" }).count()).toBe(0);
    await theirs.getByRole("link", { name: "People" }).click();
    await theirs.getByText(owner.email).waitFor();
    expect(await theirs.getByRole("button", { name: /Invite|Actions for/ }).count()).toBe(0);
    await theirs.goto(`${world.url}/settings/api-keys`);
    await theirs.getByText("This needs the role admin").waitFor();

    await page.getByRole("button", { name: "Actions for Vera Rubin" }).click();
    await page.getByRole("menuitem", { name: /^member/ }).click();
    await page.getByText("Vera Rubin now has the role member").waitFor();
    // Her page shows it at once and continues.
    await theirs.getByRole("link", { name: "Monitors" }).click();
    await theirs.getByRole("button", { name: "Create monitor" }).first().waitFor();
    await theirs.getByRole("link", { name: "Status pages" }).waitFor();
    await theirs.getByText("Blog").first().waitFor();
    await page.getByRole("button", { name: "Actions for Vera Rubin" }).click();
    await page.getByRole("menuitem", { name: "Limit to groups" }).click();
    await page.getByRole("combobox", { name: "Groups" }).fill("Prod");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByText("Limited Vera Rubin to groups").waitFor();
    // Her open page loses the other monitors, and actions that concern them.
    await theirs.getByText("Blog").first().waitFor({ state: "detached" });
    await theirs.getByText("Web shop").first().waitFor();
    expect(await theirs.getByRole("link", { name: "Status pages" }).count()).toBe(0);
    expect(await theirs.getByRole("button", { name: "Create group" }).count()).toBe(0);
    await page.getByRole("button", { name: "Actions for Vera Rubin" }).click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("Removed Vera Rubin").waitFor();
    await theirs.getByText("Your session has ended").waitFor();
    await page.getByRole("link", { name: "Audit log" }).click();
    await page
      .getByText(/changed the role of/)
      .first()
      .waitFor();
    await page.getByText("Vera Rubin joined").first().waitFor();
    expect([selectPageFaults(open.faults), selectPageFaults(other.faults)]).toEqual([[], []]);
  });

  test("another organization shows nothing of this one, and a link opens the one with the record", async () => {
    await using open = await world.open(browser, "/settings/organizations");
    const { page } = open;
    const switcher = page.getByRole("button", { name: "Organization and account" });
    const current = page.locator(".rail-person-words");
    await page.getByLabel("Name of the new organization").fill("Umbrella");
    await page.getByRole("button", { name: "Create organization" }).click();
    await current.getByText("Umbrella").waitFor();
    await page.getByRole("link", { name: "Monitors" }).click();
    await page.getByRole("heading", { name: "What do you want to monitor?" }).waitFor();
    expect(await page.getByText("Web shop").count()).toBe(0);

    // A link to a record of the other organization switches to it.
    await page.goto(`${world.url}/monitors/${world.idOf("Web shop")}`);
    await page.getByRole("heading", { name: "Web shop" }).waitFor();
    await current.getByText(owner.organization).waitFor();

    // Switching manually leaves the record's page and stays.
    await switcher.click();
    await page.getByRole("menuitem", { name: "Umbrella" }).click();
    await page.getByRole("heading", { name: "What do you want to monitor?" }).waitFor();
    await current.getByText("Umbrella").waitFor();
    expect(new URL(page.url()).pathname).toBe("/monitors");

    // Pending undoable actions happen in their organization before the switch.
    await page.keyboard.press("Control+k");
    await page.keyboard.type("switch to acme");
    await page.getByRole("option", { name: /^Switch to / }).waitFor();
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
    await pollUntil(
      () => world.ask("GET", "/api/v1/monitors?per_page=100"),
      (left: { name: string }[]) => left.every(({ name }) => name !== "Blog"),
    );

    // Another tab shows another organization, and neither switches the other.
    const opening = page.waitForEvent("popup");
    await page.evaluate(() => void window.open("/monitors"));
    const tab = await opening;
    await tab.getByRole("button", { name: "Organization and account" }).click();
    await tab.getByRole("menuitem", { name: owner.organization }).click();
    await tab.getByText("Web shop").first().waitFor();
    await page.reload();
    await current.getByText("Umbrella").waitFor();
    await tab.close();
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("an administrator appoints another, who then sees all organizations and deletes one by its short name", async () => {
    await world.ask("POST", "/organizations", { name: "Short-lived" });
    await world.ask("PATCH", "/organization", { timeZone: "Europe/Berlin" });
    await using other = await visitAs(browser, world, "viewer", "/settings/organizations");
    await other.page.getByText("For administrators").waitFor();
    expect(await other.page.getByRole("link", { name: "Organizations" }).count()).toBe(0);

    await using open = await world.open(browser, "/settings/people");
    const { page } = open;
    await page.getByRole("button", { name: "Actions for viewer" }).click();
    await page.getByRole("menuitem", { name: "Make administrator" }).click();
    await page.getByText(", administrator").nth(1).waitFor();

    // Their page shows it as well.
    await other.page.getByRole("link", { name: "Administrators" }).click();
    await other.page.getByText(owner.email).waitFor();
    await other.page.getByRole("button", { name: "Remove viewer as administrator" }).click();
    await other.page.getByRole("dialog").getByRole("button", { name: "Step down" }).click();
    await other.page.getByText("For administrators").waitFor();

    await page.getByRole("link", { name: "Organizations" }).click();
    await page.getByRole("button", { name: "Actions for Short-lived" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const verb = page.getByRole("button", { name: "Delete permanently" });
    expect(await verb.isDisabled()).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("Type short-lived").fill("short-lived");
    await verb.click();
    await page.getByText("Deleted Short-lived").waitFor();
    expect(await page.getByRole("button", { name: "Actions for Short-lived" }).count()).toBe(0);

    // Its time zone is that of the page that created it.
    await page.getByLabel("Name of the new organization").fill("Third");
    const response = page.waitForResponse((one) => one.request().method() === "POST");
    await page.getByRole("button", { name: "Create organization" }).click();
    expect((await (await response).json()).data.timeZone).toBe("Europe/Berlin");
    await page.getByText("Created Third; you are its owner").waitFor();
    expect([selectPageFaults(open.faults), selectPageFaults(other.faults)]).toEqual([[], []]);
  });

  test("a person with an account joins another organization: signed in with a click, else with their password", async () => {
    await using other = await visitAs(browser, world, "viewer", "/monitors");
    await other.page.getByText("Web shop").first().waitFor();
    const session = (
      await other.page.context().request.get(`${world.url}/dashboard/session`)
    ).json();
    const { person } = ((await session) as { data: Json }).data;
    const second = await world.ask("POST", "/organizations", { name: "Second" });
    const { link } = await world.ask("POST", `/invitations?organization=${second.id}`, {
      email: person.email,
      role: "viewer",
    });
    const { hash } = new URL(link);
    await using fresh = await visitPage(browser, `${world.url}/invitation${hash}`);
    await fresh.page.getByLabel("Your name").waitFor();
    await fresh.page.getByRole("button", { name: "I already have an account" }).click();
    await fresh.page.getByLabel("Your password").fill("not my password");
    await fresh.page.keyboard.press("Enter");
    await fresh.page.getByText("The e-mail address or the password is wrong.").waitFor();
    expect(await findViolations(fresh.page)).toEqual([]);

    // A person who is signed in with the address only confirms.
    await other.page.goto(`${world.url}/invitation${hash}`);
    await other.page.getByRole("heading", { name: "Join Second" }).waitFor();
    expect(await other.page.getByRole("textbox").count()).toBe(0);
    await other.page.getByRole("button", { name: "Join" }).click();
    await other.page.getByRole("button", { name: "Organization and account" }).click();
    await other.page.getByRole("menuitem", { name: "Second" }).waitFor();
    await other.page.keyboard.press("Escape");

    // After a removal from the displayed organization they see the other one, and stay signed in.
    await world.ask("DELETE", `/people/${person.id}`);
    await other.page.locator(".rail-person-words").getByText("Second").waitFor();
    await other.page.getByRole("heading", { name: "Monitors", exact: true }).waitFor();
    expect(await other.page.getByText("Web shop").count()).toBe(0);
    expect(await other.page.getByRole("dialog").count()).toBe(0);
    expect([selectPageFaults(fresh.faults), selectPageFaults(other.faults)]).toEqual([[], []]);
  });
});
