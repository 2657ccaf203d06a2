/** Incidents on the admin page: updates, notes, postmortems, templates, previews. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { findLookFlaws, defineLookTests } from "../support/admin-looks.ts";
import {
  createAdminWorld,
  selectPageFaults,
  findRow,
  moveTo,
  pressButton,
  sendHeldNow,
  visitAs,
} from "../support/admin-world.ts";
import { describeInChromium, storePicture, findViolations, visitPage } from "../support/browser.ts";
import { hostileMarkdown } from "../support/hostile-markdown.ts";
import { replyWith } from "../support/target.ts";

const locateDialog = (page: Page, name: string) => page.getByRole("dialog", { name });
const locateMessage = (page: Page) => page.getByRole("textbox", { name: "Message" });

describeInChromium("incidents", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  let incidentId = "";
  beforeAll(async () => {
    world = await createAdminWorld();
    const { ask, idOf } = world;
    await ask("PATCH", "/organization", { timeZone: "Europe/Berlin" });
    await ask("POST", "/api/v1/alert-channels", {
      type: "webhook",
      name: "Slack #ops",
      url: world.site.at("/hook"),
    });
    const opened = await ask("POST", "/api/v1/incidents", {
      title: "Checkout fails for some customers",
      severity: "major",
      monitorIds: [idOf("Checkout"), idOf("Web shop")],
      message: "Between 8 and 12 % of payments are rejected.",
    });
    incidentId = opened.id;
    await ask("POST", `/api/v1/incidents/${incidentId}/notes`, {
      message: "Old key is cached in `SignatureVerifier.keys`: restart the workers.",
    });
    await ask("POST", "/api/v1/incident-templates", {
      name: "Supplier",
      status: "identified",
      message:
        "We are looking into it: {{monitors}} waits for a supplier since {{time}}, {{ severity }}.",
    });
    const past = await ask("POST", "/api/v1/incidents", { title: "Slow search results" });
    await ask("POST", `/api/v1/incidents/${past.id}/resolve`);
    const wrong = await ask("POST", "/api/v1/incidents", { title: "Wrong customer" });
    await ask("DELETE", `/api/v1/incidents/${wrong.id}`);
    const job = { name: "Old job", type: "push" };
    const old = await ask("POST", "/api/v1/monitors", job);
    await ask("DELETE", `/api/v1/monitors/${old.id}`);
    await ask("POST", "/api/v1/monitors", job);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  defineLookTests((path) => world.open(browser, path), {
    incidents: () => ["/incidents", "Slow search results"],
    "recently-deleted": () => ["/settings/deleted", "Wrong customer"],
    incident: () => [`/incidents/${incidentId}`, "Post to 1 page, 1 channel"],
    "incident-templates": () => ["/settings/incident-templates", "Supplier"],
    "incident-template": () => ["/settings/incident-templates?new=true", "Title of a new incident"],
  });

  test("deleted records are restored, also from the audit log; a taken name is asked for", async () => {
    await using open = await world.resume(browser, "/settings/audit-log");
    const { page } = open;
    const restoring = page.getByRole("button", { name: "Restore Wrong customer" });
    await restoring.click();
    await page.getByText("Restored Wrong customer").waitFor();
    await restoring.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Recently deleted" }).click();
    await page.getByRole("button", { name: "Restore Old job" }).click();
    const request = locateDialog(page, "Restore Old job");
    await request.getByRole("textbox", { name: "Name" }).fill("Older job");
    await request.getByRole("button", { name: "Restore" }).click();
    await page.getByText("Nothing was deleted").waitFor();
    await moveTo(page, "/incidents");
    await page.getByText("Wrong customer").first().waitFor();
    expect(await page.getByText("Wrong customer").count()).toBeGreaterThan(0);
  });

  test("by keyboard alone, an incident is created, identified, resolved and reopened, and the public page follows", async () => {
    await using open = await world.resume(browser, "/");
    const { page } = open;
    await page.getByText("Web shop").waitFor();
    await page.keyboard.press("ControlOrMeta+k");
    await page.keyboard.type("create inc");
    await page.getByRole("option", { name: "Create incident" }).first().waitFor();
    await page.keyboard.press("Enter");
    await locateDialog(page, "Create incident").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByText("Must not be empty.").waitFor();
    await page.keyboard.type("Mails arrive late");
    await page.keyboard.press("Enter");
    // A second Enter does not publish an empty update.
    await locateDialog(page, "Create an incident without details?").waitFor();
    expect(await page.locator(":focus").textContent()).toBe("Keep editing");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await sendHeldNow(page);
    await page.getByRole("heading", { name: "Mails arrive late" }).waitFor();
    await page.getByText("1 open").first().waitFor({ state: "detached" });

    await page.keyboard.press("u");
    await locateMessage(page).waitFor();
    await page.keyboard.type("A queue is stuck.");
    await page.getByText("Identified", { exact: true }).first().click();
    // A reload loses neither of them.
    await page.reload();
    await page.getByText("What you typed earlier is back.").waitFor();
    expect(await locateMessage(page).inputValue()).toBe("A queue is stuck.");
    await locateMessage(page).focus();
    await page.keyboard.press("ControlOrMeta+Enter");
    await sendHeldNow(page);
    await page.getByRole("listitem").getByText("A queue is stuck.").waitFor();
    await page.getByText("will notify Slack #ops").waitFor();
    await page.getByText(/· you/).first().waitFor();
    await page.waitForFunction(
      () => document.querySelector<HTMLTextAreaElement>("[aria-label=Message]")?.value === "",
    );

    await pressButton(page, "Resolve");
    await sendHeldNow(page);
    await page.getByText("Incident resolved.").waitFor();
    await pressButton(page, "Reopen");
    await sendHeldNow(page);
    await page.getByRole("button", { name: "Resolve" }).first().waitFor();
    const [{ slug }] = await world.ask("GET", "/api/v1/status-pages");
    const pageText = await (await fetch(`${world.url}/status/${slug}`)).text();
    expect(pageText).toContain("A queue is stuck.");
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("by keyboard alone, the rows of each list can be walked and opened; keys in fields and dialogs move nothing", async () => {
    const formatHoursAhead = (hours: number) =>
      new Date(Date.now() + hours * 3_600_000).toISOString();
    for (const [title, from] of [
      ["New switches", 1],
      ["New disks", 24],
    ] as const)
      await world.ask("POST", "/api/v1/maintenance-windows", {
        title,
        startsAt: formatHoursAhead(from),
        endsAt: formatHoursAhead(from + 1),
        monitorIds: [world.idOf("NAS")],
      });
    const hook = { type: "webhook", url: world.site.at("/hook") };
    await world.ask("POST", "/api/v1/alert-channels", { ...hook, name: "On call" });
    await world.ask("POST", "/api/v1/status-pages", { slug: "internal", title: "Internal" });
    await using open = await world.open(browser, "/");
    const { page } = open;
    const press = (key: string) => page.keyboard.press(key);
    await findRow(page, "NAS").waitFor();
    const focused = page.locator(":focus[data-item-focus]");
    for (const [keys, ready] of [
      ["gi", "Slow search results"],
      ["gw", "New disks"],
      ["gc", "On call"],
      ["gs", "Internal"],
      ["gr", "Checkout"],
    ] as const) {
      for (const key of keys) await press(key);
      await page.locator("[data-item]", { hasText: ready }).first().waitFor();
      const rows = await page.locator("[data-item-focus]").allTextContents();
      expect(rows.length).toBeGreaterThan(1);
      const walked: (string | null)[] = [];
      for (const key of ["j", "ArrowDown", "k", "ArrowUp", "j"]) {
        await press(key);
        walked.push(await focused.textContent());
      }
      const [first, second] = rows;
      expect([keys, walked]).toEqual([keys, [first, second, first, first, second]] as never);
      await press("?");
      await locateDialog(page, "Shortcuts").waitFor();
      await press("k");
      await press("ArrowUp");
      await press("Escape");
      await locateDialog(page, "Shortcuts").waitFor({ state: "detached" });
      expect(await focused.textContent()).toBe(second ?? null);
      const href = await focused.getAttribute("href");
      await press("Enter");
      await page.waitForURL(`**${href}`);
    }
    await moveTo(page, "/incidents");
    await page.getByRole("region", { name: "Resolved" }).waitFor();
    await press("/");
    await page.keyboard.type("kj");
    expect(await page.locator(":focus").inputValue()).toBe("kj");
    // Starts below the row under the pointer, wherever the focus is.
    await moveTo(page, "/alert-channels");
    await page.locator("[data-item]").first().hover();
    await press("j");
    await page.locator("[data-item]").nth(1).locator(":focus").waitFor();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("before an update is posted, the editor names failing channels among its receivers", async () => {
    const { ask, site } = world;
    site.setReply(replyWith(503), "/pager");
    const pager = { type: "webhook", name: "Pager", url: site.at("/pager") };
    const { id } = await ask("POST", "/api/v1/alert-channels", pager);
    await ask("POST", `/api/v1/alert-channels/${id}/test`);
    await using open = await world.resume(browser, `/incidents/${incidentId}`);
    const { page } = open;
    const audience = page.locator(".audience", { hasText: "will notify" });
    await audience.getByText("Pager is failing").waitFor();
    expect(await audience.textContent()).toMatch(/will notify .*Slack #ops.* Pager is failing$/);
    await ask("DELETE", `/api/v1/alert-channels/${id}`);
    await audience.getByText("Pager is failing").waitFor({ state: "detached" });
    expect(open.faults).toEqual([]);
  });

  test("right-to-left names keep their direction and place, and so does the text around them", async () => {
    const { ask, site } = world;
    site.setReply(replyWith(503), "/night");
    const channel = { type: "webhook", name: "תורנות 2", url: site.at("/night") };
    const { id: channelId } = await ask("POST", "/api/v1/alert-channels", channel);
    await ask("POST", `/api/v1/alert-channels/${channelId}/test`);
    const { id: monitorId } = await ask("POST", "/api/v1/monitors", {
      type: "http",
      name: "بوابة الدفع",
      url: site.at("/payments"),
      retries: 0,
    });
    await ask("POST", `/api/v1/monitors/${monitorId}/check`);
    const { id } = await ask("POST", "/api/v1/incidents", {
      title: "فشل الدفع (HTTP 503)",
      monitorIds: [monitorId],
    });
    site.setReply(replyWith(502), "/payments");
    await ask("POST", `/api/v1/monitors/${monitorId}/check`);
    await using open = await world.resume(browser, `/incidents/${id}`);
    const { page } = open;
    /** The words in their order from left to right. */
    const orderOf = (box: Locator, words: string[]) =>
      box.evaluate((element, words) => {
        const leftOf = (word: string) => {
          const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
          while (texts.nextNode()) {
            const { currentNode: node } = texts;
            const at = node.textContent?.indexOf(word) ?? -1;
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + word.length);
            return range.getBoundingClientRect().left;
          }
          return Number.NaN;
        };
        return words.toSorted((one, other) => leftOf(one) - leftOf(other));
      }, words);
    const failing = page.locator(".audience b");
    await failing.getByText("תורנות 2").waitFor();
    expect(await orderOf(failing, ["failing", "תורנות"])).toEqual(["תורנות", "failing"]);
    const line = page.getByRole("listitem").filter({ hasText: "is down" });
    await line.waitFor();
    expect(await orderOf(line, ["is down", "بوابة"])).toEqual(["بوابة", "is down"]);
    const title = page.getByRole("heading", { name: "فشل الدفع" });
    expect(await orderOf(title, ["فشل", "HTTP"])).toEqual(["HTTP", "فشل"]);
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByText("Incidents").click();
    const row = page.getByRole("region", { name: "Open" }).locator(".row-cut", { hasText: "فشل" });
    expect(await orderOf(row, ["فشل", "HTTP"])).toEqual(["HTTP", "فشل"]);
    const [named, about] = await row.locator("> *").evaluateAll((lines) =>
      lines.map((line) => {
        const range = document.createRange();
        range.selectNodeContents(line);
        return Math.round(range.getBoundingClientRect().left);
      }),
    );
    expect(named).toBe(about ?? Number.NaN);
    await ask("DELETE", `/api/v1/alert-channels/${channelId}`);
    await ask("DELETE", `/api/v1/incidents/${id}`);
    await ask("DELETE", `/api/v1/monitors/${monitorId}`);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("with a draft, the header posts and resolves; until it is sent, nothing is public, and undo restores the draft", async () => {
    const { ask, url } = world;
    const { id } = await ask("POST", "/api/v1/incidents", { title: "Slow logins" });
    const [{ slug }] = await ask("GET", "/api/v1/status-pages");
    const readPublic = async () => (await fetch(`${url}/status/${slug}/incidents/${id}`)).text();
    await using open = await world.open(browser, `/incidents/${id}`);
    await using other = await world.open(browser, "/");
    const { page } = open;
    await locateMessage(page).fill("Logins work again.");
    await page.getByRole("button", { name: "Post and resolve" }).click();
    await page.getByText(/^Sending in \d+ s$/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await storePicture(page, "admin-incident-held-1280-light.png");
    await other.page.getByText("Resolution: Slow logins", { exact: true }).waitFor();
    expect(await readPublic()).not.toContain("Logins work again.");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText(/^Sending in/).waitFor({ state: "detached" });
    expect(await locateMessage(page).inputValue()).toBe("Logins work again.");
    expect((await ask("GET", `/api/v1/incidents/${id}`)).updates).toHaveLength(1);
    await page.getByRole("button", { name: "Post and resolve" }).first().click();
    // Closing the tab changes nothing.
    await page.getByText(/^Sending in \d+ s$/).waitFor();
    await page.goto("about:blank");
    await sendHeldNow(other.page);
    await page.goto(`${url}/incidents/${id}`);
    await page.getByRole("listitem").getByText("Logins work again.").waitFor();
    await page
      .getByRole("button", { name: /^Delivered to \d+$/ })
      .first()
      .click();
    await page.getByText("Slack #ops · Delivered").filter({ visible: true }).first().waitFor();
    expect(await readPublic()).toContain("Logins work again.");
    await ask("DELETE", `/api/v1/incidents/${id}`);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a preview shows the public page with the unsaved update", async () => {
    await using open = await world.open(browser, `/incidents/${incidentId}`);
    const { page } = open;
    await locateMessage(page).fill("We are rolling back.");
    await page.getByText("Monitoring", { exact: true }).click();
    await page.getByRole("button", { name: "Preview page" }).click();
    const inPanel = page.locator(".customer-view").frameLocator("iframe");
    for (const frame of [page.getByRole("dialog").frameLocator("iframe"), inPanel]) {
      await frame.getByText("We are rolling back.").waitFor();
      await frame.getByRole("heading", { name: "Checkout fails for some customers" }).waitFor();
    }
    await storePicture(page, "admin-incident-preview-1280-light.png");
    await page.keyboard.press("Escape");
    expect(await locateMessage(page).inputValue()).toBe("We are rolling back.");
    const { updates } = await world.ask("GET", `/api/v1/incidents/${incidentId}`);
    expect(updates).toHaveLength(1);
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("Markdown is rendered while it is typed, and after posting; hostile texts do nothing", async () => {
    // The API rejects control characters.
    const hostile = hostileMarkdown.join("\n\n").replaceAll("\u0001", "");
    const { id } = await world.ask("POST", "/api/v1/incidents", {
      title: "Payments",
      message: hostile,
      public: false,
    });
    await using open = await world.resume(browser, `/incidents/${id}`);
    const { page } = open;
    await page.evaluate(() => Object.assign(window, { hit: () => (document.title = "hit") }));
    await locateMessage(page).fill(hostile);
    const preview = page.getByRole("group", { name: "Formatted" });
    await preview.getByText("hit()").first().waitFor();
    await locateMessage(page).fill("Payments work again");
    await locateMessage(page).press("ControlOrMeta+a");
    await locateMessage(page).press("ControlOrMeta+b");
    await locateMessage(page).press("End");
    await page.keyboard.type(" since 12:48.");
    await page.keyboard.press("Enter");
    await page.keyboard.type("all is replayed");
    await page.getByRole("button", { name: "List" }).click();
    expect(await locateMessage(page).inputValue()).toBe(
      "**Payments work again** since 12:48.\n- all is replayed",
    );
    await preview.getByRole("strong").getByText("Payments work again").waitFor();
    await preview.getByRole("listitem").getByText("all is replayed").waitFor();
    await locateMessage(page).press("ControlOrMeta+z");
    expect(await locateMessage(page).inputValue()).toEndWith("12:48.\nall is replayed");
    await locateMessage(page).press("ControlOrMeta+Enter");
    await sendHeldNow(page);
    await page.getByRole("listitem").getByRole("strong").getByText("Payments work again").waitFor();
    expect(await page.title()).not.toContain("hit");
    const targets = await page
      .locator(".md a")
      .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).protocol));
    expect([...new Set(targets)].sort()).toEqual(["http:", "https:"]);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a note is internal: it is written next to the update, saved as a draft, and deleted with undo", async () => {
    await using open = await world.open(browser, `/incidents/${incidentId}`);
    const { page } = open;
    const note = page.getByRole("textbox", { name: "Note" });
    await locateMessage(page).fill("Half an update.");
    await page.getByRole("tab", { name: "Internal note" }).click();
    await note.fill("Ann holds the **key**.");
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("ControlOrMeta+Enter");
    const written = page.getByRole("listitem").filter({ hasText: "Ann holds the key." });
    await written.getByText("· you").waitFor();
    await storePicture(page, "admin-incident-note-1280-light.png");
    await page.getByRole("tab", { name: "Public update" }).click();
    expect(await locateMessage(page).inputValue()).toBe("Half an update.");
    await locateMessage(page).fill("");
    await page.getByText("Notes", { exact: true }).click();
    await page.getByRole("listitem").getByText("Investigating").waitFor({ state: "detached" });
    const [{ slug }] = await world.ask("GET", "/api/v1/status-pages");
    const publicPage = await fetch(`${world.url}/status/${slug}/incidents/${incidentId}`);
    expect(await publicPage.text()).not.toMatch(/Ann holds|SignatureVerifier/);
    await written.getByRole("button", { name: "Delete" }).click();
    await written.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /Undo/ }).click();
    await written.waitFor();
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("drafts of an update and of a note are both restored, with one message", async () => {
    await using open = await world.open(browser, `/incidents/${incidentId}`);
    const { page } = open;
    const note = page.getByRole("textbox", { name: "Note" });
    const getTab = (name: string) => page.getByRole("tab", { name });
    await locateMessage(page).fill("Half an update.");
    await getTab("Internal note").click();
    await note.fill("Half a note.");
    await page.getByRole("link", { name: "Incidents" }).first().click();
    await page.getByRole("region", { name: "Resolved" }).waitFor();
    expect(await page.getByText("What you typed is kept").count()).toBe(1);
    await page.goBack();
    expect(await locateMessage(page).inputValue()).toBe("Half an update.");
    await locateMessage(page).fill("");
    await getTab("Internal note").click();
    expect(await note.inputValue()).toBe("Half a note.");
    await note.fill("");
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("an update's text is edited in place, and its earlier text can be read", async () => {
    const { id } = await world.ask("POST", "/api/v1/incidents", {
      title: "Typing errors",
      message: "Teh cause is unknown.\n\n- not the disk\n- not the network",
    });
    await using open = await world.resume(browser, `/incidents/${id}`);
    const { page } = open;
    await page.getByRole("button", { name: "Edit update" }).click();
    const field = locateDialog(page, "Edit update").getByRole("textbox", { name: "Message" });
    await field.fill("The cause is unknown.");
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("listitem").getByText("The cause is unknown.").waitFor();
    await page.getByRole("button", { name: /^Edited/ }).click();
    const earlier = locateDialog(page, "Earlier versions");
    await earlier.getByText("Teh cause is unknown.").waitFor();
    const points = earlier.locator(".md li");
    const lines = points.evaluateAll((all) =>
      all.map((one) => getComputedStyle(one).borderTopWidth),
    );
    expect(await lines).toEqual(["0px", "0px"]);
    await page.getByText("You edited an update").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await storePicture(page, "admin-incident-revisions-1280-light.png");
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a postmortem is written, saved as a draft, and published after the incident's end", async () => {
    const { id } = await world.ask("POST", "/api/v1/incidents", { title: "Queue was stuck" });
    await world.ask("POST", `/api/v1/incidents/${id}/resolve`);
    await using open = await world.resume(browser, `/incidents/${id}`);
    const { page } = open;
    await page.getByRole("link", { name: "Write postmortem" }).click();
    const text = page.getByRole("textbox", { name: /^Impact/ });
    // The timeline is next to the text.
    await page.getByRole("region", { name: "Activity" }).getByText("Incident opened.").waitFor();
    await text.fill("**Root cause**\n\nA worker kept the old key.");
    const preview = page.getByRole("group", { name: "Formatted" });
    await preview.getByText("Root cause", { exact: true }).waitFor();
    await page.getByRole("textbox", { name: "New action item" }).fill("Read the key again (Ada)");
    await page.keyboard.press("Enter");
    expect(await text.inputValue()).toEndWith("\n\n- [ ] Read the key again (Ada)");
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Save draft" }).click();
    await text.waitFor({ state: "detached" });
    await page.getByText("A worker kept the old key.").waitFor();
    await page.getByRole("checkbox", { name: "Read the key again (Ada)" }).click();
    await page.getByText("☑ Read the key again (Ada)").waitFor();
    await page.getByRole("button", { name: "Publish" }).click();
    await locateDialog(page, "Publish the postmortem?").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Publish" }).last().click();
    await sendHeldNow(page);
    await page.getByText(/^Published \d/).waitFor();
    expect(await findLookFlaws(page, "incident-postmortem")).toEqual([]);
    const [{ slug }] = await world.ask("GET", "/api/v1/status-pages");
    await using publicPage = await visitPage(
      browser,
      `${world.url}/status/${slug}/incidents/${id}`,
    );
    await publicPage.page.getByText("A worker kept the old key.").waitFor();
    const [postmortem, timeline] = await Promise.all(
      ["#postmortem", ".timeline"].map((part) => publicPage.page.locator(part).boundingBox()),
    );
    const gap = (timeline?.y ?? 0) - (postmortem?.y ?? 0) - (postmortem?.height ?? 0);
    expect(gap).toBeGreaterThan(8);
    expect(await findViolations(publicPage.page)).toEqual([]);
    await storePicture(publicPage.page, "status-postmortem-1280-light.png");
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const written = page.getByText("A worker kept the old key.");
    await written.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Undo/ }).click();
    await written.waitFor();
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("an incident is printed dark on white without navigation, in either theme", async () => {
    await world.ask("POST", `/api/v1/incidents/${incidentId}/notes`, { message: "Only for us" });
    await using open = await world.open(browser, `/incidents/${incidentId}`, {
      colorScheme: "dark",
    });
    const { page } = open;
    await page.getByRole("region", { name: "Activity" }).waitFor();
    await page.getByText("Only for us").waitFor();
    await locateMessage(page).fill("We restart 10.20.0.14.");
    await page.getByText("Customers don’t know “10.20.0.14”.").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await locateMessage(page).fill("");
    await page.getByText("Customers don’t know").waitFor({ state: "detached" });
    await page.emulateMedia({ media: "print" });
    await page.getByRole("navigation", { name: "Main" }).waitFor({ state: "hidden" });
    // Controls and internal notes are not for readers on paper.
    for (const inside of [
      page.getByText("Only for us"),
      page.getByRole("region", { name: "Post an update" }),
      page.getByRole("button"),
    ])
      expect(await inside.filter({ visible: true }).count()).toBe(0);
    const [ink = 255, paper = 0] = await page.evaluate(() =>
      (["color", "backgroundColor"] as const).map((part) =>
        Number(/\d+/.exec(getComputedStyle(document.body)[part])?.[0]),
      ),
    );
    expect(ink).toBeLessThan(80);
    expect(paper).toBe(255);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("the printed list of incidents has the start and the full title of each", async () => {
    const title = "Checkout, search and the web shop answer slowly ".repeat(5).trim();
    const { id } = await world.ask("POST", "/api/v1/incidents", { title });
    await using open = await world.open(browser, "/incidents", {
      viewport: { width: 794, height: 1123 },
    });
    const { page } = open;
    const row = page.getByRole("listitem").filter({ hasText: title });
    await row.waitFor();
    await page.emulateMedia({ media: "print" });
    await row.locator("time").filter({ visible: true }).waitFor();
    const isCut = await row
      .locator("b")
      .first()
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
    expect(isCut).toBe(false);
    await world.ask("DELETE", `/api/v1/incidents/${id}`);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("templates fill the message; another person's update in the meantime leads to a choice", async () => {
    const { id } = await world.ask("POST", "/api/v1/incidents", {
      title: "Slow pages",
      monitorIds: [world.idOf("Search")],
    });
    await using open = await world.resume(browser, `/incidents/${id}`);
    const { page } = open;
    await page.getByRole("button", { name: "Templates" }).click();
    await page.getByRole("menuitem", { name: /Looking into it/ }).click();
    expect(await locateMessage(page).inputValue()).toStartWith("We are looking into it.");
    await locateMessage(page).fill("");
    await page.getByRole("button", { name: "Templates" }).click();
    await page.getByRole("menuitem", { name: "Edit templates" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    // The menu shows the template's text as it will be in the message.
    const supplier = page.getByRole("menuitem", { name: /^Supplier Identified/ });
    expect(await supplier.locator(".template-text").innerText()).toMatch(
      /^We are looking into it: Search waits for a supplier since \d\d:\d\d \S+, minor\.$/,
    );
    await supplier.click();
    expect(await locateMessage(page).inputValue()).toMatch(
      /^We are looking into it: Search waits for a supplier since \d\d:\d\d \S+, minor\.$/,
    );
    await world.ask("PATCH", `/api/v1/incidents/${id}`, { message: "Found it elsewhere." });
    await page.getByText("Found it elsewhere.").waitFor();
    await page.getByRole("button", { name: /^Post to/ }).click();
    await locateDialog(page, "Someone else changed this").waitFor();
    await page.getByRole("button", { name: "Save mine" }).click();
    await sendHeldNow(page);
    await page
      .getByRole("listitem")
      .getByText(/^We are looking into it/)
      .waitFor();
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("an update and a note whose responses are lost are posted once, even if they are sent again after a reload", async () => {
    const { id } = await world.ask("POST", "/api/v1/incidents", { title: "Lost answers" });
    const at = `/dashboard/api/v1/incidents/${id}`;
    const readStored = async () => {
      const { updates, notes } = await world.ask("GET", `/api/v1/incidents/${id}`);
      return [...updates.slice(1), ...notes].map(({ message }: { message: string }) => message);
    };
    await using open = await world.resume(browser, `/incidents/${id}`);
    const { page } = open;
    /** The server handles the request but its response is lost, `times` times or always. */
    const loseResponses = async (path: string, times?: number) => {
      const lost = Promise.withResolvers<void>();
      let count = 0;
      const isIt = ({ pathname }: URL) => pathname === path;
      await page.route(
        isIt,
        async (route) => {
          if (["GET", "HEAD"].includes(route.request().method())) return route.fallback();
          if (count++ === 0) await route.fetch();
          await route.abort();
          lost.resolve();
        },
        times === undefined ? {} : { times },
      );
      return { lost: lost.promise, end: () => page.unroute(isIt) };
    };

    await locateMessage(page).fill("We found the cause.");
    const first = await loseResponses(at, 1);
    await page.getByRole("button", { name: /^Post to/ }).click();
    await first.lost;
    await page.waitForFunction(
      () => document.querySelector<HTMLTextAreaElement>("[aria-label=Message]")?.value === "",
    );
    await sendHeldNow(page);
    await page.getByRole("listitem").getByText("We found the cause.").waitFor();
    expect(await locateDialog(page, "Someone else changed this").count()).toBe(0);
    expect(await readStored()).toEqual(["We found the cause."]);

    // A second post of the same text is intended.
    await locateMessage(page).fill("We found the cause.");
    const second = await loseResponses(at);
    await page.getByRole("button", { name: /^Post to/ }).click();
    await second.lost;
    await page.reload();
    await second.end();
    await page.getByText("What you typed earlier is back.").waitFor();
    await world.ask("PATCH", `/api/v1/incidents/${id}`, { message: "A script was here." });
    await page.getByText("A script was here.").waitFor();
    await page.getByRole("button", { name: /^Post to/ }).click();
    await page.getByText("What you typed earlier is back.").waitFor({ state: "detached" });
    // The hold began with the lost response. The person has not seen the script's update when the change was held.
    await page.getByText("Not sent: The record was changed").first().waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.getByRole("button", { name: /^Post to/ }).click();
    await sendHeldNow(page);
    expect(await readStored()).toEqual([
      "We found the cause.",
      "A script was here.",
      "We found the cause.",
    ]);
    // A repeated first response does not remove later changes.
    await page.getByText("A script was here.").waitFor();

    await page.getByRole("tab", { name: "Internal note" }).click();
    await page.getByRole("textbox", { name: "Note" }).fill("Ann knows.");
    const third = await loseResponses(`${at}/notes`, 1);
    await page.getByRole("button", { name: "Add note" }).click();
    await third.lost;
    await page.getByRole("alert").getByText("Signalbox can't be reached.").waitFor();
    await page.getByRole("button", { name: "Add note" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.getByRole("listitem").filter({ hasText: "Ann knows." }).waitFor();
    expect((await readStored()).filter((one) => one === "Ann knows.")).toHaveLength(1);
  });

  test("a deletion can be undone; filters are in the address and survive a reload", async () => {
    const { id } = await world.ask("POST", "/api/v1/incidents", { title: "By mistake" });
    await using open = await world.open(browser, `/incidents/${id}`);
    const { page } = open;
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByText("Incident: By mistake", { exact: true }).waitFor();
    const row = page.getByRole("link", { name: /By mistake/ });
    await row.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /Undo/ }).click();
    await row.waitFor();
    await page.getByRole("button", { name: "Severity" }).click();
    await page.getByRole("menuitem", { name: "Major" }).click();
    await row.waitFor({ state: "detached" });
    await page.getByLabel("Filter by title").fill("checkout");
    await page.waitForURL(/severity=major.*q=checkout|q=checkout.*severity=major/);
    await page.reload();
    await page.getByRole("link", { name: /Checkout fails/ }).waitFor();
    expect(await page.getByRole("link", { name: /By mistake/ }).count()).toBe(0);
    await open.measureShifts();
    expect(open.faults).toEqual([]);
  });

  test("changes by scripts appear on open pages within a second", async () => {
    await using open = await world.resume(browser, "/incidents");
    const { page } = open;
    await page.getByText("Live", { exact: true }).waitFor();
    const { id } = await world.ask("POST", "/api/v1/incidents", { title: "Told by a script" });
    const row = page.getByRole("region", { name: "Open" }).getByText("Told by a script");
    await row.waitFor();
    await world.ask("DELETE", `/api/v1/incidents/${id}`);
    await row.waitFor({ state: "detached" });
    expect(open.faults).toEqual([]);
  });

  test("viewers can read everything and are offered no forbidden action", async () => {
    await using open = await visitAs(browser, world, "viewer", `/incidents/${incidentId}`);
    const { page } = open;
    await page.getByText("Between 8 and 12 % of payments are rejected.").waitFor();
    for (const name of [/^Post/, "Edit", "Resolve"])
      expect([name, await page.getByRole("button", { name }).count()]).toEqual([name, 0]);
    await page.keyboard.press("v");
    await page.getByRole("dialog").frameLocator("iframe").getByText("Between 8 and 12 %").waitFor();
    await page.keyboard.press("Escape");
    await moveTo(page, "/incidents");
    await page.getByText("Slow search results").waitFor();
    expect(await page.getByRole("button", { name: /Create incident/ }).count()).toBe(0);
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });
});
