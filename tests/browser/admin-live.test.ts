/** Changes that arrive on open pages by the live stream. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { sendHeldNow, startOwnedMachine } from "../support/admin-world.ts";
import { pollUntil } from "../support/poll.ts";
import { replyWith, startTarget } from "../support/target.ts";
import { describeInChromium } from "../support/browser.ts";

const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).click();

describeInChromium("an edit", (browser) => {
  let world: Awaited<ReturnType<typeof startOwnedMachine>>;
  let turn = 0;
  beforeAll(async () => {
    world = await startOwnedMachine();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  /** Resolves when the page has received all events and finished its reads. */
  async function settle(page: Page) {
    // A change of another record makes the page read the session; events arrive in order.
    const known = page.waitForResponse(/\/dashboard\/session$/);
    await world.ask("PATCH", "/organization", { name: `Acme ${++turn}` });
    await known;
    await page.waitForLoadState("networkidle");
  }

  /** Requests of the page that an edit causes. */
  async function readsOf(
    page: Page,
    edit: () => Promise<unknown>,
    prepare?: () => Promise<unknown>,
  ): Promise<string[]> {
    // With a shared worker, Playwright never considers the network idle.
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, "SharedWorker"));
    const stream = page.waitForResponse(/\/dashboard\/live\?/);
    await page.reload();
    await stream;
    await prepare?.();
    await settle(page);
    const reads: string[] = [];
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      if (request.method() !== "GET" || !pathname.startsWith("/dashboard/")) return;
      reads.push(`${pathname.slice("/dashboard".length)}${search}`);
    });
    await edit();
    await settle(page);
    return reads.filter((path) => path !== "/session").toSorted();
  }

  const once = (reads: readonly string[]) => expect(reads).toEqual([...new Set(reads)]);

  test("of an incident makes the editor's page read its changes once", async () => {
    const { id } = await world.ask("POST", "/api/v1/incidents", { title: "Mails arrive late" });
    await using open = await world.open(browser, `/incidents/${id}`);
    const { page } = open;
    await page.getByRole("button", { name: /^Post to/ }).waitFor();
    const reads = await readsOf(page, async () => {
      await page.getByRole("textbox", { name: "Message" }).fill("A queue was full.");
      await page.getByRole("button", { name: /^Post to/ }).click();
      await sendHeldNow(page);
      await page.getByRole("listitem").getByText("A queue was full.").waitFor();
    });
    // The list of held changes is read when the change is held, and when it is sent.
    once(reads.filter((path) => !path.startsWith("/api/v1/held-changes")));
    expect(reads).toContain(`/api/v1/incidents/${id}`);
    expect(open.faults).toEqual([]);
  });

  test("of a failing monitor makes its page read only what the edit can change, once", async () => {
    const { ask, url } = world;
    await using inbox = await startTarget(replyWith(200));
    const hook = { type: "webhook", name: "Hook", url: inbox.at("/hook") };
    const channel = await ask("POST", "/api/v1/alert-channels", hook);
    const job = { type: "push", name: "Backup", retries: 0, alertChannelIds: [channel.id] };
    const { id, pushUrl } = await ask("POST", "/api/v1/monitors", job);
    await fetch(`${url}${new URL(pushUrl).pathname}?status=down`);
    await pollUntil(
      () => ask("GET", "/attention"),
      ([failing]) => failing?.notified[0]?.status === "delivered",
    );
    await using open = await world.open(browser, `/monitors/${id}`);
    const { page } = open;
    const rename = async () => {
      await page.getByLabel("Name", { exact: true }).fill("Nightly backup");
      await save(page);
      await page.getByRole("heading", { name: "Nightly backup" }).waitFor();
    };
    const reads = await readsOf(page, rename, () =>
      page.getByRole("button", { name: "Edit", exact: true }).click(),
    );
    const monitor = `/api/v1/monitors/${id}`;
    expect(reads).toEqual([monitor, `${monitor}/alert-preview`, "/overview"]);
  });

  test("of an alert channel makes the editor's page read its changes once", async () => {
    const { id } = await world.ask("POST", "/api/v1/alert-channels", {
      type: "webhook",
      name: "Bot",
      url: "http://bot.lan/hook",
    });
    await using open = await world.open(browser, `/alert-channels/${id}`);
    const { page } = open;
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const reads = await readsOf(page, async () => {
      await page.getByLabel("Name", { exact: true }).fill("Robot");
      await save(page);
      await page.getByRole("heading", { name: "Robot" }).waitFor();
    });
    once(reads);
    expect(reads).toContain(`/api/v1/alert-channels/${id}`);
  });

  test("of the people makes the editor's page read its changes once", async () => {
    await using open = await world.open(browser, "/settings/people");
    const { page } = open;
    await page.getByRole("button", { name: "Invite people" }).click();
    const reads = await readsOf(page, async () => {
      await page.getByLabel("E-mail").fill("bea@acme.example");
      await page.getByRole("button", { name: "Create invitation" }).click();
      await page.getByText("bea@acme.example").first().waitFor({ state: "attached" });
    });
    once(reads);
    expect(reads).toContain("/invitations");
  });

  test("of many records in one write makes other pages read each list once", async () => {
    const monitorIds: string[] = [];
    for (let index = 0; index < 20; index++) {
      const body = { type: "push", name: `Job ${index}` };
      monitorIds.push((await world.ask("POST", "/api/v1/monitors", body)).id);
    }
    await using open = await world.open(browser, "/");
    const { page } = open;
    await page.getByText("Job 19").waitFor();
    const reads = await readsOf(page, () =>
      world.ask("POST", "/api/v1/monitors/bulk", { monitorIds, change: { addTags: ["night"] } }),
    );
    once(reads);
    expect(reads).toContain("/overview");
  });

  test("reaches ten tabs of one browser by one stream, also after the first tab is closed", async () => {
    const context = await browser.newContext({
      storageState: world.storageState,
      viewport: { width: 1440, height: 900 },
    });
    const tabs: Page[] = [];
    for (let index = 0; index < 10; index++) {
      const page = await context.newPage();
      tabs.push(page);
      await page.goto(world.url);
      await page.getByText("Live", { exact: true }).waitFor();
    }
    const [first, ...others] = tabs;
    for (const [name, pages] of [
      ["Tenth", tabs],
      ["After the first", others],
    ] as const) {
      await world.ask("POST", "/api/v1/monitors", { type: "push", name });
      await Promise.all(
        pages.map((page) => page.getByText(name, { exact: true }).first().waitFor()),
      );
      await first?.close();
    }
    expect(others).toHaveLength(9);
    await context.close();
  });

  test("is shown without the live stream, too", async () => {
    const { id } = await world.ask("POST", "/api/v1/monitors", { type: "push", name: "Archive" });
    await using open = await world.open(browser, `/monitors/${id}`);
    const { page } = open;
    // Requests of a shared worker can't be blocked.
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, "SharedWorker"));
    await page.route(/\/dashboard\/live/, (route) => route.abort());
    await page.reload();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Name", { exact: true }).fill("Old archive");
    await save(page);
    await page.getByRole("heading", { name: "Old archive" }).waitFor();
    expect((await world.ask("GET", `/api/v1/monitors/${id}`)).name).toBe("Old archive");
  });
});
