/** Alert channels on the admin page: editor, tests, secrets, undo. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { channelKinds } from "../../src/alerting/channels/kinds-schema.ts";
import { findThemeViolations } from "../support/admin-looks.ts";
import { createAdminWorld, selectPageFaults, visitAs } from "../support/admin-world.ts";
import { describeInChromium } from "../support/browser.ts";
import { pollUntil } from "../support/poll.ts";

describeInChromium("alert channels on the admin page", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  let status = 200;
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      await request.text();
      return new Response("", { status });
    },
  });
  const url = `http://127.0.0.1:${receiver.port}/alerts`;

  beforeAll(async () => {
    world = await createAdminWorld();
  });
  afterAll(async () => {
    await receiver.stop(true);
    await world[Symbol.asyncDispose]();
  });

  const path = "/api/v1/alert-channels";
  const open = async (location: string) => {
    const opened = await world.open(browser, location);
    return opened;
  };
  const readNewest = async () => (await world.ask("GET", path))[0];
  const channelOf = (id: string) => world.ask("GET", `${path}/${id}`);
  const create = (body: object) => world.ask("POST", path, { type: "webhook", url, ...body });

  test("the dialog of a new channel waits for the list: the first channel starts as default, attached to all", async () => {
    await using opened = await open("/alert-channels");
    const { page } = opened;
    await page.getByRole("heading", { name: "No alert channels yet" }).waitFor();
    const list = Promise.withResolvers<void>();
    const request = Promise.withResolvers<void>();
    await page.route(
      ({ pathname }) => pathname === `/dashboard${path}`,
      async (route) => {
        request.resolve();
        await list.promise;
        await route.continue();
      },
    );
    await page.goto(`${world.url}/alert-channels?new=webhook`);
    await request.promise;
    await page.getByRole("heading", { name: "Alert channels", exact: true }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    list.resolve();
    await page.getByRole("dialog", { name: "Create alert channel: Webhook" }).waitFor();
    for (const name of [/^Default/, /^Attach to all 6 monitors/])
      expect([name, await page.getByRole("switch", { name }).isChecked()]).toEqual([name, true]);
    await page.unrouteAll({ behavior: "wait" });
    expect(opened.faults).toEqual([]);
  });

  test("the first channel is created from the gallery by keyboard, validated at its fields, and tested", async () => {
    await using opened = await open("/alert-channels");
    const { page } = opened;
    await page.getByRole("heading", { name: "No alert channels yet" }).waitFor();
    expect(await page.locator(".gallery button").count()).toBe(Object.keys(channelKinds).length);
    await page.getByRole("button", { name: /^Webhook/ }).press("Enter");
    // Everything is offered for the first channel; this one is attached later.
    await page.getByRole("switch", { name: "Attach to all 6 monitors" }).press(" ");
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("Deploy bot");
    await name.press("Enter");
    await page.getByText("Is required.").waitFor();
    expect(await page.getByLabel("URL", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel("URL", { exact: true }).fill(url);
    const secret = page.getByLabel("Secret", { exact: true });
    await secret.fill("s3cret");
    await secret.press("Enter");
    await page.getByText("Must be whsec_ and the Base64 of 24 to 64 bytes").waitFor();
    await page.getByRole("button", { name: "Generate" }).press("Enter");
    const generated = await page.locator(".secret-field code").textContent();
    expect(generated).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await secret.inputValue()).toBe(generated ?? "");
    await secret.press("Enter");
    await page.getByRole("heading", { name: "Deploy bot" }).waitFor();
    await page.getByText("No alerts sent yet.").waitFor();
    await page.keyboard.press("t");
    await page.getByText("The test arrived.").waitFor();
    await page.getByRole("button", { name: /^Test delivered in/ }).waitFor();
    const expected = { name: "Deploy bot", url, secretsSet: ["secret"], lastError: null };
    expect(await readNewest()).toMatchObject(expected);
    expect(selectPageFaults(opened.faults)).toEqual([]);
  });

  test("an SMS channel asks only for what its gateway needs, and its test counts the parts", async () => {
    await using opened = await open("/alert-channels?new=sms");
    const { page } = opened;
    const dialog = page.getByRole("dialog");
    const choose = async (gateway: string) => {
      await dialog.getByRole("combobox", { name: "Gateway" }).click();
      await page.getByRole("option", { name: gateway }).click();
    };
    const locateField = (label: string) => dialog.getByLabel(label, { exact: true });
    await dialog.getByRole("combobox", { name: "Gateway" }).waitFor();
    expect(await locateField("To").count()).toBe(0);
    await choose("Twilio");
    await locateField("To").fill("0170 1234567");
    await dialog.getByRole("button", { name: "Send test" }).click();
    await dialog.getByText("Must be a phone number with + and its country code").waitFor();
    await choose("Custom HTTP gateway");
    await locateField("Body").fill('{ "text": "{{text}}" }');
    expect(await findThemeViolations(page)).toEqual([]);
    await choose("SMS Gateway for Android");
    for (const [label, value] of [
      ["To", "+491701234567"],
      ["User name", "sms"],
      ["Password", "s3cret"],
      ["Address", new URL(url).origin],
    ] as const)
      await locateField(label).fill(value);
    for (const label of ["From", "Body"])
      expect([label, await locateField(label).count()]).toEqual([label, 0]);
    await dialog.getByRole("button", { name: "Send test" }).click();
    await dialog.getByText("The test arrived. Accepted by the gateway: 1 part,").waitFor();
    await dialog.getByRole("button", { name: "Create alert channel" }).click();
    await page.getByText("No alerts sent yet.").waitFor();
    expect(await readNewest()).toMatchObject({ preset: "sms-gate", from: null, body: null });
    expect(opened.faults.filter((fault) => !fault.includes("422"))).toEqual([]);
    await world.ask("DELETE", `${path}/${(await readNewest()).id}`);
  });

  test("unsaved channels can be tested, and attaching a channel to all monitors or disabling it can be undone", async () => {
    const { id } = await readNewest();
    await using opened = await open(`/alert-channels/${id}?edit=true`);
    const { page } = opened;
    const dialog = page.getByRole("dialog");
    status = 503;
    await dialog.getByLabel("URL", { exact: true }).fill("http://169.254.169.254/");
    await dialog.getByRole("button", { name: "Send test" }).click();
    await dialog.locator("input[aria-invalid=true]").first().waitFor();
    const secret = dialog.getByPlaceholder("Enter it again for the new address");
    await dialog.getByLabel("URL", { exact: true }).fill(url);
    await secret.waitFor({ state: "detached" });
    await dialog.getByRole("button", { name: "Send test" }).click();
    await dialog.getByText("The test did not arrive.").waitFor();
    // The same holds if the form is longer than the screen, with its buttons over its end.
    await page.setViewportSize({ width: 390, height: 700 });
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await dialog.getByLabel("Name", { exact: true }).scrollIntoViewIfNeeded();
    await dialog.getByRole("button", { name: "Send test" }).click();
    await page.waitForFunction(() => {
      const line = document.querySelector(".outcome");
      const { x, y, width, height } = line?.getBoundingClientRect() ?? new DOMRect();
      return line?.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    });
    status = 200;
    await dialog.getByRole("button", { name: "Send test" }).click();
    await dialog.getByText("The test arrived.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    const attach = async () => {
      await page.getByRole("button", { name: "Attach to all 6 monitors" }).click();
      await page.getByRole("heading", { name: "Used by 6 monitors" }).waitFor();
      await page.getByText(/^Attached Deploy bot/).waitFor();
    };
    await attach();
    await page.keyboard.press("Control+z");
    await attach();
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByText("Disabled Deploy bot").waitFor();
    await page.keyboard.press("Control+z");
    await page.getByRole("button", { name: "Disable" }).waitFor();
    await pollUntil(
      () => channelOf(id),
      ({ enabled }) => enabled,
    );
    expect(await page.getByRole("button", { name: /^Attach to/ }).count()).toBe(0);
    expect(selectPageFaults(opened.faults)).toEqual([]);
  });

  test("a failure appears in every open list within a second, and in the log with its attempts", async () => {
    const { id } = await readNewest();
    await using opened = await open("/alert-channels");
    const { page } = opened;
    await page.getByText("Deploy bot").waitFor();
    // Shown as soon as the page receives changes.
    await world.ask("PATCH", `${path}/${id}`, { name: "Deploy bot EU" });
    await page.getByText("Deploy bot EU").waitFor();
    status = 503;
    await world.ask("POST", `${path}/${id}/test`);
    const issue = page.getByText("The receiver responded with HTTP 503");
    await issue.waitFor();
    await page.getByRole("link", { name: /Deploy bot/ }).click();
    await page.getByRole("button", { name: "Test failed" }).click();
    expect(await page.locator(".attempts li").count()).toBe(1);
    const alert = page.getByRole("link", { name: "Open the alert" });
    expect(await alert.getAttribute("href")).toMatch(/^\/alerts\/[0-9a-f-]{36}$/);
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByText("The test did not arrive.").waitFor();
    status = 200;
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByText("The test arrived.").waitFor();
    expect(selectPageFaults(opened.faults)).toEqual([]);
  });

  test("a secret is left unchanged when its field stays empty, and can be cleared", async () => {
    const { id } = await readNewest();
    await using opened = await open(`/alert-channels/${id}?edit=true`);
    const { page } = opened;
    const secret = page.getByPlaceholder("Set; leave empty to keep it");
    await secret.fill("x");
    await secret.fill("");
    await page.getByLabel("Name", { exact: true }).fill("Bot");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: /\bBot$/ }).waitFor();
    expect(await readNewest()).toMatchObject({ name: "Bot", secretsSet: ["secret"] });
    await page.keyboard.press("e");
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await readNewest()).secretsSet).toEqual([]);
  });

  test("another person's change is not overwritten without a choice", async () => {
    const { id } = await readNewest();
    await using opened = await open(`/alert-channels/${id}?edit=true`);
    const { page } = opened;
    await page.getByLabel("Name", { exact: true }).fill("Mine");
    await world.ask("PATCH", `${path}/${id}`, { name: "Theirs" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Someone else changed this").waitFor();
    await page.getByRole("button", { name: "Save mine" }).click();
    await page.getByRole("heading", { name: "Mine" }).waitFor();
    expect((await readNewest()).name).toBe("Mine");
  });

  test("placeholders are inserted at the cursor", async () => {
    const { id } = await create({
      type: "ntfy",
      url: undefined,
      server: url,
      topic: "a",
      name: "N",
    });
    await using opened = await open(`/alert-channels/${id}?edit=true`);
    const { page } = opened;
    await page.getByLabel("Alert text").fill(": ");
    await page.getByLabel("Alert text").press("Home");
    await page.getByRole("button", { name: "monitor", exact: true }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await channelOf(id)).template).toBe("{{monitor}}: ");
  });

  test("a deleted channel disappears at once, and undo restores it", async () => {
    const { id } = await create({ name: "Old bot" });
    await using opened = await open("/alert-channels");
    const { page } = opened;
    await page.getByRole("button", { name: "Actions for Old bot" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("link", { name: /Old bot/ }).waitFor({ state: "detached" });
    await page.getByText("Deleted Old bot").waitFor();
    const all: { id: string }[] = await world.ask("GET", path);
    expect(all.some((one) => one.id === id)).toBe(false);
    await page.getByRole("button", { name: /Undo/ }).click();
    await page.getByRole("link", { name: /Old bot/ }).waitFor();
    expect((await channelOf(id)).name).toBe("Old bot");
  });

  test("the palette finds a channel, tests it and creates a new one", async () => {
    await using opened = await open("/monitors");
    const { page } = opened;
    await page.getByRole("heading", { name: "Monitors", exact: true }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("send test to mine");
    await page.getByRole("option", { name: "Send test to Mine" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText(/Mine: Delivered in/).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("create alert channel");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Create alert channel" }).waitFor();
    expect(opened.faults).toEqual([]);
  });

  test("a viewer sees all states, and no action", async () => {
    const { id } = await readNewest();
    await using opened = await visitAs(browser, world, "viewer", `/alert-channels/${id}?edit=true`);
    const { page } = opened;
    await page.getByRole("heading", { name: "Deliveries" }).waitFor();
    for (const name of ["Send test", "Edit", "Disable", "Save"])
      expect([name, await page.getByRole("button", { name }).count()]).toEqual([name, 0]);
    await page.goto(`${world.url}/alert-channels?new=`);
    await page.getByText("Mine").waitFor();
    expect(await page.getByRole("button", { name: "Create alert channel" }).count()).toBe(0);
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});
