import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { hasChromium, launchChromium } from "../support/browsing.ts";
import { looksOf, type SignedInAppliance, signedInAppliance } from "../support/signed-in.ts";

if (hasChromium)
  describe("alert channels on the admin page", () => {
    let browser: Browser;
    let box: SignedInAppliance;
    let answer = 200;
    const receiver = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        await request.text();
        return new Response("", { status: answer });
      },
    });
    const url = `http://127.0.0.1:${receiver.port}/alerts`;

    beforeAll(async () => {
      browser = await launchChromium();
      box = await signedInAppliance(browser, ["owner", "viewer"]);
    }, 20_000);
    afterAll(async () => {
      await browser.close();
      await receiver.stop(true);
      await box[Symbol.asyncDispose]();
    });

    const channels = async () => (await box.api("GET", "/api/v1/alert-channels")).json.data;
    const made = async (body: object) =>
      (await box.api("POST", "/api/v1/alert-channels", { type: "webhook", url, ...body })).json
        .data;

    test("the first channel is made from the gallery by keyboard, told of its flaws at the field, and tested", async () => {
      await using open = await box.open("/alert-channels");
      const { page } = open;
      await page.getByRole("heading", { name: "Nobody is told yet" }).waitFor();
      expect(await page.locator(".gallery button").count()).toBe(14);
      await page.getByRole("button", { name: /^Webhook/ }).press("Enter");
      const name = page.getByLabel("Name", { exact: true });
      await name.fill("Deploy bot");
      await name.press("Enter");
      await page.getByText("Is required.").waitFor();
      expect(await page.getByLabel("URL").getAttribute("aria-invalid")).toBe("true");
      await page.getByLabel("URL").fill(url);
      await page.getByLabel("Secret", { exact: true }).fill("whsec_c2VjcmV0");
      await page.getByLabel("Secret", { exact: true }).press("Enter");
      await page.getByRole("heading", { name: "Deploy bot" }).waitFor();
      await page.getByText("Nothing was sent yet.").waitFor();
      await page.keyboard.press("t");
      await page.getByText("The test arrived.").waitFor();
      await page.getByRole("button", { name: /^Test delivered in/ }).waitFor();
      expect(await channels()).toMatchObject([
        { name: "Deploy bot", url, secretsSet: ["secret"], lastError: null },
      ]);
      expect(open.faults).toEqual([]);
    }, 15_000);

    test("what goes wrong stands in every open list within a second, and in the log with its attempts", async () => {
      const [{ id }] = await channels();
      await using open = await box.open("/alert-channels");
      const { page, faults } = open;
      await page.getByText("Deploy bot").waitFor();
      answer = 503;
      await box.api("POST", `/api/v1/alert-channels/${id}/test`);
      const flaw = page.getByText("The receiver answered HTTP 503");
      await flaw.waitFor({ timeout: 1_500 });
      await page.getByRole("link", { name: /Deploy bot/ }).click();
      await page.getByRole("button", { name: "Test failed" }).click();
      expect(await page.locator(".attempts li").count()).toBe(1);
      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByText("The test did not arrive.").waitFor();
      answer = 200;
      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByText("The test arrived.").waitFor();
      expect(faults).toEqual([]);
    }, 15_000);

    test("a secret is kept when it is left empty, and cleared on purpose", async () => {
      const [{ id }] = await channels();
      await using open = await box.open(`/alert-channels/${id}?edit=true`);
      const { page } = open;
      const secret = page.getByPlaceholder("Set; leave empty to keep it");
      await secret.fill("x");
      await secret.fill("");
      await page.getByLabel("Name", { exact: true }).fill("Bot");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("heading", { name: "Bot", exact: true }).waitFor();
      expect((await channels())[0]).toMatchObject({ name: "Bot", secretsSet: ["secret"] });
      await page.keyboard.press("e");
      await page.getByRole("button", { name: "Clear" }).click();
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect((await channels())[0].secretsSet).toEqual([]);
    }, 15_000);

    test("somebody else's change is not overwritten without a choice", async () => {
      const [{ id }] = await channels();
      await using open = await box.open(`/alert-channels/${id}?edit=true`);
      const { page } = open;
      await page.getByLabel("Name", { exact: true }).fill("Mine");
      await box.api("PATCH", `/api/v1/alert-channels/${id}`, { name: "Theirs" });
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Somebody changed this meanwhile").waitFor();
      await page.getByRole("button", { name: "Save mine" }).click();
      await page.getByRole("heading", { name: "Mine" }).waitFor();
      expect((await channels())[0].name).toBe("Mine");
    }, 15_000);

    test("placeholders go into the text where the cursor stands", async () => {
      const { id } = await made({
        type: "ntfy",
        url: undefined,
        server: url,
        topic: "a",
        name: "N",
      });
      await using open = await box.open(`/alert-channels/${id}?edit=true`);
      const { page } = open;
      await page.getByLabel("Text of alerts").fill(": ");
      await page.getByLabel("Text of alerts").press("Home");
      await page.getByRole("button", { name: "monitor", exact: true }).click();
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect((await box.api("GET", `/api/v1/alert-channels/${id}`)).json.data.template).toBe(
        "{{monitor}}: ",
      );
    }, 15_000);

    test("a deleted channel is gone at once, comes back by undo, and is deleted when the page is left", async () => {
      const { id } = await made({ name: "Old bot" });
      await using open = await box.open("/alert-channels");
      const { page } = open;
      const remove = async () => {
        await page.getByRole("button", { name: "Actions for Old bot" }).click();
        await page.getByRole("menuitem", { name: "Delete" }).click();
        await page.getByRole("link", { name: /Old bot/ }).waitFor({ state: "detached" });
      };
      await remove();
      await page.getByRole("button", { name: /Undo/ }).click();
      await page.getByRole("link", { name: /Old bot/ }).waitFor();
      expect((await box.api("GET", `/api/v1/alert-channels/${id}`)).status).toBe(200);
    }, 15_000);

    test("the palette finds a channel, tests it and makes a new one", async () => {
      await using open = await box.open("/monitors");
      const { page } = open;
      await page.getByRole("heading", { name: "Monitors" }).waitFor();
      await page.keyboard.press("Control+k");
      await page.keyboard.type("send test to mine");
      await page.getByRole("option", { name: "Send test to Mine" }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByText(/Mine: Delivered in/).waitFor();
      await page.keyboard.press("Control+k");
      await page.keyboard.type("new alert channel");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "New alert channel" }).waitFor();
    }, 15_000);

    test("a viewer sees what happens, and no action", async () => {
      const [{ id }] = await channels();
      await using open = await box.open(`/alert-channels/${id}?edit=true`, "viewer");
      const { page } = open;
      await page.getByRole("heading", { name: "Deliveries" }).waitFor();
      for (const name of ["Send test", "Edit", "Disable", "Save"])
        expect([name, await page.getByRole("button", { name }).count()]).toEqual([name, 0]);
      await page.goto(`${box.url}/alert-channels?new=`);
      await page.getByText("Mine").waitFor();
      expect(await page.getByRole("button", { name: "New channel" }).count()).toBe(0);
      expect(await page.getByRole("dialog").count()).toBe(0);
    }, 15_000);

    test("axe finds nothing, and everything fits phones, tablets and desks", async () => {
      const all = await channels();
      const id = all.find(({ name }: { name: string }) => name === "Mine").id;
      const paths = {
        "alert-channels": "/alert-channels",
        "alert-channel": `/alert-channels/${id}`,
        "alert-channel-new": "/alert-channels?new=",
        "alert-channel-form": "/alert-channels?new=telegram",
      };
      for (const [name, path] of Object.entries(paths)) {
        await using open = await box.open(path);
        await open.page
          .getByText(/Mine|New/)
          .first()
          .waitFor();
        await open.page.waitForTimeout(300);
        expect([name, await looksOf(open.page, name), open.faults]).toEqual([name, [], []]);
      }
    }, 30_000);
  });
