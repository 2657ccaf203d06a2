/** Public status pages in Chromium: layout, accessibility, live refresh and hostile content. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { pageLanguages } from "../../src/core/languages.ts";
import { parseMarkdown, renderHtml } from "../../src/core/text/markdown.ts";
import {
  describeInChromium,
  measureOverflow,
  storePicture,
  findViolations,
  findColorViolations,
  visitPage,
} from "../support/browser.ts";
import { waitOutMidnight } from "../support/midnight.ts";
import { hostileMarkdown } from "../support/hostile-markdown.ts";
import { buildHostileLogos, ranMark } from "../support/status-hostile-logos.ts";
import { pollUntil } from "../support/status-client.ts";
import { extremes, typical } from "../support/status-scenes.ts";
import { type PageScene, type StatusPage, createStatusWorlds } from "../support/status-world.ts";

const widths = [320, 768, 1440];

const parts = ["page", "history", "subscribe", "incident", "404"] as const;

/** Every kind of page on the public side. */
const partsOf = ({ address, incidentIds }: StatusPage) => ({
  page: address,
  history: `${address}/history`,
  subscribe: `${address}/subscribe`,
  incident: `${address}/incidents/${incidentIds[0]}`,
  "404": new URL("/status/nobody", address).href,
});

/** The console's message about a 404 is not an error of the page. */
const filterFaults = (faults: readonly string[]) =>
  faults.filter((fault) => !/status of 404/.test(fault));

/** Makes the window as tall as the page, because rows outside it are not laid out. */
async function unroll(page: Page, width: number) {
  await page.setViewportSize({ width, height: 900 });
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width, height: Math.max(900, Math.min(whole, 16_000)) });
}

async function takePicture(page: Page, name: string) {
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  const clip = { x: 0, y: 0, width, height: Math.min(height, 4_000) };
  await storePicture(page, `status-${name}.png`, { clip });
}

const one = [{ name: "Shop", monitors: [{ name: "Web shop" }] }];
/** Pages that tests change; each shows its own monitor. */
const changing: Record<string, PageScene> = {
  followed: { sections: one },
  interrupted: { sections: one },
  focused: {
    sections: one,
    incidents: [
      {
        title: "Orders are late",
        monitor: 0,
        updates: [{ status: "identified", message: "Found." }],
      },
    ],
  },
  translated: { ...typical, page: { ...typical.page, languages: [...pageLanguages] } },
  branded: {},
  attacked: {},
  locked: {
    ...typical,
    page: { ...typical.page, visibility: "password", password: "open sesame" },
  },
};

/** Measures the overflow of each layout and header, in both directions of writing. */
async function measureLayouts(page: Page): Promise<number[]> {
  const overflows: number[] = [];
  for (const dir of ["ltr", "rtl"])
    for (const look of ["", "compact", "grid centered"]) {
      await page.evaluate(
        ([dir, look]) => {
          document.documentElement.dir = dir!;
          document.querySelector(".wrap")!.className = `wrap ${look}`;
        },
        [dir, look],
      );
      overflows.push(await measureOverflow(page));
    }
  return overflows;
}

/** Days whose bar is outside its box and therefore invisible. */
const listDaysOutside = (page: Page) =>
  page.evaluate(
    () =>
      [...document.querySelectorAll(".bars")].flatMap((bars) => {
        const { left, right } = bars.getBoundingClientRect();
        return [...bars.children].filter((bar) => {
          const box = bar.getBoundingClientRect();
          return box.width > 0 && (box.left < left - 0.5 || box.right > right + 0.5);
        });
      }).length,
  );

describeInChromium("the status page", (browser) => {
  /** A page for each scene, shared by tests that change nothing. */
  let world: Awaited<ReturnType<typeof createStatusWorlds>>;
  const pageOf = (name: string) => world.pages[name] as StatusPage;
  beforeAll(async () => {
    await waitOutMidnight();
    world = await createStatusWorlds({ typical, ...extremes, ...changing });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  for (const part of parts)
    test(`${part}: axe finds nothing in either theme, it fits phones, tablets and desktops, and the console stays empty`, async () => {
      // Tall, so that axe sees all of it.
      const options = { viewport: { width: 768, height: 3_000 } };
      await using open = await visitPage(browser, partsOf(pageOf("typical"))[part], options);
      const { page } = open;
      expect(await findViolations(page)).toEqual([]);
      for (const width of widths) {
        await unroll(page, width);
        expect([width, await measureOverflow(page)]).toEqual([width, 0]);
        if (width !== 768) await takePicture(page, `${part}-${width}-light`);
      }
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await findColorViolations(page)).toEqual([]);
      await takePicture(page, `${part}-1440-dark`);
      await open.measureShifts();
      expect(filterFaults(open.faults)).toEqual([]);
    });

  test("shows the same without its script", async () => {
    const texts = [];
    for (const javaScriptEnabled of [true, false]) {
      const viewport = { width: 768, height: 3_000 };
      const page = await browser.newPage({ javaScriptEnabled, viewport });
      await page.goto(pageOf("typical").address);
      // A component has its text only after it was painted (content-visibility).
      await page.screenshot();
      // The script shows the age of the last check instead of its time.
      const text = await page.locator("body").innerText();
      expect(text).toMatch(
        javaScriptEnabled ? /\. Checked \d+.(?:s|min) ago/ : /\. Checked \d+ \w+ \d/,
      );
      texts.push(text.replace(/Checked .*/, "Checked"));
      // With the script, the days can be selected.
      const bars = page.getByRole(javaScriptEnabled ? "group" : "img", {
        name: /, uptime (?:of 90 days|since .*): /,
      });
      const monitors = page.getByRole("listitem").filter({ has: page.getByRole("heading") });
      expect(await monitors.first().innerText()).toMatch(
        /^Checkout API\s+Down since \d+ \w+ [\d:]+\s+\d\d\.\d\d.%$/,
      );
      expect(await bars.count()).toBe(7);
      for (const link of await page.locator("main a, footer a").all()) {
        const href = await link.evaluate((element) => (element as HTMLAnchorElement).href);
        expect([href, (await fetch(href)).status]).toEqual([href, 200]);
      }
      await page.close();
    }
    const [scripted, plain = ""] = texts;
    expect(plain).toBe(scripted ?? "");
    expect(plain).toContain("Checkout API is down, Search is degraded");
    expect(plain).toContain("A deploy at 13:58 broke the payment provider's webhook signature.");
    expect(plain).toContain("Slow search results");
    expect(plain).toContain("1 earlier update");
  });

  for (const name of ["typical", "calm", "a-week", "one", "locked"])
    test(`nothing moves while ${name} loads, however late its font is`, async () => {
      let delayed = 0;
      const [width = 0] = widths;
      const options = { viewport: { width, height: 900 } };
      await using open = await visitPage(browser, pageOf(name).address, options, (page) =>
        page.route("**/*.woff2", async (route) => {
          delayed++;
          await Bun.sleep(300);
          await route.continue();
        }),
      );
      for (const [index, width] of widths.entries()) {
        if (index > 0) {
          await open.page.setViewportSize({ width, height: 900 });
          await open.page.goto(pageOf(name).address);
        }
        const shifts = await open.measureShifts();
        expect([width, shifts <= 0.01 ? 0 : shifts]).toEqual([width, 0]);
        expect(delayed).toBe(index + 1);
      }
    });

  describe("live refresh", () => {
    /** A page whose clock the test controls. */
    const watchTarget = (name: string) =>
      visitPage(browser, pageOf(name).address, {}, (page) => page.clock.install());

    const report = async (name: string, title: string): Promise<string> => {
      const { address, monitorIds } = pageOf(name);
      const body = { title, monitorId: monitorIds[0] };
      const { json } = await world.api("POST", "/api/v1/incidents", body);
      await pollUntil(address, (text) => text.includes(title));
      return json.data.id;
    };

    const reload = async (page: Page) => {
      const answered = page.waitForResponse(
        (response) => response.request().resourceType() === "fetch",
      );
      await page.clock.runFor(15_000);
      await (await answered).finished();
    };

    test("shows a new incident and its end without a reload, and logs nothing to the console", async () => {
      await using open = await watchTarget("followed");
      const { page } = open;
      await page.getByRole("heading", { name: "All systems are up" }).waitFor();
      await page.evaluate(() => Object.assign(globalThis, { sameDocument: true }));

      const id = await report("followed", "Mails are late");
      await reload(page);
      await page.getByRole("heading", { name: "Mails are late" }).waitFor();
      await page.getByRole("heading", { name: "Some systems are affected" }).waitFor();
      expect(await page.locator("link[rel=icon]").getAttribute("href")).toContain("9a6200");

      await world.api("PATCH", `/api/v1/incidents/${id}`, { status: "resolved" });
      await pollUntil(pageOf("followed").address, (text) => text.includes("All systems are up"));
      await reload(page);
      await page.getByRole("heading", { name: "All systems are up" }).waitFor();
      expect(await page.evaluate(() => "sameDocument" in globalThis)).toBe(true);
      await open.measureShifts();
      expect(open.faults).toEqual([]);
    });

    test("leaves the page unchanged while the server is stopped, and continues afterwards", async () => {
      await using open = await watchTarget("interrupted");
      const { page } = open;
      await page.route(pageOf("interrupted").address, (route) => route.abort());
      const failed = page.waitForEvent("requestfailed");
      await page.clock.runFor(15_000);
      await failed;
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(
        "All systems are up",
      );

      await page.unroute(pageOf("interrupted").address);
      await report("interrupted", "Parcels are late");
      await reload(page);
      await page.getByRole("heading", { name: "Parcels are late" }).waitFor();
    });

    test("preserves the focus and open parts when something else on the page changes", async () => {
      await using open = await watchTarget("focused");
      const { page } = open;
      const earlier = page.locator("details", { hasText: "1 earlier update" });
      await earlier.locator("summary").click();
      const link = page.getByRole("link", { name: "All incidents" });
      await link.focus();
      await report("focused", "Invoices are late");
      await reload(page);
      await page.getByRole("heading", { name: "Invoices are late" }).waitFor();
      expect(await link.evaluate((element) => element === document.activeElement)).toBe(true);
      expect(await earlier.getAttribute("open")).toBe("");
    });
  });

  describe("unusual content", () => {
    /** Pages whose colors and texts differ from the usual ones. */
    const judged = new Set(["empty", "long-names", "rtl", "pale-accent", "dark-accent"]);
    for (const name of Object.keys(extremes))
      test(`${name}: nothing is wider than its window, every day is visible, and axe finds nothing`, async () => {
        await using open = await visitPage(browser, pageOf(name).address);
        const { page } = open;
        for (const width of widths) {
          await unroll(page, width);
          if (width !== 768) await takePicture(page, `${name}-${width}-light`);
          const overflow = await measureOverflow(page);
          const outside = await listDaysOutside(page);
          expect({ width, overflow, outside }).toEqual({ width, overflow: 0, outside: 0 });
        }
        if (judged.has(name)) {
          expect(await findViolations(page)).toEqual([]);
          await page.emulateMedia({ colorScheme: "dark" });
          expect(await findColorViolations(page)).toEqual([]);
        }
        await open.measureShifts();
        expect(open.faults).toEqual([]);
      });

    test("a past incident with a long title has its day, severity and time in one line", async () => {
      await using open = await visitPage(browser, pageOf("long-names").address);
      for (const width of [390, 768, 1440]) {
        await open.page.setViewportSize({ width, height: 900 });
        const [day = 0, severity = 0, when = 0] = await open.page.evaluate(() =>
          [".day", ".sev", ".when"].map((part) => {
            const { top = 0, bottom = 0 } =
              document.querySelector(`.row ${part}`)?.getBoundingClientRect() ?? {};
            return (top + bottom) / 2;
          }),
        );
        expect(Math.abs(when - day)).toBeLessThan(4);
        // On a phone it is before its title, in the line below.
        if (width > 600) expect(Math.abs(severity - day)).toBeLessThan(4);
      }
    });

    test("no hostile text runs a script, even without a content security policy", async () => {
      const page = await browser.newPage();
      const requests: string[] = [];
      page.on("request", (request) => void requests.push(request.url()));
      await page.addInitScript(() =>
        Object.assign(window, { hit: () => (document.title = "hit") }),
      );
      await page.goto("data:text/html,<title>calm</title>");
      const before = requests.length;
      const renderedTexts = hostileMarkdown.map((text) => renderHtml(parseMarkdown(text))).join("");
      await page.setContent(`<title>calm</title><main>${renderedTexts}</main>`);
      await page.evaluate(() => {
        for (const element of document.querySelectorAll("main *")) {
          element.dispatchEvent(new Event("error"));
          for (const type of ["mouseover", "focus", "toggle"])
            element.dispatchEvent(new Event(type, { bubbles: true }));
          // A link's address shows where it leads.
          element.addEventListener("click", (event) => event.preventDefault());
          (element as HTMLElement).click();
        }
      });
      const targets = await page
        .locator("a")
        .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).protocol));
      expect([...new Set(targets)].sort()).toEqual(["http:", "https:"]);
      expect([await page.title(), requests.length - before]).toEqual(["calm", 0]);
      await page.close();
    });

    test("an Arabic page reads from right to left, and arrow keys follow its mirrored bars", async () => {
      await using open = await visitPage(browser, pageOf("rtl").address);
      const directions = await open.page.evaluate(() =>
        [...document.querySelectorAll(".about, .inc h2, .inc li p, .comp b")].map((element) => {
          let inner = element;
          while (inner.firstElementChild !== null) inner = inner.firstElementChild;
          return `${inner.textContent}: ${getComputedStyle(inner).direction}`;
        }),
      );
      expect(directions.filter((text) => !text.endsWith("rtl"))).toEqual([]);
      // The labeled elements are still next to it: the logo, the severity.
      const gaps = await open.page.evaluate(() =>
        [".name b", ".inc h2"].map((name) => {
          const element = document.querySelector(name)!;
          const range = document.createRange();
          range.selectNodeContents(element);
          const before = element.previousElementSibling!.getBoundingClientRect();
          return before.left - range.getBoundingClientRect().right;
        }),
      );
      for (const gap of gaps) expect([gap > -1, gap < 20]).toEqual([true, true]);
      const bars = open.page.locator(".bars:not(.worst)").first();
      const placeOf = () =>
        bars.locator("i.open").evaluate((bar) => ({
          left: bar.getBoundingClientRect().left,
          index: [...bar.parentElement!.children].indexOf(bar),
        }));
      await bars.focus();
      const today = await placeOf();
      await open.page.keyboard.press("ArrowRight");
      const yesterday = await placeOf();
      expect(yesterday.index).toBe(today.index - 1);
      expect(yesterday.left).toBeGreaterThan(today.left);
      await open.page.keyboard.press("ArrowLeft");
      expect(await placeOf()).toEqual(today);
    });

    test("a wide logo preserves its proportions next to the title", async () => {
      const { pageId, address } = pageOf("branded");
      const painter = await browser.newPage({ viewport: { width: 800, height: 100 } });
      await painter.setContent('<body style="font-size:80px;margin:0;background:gold">Acme');
      const png = new Uint8Array(await painter.screenshot());
      await painter.close();
      const put = await fetch(`${world.url}/api/v1/status-pages/${pageId}/logo`, {
        keepalive: false,
        method: "PUT",
        headers: { Authorization: `Bearer ${world.key}`, "Content-Type": "image/png" },
        body: png,
      });
      expect(put.status).toBe(200);
      await pollUntil(address, (text) => text.includes("/logo?v="));
      await using open = await visitPage(browser, address);
      const { drawn, fit } = await open.page.locator(".name img").evaluate((element) => {
        const image = element as HTMLImageElement;
        return { drawn: image.width / image.height, fit: getComputedStyle(image).objectFit };
      });
      await takePicture(open.page, "logo-1280-light");
      // Either its box has the picture's shape, or the picture is fitted into it.
      expect(fit === "contain" || Math.abs(drawn - 8) < 0.1).toBe(true);
      await open.measureShifts();
      expect(open.faults).toEqual([]);
    });
  });

  test("a page with a password has an accessible form, and opens at the requested address", async () => {
    const { address, incidentIds } = pageOf("locked");
    for (const wanted of [address, `${address}/incidents/${incidentIds[0]}`]) {
      await using open = await visitPage(browser, wanted, {
        viewport: { width: 360, height: 640 },
      });
      const { page } = open;
      if (wanted === address) {
        await takePicture(page, "password-360-light");
        expect(await findViolations(page)).toEqual([]);
        await page.getByLabel("password").fill("open says me");
        await page.keyboard.press("Enter");
        await page.getByRole("alert").waitFor();
        expect(await findViolations(page)).toEqual([]);
      }
      await page.getByLabel("password").fill("open sesame");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Checkout fails for some customers" }).waitFor();
      expect(page.url()).toBe(wanted);
    }
  });

  test("no logo runs or loads anything, neither on the page nor opened directly", async () => {
    const { pageId, address } = pageOf("attacked");
    const requested: string[] = [];
    using attacker = Bun.serve({
      port: 0,
      fetch(request) {
        const { pathname } = new URL(request.url);
        requested.push(pathname);
        const logo = pathname.startsWith("/logo/") && attacks[Number(pathname.slice(6))]?.[1];
        return new Response(logo || "", { headers: { "Content-Type": "image/svg+xml" } });
      },
    });
    const origin = `http://localhost:${attacker.port}`;
    const attacks = buildHostileLogos(origin);
    const put = async (svg: string) => {
      const response = await fetch(`${world.url}/api/v1/status-pages/${pageId}/logo`, {
        keepalive: false,
        method: "PUT",
        headers: { Authorization: `Bearer ${world.key}`, "Content-Type": "image/svg+xml" },
        body: svg,
      });
      return ((await response.json()) as { data: { logoUrl: string } }).data.logoUrl;
    };
    /**
     * Opens an address; returns whether a script ran, and the paths that were loaded from the
     * attacker.
     */
    const attack = async (url: string, page: Page) => {
      requested.length = 0;
      await page.goto(url, { waitUntil: "load" });
      await page.mouse.click(5, 5);
      await page.waitForTimeout(300);
      const hasRun = page.url().includes(ranMark);
      await page.goto("about:blank");
      const loaded = requested.filter((path) => !/^\/(?:logo\/|favicon)/.test(path));
      return { hasRun, loaded };
    };
    // A separate page, so that the others find nothing in a cache.
    const alone = await browser.newPage();
    const context = await browser.newContext();
    const pages = await Promise.all([1, 2, 3].map(() => context.newPage()));
    const unprotected = [];
    for (const [index, [name, svg]] of attacks.entries()) {
      const { hasRun, loaded } = await attack(`${origin}/logo/${index}`, alone);
      if (hasRun || loaded.length > 0) unprotected.push(name);
      const logoUrl = await put(svg);
      await pollUntil(address, (text) => text.includes(logoUrl));
      const urls = [address, world.url + logoUrl, `${address}/logo`];
      const outcomes = await Promise.all(pages.map((page, turn) => attack(urls[turn] ?? "", page)));
      expect([name, outcomes]).toEqual([name, urls.map(() => ({ hasRun: false, loaded: [] }))]);
    }
    await Promise.all([alone.close(), context.close()]);
    // Without our headers, the same files do run and load.
    expect(unprotected).toContain("elements, attributes and styles");
    expect(unprotected).toContain("a style sheet of its own");
  });

  test("fits phones in every language, and its script has the words of the page", async () => {
    const { address, incidentIds } = pageOf("translated");
    await using open = await visitPage(browser, address);
    const { page } = open;
    for (const tag of pageLanguages) {
      for (const path of ["", "/subscribe", `/incidents/${incidentIds[0]}`]) {
        await page.goto(`${address}${path}?lang=${tag}`);
        await unroll(page, 320);
        expect([tag, path, await measureOverflow(page)]).toEqual([tag, path, 0]);
        if (path !== "") continue;
        await takePicture(page, `${tag}-320-light`);
        const overflows = await measureLayouts(page);
        expect([tag, ...overflows]).toEqual([tag, ...overflows.map(() => 0)]);
      }
    }
    await page.setViewportSize({ width: 768, height: 3_000 });
    await page.goto(`${address}?lang=de`);
    expect(await page.locator(".checked").innerText()).toMatch(/Geprüft vor \d+ \w+\.$/);
    await page.locator(".bars[data-incidents] i").last().hover();
    await page.locator(".pop").waitFor();
    expect(await page.locator(".pop dt").last().innerText()).toBe("Verfügbarkeit");
    expect(await page.locator(".pop small").innerText()).toContain("Esc schließen");
    expect(await findViolations(page)).toEqual([]);
    await takePicture(page, "de-768-light");
    await page.getByRole("link", { name: "Français" }).click();
    await page.locator('html[lang="fr"]').waitFor({ state: "attached" });
    expect(open.faults).toEqual([]);
  });

  test("bars describe each day, by hover and by keys, with its incident; nothing moves", async () => {
    await using open = await visitPage(browser, pageOf("typical").address);
    const { page } = open;
    const text = page.locator(".pop");
    const dayOf = () => text.locator("h3").textContent();
    const bars = page.locator(".bars[data-incidents]").first();
    await bars.locator("i").last().hover();
    await text.waitFor();
    const today = await dayOf();
    const link = text.getByRole("link");
    expect(await link.getAttribute("href")).toContain("/incidents/");
    expect(await findViolations(page)).toEqual([]);
    await page.mouse.move(0, 0);
    await text.waitFor({ state: "hidden" });
    await page.locator("footer a").first().focus();
    while (!(await bars.evaluate((element) => element === document.activeElement)))
      await page.keyboard.press("Shift+Tab");
    expect(await dayOf()).toBe(today);
    await page.keyboard.press("ArrowLeft");
    expect(await dayOf()).not.toBe(today);
    await page.keyboard.press("Escape");
    expect(await text.isVisible()).toBe(false);
    await page.keyboard.press("End");
    expect(await open.measureShifts()).toBeLessThanOrEqual(0.02);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/incidents\//);
    expect(open.faults).toEqual([]);
  });

  test("each day describes its outages on hover, and differs in shape with forced colors", async () => {
    await using open = await visitPage(browser, pageOf("typical").address);
    await open.page.emulateMedia({ forcedColors: "active" });
    const looks = await open.page.evaluate(() =>
      ["", ".degraded", ".down", ".none"].map((tone) => {
        const bar = document.querySelector(`.bars i${tone || ":not([class])"}`) as Element;
        const { backgroundColor, backgroundImage, height } = getComputedStyle(bar);
        return [backgroundColor, backgroundImage, height].join(" ");
      }),
    );
    expect(new Set(looks).size).toBe(4);
    await open.page.emulateMedia({ forcedColors: "none" });
    const texts = await open.page
      .locator(".bars")
      .first()
      .locator("i")
      .evaluateAll((bars) => bars.map((bar) => bar.getAttribute("title") ?? ""));
    expect(texts.length).toBe(90);
    expect(texts.filter((text) => !/^\d{4}-\d\d-\d\d: \S/.test(text))).toEqual([]);
    expect(texts.some((text) => text.endsWith(" up, 1 h 30 min down"))).toBe(true);
  });
});
