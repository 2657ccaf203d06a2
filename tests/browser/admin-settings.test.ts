/** The settings of the admin page. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { TOTP } from "otpauth";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { findLookFlaws } from "../support/admin-looks.ts";
import {
  createAdminWorld,
  moveTo,
  owner,
  pressButton,
  selectPageFaults,
  visitAs,
} from "../support/admin-world.ts";
import { createKeyOwner, issueRoot } from "../support/certificate-builder.ts";
import { describeInChromium, storePicture, findViolations, visitPage } from "../support/browser.ts";
import { startMailServer } from "../support/mail-server.ts";
import { pollUntil } from "../support/poll.ts";

const sections = {
  organization: "Time zone",
  people: "Ada Lovelace",
  "mail-server": "Test e-mail",
  "certificate-authorities": "Leave empty to trust public authorities only.",
  "api-keys": "Deploy job",
  import: "Stop Uptime Kuma before you copy it.",
  configuration: "interval, port",
  "audit-log": "the monitor",
  profile: "Where you are signed in",
  organizations: "Create organization",
  administrators: "Ada Lovelace",
  backup: "Download backup",
  about: "There is a disk, but it takes nothing.",
} as const;

/** The label of a dialog's button, in the dialog. */
const getDialog = (page: Page, name: string) =>
  page.getByRole("dialog").getByRole("button", { name, exact: true });

async function signOutOnPage(page: Page) {
  await page.getByRole("button", { name: "Organization and account" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Monitors", exact: true }).waitFor({ state: "detached" });
}

describeInChromium("the settings", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  beforeAll(async () => {
    world = await createAdminWorld();
    await world.ask("POST", "/api-keys", { name: "Deploy job", scope: "write" });
    const db = { type: "tcp", name: "Database", host: "db.example", port: 5432, interval: 120 };
    const monitors = { db, queue: { ...db, name: "Queue" } };
    await world.ask("PUT", "/api/v1/config", { source: "main", monitors });
    const [queue, changed] = await world.ask("GET", "/api/v1/monitors?type=tcp");
    await world.ask("PATCH", `/api/v1/monitors/${changed.id}`, { interval: 60, port: 5433 });
    await world.ask("DELETE", `/api/v1/monitors/${queue.id}`);
    using database = new Database(join(world.dataDir, "signalbox.db"));
    database.run("PRAGMA busy_timeout = 5000");
    const since = new Date().toISOString();
    database.run(`INSERT INTO problems
      SELECT id, 'backup', '', 'error', 'There is a disk, but it takes nothing.', '${since}', null
        FROM organizations
      UNION ALL SELECT id, 'loop', '', 'warning', 'Signalbox did nothing for 7 s.', '${since}',
        ${Date.now() + 600_000} FROM organizations`);
    // As nodes of a cluster record it, in the future, so that they stay alive.
    const node = `INSERT INTO nodes
      (id, run, name, version, started_at, beats, beat_at, clock_offset_ms, event_lag)`;
    database.run(
      `${node} VALUES ('a', '1', 'one.lan:3210', '0.1.0', '${since}', 1, ${Date.now() + 9e9}, -80, 0)`,
    );
    database.run(
      `${node} VALUES ('b', '1', 'two.lan:3210', '0.1.0', '${since}', 1, ${Date.now() - 3_600_000}, 1240, 17)`,
    );
    database.run(`INSERT INTO leases VALUES ('alerting', 'a', 1), ('problems', 'a', 1),
      ('shard 0', 'a', 1), ('shard 1', 'a', 1), ('shard 2', null, 1)`);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("axe finds nothing on any of them in either theme, and they fit three widths", async () => {
    await using open = await world.open(browser, "/settings");
    const { page } = open;
    for (const [section, ready] of Object.entries(sections)) {
      await page.setViewportSize({ width: 1440, height: 1000 });
      await page.locator(`nav a[href="/settings/${section}"]`).first().click();
      await page.getByText(ready).first().waitFor();
      const issues = await findLookFlaws(page, `settings-${section}`);
      expect([section, issues]).toEqual([section, []]);
    }
    const machines = page.getByRole("list", { name: "Machines" });
    expect(await machines.getByRole("listitem").count()).toBe(3);
    using database = new Database(join(world.dataDir, "signalbox.db"));
    database.run("PRAGMA busy_timeout = 5000");
    database.run("UPDATE nodes SET event_lag = 8 WHERE id = 'a'");
    await machines.getByText("8 events").waitFor();

    await moveTo(page, "/settings");
    await page.getByRole("link", { name: "API keys" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByRole("heading", { name: "API keys" }).waitFor();
    await open.measureShifts();
    expect(open.faults).toEqual([]);
  });

  test("a setting is found by its name, and a page that is not loaded yet shows what it waits for", async () => {
    await using open = await world.open(browser, "/settings/people");
    const { page } = open;
    const held = Promise.withResolvers<void>();
    await page.route("**/dashboard/about", async (route) => {
      await held.promise;
      await route.fallback();
    });
    const list = page.getByRole("navigation", { name: "Settings" });
    await list.getByRole("searchbox", { name: "Search settings" }).fill("log level");
    await list.getByRole("link", { name: "People" }).waitFor({ state: "detached" });
    await list.getByRole("link", { name: "About Log level" }).click();
    await page.getByText(/^Waiting for a response from Signalbox with the information/).waitFor();
    await storePicture(page, "admin-waiting.png");
    held.resolve();
    await page.getByText("MIT", { exact: true }).waitFor();
    await page.getByText(/^\d+ checks?, \d+ results?, /).waitFor();
    expect(await page.getByText(/^Waiting for a response/).count()).toBe(0);
    expect(open.faults).toEqual([]);
  });

  test("the audit log is filtered by a range of days, with labeled fields", async () => {
    await using open = await world.resume(browser, "/settings/audit-log");
    const { page } = open;
    await page.getByText(sections["audit-log"]).first().waitFor();
    for (const width of [390, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      for (const words of ["From", "To"])
        await page.locator(".filters").getByText(words, { exact: true }).waitFor();
    }
    await page.getByLabel("To", { exact: true }).fill("2025-01-01");
    await page.getByText("No entries match the filters.").waitFor();
    expect(await findViolations(page)).toEqual([]);
    // On paper only chosen filters are visible.
    await page.emulateMedia({ media: "print" });
    const printed = page.locator(".filters > *").filter({ visible: true });
    expect(await printed.allTextContents()).toEqual(["To"]);
    await page.emulateMedia({ media: null });
    await page.getByRole("button", { name: "Show all entries" }).click();
    await page.getByText(sections["audit-log"]).first().waitFor();
    await page.getByLabel("From", { exact: true }).fill("2025-01-01");
    await page.waitForURL(/from=2025-01-01/);
    await page.getByText(sections["audit-log"]).first().waitFor();
    await open.measureShifts();
    expect(open.faults).toEqual([]);
  });

  test("a record's history shows who changed the interval, and restores it", async () => {
    await using open = await world.resume(browser, "/monitors");
    const { page } = open;
    const readInterval = async () =>
      (await world.ask("GET", "/api/v1/monitors?type=tcp")).find(
        ({ name }: { name: string }) => name === "Database",
      ).interval;
    const row = page.getByRole("list", { name: "Monitors by group" });
    await row.getByRole("button", { name: "Actions for Database" }).click();
    await page.getByRole("menuitem", { name: "History" }).click();
    const change = page.getByText("interval: 1 min, was 2 min");
    await change.waitFor();
    await page.getByRole("button", { name: "Record: Database" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Restore interval 2 min" }).click();
    await page.getByText("Restored the interval of Database").waitFor();
    await page.getByText("interval: 2 min, was 1 min").waitFor();
    expect(await readInterval()).toBe(120);
    await page.getByRole("button", { name: "Undo" }).click();
    await change.nth(1).waitFor();
    expect(await readInterval()).toBe(60);
    // Lines link to their records, and a person's name filters by them.
    const owner = page.locator(".audit").getByRole("link", { name: "Ada Lovelace" }).first();
    await owner.click();
    await page.waitForURL(/by=/);
    await page.getByRole("button", { name: "Who: Ada Lovelace" }).waitFor();
    await page.locator(".audit").getByRole("link", { name: "Database" }).first().click();
    await page.getByRole("heading", { name: "Database" }).waitFor();
    expect(open.faults).toEqual([]);
  });

  test("a key is created by keyboard, shown once, works, and stops when it is revoked", async () => {
    await using open = await world.resume(browser, "/monitors");
    const { page } = open;
    await page.getByText("Web shop").first().waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("create api");
    await page.getByRole("option", { name: "Create API key" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Create API key" }).waitFor();
    await page.keyboard.press("Enter");
    await page
      .getByText(/Must not be (blank|empty)/)
      .first()
      .waitFor();
    await page.keyboard.type("Chat bot");
    // Over the access to “Allow MCP”.
    for (const pressed of ["Tab", "Tab", "Space", "Enter"]) await page.keyboard.press(pressed);
    const keyField = page.getByLabel("API key", { exact: true });
    await keyField.waitFor();
    expect(await findViolations(page)).toEqual([]);
    const key = (await keyField.textContent()) ?? "";
    const request = () =>
      fetch(`${world.url}/api/v1/monitors`, { headers: { Authorization: `Bearer ${key}` } });
    expect((await request()).status).toBe(200);
    const listing = await fetch(`${world.url}/mcp`, {
      keepalive: false,
      method: "POST",
      headers: {
        Authorization: `Bearer ${key}`,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    expect(await listing.text()).toContain("post_incident_update");
    await getDialog(page, "Done").click();
    await page.getByRole("button", { name: "Actions for Chat bot" }).click();
    await page.getByRole("menuitem", { name: "Revoke" }).click();
    await getDialog(page, "Revoke").click();
    await page.getByText("Revoked Chat bot").waitFor();
    // A key is cached for half a second after its lookup.
    await page.waitForTimeout(600);
    expect((await request()).status).toBe(401);
    expect(await page.content()).not.toContain(key);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a mail server is tested before it is saved, shows its errors at the field, and is then set", async () => {
    await using server = await startMailServer();
    await using open = await world.open(browser, "/settings/mail-server");
    const { page } = open;
    await page.getByLabel("Host").fill("169.254.169.254");
    await page.getByLabel("From").fill("Signalbox <box@acme.example>");
    await page.getByRole("button", { name: "Send test e-mail" }).click();
    await page.getByText(/Must not be connected to/).waitFor();
    const smtp = server.smtp();
    await page.getByLabel("Host").fill(smtp.host);
    await page.getByText("None", { exact: true }).click();
    await page.getByLabel("Port").fill(String(smtp.port));
    await page.getByRole("button", { name: "Send test e-mail" }).click();
    await page.getByText("The mail server accepted it").waitFor();
    expect(server.getOnlyMail().to).toEqual([owner.email]);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    expect((await world.ask("GET", "/api/v1/settings")).smtp).toMatchObject({ port: smtp.port });
    await page.getByRole("button", { name: "Remove" }).click();
    await getDialog(page, "Remove").click();
    await pollUntil(
      () => page.getByLabel("Host").inputValue(),
      (host) => host === "",
    );
    expect((await world.ask("GET", "/api/v1/settings")).smtp).toBeNull();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a mail server can use an app or a service account, whose secrets are required and stored", async () => {
    await world.ask("PATCH", "/api/v1/settings", { smtp: null });
    await using open = await world.open(browser, "/settings/mail-server");
    const { page } = open;
    await page.getByText("Microsoft", { exact: true }).click();
    expect(await page.getByLabel("Host").inputValue()).toBe("smtp.office365.com");
    expect(await findLookFlaws(page, "settings-mail-server-microsoft")).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 1000 });
    await page.getByLabel("Mailbox").fill("box@acme.example");
    await page.getByLabel("Tenant").fill("acme.onmicrosoft.com");
    await page.getByLabel("Client ID").fill("9f3a");
    await page.getByLabel("From").fill("Signalbox <box@acme.example>");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Is required when auth is microsoft").waitFor();
    await page.getByLabel("Client secret").fill("s3cret");
    const host = await page.getByLabel("Host").elementHandle();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    // The first mail server starts a new form.
    await host?.waitForElementState("hidden");
    const set = () => world.ask("GET", "/api/v1/settings");
    expect(await set()).toMatchObject({
      smtp: { auth: "microsoft", tenant: "acme.onmicrosoft.com", tls: "starttls" },
      secretsSet: ["smtp.clientSecret"],
    });
    await page.getByLabel("From").fill("box@acme.example");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    // “Saved” can still be there from the save before.
    await page.locator("button:disabled", { hasText: "Save" }).waitFor();
    expect(await set()).toMatchObject({
      smtp: { from: "box@acme.example" },
      secretsSet: ["smtp.clientSecret"],
    });
    await page.getByText("Google", { exact: true }).click();
    expect(await page.getByLabel("Host").inputValue()).toBe("smtp.gmail.com");
    await page.getByLabel("Service account key").fill("{}");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(/Must be the JSON key of a service account/).waitFor();
    expect((await set()).smtp.auth).toBe("microsoft");
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("two people who change the organization at once get a choice", async () => {
    await using open = await world.open(browser, "/settings/organization");
    const { page } = open;
    const name = page.getByLabel("Name", { exact: true });
    const form = page.locator("form").filter({ has: name });
    const save = form.getByRole("button", { name: "Save", exact: true });
    await save.waitFor();
    expect(await save.isDisabled()).toBe(true);
    await name.fill("Acme one");
    await world.ask("PATCH", "/organization", { name: "Acme two", timeZone: "Europe/Berlin" });
    await page.locator(".rail-person-words").getByText("Acme two").waitFor();
    await save.click();
    await page.getByRole("button", { name: "Load theirs" }).click();
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>("form input")?.value === "Acme two",
    );
    await name.fill(owner.organization);
    await save.click();
    await page.getByText("Saved", { exact: true }).waitFor();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("values typed into the settings survive leaving them and a reload, except secrets", async () => {
    await world.ask("PATCH", "/api/v1/settings", { smtp: null });
    await using open = await world.open(browser, "/settings/mail-server");
    const { page } = open;
    await page.getByLabel("Host").fill("mail.half-typed.example");
    await page.getByLabel("User name").fill("signalbox");
    await page.getByLabel("Password", { exact: true }).fill("a-secret-password");
    await page.getByRole("link", { name: "Certificate authorities" }).click();
    await page.getByText("What you typed is kept").waitFor();
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain("a-secret");
    await page.getByLabel("Certificates").fill("-----BEGIN");
    await page.reload();
    await page.getByText("What you typed earlier is back.").waitFor();
    expect(await page.getByLabel("Certificates").inputValue()).toBe("-----BEGIN");
    await page.getByRole("button", { name: "Start over" }).click();
    expect(await page.getByLabel("Certificates").inputValue()).toBe("");
    await page.getByRole("link", { name: "Mail server" }).click();
    await page.getByText("What you typed earlier is back.").waitFor();
    expect(await page.getByLabel("Host").inputValue()).toBe("mail.half-typed.example");
    expect(await page.getByLabel("Password", { exact: true }).inputValue()).toBe("");
    await page.getByRole("button", { name: "Start over" }).click();
    await page.getByRole("link", { name: "People" }).click();
    await page.getByRole("button", { name: "Invite people" }).click();
    await page.getByLabel("E-mail", { exact: true }).fill("half@typed");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Invite people" }).click();
    await page.getByText("What you typed earlier is back.").waitFor();
    expect(await page.getByLabel("E-mail", { exact: true }).inputValue()).toBe("half@typed");
    await page.getByRole("button", { name: "Start over" }).click();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("one of several certificate authorities is removed by its name, when the change is saved", async () => {
    const [kept, removed] = ["Kept CA", "Old CA"].map((name) => issueRoot(createKeyOwner(name)));
    const certificateAuthorities = `${removed}${kept}`;
    await world.ask("PATCH", "/api/v1/settings", { certificateAuthorities });
    await using open = await world.open(browser, "/settings/certificate-authorities");
    const { page } = open;
    await page.getByRole("button", { name: "Remove Old CA" }).click();
    await page.getByText("Removed when you save").waitFor();
    await storePicture(page, "admin-authorities.png");
    expect((await world.ask("GET", "/api/v1/settings")).certificateAuthorities).toContain(
      removed?.trim(),
    );
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Remove Old CA" }).waitFor({ state: "detached" });
    await page.getByText("Removed when you save").waitFor({ state: "detached" });
    const saved = await world.ask("GET", "/api/v1/settings");
    expect(saved.certificateAuthorities.trim()).toBe(kept?.trim());
    await world.ask("PATCH", "/api/v1/settings", { certificateAuthorities: null });
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("two-factor is turned on by scanning, shows recovery codes once, and is turned off by the password", async () => {
    await using open = await visitAs(browser, world, "viewer", "/settings/profile");
    const { page } = open;
    await page.getByRole("button", { name: "Turn on" }).click();
    await page.getByLabel("Your password").fill("not my password");
    await page.keyboard.press("Enter");
    await page.getByText("Is not your password.").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("Your password").fill(owner.password);
    await page.keyboard.press("Enter");
    await page.getByRole("img", { name: "QR code for your authenticator app" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await storePicture(page, "admin-settings-two-factor-1440.png");
    const secret = (await page.locator(".secret-key").textContent())?.replaceAll(" ", "") ?? "";
    await page.getByLabel("Code", { exact: true }).fill("000000");
    await page.keyboard.press("Enter");
    await page.locator("[aria-invalid=true]").waitFor();
    await page.getByLabel("Code", { exact: true }).fill(new TOTP({ secret }).generate());
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Your recovery codes" }).waitFor();
    expect(await page.locator(".codes code").count()).toBe(10);
    expect(await findViolations(page)).toEqual([]);
    await getDialog(page, "I have saved them").click();
    await page.getByRole("button", { name: "Turn off" }).click();
    await page.getByLabel("Your password").fill(owner.password);
    await page.keyboard.press("Enter");
    await page.getByText("Two-factor sign-in is off").waitFor();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a passkey is added, signs in alone and as second factor, and is removed", async () => {
    await using under = await visitAs(browser, world, "viewer", "/settings/profile");
    await under.page.getByText("You opened this page under the IP address").waitFor();
    const person = await under.page.getByLabel("E-mail").inputValue();

    // Browsers accept passkeys under localhost without HTTPS.
    const url = world.url.replace("127.0.0.1", "localhost");
    let setPresence: (enabled: boolean) => Promise<unknown> = async () => {};
    await using open = await visitPage(browser, `${url}/settings/profile`, {}, async (created) => {
      const cdp = await created.context().newCDPSession(created);
      await cdp.send("WebAuthn.enable");
      const options = {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      } as const;
      const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", { options });
      setPresence = (enabled) =>
        cdp.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });
    });
    const { page } = open;
    await page.getByLabel("E-mail").fill(person);
    await page.getByLabel("Password", { exact: true }).fill(owner.password);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Add passkey" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Laptop");
    await dialog.getByLabel("Your password").fill(owner.password);
    await page.keyboard.press("Enter");
    await page.getByText("Added the passkey Laptop").waitFor();
    await page.getByRole("button", { name: "Turn on with passkeys" }).click();
    await page.getByLabel("Your password").fill(owner.password);
    await page.keyboard.press("Enter");
    await getDialog(page, "I have saved them").click();
    await page.getByText("also needs a passkey, or one of your 10 recovery codes").waitFor();

    // Otherwise the list of the e-mail field would sign them in at once.
    await setPresence(false);
    await signOutOnPage(page);
    const passkeyButton = page.getByRole("button", { name: "Sign in with a passkey" });
    await passkeyButton.waitFor();
    await page.getByLabel("E-mail").fill(person);
    await page.getByLabel("Password", { exact: true }).fill(owner.password);
    await page.keyboard.press("Enter");
    const second = page.getByRole("button", { name: "Use your passkey" });
    await second.waitFor();
    await setPresence(true);
    await second.click();
    await page.getByText("Web shop").first().waitFor();
    // The list of the e-mail field needs no click.
    await signOutOnPage(page);
    await page.getByText("Web shop").first().waitFor();

    await page.goto(`${url}/settings/profile`);
    await page.getByRole("button", { name: "Actions for Laptop" }).click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    await getDialog(page, "Remove").click();
    await page.getByText("This is your last second factor.").waitFor();
    await getDialog(page, "Cancel").click();

    // Axe ends the virtual authenticator.
    await page.getByRole("button", { name: "Add passkey" }).click();
    await dialog.getByLabel("Your password").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await signOutOnPage(page);
    await passkeyButton.waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect([selectPageFaults(open.faults), selectPageFaults(under.faults)]).toEqual([[], []]);
  });

  test("another e-mail address requires the password, and a new password ends all other sessions", async () => {
    await using open = await visitAs(browser, world, "viewer", "/settings/profile");
    const { page } = open;
    const email = page.getByLabel("E-mail");
    await email.waitFor();
    expect(await page.getByLabel("Your password").count()).toBe(0);
    await email.fill("vera.rubin@acme.example");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Is required for another e-mail address").waitFor();
    await page.getByLabel("Your password").fill(owner.password);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    expect(await page.getByLabel("Your password").count()).toBe(0);
    await page.getByLabel("Current password").fill(owner.password);
    await page.getByLabel("New password").fill("dark matter it is");
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByText("Password changed").waitFor();
    await page.getByRole("link", { name: "People" }).click();
    await page.getByText("vera.rubin@acme.example").waitFor();
    await page.getByRole("link", { name: "Monitors" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a person chooses German, and has it in another browser as soon as they sign in", async () => {
    await using first = await visitAs(browser, world, "viewer", "/settings/profile");
    const { page } = first;
    const email = await page.getByLabel("E-mail").inputValue();
    await page.getByRole("combobox", { name: "Language" }).click();
    await page.getByRole("option", { name: "Deutsch" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("combobox", { name: "Sprache" }).waitFor();
    expect(await findViolations(page)).toEqual([]);

    await using second = await visitPage(browser, `${world.url}/settings/profile`);
    await second.page.getByLabel("E-mail").fill(email);
    await second.page.getByLabel("Password", { exact: true }).fill(owner.password);
    await pressButton(second.page, "Sign in");
    const language = second.page.getByRole("combobox", { name: "Sprache" });
    await language.click();
    await second.page.getByRole("option", { name: "Sprache des Browsers" }).click();
    await second.page.getByRole("button", { name: "Speichern", exact: true }).click();
    await second.page.getByRole("combobox", { name: "Language" }).waitFor();
    expect(selectPageFaults([...first.faults, ...second.faults])).toEqual([]);
  });

  test("backups are scheduled into a folder, started at once, and listed by name", async () => {
    await using open = await world.open(browser, "/settings/backup");
    const { page } = open;
    const folder = join(world.dataDir, "backups");
    await page.getByRole("switch", { name: "Back up every day" }).click();
    const days = page.getByRole("textbox", { name: "Days to keep" });
    await days.clear();
    await days.pressSequentially("14");
    expect(await days.inputValue()).toBe("14");
    await page.getByRole("textbox", { name: "Folder" }).pressSequentially("my backups");
    expect(await page.getByRole("textbox", { name: "Folder" }).inputValue()).toBe("my backups");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("must be a path from the root").waitFor();
    await page.getByRole("textbox", { name: "Folder" }).fill(folder);
    await page.getByLabel("Passphrase").first().fill("correct horse battery");
    await page.getByRole("checkbox", { name: "Include secret.key" }).first().click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Back up now" }).click();
    await page.getByText(/signalbox-\d{4}-\d\d-\d\d-\d{6}\.age/).waitFor();
    expect(readdirSync(folder)).toHaveLength(1);
    const issues = await findLookFlaws(page, "settings-backup-scheduled");
    expect(issues).toEqual([]);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a backup is downloaded as a complete database", async () => {
    await using open = await world.open(browser, "/settings/backup");
    const { page } = open;
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download backup" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^signalbox-\d{4}-\d\d-\d\d-\d{4}\.db$/);
    const copy = new Database(await download.path(), { readonly: true });
    expect(copy.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    copy.close();
    await page.getByText("The server keeps no copy").waitFor();
    expect(open.faults).toEqual([]);
  });
});
