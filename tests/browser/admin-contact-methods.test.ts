/** A person's own contact methods in the settings: adding, verification by a code, and their look. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { PushedMessage } from "../../src/alerting/pushed-message.ts";
import { createAdminWorld, owner, selectPageFaults, signInAs } from "../support/admin-world.ts";
import { findLookFlaws } from "../support/admin-looks.ts";
import {
  describeInChromium,
  findViolations,
  launchChromium,
  lanName,
  storePicture,
  visitPage,
  wholeChromium,
} from "../support/browser.ts";
import { startPushService } from "../support/push-service.ts";
import { pollUntil } from "../support/poll.ts";

type Subscription = { endpoint: string; publicKey: string; auth: string };

/** Runs in the page: subscribes to our push service, because Chromium can't reach a real one. */
function replacePushManager({ endpoint, publicKey, auth }: Subscription) {
  const decode = (text: string) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (byte) =>
      byte.charCodeAt(0),
    ).buffer;
  let current: object | null = null;
  const unsubscribe = async () => {
    current = null;
    return true;
  };
  const getKey = (name: string) => decode(name === "auth" ? auth : publicKey);
  Object.assign(PushManager.prototype, {
    subscribe: async (options: object) => (current = { endpoint, options, getKey, unsubscribe }),
    getSubscription: async () => current,
  });
}

/** Returns a function that delivers a message to the page's service worker, as the browser would. */
async function createPushDelivery(page: Page, origin: string) {
  const session = await page.context().newCDPSession(page);
  const registered = Promise.withResolvers<string>();
  session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations: [first] }) => {
    if (first !== undefined) registered.resolve(first.registrationId);
  });
  await session.send("ServiceWorker.enable");
  const registrationId = await registered.promise;
  return (message: PushedMessage) =>
    session.send("ServiceWorker.deliverPushMessage", {
      origin,
      registrationId,
      data: JSON.stringify(message),
    });
}

type Worker = { registration: ServiceWorkerRegistration };

/** Runs in the service worker: replaces the subscription, as a browser does when it expires. */
async function changeSubscription() {
  const { registration } = globalThis as unknown as Worker;
  const subscription = await registration.pushManager.subscribe();
  const event = new Event("pushsubscriptionchange");
  const changed = { oldSubscription: subscription, newSubscription: subscription };
  dispatchEvent(Object.assign(event, { ...changed, waitUntil: () => {} }));
}

/** Runs in the service worker: clicks a button of a notification about a drill, if there is one. */
async function clickNotification(action: string) {
  const { registration } = globalThis as unknown as Worker;
  const notification = (await registration.getNotifications()).find(({ title }) =>
    title.startsWith("Drill"),
  );
  if (notification === undefined) return false;
  const event = new Event("notificationclick");
  // Only the browser can create an event that waits.
  dispatchEvent(Object.assign(event, { action, notification, waitUntil: () => {} }));
  return true;
}

/** Runs in the service worker: returns the titles of notifications about drills. */
async function listNotifications() {
  const { registration } = globalThis as unknown as Worker;
  const titles = (await registration.getNotifications()).map(({ title }) => title);
  return titles.filter((title) => title.includes("Drill"));
}

const { email, password } = owner;

describeInChromium("contact methods", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  let push: Awaited<ReturnType<typeof startPushService>>;
  // The headless shell shows no notifications.
  const whole = launchChromium(wholeChromium);
  beforeAll(async () => {
    push = await startPushService();
    world = await createAdminWorld(push.env);
  });
  afterAll(async () => {
    await whole.close();
    await world[Symbol.asyncDispose]();
    await push[Symbol.asyncDispose]();
  });

  test("a person adds one, receives a code and verifies it", async () => {
    await using open = await world.open(browser, "/settings/contact-methods");
    const { page } = open;
    await page.getByText("No one can page you yet").waitFor();
    await storePicture(page, "contact-methods-empty.png");
    // The form appears late, and does not close the list of types.
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route("**/alert-channels*", (route) => promise.then(() => route.continue()));
    await page.reload();
    await page.getByRole("button", { name: "Add contact method" }).click();
    const adding = page.getByRole("dialog", { name: "Add contact method" });
    await adding
      .getByRole("combobox", { name: "Type" })
      .or(adding.getByLabel("Type"))
      .first()
      .click();
    await page.getByRole("option", { name: "Webhook" }).waitFor();
    resolve();
    await adding.getByLabel("Name", { exact: true }).waitFor();
    await page.getByRole("option", { name: "Webhook" }).click();
    await adding.getByLabel("Name", { exact: true }).fill("Phone");
    await adding.getByLabel("URL", { exact: true }).fill(world.site.at("/phone"));
    await storePicture(page, "contact-methods-add.png");
    await adding.getByRole("button", { name: "Add and verify" }).click();
    const verifying = page.getByRole("dialog", { name: "Verify Phone" });
    await verifying.getByRole("button", { name: "Send code" }).click();
    await verifying.getByText("A code was sent.").waitFor();
    const message = world.site.asked.findLast(({ path }) => path === "/phone");
    const code = /\b\d{6}\b/.exec(message?.body ?? "")?.[0] ?? "";
    await verifying.getByLabel("Code", { exact: true }).fill(code);
    await storePicture(page, "contact-methods-verify.png");
    await verifying.getByRole("button", { name: "Verify", exact: true }).click();
    const list = page.getByRole("list", { name: "Contact methods" });
    await list.getByText("Verified").waitFor();
    expect(await findLookFlaws(page, "contact-methods")).toEqual([]);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("with an SMS channel, a person enters only a number", async () => {
    const sms = { type: "sms", name: "On-call SMS", preset: "custom", to: "+491701234567" };
    const url = world.site.at("/sms?to={{to}}&text={{text}}");
    await world.ask("POST", "/api/v1/alert-channels", { ...sms, url, method: "GET" });
    await using open = await world.open(browser, "/settings/contact-methods");
    const { page } = open;
    await page.getByRole("button", { name: "Add contact method" }).click();
    const adding = page.getByRole("dialog", { name: "Add contact method" });
    await adding.getByLabel("Type").first().click();
    await page.getByRole("option", { name: "SMS" }).click();
    const through = adding.getByRole("combobox", { name: "Send through" });
    await through.waitFor();
    expect(await through.inputValue()).toBe("On-call SMS");
    expect(await adding.getByLabel("URL", { exact: true }).count()).toBe(0);
    await adding.getByLabel("To", { exact: true }).fill("+491709999999");
    await storePicture(page, "contact-methods-gateway.png");
    await adding.getByRole("button", { name: "Add and verify" }).click();
    const verifying = page.getByRole("dialog", { name: "Verify SMS" });
    await verifying.getByRole("button", { name: "Send code" }).click();
    await verifying.getByText("A code was sent.").waitFor();
    const sent = world.site.asked.findLast(({ path }) => path.startsWith("/sms"));
    expect(sent?.path).toContain("to=%2B491709999999");
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test.each([390, 1440])(
    "at %i px, Verify and the menu of a method don't overlap, and a phone has Verify below the name",
    async (width) => {
      const body = { type: "webhook", name: `Width ${width}`, url: world.site.at("/phone") };
      await world.ask("POST", "/api/v1/contact-methods", body);
      await using open = await world.open(browser, "/settings/contact-methods", {
        viewport: { width, height: 844 },
      });
      const row = open.page.getByRole("listitem").filter({ hasText: body.name });
      const boxOf = async (name: string) => {
        const box = await row.getByRole("button", { name }).boundingBox();
        return box ?? { x: 0, y: 0, width: 0, height: 0 };
      };
      await row.getByRole("button", { name: "Verify" }).waitFor();
      const [verify, menu] = [await boxOf("Verify"), await boxOf(`Actions for ${body.name}`)];
      if (width === 390) {
        expect(verify.y).toBeGreaterThanOrEqual(menu.y + menu.height);
        return;
      }
      expect(menu.x).toBeGreaterThanOrEqual(verify.x + verify.width);
      expect(menu.y).toBeLessThan(verify.y + verify.height);
      expect(menu.y + menu.height).toBeGreaterThan(verify.y);
    },
  );

  test("this browser verifies itself, acknowledges from a notification, and is left at sign-out", async () => {
    const ada = await signInAs(world.url, { email, password });
    const { cookies } = ada.storageState;
    const address = `${world.url}/settings/contact-methods`;
    await using open = await visitPage(whole, address, { cookies }, async (page) => {
      await page.context().grantPermissions(["notifications"], { origin: world.url });
      await page.addInitScript(replacePushManager, push.subscription);
    });
    const { page } = open;
    await page.getByRole("button", { name: "This browser" }).click();
    const dialog = page.getByRole("dialog", { name: "This browser" });
    await storePicture(page, "contact-methods-browser.png");
    await dialog.getByRole("button", { name: "Allow notifications" }).click();
    const deliver = await createPushDelivery(page, world.url);
    const first = await push.waitFor(({ verification }) => verification !== null);
    await deliver(first);
    const row = page.getByRole("listitem").filter({ hasText: "(this one)" });
    await row.getByText(/^Verified/).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await storePicture(page, "contact-methods-browser-verified.png");
    expect(await page.getByRole("button", { name: "This browser" }).count()).toBe(0);

    const worker = page.context().serviceWorkers()[0];
    if (worker === undefined) throw new Error("There is no service worker.");
    const endpoint = `${push.subscription.endpoint}/new`;
    await worker.evaluate(replacePushManager, { ...push.subscription, endpoint });
    await worker.evaluate(changeSubscription);
    const isSecond = ({ verification }: PushedMessage) =>
      verification !== null && verification.code !== first.verification?.code;
    await deliver(await push.waitFor(isSecond));
    await row.getByText(/^Verified/).waitFor();

    const { person } = await ada.ask("GET", "/session");
    const drill = await ada.ask("POST", `/api/v1/people/${person.id}/drill`);
    await deliver(await push.waitFor(({ title }) => title.startsWith("Drill")));
    await pollUntil(() => worker.evaluate(clickNotification, "acknowledge"), Boolean);
    const notifications = await pollUntil(
      () => worker.evaluate(listNotifications),
      (titles) => titles.some((title) => title.startsWith("Acknowledged")),
    );
    expect(notifications).toEqual(["Acknowledged: Drill: Ada Lovelace"]);
    expect(push.last().url).toBe(endpoint);
    const { acknowledgments } = await ada.ask("GET", `/api/v1/alerts/${drill.id}`);
    expect(acknowledgments).toMatchObject([{ type: "link", name: owner.name }]);

    await page.getByRole("button", { name: "Organization and account" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    const leaving = page.getByRole("dialog", { name: "Sign out?" });
    await leaving.getByText("its contact method is deleted").waitFor();
    await storePicture(page, "contact-methods-browser-sign-out.png");
    await leaving.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    const left: { type: string }[] = await world.ask("GET", "/api/v1/contact-methods");
    expect(left.filter(({ type }) => type === "webpush")).toEqual([]);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("over plain HTTP on the LAN, the page explains why this browser can't be used", async () => {
    const cookies = (await signInAs(world.url, { email, password })).storageState.cookies;
    const lan = world.url.replace("127.0.0.1", lanName);
    await using open = await visitPage(browser, `${lan}/settings/contact-methods`, {
      cookies: cookies.map((cookie) => ({ ...cookie, domain: lanName })),
    });
    await open.page.getByRole("button", { name: "This browser" }).click();
    await open.page.getByText("Browsers show notifications only for pages over HTTPS.").waitFor();
    await storePicture(open.page, "contact-methods-browser-http.png");
    expect(await findViolations(open.page)).toEqual([]);
    expect(await open.page.getByRole("button", { name: "Allow notifications" }).count()).toBe(0);
    // The appliance serves the recipe, because it can be without internet.
    const recipe = open.page.getByRole("link", { name: "HTTPS on the LAN" });
    await open.page.goto(new URL((await recipe.getAttribute("href")) ?? "", lan).href);
    await open.page.getByRole("heading", { name: "HTTPS on the LAN" }).waitFor();
    expect(await open.page.locator("pre").count()).toBeGreaterThan(0);
    expect(await findViolations(open.page)).toEqual([]);
  });
});
