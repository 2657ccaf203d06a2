import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import type { Role } from "../../src/base/roles.ts";
import { overflowOf, screenshots, violations } from "./browsing.ts";
import { clientOf, machineWithKey, succeeded } from "./outside.ts";

const widths = [360, 768, 1440];

/** A machine with people of these roles, and windows in which they are signed in. */
export async function signedInAppliance(browser: Browser, roles: readonly Role[] = ["owner"]) {
  const box = await machineWithKey();
  for (const role of roles) {
    const args = ["users", "create", "--org", "acme", "--email", `${role}@team.example`];
    await succeeded(box.run([...args, "--name", role, "--role", role]));
  }
  const server = await box.serve({ flags: ["--rate-limit", "0"] });
  const api = clientOf(server.url, box.key);
  const contexts = new Map<Role, BrowserContext>();

  async function contextOf(role: Role): Promise<BrowserContext> {
    const known = contexts.get(role);
    if (known !== undefined) return known;
    const args = ["users", "reset-password", `${role}@team.example`];
    const made = (await succeeded(box.run(args))).split("\n").at(-1) ?? "";
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const answer = await context.request.post(`${server.url}/dashboard/sign-in`, {
      data: { email: `${role}@team.example`, password: made },
      headers: { Origin: server.url },
    });
    if (!answer.ok()) throw new Error(await answer.text());
    contexts.set(role, context);
    return context;
  }

  return {
    ...box,
    ...server,
    api,
    /** A page of the admin page; what it complains about is collected. */
    async open(path: string, role: Role = "owner") {
      const page = await (await contextOf(role)).newPage();
      const faults: string[] = [];
      page.on("pageerror", ({ message }) => faults.push(message));
      page.on("console", (message) => {
        // What the API refuses is told at the field; Chromium notes it all the same.
        const isRefusal = /status of 4\d\d/.test(message.text());
        if (["error", "warning"].includes(message.type()) && !isRefusal)
          faults.push(message.text());
      });
      await page.goto(server.url + path);
      return { page, faults, [Symbol.asyncDispose]: () => page.close() };
    },
  };
}

export type SignedInAppliance = Awaited<ReturnType<typeof signedInAppliance>>;

/** What axe finds in both themes, and pictures of the page at three widths; a page wider than its window is a flaw. */
export async function looksOf(page: Page, name: string): Promise<string[]> {
  const flaws: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width: 1440, height: 2_000 });
    flaws.push(...(await violations(page)).map((flaw) => `${colorScheme} ${flaw}`));
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      const overflow = await overflowOf(page);
      if (overflow > 0) flaws.push(`${width} px: ${overflow} px too wide`);
      const path = join(screenshots, `admin-${name}-${width}-${colorScheme}.png`);
      await page.screenshot({ path });
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  return flaws;
}
