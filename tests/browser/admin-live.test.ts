/** Changes that arrive on open pages by the live stream. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page, Request } from "playwright-core";
import { sendHeldNow, startOwnedMachine } from "../support/admin-world.ts";
import { pollUntil } from "../support/poll.ts";
import { replyWith, startTarget } from "../support/target.ts";
import { describeInChromium } from "../support/browser.ts";

const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).click();

describeInChromium("an edit", (browser) => {
  let world: Awaited<ReturnType<typeof startOwnedMachine>>;
  /** A window of the owner. With a shared worker, Playwright never considers its network idle. */
  let page: Page;
  let turn = 0;
  const faults: string[] = [];
  beforeAll(async () => {
    world = await startOwnedMachine();
    const { storageState } = world;
    const context = await browser.newContext({ storageState, reducedMotion: "reduce" });
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, "SharedWorker"));
    page = await context.newPage();
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) faults.push(message.text());
    });
  });
  afterAll(async () => {
    await page.context().close();
    await world[Symbol.asyncDispose]();
  });

  /** Resolves when the page has received all events and finished its reads. */
  async function settle() {
    // A change to another record makes the page read the session. Events arrive in order.
    const known = page.waitForResponse(/\/dashboard\/session$/);
    await world.ask("PATCH", "/organization", { name: `Acme ${++turn}` });
    await known;
    await page.waitForLoadState("networkidle");
  }

  /** Records the requests that an edit on this page causes. */
  async function recordRequests(
    path: string,
    edit: () => Promise<unknown>,
    prepare?: () => Promise<unknown>,
  ): Promise<string[]> {
    const stream = page.waitForResponse(/\/dashboard\/live\?/);
    await page.goto(`${world.url}${path}`);
    await stream;
    await prepare?.();
    await settle();
    const reads: string[] = [];
    const record = (request: Request) => {
      const { pathname, search } = new URL(request.url());
      if (request.method() !== "GET" || !pathname.startsWith("/dashboard/")) return;
      reads.push(`${pathname.slice("/dashboard".length)}${search}`);
    };
    page.on("request", record);
    await edit();
    await settle();
    page.off("request", record);
    return reads.filter((path) => path !== "/session").toSorted();
  }

  /** Opens the form of the record. Its own reads have started when it shows a field. */
  async function openEditor() {
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Name", { exact: true }).waitFor();
  }

  const assertUnique = (reads: readonly string[]) => expect(reads).toEqual([...new Set(reads)]);

  test("of an incident makes the editor's page read its changes once", async () => {
    const { id } = await world.ask("POST", "/api/v1/incidents", { title: "Mails arrive late" });
    const reads = await recordRequests(`/incidents/${id}`, async () => {
      await page.getByRole("textbox", { name: "Message" }).fill("A queue was full.");
      await page.getByRole("button", { name: /^Post to/ }).click();
      await sendHeldNow(page);
      await page.getByRole("listitem").getByText("A queue was full.").waitFor();
    });
    // The list of held changes is read when the change is held, and when it is sent.
    assertUnique(reads.filter((path) => !path.startsWith("/api/v1/held-changes")));
    expect(reads).toContain(`/api/v1/incidents/${id}`);
    expect(faults).toEqual([]);
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
    const rename = async () => {
      await page.getByLabel("Name", { exact: true }).fill("Nightly backup");
      await save(page);
      await page.getByRole("heading", { name: "Nightly backup" }).waitFor();
    };
    const reads = await recordRequests(`/monitors/${id}`, rename, openEditor);
    const monitor = `/api/v1/monitors/${id}`;
    // The cache has the response of the write, unless the event arrives long before it.
    expect(reads.filter((path) => path !== monitor)).toEqual([
      `${monitor}/alert-preview`,
      "/overview",
    ]);
  });

  test("of an alert channel makes the editor's page read its changes once", async () => {
    const { id } = await world.ask("POST", "/api/v1/alert-channels", {
      type: "webhook",
      name: "Bot",
      url: "http://bot.lan/hook",
    });
    const rename = async () => {
      await page.getByLabel("Name", { exact: true }).fill("Robot");
      await save(page);
      await page.getByRole("heading", { name: "Robot" }).waitFor();
    };
    const reads = await recordRequests(`/alert-channels/${id}`, rename, openEditor);
    assertUnique(reads);
    expect(reads).toContain("/problems");
  });

  test("of the people makes the editor's page read its changes once", async () => {
    const invite = async () => {
      await page.getByLabel("E-mail").fill("bea@acme.example");
      await page.getByRole("button", { name: "Create invitation" }).click();
      await page.getByText("bea@acme.example").first().waitFor({ state: "attached" });
    };
    const reads = await recordRequests("/settings/people", invite, () =>
      page.getByRole("button", { name: "Invite people" }).click(),
    );
    assertUnique(reads);
    expect(reads).toContain("/invitations");
  });

  test("of many records in one write makes other pages read each list once", async () => {
    const monitorIds: string[] = [];
    for (let index = 0; index < 20; index++) {
      const body = { type: "push", name: `Job ${index}` };
      monitorIds.push((await world.ask("POST", "/api/v1/monitors", body)).id);
    }
    const reads = await recordRequests(
      "/",
      () =>
        world.ask("POST", "/api/v1/monitors/bulk", { monitorIds, change: { addTags: ["night"] } }),
      () => page.getByText("Job 19").waitFor(),
    );
    assertUnique(reads);
    expect(reads).toContain("/overview");
  });

  test("in any form reads at most three resources", async () => {
    const create = async (path: string, body: object): Promise<string> =>
      (await world.ask("POST", `/api/v1${path}`, body)).id;
    const manual = { type: "manual", name: "Lift" };
    const source = { type: "alertmanager", name: "Prometheus" };
    const forms: [path: string, field: string, button: string | null][] = [
      [`/monitors/${await create("/monitors", manual)}`, "Name", "Edit"],
      [
        `/incidents/${await create("/incidents", { title: "Slow", public: false })}`,
        "Title",
        "Edit",
      ],
      [`/on-call/${await create("/schedules", { name: "Night" })}`, "Name", "Edit"],
      [`/on-call/alert-sources/${await create("/alert-sources", source)}`, "Name", "Edit"],
      ["/settings/profile", "Name", null],
    ];
    for (const [path, label, button] of forms) {
      const field = page.getByLabel(label, { exact: true }).first();
      const reads = await recordRequests(
        path,
        async () => {
          const saved = page.waitForResponse((response) => response.request().method() === "PATCH");
          await (
            button === null
              ? page.getByRole("button", { name: "Save", exact: true }).first()
              : page.getByRole("dialog").locator("button[type=submit]")
          ).click();
          await saved;
        },
        async () => {
          if (button !== null)
            await page.getByRole("button", { name: button, exact: true }).click();
          await field.fill("Changed");
        },
      );
      // The page also reads its problems at an interval, and what later events of the same save concern once more.
      const caused = [...new Set(reads)].filter((read) => read !== "/problems");
      expect([path, caused.length <= 3 ? [] : caused]).toEqual([path, []]);
    }
    expect(faults).toEqual([]);
  });

  test("reaches ten tabs of one browser by one stream, even after the first tab is closed", async () => {
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
    // Requests of a shared worker can't be blocked.
    await page.route(/\/dashboard\/live/, (route) => route.abort());
    await page.goto(`${world.url}/monitors/${id}`);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Name", { exact: true }).fill("Old archive");
    await save(page);
    await page.getByRole("heading", { name: "Old archive" }).waitFor();
    expect((await world.ask("GET", `/api/v1/monitors/${id}`)).name).toBe("Old archive");
  });
});
