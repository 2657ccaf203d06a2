/** Maintenance windows on the admin page: calendar, recurrence, editor. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { defineLookTests, findThemeViolations } from "../support/admin-looks.ts";
import { createAdminWorld, sendHeldNow, visitAs } from "../support/admin-world.ts";
import { describeInChromium, findViolations, storePicture } from "../support/browser.ts";

const locateDialog = (page: Page, name: string) => page.getByRole("dialog", { name });

/** A weekly window that starts in two days, so never during the tests. */
function buildWeeklyRule() {
  const dayMs = 86_400_000;
  const start = new Date(Date.now() - 26 * dayMs);
  start.setUTCHours(1, 0, 0, 0);
  const weekday = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"][start.getUTCDay()];
  return {
    startsAt: start.toISOString(),
    endsAt: new Date(start.getTime() + 2 * 3_600_000).toISOString(),
    rrule: `FREQ=WEEKLY;BYDAY=${weekday}`,
  };
}

describeInChromium("maintenance", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  let windowId = "";
  beforeAll(async () => {
    world = await createAdminWorld();
    const { ask, idOf, office } = world;
    await ask("PATCH", "/organization", { timeZone: "Europe/Berlin" });
    const planned = await ask("POST", "/api/v1/maintenance-windows", {
      title: "Router firmware",
      ...buildWeeklyRule(),
      timeZone: "Europe/Berlin",
      groupIds: [office.id],
    });
    windowId = planned.id;
    await ask("POST", "/api/v1/maintenance-windows", {
      title: "Print server",
      startsAt: new Date(Date.now() - 3_600_000).toISOString(),
      endsAt: new Date(Date.now() + 7_200_000).toISOString(),
      monitorIds: [idOf("NAS")],
    });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  defineLookTests((path) => world.open(browser, path), {
    maintenance: () => ["/maintenance", "Upcoming"],
    calendar: () => ["/maintenance?view=calendar", "Router firmware"],
    window: () => [`/maintenance/${windowId}`, "Next times"],
  });

  test("maintenance is scheduled from the calendar, recurs as set, and reads back as written", async () => {
    const at = { startsAt: "2060-01-15T02:30:00Z", endsAt: "2060-01-15T04:00:00Z" };
    const other = await world.ask("POST", "/api/v1/maintenance-windows", {
      title: "Router firmware",
      ...at,
    });
    await using open = await world.open(browser, "/maintenance?view=calendar&month=2060-01");
    const { page } = open;
    await page.getByRole("button", { name: "Schedule maintenance on Thursday 15 January" }).click();
    const editor = locateDialog(page, "Schedule maintenance");
    await editor.getByLabel("Title").fill("Disk check");
    expect(await editor.getByRole("combobox", { name: "Starts" }).inputValue()).toBe(
      "Thu 15 Jan 2060 02:00",
    );
    await editor.getByText("At the same time: Router firmware.").waitFor();
    await world.ask("DELETE", `/api/v1/maintenance-windows/${other.id}`);
    await editor.getByRole("combobox", { name: "Ends" }).fill("2060-01-15T01:00");
    await editor.getByText("It must be after the start.").waitFor();
    await editor.getByRole("combobox", { name: "Ends" }).fill("for 1");
    // Enter chooses the first match and does not submit the form.
    await editor.getByRole("combobox", { name: "Ends" }).press("ArrowDown");
    await editor.getByRole("combobox", { name: "Ends" }).press("Enter");
    expect(await editor.getByRole("combobox", { name: "Ends" }).inputValue()).toBe(
      "Thu 15 Jan 2060 03:00",
    );
    await editor.getByRole("combobox", { name: "Ends" }).fill("for 90 min");
    // The server's preview removes the error, which moves the fields below it.
    await editor.getByText("It must be after the start.").waitFor({ state: "detached" });
    await storePicture(page, "admin-date-time-field.png");
    await editor.getByRole("combobox", { name: "Ends" }).press("Tab");
    expect(await editor.getByRole("combobox", { name: "Ends" }).inputValue()).toBe(
      "Thu 15 Jan 2060 03:30",
    );
    await editor.getByRole("combobox", { name: "Repeats" }).click();
    await page.getByRole("option", { name: "Monthly" }).click();
    await editor.getByRole("combobox", { name: "Repeat on" }).click();
    await page.getByRole("option", { name: "Weekday" }).click();
    await editor.getByRole("combobox", { name: "Stop repeating" }).click();
    await page.getByRole("option", { name: "After a number of occurrences" }).click();
    await editor.getByLabel("Occurrences", { exact: true }).fill("3");
    await editor.getByText("Thu 15 Jan 2060 02:00–03:30").waitFor();
    await editor.getByRole("combobox", { name: "Groups" }).click();
    await page.getByRole("option", { name: "Office" }).click();
    await page.keyboard.press("Escape");
    expect(await findThemeViolations(page)).toEqual([]);
    await editor.getByRole("button", { name: "Schedule and announce to 1 page" }).click();
    await sendHeldNow(page);
    await page.getByRole("heading", { name: "Disk check" }).waitFor();
    await page.getByText("Every month on the third Thursday, 3 times").waitFor();
    const id = page.url().split("/").at(-1) ?? "";
    expect(await world.ask("GET", `/api/v1/maintenance-windows/${id}`)).toMatchObject({
      startsAt: "2060-01-15T01:00:00.000Z",
      endsAt: "2060-01-15T02:30:00.000Z",
      timeZone: "Europe/Berlin",
      rrule: "FREQ=MONTHLY;BYDAY=3TH;COUNT=3",
      groupIds: [world.office.id],
    });

    await page.keyboard.press("e");
    const again = locateDialog(page, "Edit maintenance");
    expect(await again.getByRole("combobox", { name: "Repeats" }).inputValue()).toBe("Monthly");
    await again.getByRole("combobox", { name: "Repeats" }).click();
    await page.getByRole("option", { name: "Custom rule" }).click();
    await again.getByLabel("Rule").fill("FREQ=MINUTELY");
    await again.getByText("It must not repeat more often than every hour.").waitFor();
    await again.getByLabel("Rule").fill("FREQ=YEARLY;BYMONTH=1;BYDAY=1SU");
    await again.getByRole("button", { name: "Save" }).click();
    await page.getByRole("listitem").getByText("Sun 2 Jan 2061 02:00–03:30").waitFor();
    await open.measureShifts();
    expect(open.faults).toEqual([]);
  });

  test("running maintenance is on top and can be ended now; its monitors follow", async () => {
    await using open = await world.open(browser, "/maintenance");
    const { page } = open;
    const running = page.getByRole("region", { name: "In progress" });
    const held = page.getByRole("region", { name: "Held changes" });
    const end = async () => {
      await running.getByRole("button", { name: "End now" }).click();
      await held.getByText("Maintenance: Print server", { exact: true }).waitFor();
    };
    await end();
    await page.keyboard.press("Control+z");
    await held.waitFor({ state: "detached" });
    await running.waitFor();
    await end();
    await held.getByRole("button", { name: "Send now" }).click();
    await running.waitFor({ state: "detached" });
    await page.getByText("Past", { exact: true }).click();
    await page.getByRole("link", { name: /Print server/ }).waitFor();
    await open.measureShifts();
    expect(open.faults).toEqual([]);
  });

  test("viewers can read everything and are offered no forbidden action", async () => {
    await using open = await visitAs(browser, world, "viewer", "/maintenance?view=calendar");
    const { page } = open;
    await page.getByText("Router firmware").first().waitFor();
    expect(await page.getByRole("button", { name: /Schedule maintenance/ }).count()).toBe(0);
    await page.goto(`${world.url}/maintenance/${windowId}`);
    await page.getByText("Next times").waitFor();
    expect(await page.getByRole("button", { name: "Edit" }).count()).toBe(0);
    await open.measureShifts();
    expect(open.faults).toEqual([]);
  });

  test("a managed window shows its configuration and its drift, and warns before an edit", async () => {
    await world.ask("PUT", "/api/v1/config", {
      source: "infra",
      maintenanceWindows: {
        core: {
          title: "Core switch",
          startsAt: "2099-01-01T01:00:00Z",
          endsAt: "2099-01-01T02:00:00Z",
        },
      },
    });
    const [{ id }] = await world.ask("GET", "/api/v1/maintenance-windows?per_page=1");
    await world.ask("PATCH", `/api/v1/maintenance-windows/${id}`, { public: false });
    await using open = await world.open(browser, `/maintenance/${id}`);
    const { page } = open;
    await page.getByText("Managed by the configuration infra as maintenanceWindows.core").waitFor();
    await page.getByText("Changed here since: public").waitFor();

    // Whichever response is last, it moves nothing that is already rendered.
    const last = Promise.withResolvers<void>();
    await page.route("**/dashboard/configuration/records*", async (route) => {
      await last.promise;
      await route.fallback();
    });
    const record = page.waitForResponse((response) =>
      response.url().endsWith(`/maintenance-windows/${id}`),
    );
    await page.reload();
    await (await record).finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await page.getByRole("heading", { name: "Core switch" }).count()).toBe(0);
    last.resolve();
    await page.getByText("Managed by the configuration infra as maintenanceWindows.core").waitFor();

    await page.getByRole("button", { name: "Edit" }).click();
    await locateDialog(page, "Edit maintenance")
      .getByText("Changes here last until it is applied again")
      .waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(open.faults).toEqual([]);
  });
});
