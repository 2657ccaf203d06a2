/** On-call schedules on the admin page: list, calendar, overrides by drag, keyboard and phone, editor. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { defineLookTests, findThemeViolations } from "../support/admin-looks.ts";
import { owner, startOwnedMachine } from "../support/admin-world.ts";
import { formatLocal } from "../../web/components/forms/date-time-rules.ts";
import { describeInChromium } from "../support/browser.ts";
import { waitOutMidnight } from "../support/midnight.ts";
import type { Json } from "../support/json.ts";

const dayMs = 86_400_000;
const formatDay = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

type World = Awaited<ReturnType<typeof startOwnedMachine>>;

/** Adds a person to the organization, and returns their ID. */
async function addPerson({ url, ask }: World, name: string): Promise<string> {
  const email = `${name.toLowerCase()}@acme.example`;
  const { link } = await ask("POST", "/invitations", { email, role: "member" });
  await fetch(`${url}/dashboard/invitations/accept`, {
    keepalive: false,
    method: "POST",
    headers: { Origin: url, "Content-Type": "application/json" },
    body: JSON.stringify({
      token: new URL(link, url).hash.slice(1),
      name,
      password: owner.password,
    }),
  });
  const people: Json[] = await ask("GET", "/people");
  return people.find((person) => person.email === email).id;
}

const getHourCell = (page: Page, days: number, hour: number) =>
  page.locator(`[data-hour="${days * 24 + hour}"]`);

describeInChromium("on call", (browser) => {
  let world: World;
  let schedule: Json;
  let source: Json;
  let ben = "";
  let cat = "";
  const listOverrides = async (): Promise<Json[]> =>
    world.ask("GET", `/api/v1/schedules/${schedule.id}/overrides`);
  beforeAll(async () => {
    await waitOutMidnight();
    world = await startOwnedMachine();
    await world.ask("PATCH", "/organization", { timeZone: "UTC" });
    ben = await addPerson(world, "Ben");
    cat = await addPerson(world, "Cat");
    schedule = await world.ask("POST", "/api/v1/schedules", {
      name: "Platform",
      description: "Everything behind the **router**.",
      layers: [
        { personIds: [ben, cat], every: 2, unit: "days", start: `${formatDay(-2)}T00:00` },
        {
          name: "Nights",
          personIds: [cat],
          start: `${formatDay(-2)}T00:00`,
          hours: [{ days: ["monday", "friday"], from: "20:00", until: "06:00" }],
        },
      ],
    });
    await world.ask("POST", "/api/v1/schedules", {
      name: "Network",
      layers: [
        {
          personIds: [ben],
          start: `${formatDay(-2)}T00:00`,
          hours: [
            {
              days: ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
              from: "00:00",
              until: "20:00",
            },
          ],
        },
      ],
    });
    await world.ask("POST", "/api/v1/escalation-policies", { name: "Quiet" });
    const channel = { type: "webhook", name: "Team chat", url: "http://127.0.0.1:9/" };
    await world.ask("POST", "/api/v1/alert-channels", channel);
    source = await world.ask("POST", "/api/v1/alert-sources", {
      name: "Prometheus",
      type: "alertmanager",
    });
    const alert = {
      status: "firing",
      fingerprint: "a",
      annotations: { summary: "Disk a is full" },
    };
    for (const body of [{ alerts: [alert] }, { alert }])
      await fetch(`${world.url}${new URL(source.address).pathname}`, {
        keepalive: false,
        method: "POST",
        body: JSON.stringify(body),
      });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  defineLookTests((path) => world.open(browser, path), {
    "on-call": () => ["/on-call", "Notifies no one."],
    schedule: () => [`/on-call/${schedule.id}`, "Next shifts"],
    readiness: () => ["/on-call/readiness", "Ben has no contact method."],
    "alert-source": () => [`/on-call/alert-sources/${source.id}`, "Opened 1 alert."],
  });

  test("on a phone, two taps put the signed-in person on call", async () => {
    await using open = await world.open(browser, "/on-call", {
      viewport: { width: 390, height: 844 },
    });
    const { page } = open;
    await page.getByRole("button", { name: "Take over Platform" }).click();
    await page.getByRole("menuitem", { name: "for 2 hours" }).click();
    await page.getByText(/^You are on call until/).waitFor();
    const row = page.getByRole("listitem").filter({ hasText: "Platform" });
    await row.getByText(owner.name).waitFor();
    const [result, ...others] = await listOverrides();
    expect(others).toEqual([]);
    expect(Date.parse(result.endsAt) - Date.parse(result.startsAt)).toBeCloseTo(7_200_000, -4);
    await page.getByRole("button", { name: /^Undo/ }).click();
    await row.getByText(owner.name).waitFor({ state: "detached" });
    expect(await listOverrides()).toEqual([]);
    expect(open.faults).toEqual([]);
  });

  test("a drill is previewed and started, and its result is listed", async () => {
    await using open = await world.open(browser, "/on-call/readiness");
    const { page } = open;
    await page.getByRole("button", { name: "Drill yourself" }).click();
    const dialog = page.getByRole("dialog", { name: `Start a drill of ${owner.name}?` });
    await dialog.getByText(`${owner.name} can't be reached`).waitFor();
    await dialog.getByRole("button", { name: "Start drill" }).click();
    await page.getByRole("heading", { name: `Drill: ${owner.name}` }).waitFor();
    await page.goBack();
    await page.getByRole("region", { name: "Drills" }).getByText("no message arrived").waitFor();
    expect(open.faults).toEqual([]);
  });

  test("an override is created by dragging over hours, and by keyboard", async () => {
    await using open = await world.open(browser, `/on-call/${schedule.id}`);
    const { page } = open;
    const dialog = page.getByRole("dialog", { name: "Override Platform" });
    await getHourCell(page, 1, 9).hover();
    await page.mouse.down();
    await getHourCell(page, 1, 12).hover();
    await page.mouse.up();
    expect(await dialog.getByRole("combobox", { name: "From" }).inputValue()).toBe(
      formatLocal(`${formatDay(1)}T09:00`),
    );
    expect(await dialog.getByRole("combobox", { name: "Until" }).inputValue()).toBe(
      formatLocal(`${formatDay(1)}T13:00`),
    );
    await dialog.getByRole("button", { name: "Override" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText(/ is on call /).waitFor();

    await getHourCell(page, 0, 0).focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "Shift+ArrowRight", "Enter"])
      await page.keyboard.press(key);
    await dialog.getByRole("combobox", { name: "On call" }).click();
    await page.getByRole("option", { name: "Cat" }).click();
    expect(await dialog.getByRole("combobox", { name: "From" }).inputValue()).toBe(
      formatLocal(`${formatDay(2)}T01:00`),
    );
    expect(await findThemeViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Override" }).click();
    await dialog.waitFor({ state: "detached" });
    const result = await listOverrides();
    expect(result.map(({ personId, startsAt, endsAt }) => [personId, startsAt, endsAt])).toEqual([
      [expect.any(String), `${formatDay(1)}T09:00:00.000Z`, `${formatDay(1)}T13:00:00.000Z`],
      [cat, `${formatDay(2)}T01:00:00.000Z`, `${formatDay(2)}T03:00:00.000Z`],
    ]);
    const panel = page.locator(".panel", { has: page.getByRole("heading", { name: "Overrides" }) });
    const remove = panel.getByRole("button", { name: "Remove" });
    expect(await remove.count()).toBe(2);
    await remove.first().click();
    await remove.nth(1).waitFor({ state: "detached" });
    await remove.click();
    await panel.waitFor({ state: "detached" });
    expect(open.faults).toEqual([]);
  });

  test("a schedule is created with a preview, and edited", async () => {
    await using open = await world.open(browser, "/on-call");
    const { page } = open;
    await page.getByRole("button", { name: "Create schedule" }).click();
    const editor = page.getByRole("dialog", { name: "Create schedule" });
    await editor.getByLabel("Name", { exact: true }).fill("Database");
    await editor.getByRole("combobox", { name: "People" }).click();
    await page.getByRole("option", { name: "Ben" }).click();
    await page.getByRole("option", { name: "Cat" }).click();
    await page.keyboard.press("Escape");
    await editor.getByText("Daily").click();
    await editor.getByRole("combobox", { name: "First hand-over" }).fill(`${formatDay(0)}T00:00`);
    await editor.getByRole("button", { name: "Restrict to some hours" }).click();
    await editor.getByLabel("Until").fill("18:00");
    await editor.getByRole("list").getByText("Nobody").first().waitFor();
    expect(await findThemeViolations(page)).toEqual([]);
    await editor.getByRole("button", { name: "Create schedule" }).click();
    await page.getByRole("heading", { name: "Database" }).waitFor();
    const id = page.url().split("/").at(-1) ?? "";
    expect(await world.ask("GET", `/api/v1/schedules/${id}`)).toMatchObject({
      name: "Database",
      layers: [
        {
          personIds: [ben, cat],
          every: 1,
          unit: "days",
          hours: [{ from: "09:00", until: "18:00" }],
        },
      ],
    });
    await page.keyboard.press("e");
    const again = page.getByRole("dialog", { name: "Edit schedule" });
    await again.getByRole("button", { name: "Add layer" }).click();
    await again.getByRole("button", { name: "Save" }).click();
    await again.getByText("Must have at least 1 entry.").waitFor();
    await again.getByRole("button", { name: "Remove Rotation 2" }).click();
    await again.getByRole("button", { name: "Save" }).click();
    await again.waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("Platf");
    await page.getByRole("option", { name: "Platform Schedule", exact: true }).click();
    await page.getByRole("heading", { name: "Platform" }).waitFor();
    await open.measureShifts();
    expect(open.faults.filter((fault) => !fault.includes("422"))).toEqual([]);
  });

  test("an escalation policy is created with steps, read aloud, edited and deleted", async () => {
    await using open = await world.open(browser, "/on-call");
    const { page } = open;
    await page.getByRole("button", { name: "Create escalation policy" }).click();
    const editor = page.getByRole("dialog", { name: "Create escalation policy" });
    await editor.getByLabel("Name", { exact: true }).fill("Shop");
    const choose = async (step: number, ...names: string[]) => {
      await editor
        .getByRole("group", { name: `Step ${step}` })
        .getByRole("combobox", { name: "Notify" })
        .click();
      for (const name of names) await page.getByRole("option", { name, exact: true }).click();
      await page.keyboard.press("Tab");
    };
    await choose(1, "Platform", "Ben");
    await editor.getByRole("button", { name: "Add step" }).click();
    await choose(2, "Team chat");
    await editor.getByLabel("Repetitions").fill("2");
    await editor
      .getByText(
        "At once the person on call in Platform and Ben; after 10 min Team chat. Repeated twice.",
      )
      .waitFor();
    await editor.getByRole("switch", { name: "Default policy" }).click();
    expect(await findThemeViolations(page)).toEqual([]);
    await editor.getByRole("button", { name: "Create escalation policy" }).click();
    await editor.waitFor({ state: "detached" });
    const readStored = async (): Promise<Json> =>
      ((await world.ask("GET", "/api/v1/escalation-policies")) as Json[]).find(
        ({ name }) => name === "Shop",
      );
    expect(await readStored()).toMatchObject({
      default: true,
      repeat: 2,
      steps: [
        {
          afterMinutes: 0,
          targets: [
            { type: "schedule", id: schedule.id },
            { type: "person", id: ben },
          ],
        },
        { afterMinutes: 10, targets: [{ type: "channel" }] },
      ],
    });
    await page.getByRole("button", { name: /^Shop/ }).click();
    const again = page.getByRole("dialog", { name: "Edit escalation policy" });
    await again.getByRole("group", { name: "Step 2" }).getByLabel("After").fill("0");
    await again.getByRole("button", { name: "Save" }).click();
    await again.getByText("Must be later than the previous step.").waitFor();
    await again.getByRole("button", { name: "Remove step 2" }).click();
    await again.getByRole("button", { name: "Save" }).click();
    await again.waitFor({ state: "detached" });
    expect((await readStored()).steps).toHaveLength(1);
    await page.getByRole("button", { name: "Actions for Shop" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page
      .getByRole("dialog", { name: "Delete Shop?" })
      .getByRole("button", { name: "Delete" })
      .click();
    await page.getByRole("button", { name: /^Shop/ }).waitFor({ state: "detached" });
    expect(await readStored()).toBeUndefined();
    expect(open.faults.filter((fault) => !fault.includes("422"))).toEqual([]);
  });

  test("a monitor gets a policy and its dependencies, and a cycle is named", async () => {
    const push = { type: "push", interval: 3600 };
    const router: Json = await world.ask("POST", "/api/v1/monitors", { ...push, name: "Router" });
    const shop: Json = await world.ask("POST", "/api/v1/monitors", {
      ...push,
      name: "Web shop",
      dependsOn: [router.id],
    });
    await using open = await world.open(browser, `/monitors/${router.id}`);
    const { page } = open;
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const editor = page.getByRole("dialog", { name: "Edit monitor" });
    await editor.getByRole("combobox", { name: "Escalation policy" }).click();
    await page.getByRole("option", { name: "Quiet" }).click();
    await editor.getByRole("button", { name: /^Alerts/ }).click();
    const dependsOn = editor.getByRole("combobox", { name: "Depends on" });
    await dependsOn.click();
    await page.getByRole("option", { name: "Web shop" }).click();
    await page.keyboard.press("Tab");
    await editor.getByRole("button", { name: "Save" }).click();
    await editor.getByText("Makes a cycle: Web shop → Router → Web shop.").waitFor();
    await dependsOn.press("Backspace");
    await page.keyboard.press("Tab");
    await editor.getByRole("button", { name: "Save" }).click();
    await editor.waitFor({ state: "detached" });
    expect(await world.ask("GET", `/api/v1/monitors/${router.id}`)).toMatchObject({
      dependsOn: [],
      escalationPolicyId: expect.any(String),
    });

    await page.goto(`${world.url}/monitors`);
    await page.getByText("Web shop").first().waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("Create monitor");
    await page
      .getByRole("option", { name: /^Create monitor/ })
      .first()
      .click();
    const creating = page.getByRole("dialog", { name: "Create monitor" });
    await creating.getByRole("combobox", { name: "Type" }).fill("composite");
    await page.getByRole("option", { name: /Composite/ }).click();
    await creating.getByLabel("Name", { exact: true }).fill("Everything");
    await creating.getByRole("button", { name: "Create monitor" }).click();
    await creating.getByText("Must have at least 1 entry.").waitFor();
    await creating.getByRole("combobox", { name: "Monitors" }).click();
    await page.getByRole("option", { name: "Router" }).click();
    await page.getByRole("option", { name: "Web shop" }).click();
    await page.keyboard.press("Tab");
    await creating.getByRole("combobox", { name: "Up when" }).click();
    await page.getByRole("option", { name: "A number of them is up" }).click();
    await creating.getByLabel("Minimum").fill("1");
    await creating.getByRole("button", { name: "Create monitor" }).click();
    await creating.waitFor({ state: "detached" });
    const all: Json[] = await world.ask("GET", "/api/v1/monitors");
    expect(all.find(({ name }) => name === "Everything")).toMatchObject({
      mode: "count",
      minimum: 1,
      dependsOn: [router.id, shop.id],
    });
    expect(open.faults.filter((fault) => !fault.includes("422"))).toEqual([]);
  });

  test("an alert source is created after a preview of a sample, and shows what to enter in the tool", async () => {
    await using open = await world.open(browser, "/on-call/alert-sources");
    const { page } = open;
    await page.getByRole("link", { name: "Prometheus" }).waitFor();
    await page.keyboard.press("n");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox", { name: "Tool" }).click();
    await page.getByRole("option", { name: "Any other tool, as JSON" }).click();
    await dialog.getByLabel("Try a sample").fill('{"id":"7","title":"The boiler is cold"}');
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByText("The boiler is cold", { exact: true }).waitFor();
    expect(await findThemeViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Create alert source" }).click();
    await page.getByRole("heading", { name: "Any other tool, as JSON" }).waitFor();
    const [created] = (await world.ask("GET", "/api/v1/alert-sources")) as Json[];
    await page.getByText(created?.["address"] as string).waitFor();
    expect(created).toMatchObject({ type: "json", mapping: { key: "$.id", title: "$.title" } });
  });

  test("a request to an alert source is handled again, and its alert names the source", async () => {
    await using open = await world.open(browser, `/on-call/alert-sources/${source.id}`);
    const { page } = open;
    await page.getByRole("button", { name: "Opened 1 alert." }).click();
    await page.getByText("Disk a is full").waitFor();
    await page.getByRole("button", { name: "Handle again" }).click();
    await page.getByRole("button", { name: "It changed no alert." }).waitFor();
    await page.getByRole("link", { name: "Alerts", exact: true }).last().click();
    await page.getByRole("link", { name: "Disk a is full" }).click();
    const link = page.getByRole("link", { name: "Open the alert source" });
    expect(await link.getAttribute("href")).toBe(`/on-call/alert-sources/${source.id}`);
  });
});
