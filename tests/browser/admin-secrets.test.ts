/** Secrets in forms: never shown, unchanged when left empty, required again for a new address. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { findLookFlaws, findThemeViolations } from "../support/admin-looks.ts";
import {
  createAdminWorld,
  moveTo,
  setTheme,
  selectPageFaults,
  visitAs,
} from "../support/admin-world.ts";
import { describeInChromium, storePicture } from "../support/browser.ts";
import { ntp } from "../support/fakes/ntp.ts";
import { startFake } from "../support/fakes/start-fake.ts";
import { replyWith } from "../support/target.ts";

const request = "The address changed: enter this again for the new one";
const reentryHint = "Enter it again for the new address";
const stored = "Set; leave empty to keep it";

const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).click();

/** Checks the page in both themes, and saves screenshots, one of a phone. */
async function inspect(page: Page, name: string) {
  expect(await findThemeViolations(page)).toEqual([]);
  await storePicture(page, `admin-${name}-dark.png`);
  await page.setViewportSize({ width: 390, height: 844 });
  await setTheme(page, "light");
  await storePicture(page, `admin-${name}-390-light.png`);
}

describeInChromium("stored secrets", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  beforeAll(async () => {
    world = await createAdminWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const secrets = {
    bearerToken: "a-token",
    basicAuth: { username: "probe", password: "a-password" },
    headers: { "X-Api-Key": "a-key", "X-Team": "ops" },
  };
  const createShop = (name: string): Promise<{ id: string }> =>
    world.ask("POST", "/api/v1/monitors", {
      type: "http",
      name,
      url: world.site.at(`/${name}`),
      interval: 86_400,
      ...secrets,
    });
  const findLastRequest = (path: string) => world.site.asked.findLast((one) => one.path === path);

  /** The editor of a monitor with its sections open. */
  async function openEditor(page: Page) {
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("button", { name: /^Request/ }).click();
    await page.getByRole("button", { name: /^Authentication/ }).click();
    await page.getByLabel("Value of X-Api-Key").waitFor();
  }

  test("after a change of a monitor's address each secret must be entered again at its field", async () => {
    const { id } = await createShop("moving");
    await using open = await world.resume(browser, `/monitors/${id}`);
    const { page } = open;
    await openEditor(page);
    const fields = {
      bearer: page.getByLabel("Bearer token"),
      password: page.getByLabel("Password", { exact: true }),
      key: page.getByLabel("Value of X-Api-Key"),
      team: page.getByLabel("Value of X-Team"),
    };
    const buildPlaceholders = () =>
      Promise.all(Object.values(fields).map((field) => field.getAttribute("placeholder")));
    expect(await buildPlaceholders()).toEqual([stored, stored, stored, stored]);
    const url = world.site.at("/moved").replace("127.0.0.1", "localhost");
    await page.getByLabel("URL", { exact: true }).fill(url);
    expect(await buildPlaceholders()).toEqual([reentryHint, reentryHint, reentryHint, reentryHint]);
    await save(page);
    await page.getByText(request).first().waitFor();
    expect(await page.getByText(`${request}, or clear it.`).count()).toBe(2);
    expect(await page.getByText(`${request}, or remove it.`).count()).toBe(2);
    await page.waitForFunction(
      () => document.activeElement?.getAttribute("aria-invalid") === "true",
    );
    await inspect(page, "secrets-asked-again");
    await fields.bearer.fill("new-token");
    await fields.password.fill("new-password");
    await fields.key.fill("new-key");
    await page.getByRole("button", { name: "Remove X-Team" }).click();
    await save(page);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const saved = await world.ask("GET", `/api/v1/monitors/${id}`);
    expect([saved.url, saved.headers]).toEqual([url, { "X-Api-Key": null }]);
    await world.ask("POST", `/api/v1/monitors/${id}/check`);
    expect(findLastRequest("/moved")?.headers).toMatchObject({
      authorization: "Bearer new-token",
      "x-api-key": "new-key",
    });
    expect(findLastRequest("/moved")?.headers).not.toHaveProperty("x-team");
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("steps are edited and moved, with variables that are stored and never shown", async () => {
    const { id } = await createShop("stepping");
    world.site.setReply(replyWith(200, '{"id": 7}'), "/stepping");
    await using open = await world.resume(browser, `/monitors/${id}`);
    const { page } = open;
    await openEditor(page);
    await page.getByRole("button", { name: /^Steps/ }).click();
    await page.getByRole("button", { name: "Add variable" }).click();
    await page.getByLabel("Variable name").fill("pass");
    await page.getByLabel("Value of pass").fill("a-variable");
    await page.getByRole("button", { name: "Add saved value" }).first().click();
    await page.getByLabel("Name of saved value 1").fill("id");
    await page.getByLabel("JSON path or header of saved value 1").fill("$.id");
    const steps = page.getByRole("list", { name: "Further steps" }).getByRole("listitem");
    for (const [index, path] of ["/last", "/cart/{{id}}"].entries()) {
      await page.getByRole("button", { name: "Add step" }).click();
      await steps.nth(index).getByLabel("URL or path").fill(path);
    }
    const cart = steps.nth(1);
    await cart.getByLabel("Name", { exact: true }).fill("Cart");
    await cart.getByRole("button", { name: /^Request/ }).click();
    await cart.getByRole("button", { name: "Add header" }).click();
    await cart.getByLabel("Header name").fill("X-Token");
    await cart.getByLabel("Value of X-Token").fill("{{pass}}");
    await cart.getByRole("button", { name: /^Assertions/ }).click();
    await cart.getByRole("button", { name: "Add assertion" }).click();
    await cart.getByLabel("Value of assertion 1").fill("fine");
    await page.getByRole("button", { name: "Move step 3", exact: true }).focus();
    await page.keyboard.press("ArrowUp");
    await page.getByText("Step 2: Cart").waitFor();
    await page.getByRole("button", { name: "Test now" }).click();
    await page.getByRole("dialog").getByText("Up", { exact: true }).waitFor();
    expect(findLastRequest("/cart/7")?.headers).toMatchObject({
      "x-token": "a-variable",
      authorization: "Bearer a-token",
    });
    await save(page);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const saved = await world.ask("GET", `/api/v1/monitors/${id}`);
    expect(saved).toMatchObject({
      variables: { pass: null },
      save: [{ name: "id", source: "json", path: "$.id", expression: null }],
      steps: [
        { name: "Cart", url: "/cart/{{id}}", headers: { "X-Token": "{{pass}}" } },
        { name: null, url: "/last" },
      ],
    });
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("unchanged secrets are retained, and used by Test now before saving", async () => {
    const { id } = await createShop("staying");
    await using open = await world.resume(browser, `/monitors/${id}`);
    const { page } = open;
    await openEditor(page);
    await page.getByLabel("URL", { exact: true }).fill(world.site.at("/tried"));
    await page.getByLabel("Value of X-Team").fill("infra");
    await page.getByRole("button", { name: "Test now" }).click();
    await page.getByRole("dialog").getByText("Up", { exact: true }).waitFor();
    const sent = { authorization: "Bearer a-token", "x-api-key": "a-key", "x-team": "infra" };
    expect(findLastRequest("/tried")?.headers).toMatchObject(sent);
    await save(page);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await world.ask("POST", `/api/v1/monitors/${id}/check`);
    expect(findLastRequest("/tried")?.headers).toMatchObject(sent);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a type is found by its purpose; its test and its page show its relevant details", async () => {
    await using clock = await startFake(ntp);
    await using open = await world.resume(browser, "/");
    const { page } = open;
    await page.getByText("Web shop").waitFor();
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByRole("option", { name: /Create monitor/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox", { name: "Type" }).fill("stratum");
    await page.getByRole("option", { name: /^NTP/ }).click();
    await dialog.getByLabel("Name", { exact: true }).fill("Clock");
    await dialog.getByLabel("Host", { exact: true }).fill("127.0.0.1");
    await dialog.getByLabel("Port", { exact: true }).fill(String(clock.port));
    await dialog.getByLabel("Largest offset").fill("3600000");
    await dialog.getByLabel("Largest stratum").fill("1");
    await page.setViewportSize({ width: 390, height: 700 });
    await dialog.getByRole("button", { name: "Test now" }).click();
    const issue = dialog.getByText("The server is of stratum 2, above 1.");
    await issue.waitFor();
    const isInSight = (node: Element) => {
      const { x, y } = node.getBoundingClientRect();
      return node.contains(document.elementFromPoint(x + 5, y + 5));
    };
    await page.waitForFunction(isInSight, await issue.elementHandle());
    const findOutcome = (where: Locator) =>
      where
        .locator(".details > div")
        .filter({ hasText: "Stratum" })
        .getByText("2", { exact: true });
    await findOutcome(dialog).waitFor();
    expect(await findThemeViolations(page)).toEqual([]);
    await dialog.getByLabel("Largest stratum").fill("");
    await dialog.getByRole("button", { name: "Create monitor" }).click();
    await dialog.waitFor({ state: "detached" });
    const [{ id }] = await world.ask("GET", "/api/v1/monitors?q=Clock");
    await moveTo(page, `/monitors/${id}`);
    await page.getByText("Clock offset").waitFor();
    await findOutcome(page.locator("main")).waitFor();
    expect(await findLookFlaws(page, "monitor-details")).toEqual([]);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a copy has no secrets, names them, and needs the values of its headers", async () => {
    const { id } = await createShop("original");
    await using open = await world.resume(browser, `/monitors/${id}`);
    const { page } = open;
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Duplicate" }).click();
    await page.getByText("Secrets are not copied").waitFor();
    await page.getByRole("button", { name: /^Request/ }).click();
    await page.getByRole("button", { name: /^Authentication/ }).click();
    const key = page.getByLabel("Value of X-Api-Key");
    expect(await key.getAttribute("placeholder")).toBe("Enter the value");
    const create = page.getByRole("button", { name: "Create monitor" });
    await create.click();
    await page.getByText("Needs its value").first().waitFor();
    expect(await page.getByText("Needs its value").count()).toBe(2);
    await inspect(page, "secrets-copy");
    await key.fill("copied");
    await page.getByRole("button", { name: "Remove X-Team" }).click();
    await create.click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const all = await world.ask("GET", "/api/v1/monitors?q=Copy%20of%20original");
    expect(all).toMatchObject([{ secretsSet: [], headers: { "X-Api-Key": null } }]);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("secrets of a channel and of the mail server must be entered again as well", async () => {
    const { id } = await world.ask("POST", "/api/v1/alert-channels", {
      type: "webhook",
      name: "Bot",
      url: world.site.at("/hook"),
      headers: { "X-Api-Key": "a-key" },
      secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    });
    const smtp = { host: "mail.lan", user: "box", password: "a-password", from: "box@mail.lan" };
    await world.ask("PATCH", "/api/v1/settings", { smtp });
    await using open = await world.resume(browser, `/alert-channels/${id}`);
    const { page } = open;
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("URL", { exact: true }).fill("http://elsewhere.lan/hook");
    await save(page);
    await page.getByText(`${request}, or clear it.`).waitFor();
    await page.getByText(`${request}, or remove it.`).waitFor();
    await inspect(page, "secrets-channel");

    await moveTo(page, "/settings/mail-server");
    await page.getByLabel("Host").fill("elsewhere.lan");
    const password = page.getByLabel("Password", { exact: true });
    expect(await password.getAttribute("placeholder")).toBe(reentryHint);
    await page.getByRole("button", { name: "Send test e-mail" }).click();
    await page.getByText(`${request}, or clear it.`).waitFor();
    await inspect(page, "secrets-mail-server");
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("without write access, the page explains why there is no push address", async () => {
    const { id } = await world.ask("POST", "/api/v1/monitors", { type: "push", name: "Job" });
    await using mine = await world.open(browser, `/monitors/${id}`);
    await mine.page.getByText("/push/").waitFor();
    await using theirs = await visitAs(browser, world, "viewer", `/monitors/${id}`);
    await theirs.page.getByText("Anyone who knows it can report").waitFor();
    expect(await theirs.page.content()).not.toContain("/push/");
    await inspect(theirs.page, "push-viewer");
    expect(selectPageFaults(theirs.faults)).toEqual([]);
  });
});
