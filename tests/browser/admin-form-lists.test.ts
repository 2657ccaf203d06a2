/** Uses every list in every form of the admin page by keyboard. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";
import type { ElementHandle, Locator, Page } from "playwright-core";
import { findRow, owner } from "../support/admin-world.ts";
import { describeInChromium } from "../support/browser.ts";
import { createLayoutWorld } from "../support/layout-world.ts";

type World = Awaited<ReturnType<typeof createFormWorld>>;

/** A button or menu item to press, or something else to do. */
type Step = string | RegExp | ((page: Page) => Promise<void>);

/** How to open the form: its page, then the steps. */
type Way = (world: World) => [path: string, ...steps: Step[]];

async function selectRow(page: Page) {
  await findRow(page, "Web shop").getByRole("link", { name: "Web shop" }).focus();
  await page.keyboard.press("x");
}

const openMonitor: Way = () => ["/monitors", "Create monitor", "More types and options"];

/** Ways to open the forms with lists, by source file. */
const forms: Record<string, Way[]> = {
  "alert-channels/channel-editor.tsx": [
    () => ["/alert-channels", "Create alert channel", /^Webhook/],
  ],
  "alert-sources/source-editor.tsx": [() => ["/on-call/alert-sources", "Create alert source"]],
  "alerts/snooze-dialog.tsx": [() => ["/alerts", /^Snooze /, "until a time…"]],
  "incidents/create-incident.tsx": [() => ["/incidents", "Create incident"]],
  "incidents/detail/edit-dialog.tsx": [({ ids }) => [`/incidents/${ids.incident}`, "Edit"]],
  "maintenance/window-editor.tsx": [() => ["/maintenance", "Schedule maintenance"]],
  "monitors/editor/bulk-editor.tsx": [() => ["/monitors", selectRow, "Edit"]],
  "monitors/editor/group-editor.tsx": [() => ["/monitors", "Create group"]],
  // The second time, the type stays as it is.
  "monitors/editor/monitor-editor.tsx": [openMonitor, openMonitor],
  "on-call/monthly-drill.tsx": [
    () => ["/on-call/readiness", "Drill Ada Lovelace", "Drill every month"],
  ],
  "on-call/policy-editor.tsx": [() => ["/on-call", "Create escalation policy", "Add step"]],
  "on-call/schedule-editor.tsx": [() => ["/on-call", "Create schedule"]],
  "on-call/take-over.tsx": [({ ids }) => [`/on-call/${ids.schedule}`, "Override"]],
  "reports/report-mails.tsx": [() => ["/reports", "Send by mail"]],
  "settings/account/contact-methods.tsx": [
    () => ["/settings/contact-methods", "Add contact method"],
  ],
  "settings/account/profile.tsx": [() => ["/settings/profile"]],
  "settings/appliance/backup-schedule.tsx": [() => ["/settings/backup"]],
  "settings/appliance/provider-editor.tsx": [() => ["/settings/single-sign-on", "Add provider"]],
  "settings/organization/api-keys.tsx": [() => ["/settings/api-keys", "Create API key"]],
  "settings/organization/general.tsx": [() => ["/settings/organization"]],
  "settings/organization/incident-templates.tsx": [
    () => ["/settings/incident-templates", "Create template"],
  ],
  "settings/organization/invitations.tsx": [() => ["/settings/people", "Invite people"]],
  "settings/organization/people.tsx": [
    () => ["/settings/people", /^Actions for Vi/, "Limit to groups…"],
  ],
  "status-pages/create-page.tsx": [() => ["/status-pages", "Create status page"]],
  "status-pages/page-editor.tsx": [({ ids }) => [`/status-pages/${ids.page}`]],
  "status-pages/subscriber-choice.tsx": [
    ({ ids }) => [
      `/status-pages/${ids.page}?tab=subscribers`,
      /^Actions for a@/,
      "Change what it gets",
    ],
  ],
  "status-pages/subscribers.tsx": [
    ({ ids }) => [`/status-pages/${ids.page}?tab=subscribers`, "Add subscriber"],
  ],
};

const listComponent =
  /<(Select|MultiSelect|TagsInput|Autocomplete|\w+Select|RecordsField|GroupsField|DateTimeField|DayField|SchemaField)\b/;

/** Forms without a list. */
const plain = [
  "entrance/entrance-pages.tsx",
  "incidents/detail/composer.tsx",
  "incidents/detail/note-form.tsx",
  "incidents/detail/postmortem-page.tsx",
  "incidents/detail/update-dialogs.tsx",
  "settings/account/two-factor.tsx",
  "settings/account/ways-to-sign-in.tsx",
  "settings/appliance/organizations.tsx",
  "settings/organization/certificate-authorities.tsx",
  "settings/organization/deleted-records.tsx",
  "settings/organization/mail-server.tsx",
  "settings/organization/restore-button.tsx",
  "status-pages/access-tokens.tsx",
  "status-pages/publishing.tsx",
  "status-pages/subscriber-import.tsx",
];

const lists = "input[aria-haspopup=listbox]:visible:enabled";

async function createFormWorld() {
  const world = await createLayoutWorld();
  const { ask, url } = world;
  const [page] = await ask("GET", "/api/v1/status-pages");
  const [{ id: schedule }] = await ask("GET", "/api/v1/schedules");
  const [{ id: person }] = await ask("GET", "/api/v1/people");
  const layers = [{ name: "First", start: "2026-01-05T09:00", personIds: [person] }];
  await ask("PATCH", `/api/v1/schedules/${schedule}`, { layers });
  const { link } = await ask("POST", "/invitations", { email: "vi@acme.example", role: "viewer" });
  const token = new URL(link, url).hash.slice(1);
  // As another browser, because it signs in.
  await fetch(`${url}/dashboard/invitations/accept`, {
    method: "POST",
    headers: { Origin: url, "Content-Type": "application/json" },
    body: JSON.stringify({ token, name: "Vi", password: owner.password }),
  });
  await ask("POST", `/api/v1/status-pages/${page.id}/subscribers`, {
    type: "email",
    email: "a@customer.example",
    confirmed: true,
  });
  return {
    ...world,
    ids: {
      page: page.id as string,
      incident: (await ask("GET", "/api/v1/incidents?open=true"))[0].id as string,
      schedule: schedule as string,
    },
  };
}

describeInChromium("lists in forms", (browser) => {
  let world: World;
  beforeAll(async () => {
    world = await createFormWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test.each(Object.keys(forms))(
    "%s: Enter selects the active option, and never sends",
    async (file) => {
      const sent: string[] = [];
      const faults: string[] = [];
      const used = new Set<string>();
      for (const way of forms[file] ?? []) {
        const [path, ...steps] = way(world);
        await using open = await world.open(browser, path);
        const { page } = open;
        page.setDefaultTimeout(12_000);
        // Nothing that a form sends arrives, so the next form finds the same records.
        await page.route("**/*", async (route) => {
          const request = route.request();
          if (request.method() === "GET") return route.fallback();
          if (!/preview|drafts/.test(request.url()))
            sent.push(`${request.method()} ${request.url()}`);
          await route.fulfill({
            status: 503,
            json: { error: { code: "UNAVAILABLE", message: "Away." } },
          });
        });
        for (const step of steps)
          await (typeof step === "function" ? step(page) : press(page, step));
        sent.length = 0;
        const form = page.locator(steps.length > 0 ? "[role=dialog] form" : "main form");
        faults.push(...(await useLists(page, form, used)));
        expect(sent).toEqual([]);
      }
      expect(faults).toEqual([]);
      expect(used.size).toBeGreaterThan(0);
    },
  );
});

test("every form with a list is tried", async () => {
  const root = join(import.meta.dir, "..", "..", "web", "pages");
  const [found, withList]: [string[], string[]] = [[], []];
  for (const path of new Glob("**/*.tsx").scanSync(root)) {
    const text = await Bun.file(join(root, path)).text();
    if (!/<Form(Frame|Dialog)\b/.test(text)) continue;
    found.push(path);
    if (listComponent.test(text)) withList.push(path);
  }
  expect(found.toSorted()).toEqual([...Object.keys(forms), ...plain].toSorted());
  expect(withList.filter((path) => plain.includes(path))).toEqual([]);
});

async function press(page: Page, name: string | RegExp) {
  const exact = typeof name === "string";
  const control = page
    .getByRole("button", { name, exact })
    .or(page.getByRole("menuitem", { name, exact }));
  await control.locator("visible=true").last().click();
}

/** Uses the lists of these forms, also those that sections, switches and choices show. */
async function useLists(page: Page, form: Locator, used: Set<string>): Promise<string[]> {
  await form.first().waitFor();
  const faults: string[] = [];
  const useShown = async () => {
    for (const list of await form.locator(lists).elementHandles())
      faults.push(...(await useList(page, list as ElementHandle<HTMLInputElement>, used)));
    if (!(await form.first().isVisible())) faults.push(`closed after ${[...used].at(-1)}`);
  };
  await clickAll(form, ".fold > button[aria-expanded=false]");
  await useShown();
  await clickAll(form, "button:text-matches('^Add ')");
  await useShown();
  await clickAll(form, "[role=switch]:enabled");
  await useShown();
  for (const choice of await form.locator("input[type=radio]:not(:checked)").elementHandles()) {
    await choice.evaluate((radio) => (radio as HTMLInputElement).click());
    await useShown();
  }
  return faults;
}

const clickAll = async (form: Locator, selector: string) => {
  for (const element of await form.locator(selector).elementHandles())
    await element.evaluate((one) => (one as HTMLElement).click());
};

/** Chooses an option with the keyboard, and presses Enter twice more. */
async function useList(
  page: Page,
  list: ElementHandle<HTMLInputElement>,
  used: Set<string>,
): Promise<string[]> {
  const label = await list.evaluate(
    (input) => input.labels?.[0]?.textContent ?? input.getAttribute("aria-label") ?? "",
  );
  if (used.has(label) || !(await list.isVisible())) return [];
  used.add(label);
  const [before, isText] = await list.evaluate(
    (input) => [input.value, input.classList.contains("mantine-Autocomplete-input")] as const,
  );
  let { option, chosen } = await choose(page, list, isText ? "ArrowUp" : "ArrowDown");
  // The first choice of a time can be the value that the field has.
  for (let nth = 2; isText && chosen[0] === before && nth < 5; nth++)
    ({ option, chosen } = await choose(page, list, ...Array<string>(nth).fill("ArrowDown")));
  for (const key of ["Enter", "Enter"]) await page.keyboard.press(key);
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  // A chosen time is replaced by its meaning, and some options have a description.
  const isChosen = isText
    ? !["", before].includes(chosen[0] ?? "")
    : chosen.some((text) => text !== "" && option?.startsWith(text));
  return option === null || isChosen
    ? []
    : [`${label}: Enter on “${option}” led to “${chosen.join(", ")}”`];
}

/** Presses these keys until an option is active, and then Enter. Returns the option, and the resulting value of the field. */
async function choose(page: Page, list: ElementHandle<HTMLInputElement>, ...keys: string[]) {
  await list.focus();
  await runTimers(page);
  let option: string | null = null;
  for (let nth = 0; nth < 4 && option === null; nth++) {
    for (const key of keys) await page.keyboard.press(key);
    await runTimers(page);
    option = await list.evaluate((input) => {
      const active = document
        .getElementById(input.getAttribute("aria-controls") ?? "")
        ?.querySelector("[data-combobox-selected]:not([aria-selected=true])");
      return active?.textContent ?? null;
    });
  }
  if (option === null) await page.keyboard.type("x9");
  await page.keyboard.press("Enter");
  const chosen = await list.evaluate((input) => {
    const pills = input.closest(".mantine-PillsInput-root, .mantine-InputWrapper-root");
    const names = pills?.querySelectorAll(".mantine-Pill-label") ?? [];
    return [input.value, ...Array.from(names, (name) => name.textContent ?? "")];
  });
  return { option, chosen };
}

/** Waits for the timers with which an opening list sets its active option. */
const runTimers = (page: Page) => page.evaluate(() => new Promise((done) => setTimeout(done)));
