/** The Monitors page with more monitors than one response contains. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { startOwnedMachine, selectPageFaults, findRow } from "../support/admin-world.ts";
import {
  describeInChromium,
  storePicture,
  screenshots,
  findViolations,
} from "../support/browser.ts";
import { copyMonitor, buildCopyId } from "../support/many-monitors.ts";
import { pollUntil, waitUntil } from "../support/poll.ts";

const count = 10_000;

describeInChromium("ten thousand monitors", (browser) => {
  let world: Awaited<ReturnType<typeof startOwnedMachine>>;
  beforeAll(async () => {
    world = await startOwnedMachine();
    const groups: string[] = [];
    for (const name of ["Berlin", "Vienna"])
      groups.push((await world.ask("POST", "/api/v1/monitor-groups", { name })).id);
    const { id } = await world.ask("POST", "/api/v1/monitors", {
      type: "tcp",
      name: "Service 0",
      host: "10.0.0.1",
      port: 443,
      interval: 86_400,
      paused: true,
    });
    const database = new Database(join(world.box.dataDir, "signalbox.db"));
    copyMonitor(
      database,
      id,
      count - 1,
      {
        name: "'Service ' || i",
        group_id: `CASE WHEN i < 4000 THEN '${groups[0]}' WHEN i < 6000 THEN '${groups[1]}' END`,
        position: "i",
        paused: "0",
      },
      {
        status: "CASE i WHEN 9000 THEN 'down' ELSE 'up' END",
        last_message: "'connection refused'",
        paused: "0",
        last_checked_at: "strftime('%Y-%m-%dT%H:%M:%fZ')",
      },
    );
    database.close();
    // A restarted server counts the checks as recent; a running one would start 4,000 of them at
    // the first move.
    await world.stop();
    await world.box.serve({ flags: world.flags, port: world.port });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("are counted by the server, loaded on scrolling, found anywhere, and live", async () => {
    await using open = await world.open(browser, "/monitors", { colorScheme: "light" });
    const { page } = open;
    await findRow(page, "Service 1").waitFor();
    await page.getByRole("navigation").getByText("10,000").first().waitFor();
    await page
      .getByRole("button", { name: "9,998 up" })
      .or(page.getByText("9,998 up"))
      .first()
      .waitFor();
    const attention = page.getByRole("region", { name: /Needs attention/ });
    await attention.getByRole("link", { name: "Service 9000" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await storePicture(page, "admin-monitors-10000-light.png");

    // The last row; the rows before it need not load.
    await page.evaluate(() => scrollTo({ top: document.documentElement.scrollHeight }));
    await findRow(page, `Service ${count - 1}`).waitFor();
    await page.evaluate(() => scrollTo({ top: 0 }));

    await page.keyboard.press("/");
    await page.keyboard.type("service 777");
    await findRow(page, "Service 1777").waitFor();
    expect(await findRow(page, "Service 1").count()).toBe(0);
    // Selects two filtered rows, which the page has not loaded once the filter is removed.
    for (const name of ["Service 777", "Service 1777"])
      await findRow(page, name).getByRole("checkbox").check();
    const bulk = page.getByRole("toolbar", { name: "Change the selected monitors" });
    await bulk.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Pause 2 monitors" }).click();
    await findRow(page, "Service 1777").getByRole("img", { name: "Paused", exact: true }).waitFor();
    await page.getByRole("searchbox", { name: "Filter monitors" }).fill("");
    await page.getByRole("button", { name: "3 paused" }).waitFor();

    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("service 8123");
    await page
      .getByRole("option", { name: /^Service 8123/ })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/monitors/${buildCopyId(8_123)}`);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("keys that are faster than the rendering lead to the same row", async () => {
    await using open = await world.open(browser, "/monitors");
    const { page } = open;
    await findRow(page, "Service 1").waitFor();
    // A group's header and its rows, starting at the header.
    await page.evaluate(() => {
      for (let times = 0; times < 41; times++)
        dispatchEvent(new KeyboardEvent("keydown", { key: "j" }));
    });
    await page
      .getByRole("link", { name: /^Service 40 / })
      .and(page.locator(":focus"))
      .waitFor();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("moving monitors out of a partly loaded group can be undone, too", async () => {
    const readGroups = async (): Promise<string[][]> =>
      (await world.ask("GET", "/api/v1/monitor-groups")).map(
        (group: { monitorIds: string[] }) => group.monitorIds,
      );
    const before = await readGroups();
    expect(before.map((ids) => ids.length)).toEqual([3_999, 2_000]);
    await using open = await world.open(browser, "/monitors");
    const { page } = open;
    await page.getByRole("button", { name: /^Berlin/ }).press("Enter");
    await page.getByRole("link", { name: /^Service 4000 / }).focus();
    const moved = page.waitForRequest((request) => request.url().endsWith("/monitors/order"));
    await page.keyboard.press("Alt+ArrowUp");
    await page.getByText("Moved Service 4000").waitFor();
    expect((await moved).postDataJSON().monitorIds).toHaveLength(4_000);
    await page.keyboard.press("Control+z");
    await pollUntil(readGroups, (now) => JSON.stringify(now) === JSON.stringify(before));
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("printing shows every loaded row, and the screen then shows the visible ones again", async () => {
    await using open = await world.open(browser, "/monitors");
    const { page } = open;
    await findRow(page, "Service 1").waitFor();
    const rows = page.locator(".item-row");
    const monitorCount = 60;
    expect(await rows.count()).toBeLessThan(monitorCount);
    await page.emulateMedia({ media: "print" });
    const note = page.getByText(/^[\d,]+ further monitors not printed\.$/);
    const [known, further] = await note.evaluate((element) => [
      document.querySelectorAll(".item-row").length,
      Number(element.textContent?.replaceAll(/\D/g, "")),
    ]);
    expect(known).toBeGreaterThan(monitorCount);
    expect(Number(known) + Number(further)).toBe(count);
    expect(await page.getByRole("button", { name: "Create monitor" }).isVisible()).toBe(false);
    const [first, last] = [await rows.first().boundingBox(), await rows.last().boundingBox()];
    expect((last?.y ?? 0) - (first?.y ?? 0)).toBeGreaterThanOrEqual(44 * (Number(known) - 1));
    await page.emulateMedia({ media: null });
    await waitUntil(async () => (await rows.count()) <= monitorCount, 20);
    await page.evaluate(() =>
      addEventListener("beforeprint", () => {
        document.body.dataset["printed"] = String(document.querySelectorAll(".item-row").length);
      }),
    );
    await page.pdf({ path: join(screenshots, "admin-monitors.pdf"), format: "A4" });
    const printed = Number(await page.locator("body").getAttribute("data-printed"));
    expect(printed).toBeGreaterThanOrEqual(Number(known));
    await waitUntil(async () => (await rows.count()) <= monitorCount, 20);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a monitor's monthly report is a click away, also for a script, and prints without navigation", async () => {
    await using open = await world.open(browser, "/monitors?q=service+8123", {
      colorScheme: "light",
    });
    const { page } = open;
    await findRow(page, "Service 8123").getByRole("button", { name: "Actions for" }).click();
    await page.getByRole("menuitem", { name: "Report" }).click();
    await page.getByRole("heading", { name: /^Service 8123 · / }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await storePicture(page, "admin-report-light.png");
    await page.getByRole("button", { name: "Previous month" }).click();
    await page.waitForURL(/month=/);
    await page.getByText(/^Nothing was measured in /).waitFor();
    const copied = page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          navigator.clipboard.writeText = async (text) => resolve(text);
        }),
    );
    await page.getByRole("button", { name: "Copy as curl" }).click();
    const { searchParams } = new URL(page.url());
    expect(await copied).toMatch(
      new RegExp(
        `^curl '${world.url}/api/v1/reports\\?month=${searchParams.get("month")}&\\S+&monitorId=${buildCopyId(8_123)}' `,
      ),
    );
    await page.getByRole("button", { name: "Next month" }).click();
    await page.getByRole("region", { name: "Figures" }).waitFor();
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole("navigation").filter({ visible: true }).count()).toBe(0);
    expect(await page.getByRole("button").filter({ visible: true }).count()).toBe(0);
    await page.pdf({ path: join(screenshots, "admin-report.pdf"), format: "A4" });
    expect(selectPageFaults(open.faults)).toEqual([]);
  });
});
