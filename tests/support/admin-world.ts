/** Machines with an owner, for tests of the admin page, and ways to act on them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Cookie, Page } from "playwright-core";
import { type Browser, lanName, type VisitOptions, visitPage } from "./browser.ts";
import { createMachine } from "./machine.ts";
import { replyWith, startTarget } from "./target.ts";
import type { Json } from "./json.ts";

export const owner = {
  organization: "Acme GmbH",
  name: "Ada Lovelace",
  email: "ada@acme.example",
  password: "correct horse battery",
};

/** A fresh machine before its set-up. */
export async function startFreshMachine(env: Record<string, string> = {}) {
  const box = createMachine();
  const flags = ["--rate-limit", "0", "--allowed-host", lanName];
  const server = await box.serve({ flags, env });
  const token = readFileSync(join(box.dataDir, "set-up-token"), "utf8").trim();
  return { ...server, box, flags, token, [Symbol.asyncDispose]: () => box[Symbol.asyncDispose]() };
}

/** A machine after its set-up, and a client of its owner. */
export async function startOwnedMachine(env?: Record<string, string>) {
  const fresh = await startFreshMachine(env);
  const { url, token } = fresh;
  return { ...fresh, ...(await createPersonClient(url, "/set-up", { ...owner, token })) };
}

/** A client of a person with a password. */
export const signInAs = (url: string, credentials: { email: string; password: string }) =>
  createPersonClient(url, "/sign-in", credentials);

/** A client of the person who signs in with this request. */
async function createPersonClient(url: string, entrance: string, credentials: object) {
  let cookie = "";

  async function requestDashboard(method: string, path: string, body?: object) {
    const response = await fetch(`${url}/dashboard${path}`, {
      method,
      // A reused connection can be one that the server has just closed as idle.
      keepalive: false,
      headers: {
        Origin: url,
        ...(cookie !== "" && { Cookie: cookie }),
        ...(body && { "Content-Type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const json = (await response.json()) as { data: Json };
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(json)}`);
    cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    return json.data;
  }

  await requestDashboard("POST", entrance, credentials);
  const cookies = parseCookie(cookie);
  return {
    ask: requestDashboard,
    cookie: () => cookie,
    /** Browser state in which they are signed in. */
    storageState: { cookies, origins: [] },
    /**
     * Opens an admin page as them, without animations, so that screenshots and contrasts are
     * stable.
     */
    open: (browser: Browser, path: string, options: VisitOptions = {}) =>
      visitPage(browser, `${url}${path}`, { reducedMotion: "reduce", ...options, cookies }),
    /**
     * Opens a path in the page of an earlier test without loading it again, unless that test left a dialog open. The
     * page has cached data of earlier tests, so wait for the changes of your test.
     */
    resume: (browser: Browser, path: string, options: VisitOptions = {}) =>
      visitPage(browser, `${url}${path}`, {
        reducedMotion: "reduce",
        ...options,
        cookies,
        resume: (page) => resumeAt(page, path),
      }),
  };
}

async function resumeAt(page: Page, path: string): Promise<boolean> {
  const isClear = await page.evaluate(() => {
    const open = ".toast, [role=dialog], [role=menu], [aria-label='Held changes']";
    if (document.querySelector(open) !== null || document.querySelector(".rail") === null)
      return false;
    localStorage.clear();
    sessionStorage.clear();
    return true;
  });
  if (isClear) await moveTo(page, path);
  return isClear;
}

function parseCookie(header: string): Cookie[] {
  const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(header) ?? [];
  const about = { domain: "127.0.0.1", path: "/", expires: -1, httpOnly: true, secure: false };
  return [{ name, value, ...about, sameSite: "Strict" }];
}

/**
 * An owned machine with two groups of monitors of our target, each checked once: every check is
 * rendered by every open page. `env` are variables of the server.
 */
export async function createAdminWorld(env?: Record<string, string>) {
  const owned = await startOwnedMachine(env);
  const { url, ask, open, resume } = owned;
  const site = await startTarget(replyWith(200));
  const createGroup = (name: string, color: string) =>
    ask("POST", "/api/v1/monitor-groups", { name, color, tags: ["eu"] });
  const [production, office] = [
    await createGroup("Production", "blue"),
    await createGroup("Office", "orange"),
  ];
  const createSiteMonitor = (name: string, groupId: string | null) =>
    ask("POST", "/api/v1/monitors", {
      type: "http",
      name,
      url: site.at(`/${name.toLowerCase().replaceAll(" ", "-")}`),
      groupId,
      interval: 86_400,
      retries: 0,
    });
  const monitors: Record<string, { id: string }> = {};
  for (const name of ["Checkout", "Web shop", "Search"])
    monitors[name] = await createSiteMonitor(name, production.id);
  for (const name of ["Router", "NAS"]) monitors[name] = await createSiteMonitor(name, office.id);
  monitors["Blog"] = await createSiteMonitor("Blog", null);
  return {
    url,
    dataDir: owned.box.dataDir,
    site,
    ask,
    production,
    office,
    idOf: (name: string) => monitors[name]?.id ?? "",
    open,
    resume,
    async [Symbol.asyncDispose]() {
      await owned[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

/** Console errors without those of intended error responses. */
export const selectPageFaults = (faults: readonly string[]) =>
  faults.filter(
    (fault) =>
      !/status of 4\d\d/.test(fault) &&
      // The observing script is ours; scripts are blocked in a preview's frame.
      !/^Blocked script execution in 'about:(srcdoc|blank)'/.test(fault),
  );

/** Sends the held change of the page now, and waits until it is sent. */
export async function sendHeldNow(page: Page) {
  const button = page.getByRole("button", { name: "Send now" });
  await button.click();
  await button.waitFor({ state: "detached" });
}

/** Presses Enter on a button once it is enabled. Unlike `click`, `press` does not wait for that. */
export async function pressButton(page: Page, name: string) {
  const enabled = page.locator("button:enabled");
  await page.getByRole("button", { name }).and(enabled).first().press("Enter");
}

/**
 * Shows another page as a link does: loading the admin page again costs more than most tests. The intermediate page
 * proves that nothing of the earlier one is left.
 */
export async function moveTo(page: Page, path: string) {
  const between = page.getByRole("heading", { name: /^(Page not found|Seite nicht gefunden)$/ });
  const show = (path: string) => page.evaluate((path) => history.pushState({}, "", path), path);
  await show("/nowhere");
  await between.waitFor();
  await show(path);
  await between.waitFor({ state: "detached" });
}

/** A row of the Monitors page. */
export const findRow = (page: Page, name: string) =>
  page
    .getByRole("list", { name: "Monitors by group" })
    .getByRole("listitem")
    .filter({ has: page.getByText(name, { exact: true }) });

/** Shows the page in this theme, and waits until its transitions have ended. */
export async function setTheme(page: Page, colorScheme: "light" | "dark") {
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
  await page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    const ending = document.getAnimations().filter(({ effect }) => {
      const { endTime } = effect?.getComputedTiming() ?? {};
      return Number(endTime) < Infinity;
    });
    await Promise.allSettled(ending.map(({ finished }) => finished));
  });
}

/** Opens a page as a new person whom the owner invited with this role. */
export async function visitAs(
  browser: Browser,
  { url, ask }: { url: string; ask: (method: string, path: string, body: object) => Promise<Json> },
  role: string,
  path: string,
) {
  const email = `${role}-${Date.now()}@acme.example`;
  const { link } = await ask("POST", "/invitations", { email, role });
  const token = new URL(link, url).hash.slice(1);
  const response = await fetch(`${url}/dashboard/invitations/accept`, {
    method: "POST",
    headers: { Origin: url, "Content-Type": "application/json" },
    body: JSON.stringify({ token, name: role, password: owner.password }),
  });
  const cookies = parseCookie(response.headers.get("set-cookie") ?? "");
  return visitPage(browser, `${url}${path}`, { reducedMotion: "reduce", cookies });
}
