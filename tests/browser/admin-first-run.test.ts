/** The first run: set-up, first monitor, first channel, sign-in. */
import type { Page } from "playwright-core";
import { expect, test } from "bun:test";
import {
  startFreshMachine,
  startOwnedMachine,
  owner,
  selectPageFaults,
} from "../support/admin-world.ts";
import { describeInChromium, lanName, findViolations, visitPage } from "../support/browser.ts";
import { replyWith, startTarget } from "../support/target.ts";

/** Accessible name of the focused element. */
const readFocused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement | null;
    return (element?.labels?.[0] ?? element)?.textContent;
  });

describeInChromium("the first run", (browser) => {
  test("the console's link, one form and a pasted address lead to a live, green monitor, also over plain HTTP on the LAN", async () => {
    await using fresh = await startFreshMachine();
    let healthy = true;
    await using site = await startTarget((response) => replyWith(healthy ? 200 : 502)(response));
    const url = fresh.url.replace("127.0.0.1", lanName);
    await using open = await visitPage(browser, `${url}/set-up#${fresh.token}`);
    const { page } = open;
    expect(await page.evaluate(() => isSecureContext)).toBe(false);
    await page.getByRole("button", { name: "Set up Signalbox" }).click();
    await page.getByText("Must be an e-mail address").waitFor();
    expect(await page.locator(":focus").getAttribute("aria-invalid")).toBe("true");
    expect(await findViolations(page)).toEqual([]);

    await page.getByLabel("Organization").fill(owner.organization);
    await page.getByLabel("Your name").fill(owner.name);
    await page.getByLabel("E-mail").fill(owner.email);
    await page.getByLabel("Password", { exact: true }).fill(owner.password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "What do you want to monitor?" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    expect(await findViolations(page)).toEqual([]);

    await page.keyboard.type(site.at("/shop"));
    await page.keyboard.press("Enter");
    const row = page.getByRole("listitem").filter({ hasText: "/shop" });
    await row.getByRole("img", { name: "Up" }).waitFor();
    // The next address can be typed at once.
    expect(await page.locator(":focus").getAttribute("aria-label")).toBe("Address to monitor");

    await using bot = await startTarget();
    await page.getByRole("heading", { name: "Get started" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.evaluate(() => {
      const counted = globalThis as unknown as { clicks: number };
      counted.clicks = 0;
      addEventListener(
        "click",
        ({ isTrusted }) => void (counted.clicks += isTrusted ? 1 : 0),
        true,
      );
    });
    await page.getByRole("button", { name: "Webhook" }).click();
    await page.getByRole("switch", { name: "Attach to the monitor" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.type(bot.at("/alerts"));
    await page.getByRole("button", { name: "Create and send test" }).click();
    await page.getByText(/Webhook: Delivered in/).waitFor();
    expect(bot.asked.map(({ path }) => path)).toEqual(["/alerts"]);
    const countClicks = () =>
      page.evaluate(() => (globalThis as unknown as { clicks: number }).clicks);
    expect(await countClicks()).toBeLessThanOrEqual(2);
    const missing = page.getByText(/^(Alerts are not set up|No monitor sends alerts) yet$/);
    await missing.waitFor({ state: "detached" });
    const uses = await page.evaluate(async () =>
      (await fetch("/dashboard/alert-channel-uses")).json(),
    );
    expect(uses.data).toMatchObject([{ monitors: 1, groups: 0 }]);

    healthy = false;
    await row.getByRole("button", { name: /Actions/ }).click();
    await page.getByRole("menuitem", { name: "Check now" }).click();
    await row
      .getByText("HTTP 502")
      .or(row.getByRole("img", { name: "Down" }))
      .first()
      .waitFor();
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("the first channel is for all monitors in every way of creating it; e-mail leads to the missing mail server", async () => {
    await using owned = await startOwnedMachine();
    await using site = await startTarget(replyWith(200));
    await owned.ask("POST", "/api/v1/monitors", { type: "http", name: "Shop", url: site.at("/") });
    await using open = await owned.open(browser, "/alert-channels?new=email");
    const { page } = open;
    for (const name of [/^Default/, /^Attach to the monitor/]) {
      await page.getByRole("switch", { name }).waitFor();
      expect(await page.getByRole("switch", { name }).isChecked()).toBe(true);
    }
    await page.getByRole("link", { name: "Set up the mail server" }).click();
    await page.getByRole("heading", { name: "Mail server", level: 1 }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("link", { name: /^Monitors/ }).click();
    await page.getByRole("button", { name: "E-mail" }).click();
    await page.getByRole("button", { name: "Create and send test" }).click();
    await page.getByText("E-mail is not working yet").waitFor();
    await page.getByRole("button", { name: "Set up the mail server" }).click();
    await page.getByRole("heading", { name: "Mail server", level: 1 }).waitFor();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("the first invalid field has the focus, whenever the page is rendered", async () => {
    await using fresh = await startFreshMachine();
    const address = `${fresh.url}/set-up#${fresh.token}`;
    await using open = await visitPage(browser, address, {}, (page) =>
      // A frame before the first render, as on a busy machine.
      page.addInitScript(() => {
        const later = globalThis.requestAnimationFrame;
        let early = 0;
        globalThis.requestAnimationFrame = (draw) => {
          if (early++ > 1_000) return later(draw);
          queueMicrotask(() => draw(performance.now()));
          return 0;
        };
      }),
    );
    const { page } = open;
    const button = page.getByRole("button", { name: "Set up Signalbox" });
    await button.click();
    await page.getByText("Must be an e-mail address").waitFor();
    expect(await readFocused(page)).toBe("Organization");
    // An error without a field leaves the focus unchanged.
    await page.getByLabel("Organization").fill(owner.organization);
    await page.getByLabel("Your name").fill(owner.name);
    await page.getByLabel("E-mail").fill(owner.email);
    await page.getByLabel("Password", { exact: true }).fill(owner.password);
    await page.route("**/dashboard/set-up", (route) => route.abort());
    await button.click();
    await page.getByRole("alert").waitFor();
    expect(await readFocused(page)).toBe("Set up Signalbox");
  });

  test("without a session every page requires signing in, and then leads to the requested page", async () => {
    await using fresh = await startFreshMachine();
    const { url, token } = fresh;
    await fetch(`${url}/dashboard/set-up`, {
      method: "POST",
      headers: { Origin: url, "Content-Type": "application/json" },
      body: JSON.stringify({ ...owner, token }),
    });
    await using open = await visitPage(browser, `${url}/monitors?q=shop`);
    const { page } = open;
    await page.getByLabel("E-mail").fill(owner.email);
    await page.getByLabel("Password", { exact: true }).fill("a wrong password");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Password", { exact: true }).fill(owner.password);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${url}/monitors?q=shop`);
    await page.getByRole("button", { name: /Organization and account/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByLabel("E-mail").waitFor();
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });
});
