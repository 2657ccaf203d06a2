/** Single sign-on in Chromium: a provider is added and tested, linked, used to sign in, and unlinked. */
import { expect, test } from "bun:test";
import { owner, selectPageFaults, startOwnedMachine } from "../support/admin-world.ts";
import { findLookFlaws } from "../support/admin-looks.ts";
import { describeInChromium } from "../support/browser.ts";
import { startRealIdentityProvider } from "../support/real-identity-provider.ts";

describeInChromium("single sign-on", (browser) => {
  test("a provider is added and tested, an account is linked, signs in without a password, and is unlinked", async () => {
    await using machine = await startOwnedMachine();
    await using provider = await startRealIdentityProvider(`${machine.url}/sign-in/callback`);
    await using opened = await machine.open(browser, "/settings/single-sign-on");
    const { page } = opened;

    await page.getByRole("button", { name: "Add provider" }).first().click();
    await page.getByLabel("Issuer").fill(`${provider.issuer}/wrong`);
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("has the status 404").waitFor();
    await page.getByLabel("Issuer").fill(provider.issuer);
    await page.getByLabel("Client ID").fill("signalbox");
    await page.getByLabel("Client secret").fill("a client secret");
    await page.getByRole("checkbox", { name: "Acme GmbH" }).check();
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("The discovery document was read").waitFor();
    expect(await findLookFlaws(page, "sign-in-provider")).toEqual([]);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(provider.issuer).waitFor();
    const [{ id }] = await machine.ask("GET", "/identity-providers");
    await machine.ask("PATCH", `/identity-providers/${id}`, { isDirect: true });

    await page.goto(`${machine.url}/settings/profile`);
    await page.getByRole("button", { name: "Link Keycloak" }).click();
    await page.locator("[name=login]").fill("lovelace");
    await page.locator("[name=password]").fill("any");
    await page.getByRole("button", { name: "Sign-in" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("lovelace@team.example").waitFor();

    await page.getByRole("button", { name: "Acme GmbH" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in with Keycloak" }).click();
    await page.getByText("Monitors").first().waitFor();

    const openSwitch = async () => {
      await page.goto(`${machine.url}/settings/organization`);
      return page.getByRole("switch", { name: "Password sign-in" });
    };
    await (await openSwitch()).click();
    await page.getByText("Saved").waitFor();
    await page.getByRole("button", { name: "Acme GmbH" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "No, stay signed in" }).click();
    // After signing out, the page waits for the person, although the provider still knows them.
    await page.waitForURL(`${machine.url}/sign-in?password`);
    await page.getByLabel("E-mail").fill(owner.email);
    await page.getByLabel("Password", { exact: true }).fill(owner.password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("has turned password sign-in off").waitFor();
    // Elsewhere, the only provider is opened at once.
    await page.goto(machine.url);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Monitors").first().waitFor();
    await (await openSwitch()).click();
    await page.getByText("Saved").waitFor();
    await page.goto(`${machine.url}/settings/profile`);

    await page.getByRole("button", { name: "Actions for Keycloak" }).click();
    await page.getByRole("menuitem", { name: "Unlink" }).click();
    await page.getByRole("button", { name: "Unlink", exact: true }).click();
    await page.getByText("not linked").waitFor();
    // The pages of the provider are not ours, and load a font.
    const ours = opened.faults.filter(
      (fault) =>
        !/fonts\.googleapis|NAME_NOT_RESOLVED/.test(fault) && !fault.includes(provider.issuer),
    );
    expect(selectPageFaults(ours)).toEqual([]);
  });
});
