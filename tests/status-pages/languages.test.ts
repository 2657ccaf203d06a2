/** Languages of public pages: dictionaries, CLDR samples, the choice for a visitor, and everything that readers see. */
import { describe, expect, test } from "bun:test";
import { defaultLook } from "../../src/status-pages/look-schema.ts";
import { Glob } from "bun";
import { type PageLanguage, pageLanguages } from "../../src/core/languages.ts";
import { negotiateLanguage } from "../../src/core/text/negotiate-language.ts";
import { dayMs } from "../../src/core/time/clock.ts";
import { formatDay, getFormatter } from "../../src/core/time/times.ts";
import { parseRule } from "../../src/monitoring/maintenance/recurrence-rules.ts";
import { type Dictionary, en } from "../../src/status-pages/languages/en.ts";
import { Language } from "../../src/status-pages/languages/language.ts";
import { getDictionary, getLanguage } from "../../src/status-pages/languages/catalog.ts";
import { describeRecurrence } from "../../src/status-pages/languages/recurrence.ts";
import { OfferedLanguages } from "../../src/status-pages/site/page-language.ts";
import { renderStatusPage } from "../../src/status-pages/page.tsx";
import { createLinks } from "../../src/status-pages/links.ts";
import { buildView, describeDay } from "../../src/status-pages/rendering/view.ts";
import samplesOfCldr from "../fixtures/cldr/samples.json";
import { ann, createPublisher, findLink, followMailLink } from "../support/publisher.ts";
import { buildSection, createVisitor, type SiteResponse } from "../support/visitor.ts";

type Key = keyof typeof en;
const keys = Object.keys(en) as Key[];
/** Texts that are empty in languages whose ordinals depend on the weekday. */
const optionalKeys = new Set<Key>(["onNthWeekday", "ordinals"]);

const placeholdersOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
const formsOf = (text: string | { other: string }) =>
  typeof text === "string" ? [text] : Object.values(text);
const sortUnique = (names: readonly (string | undefined)[]) =>
  [...new Set(names.map((name) => name ?? ""))].sort();

describe("a dictionary", () => {
  for (const [tag, words] of pageLanguages.map((tag) => [tag, getDictionary(tag)] as const))
    test(`has all texts with their placeholders and plural forms in ${tag}`, () => {
      const used = new Set(
        Array.from({ length: 201 }, (_, count) => new Intl.PluralRules(tag).select(count)),
      );
      for (const key of keys) {
        const [text, original] = [words[key], en[key]];
        expect([key, typeof text]).toEqual([key, typeof original]);
        if (optionalKeys.has(key) && text === "") continue;
        const names = sortUnique(formsOf(original).flatMap(placeholdersOf));
        expect([key, sortUnique(formsOf(text).flatMap(placeholdersOf))]).toEqual([key, names]);
        for (const form of formsOf(text)) expect([key, form.trim()]).not.toEqual([key, ""]);
        if (typeof text === "string" || Object.keys(text).length === 1) continue;
        for (const category of used) {
          // `other` is also the form of integers in all languages with fewer than three forms.
          const isWritten = category in text || Object.keys(text).length === 2;
          expect([key, category, isWritten]).toEqual([key, category, true]);
        }
      }
      const ordinals = words.ordinals.split("|");
      expect([1, 5]).toContain(ordinals.length);
    });

  test("has no text that nothing uses", async () => {
    const files = [...new Glob("src/{reports,status-pages}/**/*.{ts,tsx}").scanSync()].filter(
      (file) => !/languages\/[a-z]{2}(-[a-z]{2})?\.ts$/.test(file),
    );
    const sources = (await Promise.all(files.map((file) => Bun.file(file).text()))).join("\n");
    // Names of states and severities come from the data.
    const named = new Set<string>(["up", "degraded", "down", "maintenance", "pending", "paused"]);
    for (const key of ["unknown", "minor", "major", "critical"]) named.add(key);
    for (const key of ["investigating", "identified", "monitoring", "resolved"]) named.add(key);
    expect(keys.filter((key) => !named.has(key) && !sources.includes(`"${key}"`))).toEqual([]);
  });
});

describe("numbers, durations and plurals follow CLDR", () => {
  const toPlainText = (text: string) =>
    text.replace(/[\u00a0\u202f]/g, " ").replace(/[\u200e\u2068\u2069]/g, "");
  const samples: [tag: PageLanguage, percent: string, duration: string][] = [
    ["en", "99.98 %", "3 h 20 min"],
    ["ar", "99.98%", "3 س 20 د"],
    ["de", "99,98 %", "3 Std. 20 Min."],
    ["fr", "99,98 %", "3 h 20 min"],
    ["ja", "99.98%", "3 時間 20 分"],
    ["tr", "%99,98", "3 sa. 20 dk."],
    ["ru", "99,98 %", "3 ч 20 мин"],
    ["zh-CN", "99.98%", "3小时 20分钟"],
  ];
  for (const [tag, percent, duration] of samples)
    test(tag, () => {
      const language = getLanguage(tag);
      expect(toPlainText(language.percent(0.99989))).toBe(percent);
      expect(toPlainText(language.duration(12_000))).toBe(duration);
    });

  type Samples = {
    plurals: Partial<Record<Intl.LDMLPluralRule, number[]>>;
    /** Abbreviated names. */
    months: string[];
    /** Date patterns (UTS #35) without and with the year. */
    day: string;
    wholeDay: string;
    inHours: Partial<Record<Intl.LDMLPluralRule, string>>;
  };
  const cldr: Record<PageLanguage, Samples> = samplesOfCldr.languages;
  const forms = ["zero", "one", "two", "few", "many", "other"] as const;

  test("each language has the plural categories of all samples", () => {
    const named = Object.fromEntries(forms.map((form) => [form, form])) as Record<
      (typeof forms)[number],
      string
    >;
    for (const tag of pageLanguages) {
      const language = new Language(tag, { ...getDictionary(tag), earlierUpdates: named });
      const found = forms.map((form) => {
        const numbers = cldr[tag].plurals[form] ?? [];
        return numbers.filter((number) => language.count("earlierUpdates", number) !== form);
      });
      expect([tag, ...found]).toEqual([tag, ...forms.map(() => [])]);
    }
  });

  test("each language writes days, months and hours from now as the samples", () => {
    const fill = (pattern: string, months: readonly string[], at: Date) =>
      toPlainText(pattern).replace(/'([^']*)'|y|M+|d/g, (field, quoted: string | undefined) => {
        if (quoted !== undefined) return quoted;
        if (field === "M") return String(at.getUTCMonth() + 1);
        if (field === "y") return String(at.getUTCFullYear());
        return field === "d" ? String(at.getUTCDate()) : (months[at.getUTCMonth()] ?? "");
      });
    for (const tag of pageLanguages) {
      const { day, wholeDay, months, inHours, plurals } = cldr[tag];
      const language = getLanguage(tag);
      for (let month = 0; month < 12; month++) {
        const at = new Date(Date.UTC(2026, month, 7 + month));
        const formatShown = (now: Date) =>
          toPlainText(formatDay("UTC", at.getTime(), now.getTime(), language.locale));
        expect([tag, formatShown(at)]).toEqual([tag, fill(day, months, at)]);
        expect([tag, formatShown(new Date(0))]).toEqual([tag, fill(wholeDay, months, at)]);
      }
      // The English page writes small numbers as words.
      for (const form of tag === "en" ? [] : forms)
        for (const count of (plurals[form] ?? []).filter((number) => number < 100)) {
          const expected = inHours[form]?.replace("{0}", language.number(count));
          expect([tag, language.fromNow(count, "hour")]).toEqual([tag, expected ?? ""]);
        }
    }
  });

  const days: [tag: PageLanguage, texts: string[]][] = [
    ["ru", ["За последний 1 день", "За последние 2 дня", "За последние 5 дней"]],
    ["pl", ["1 wcześniejsza", "2 wcześniejsze", "5 wcześniejszych"]],
    ["cs", ["1 starší aktualizace", "2 starší aktualizace", "5 starších aktualizací"]],
    ["uk", ["За останній 1 день", "За останні 2 дні", "За останні 5 днів"]],
  ];
  for (const [tag, texts] of days)
    test(`${tag} has forms for few and many`, () => {
      const key = tag === "pl" || tag === "cs" ? "earlierUpdates" : "noPastIncidents";
      for (const [index, count] of [1, 2, 5].entries())
        expect(getLanguage(tag).count(key, count)).toStartWith(texts[index] ?? "");
    });

  test("ar has forms for none, one, two, few and many, with the digits that its readers use online", () => {
    const texts = [0, 1, 2, 3, 11, 100].map((count) =>
      getLanguage("ar").count("earlierUpdates", count),
    );
    expect(texts).toEqual([
      "لا تحديثات سابقة",
      "تحديث سابق واحد",
      "تحديثان سابقان",
      "3 تحديثات سابقة",
      "11 تحديثًا سابقًا",
      "100 تحديث سابق",
    ]);
  });

  test("a full uptime is only shown without any failure", () => {
    for (const tag of pageLanguages) {
      expect(toPlainText(getLanguage(tag).percent(0.999999))).toContain(
        tag === "en" ? "99.99" : "99",
      );
      expect(toPlainText(getLanguage(tag).percent(0.999999))).not.toContain("100");
      expect(toPlainText(getLanguage(tag).percent(1))).toContain("100");
    }
  });

  test("recurrence is described, except by ordinals that depend on the weekday", () => {
    const start = Date.UTC(2026, 10, 23, 2);
    const describeRule = (tag: PageLanguage, rule: string) =>
      toPlainText(describeRecurrence(parseRule(rule, start), getLanguage(tag)) ?? "");
    const first = "FREQ=MONTHLY;BYDAY=1MO";
    expect(describeRule("en", first)).toBe("Every month on the first Monday");
    expect(describeRule("de", first)).toBe("Jeden Monat am ersten Montag");
    expect(describeRule("sv", first)).toBe("Varje månad den första måndagen");
    expect(describeRule("ar", first)).toBe("كل شهر يوم الاثنين الأول");
    expect(describeRule("ru", first)).toBe("");
    expect(describeRule("ru", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO")).toBe(
      "Каждые 2 недели: понедельник",
    );
  });
});

test("the script can split the details of a day in every language", () => {
  const facts = { ratio: 0.9, downSeconds: 61, degradedSeconds: 3_700, maintenanceSeconds: 5 };
  const partKeys = ["dayUp", "dayDown", "dayDegraded", "dayMaintenance"] as const;
  for (const tag of pageLanguages) {
    const language = getLanguage(tag);
    const parts = describeDay(facts, language).split(language.translate("separator"));
    const found = parts.map((part) =>
      partKeys.filter((key) => {
        const [before, after] = language.around(key);
        return part.startsWith(before) && part.endsWith(after);
      }),
    );
    expect([tag, found]).toEqual([tag, partKeys.map((key) => [key])]);
  }
});

describe("the language of a visitor", () => {
  const cases: [header: string | null, chosen: string][] = [
    [null, "en"],
    ["", "en"],
    ["de", "de"],
    ["de-AT,de;q=0.9,en;q=0.8", "de"],
    ["pt-PT", "pt-BR"],
    ["zh-Hans-CN, en;q=0.5", "zh-CN"],
    ["en;q=0.2, ja;q=0.9", "ja"],
    ["de;q=0, fr", "fr"],
    ["tlh, *;q=0.5", "en"],
    ["xx;q=abc, de", "de"],
    [`${"x".repeat(100_000)}, de`, "en"],
  ];
  for (const [header, chosen] of cases)
    test(`is ${chosen} for ${header?.slice(0, 40) ?? "no header"}`, () =>
      expect(negotiateLanguage(header, pageLanguages)).toBe(chosen as PageLanguage));

  test("stays the same when it is remembered, and the query goes before the header", () => {
    const page = { language: "en", languages: ["de", "pt-BR"] } as const;
    const languages = OfferedLanguages.of(page);
    const headers = [...cases.map(([header]) => header), ...pageLanguages].flatMap((header) =>
      // More different headers than are remembered.
      header === null || header === "" ? [null] : [header, ...buildWeights(header)],
    );
    for (const header of [...headers, ...headers.toReversed()])
      for (const query of [null, "de", "fr"]) {
        const url = `http://localhost/status/ours${query === null ? "" : `?lang=${query}`}`;
        const request = new Request(
          url,
          header === null ? {} : { headers: { "Accept-Language": header } },
        );
        const wanted = query === "de" ? "de" : negotiateLanguage(header, ["en", "de", "pt-BR"]);
        expect(languages?.choose(request, "page")).toBe(wanted);
        expect(languages?.choose(request, "page", query)).toBe(wanted);
        expect(languages?.choose(request, "rss", query)).toBe(query === "de" ? "de" : "en");
      }
  });
});

/** Returns headers that begin with the same ones. */
const buildWeights = (header: string) =>
  Array.from({ length: 9 }, (_, index) => `${header}, it;q=0.${index + 1}`);

/** Names that are the same in every language. */
const names = /RSS|Atom|JSON|Signalbox|ours|UTC|\bESC\b|\bEsc\b|https?:\S+|\S+@\S+/g;

/** Returns the Latin words that a reader of a document sees or hears. */
function findLatin(html: string): string[] {
  const texts: string[] = [];
  const attributes = ["title", "alt", "aria-label", "placeholder", "data-words"];
  new HTMLRewriter()
    .on("*", {
      element: (element) => {
        for (const name of attributes) texts.push(element.getAttribute(name) ?? "");
        if (element.getAttribute("name") === "description")
          texts.push(element.getAttribute("content") ?? "");
      },
    })
    .on("title, body, body *", { text: ({ text }) => void texts.push(text) })
    .transform(html);
  const decoded = texts.join("\n").replaceAll("&quot;", '"');
  // Keys of the script's words.
  return listLatin(decoded.replace(/"\w+":|\["\w+"/g, ""));
}

const listLatin = (text: string) =>
  text
    .replace(/&\w+;|&#\w+;/g, "")
    .replace(names, "")
    .match(/[A-Za-z]{2,}/g) ?? [];

/** Names in languages whose letters are not Latin. */
const scripts = {
  ru: {
    page: "Состояние",
    site: "Магазин",
    job: "Почта",
    section: "Сервисы",
    window: "Диски",
    incident: "Сбой",
  },
  ar: {
    page: "الحالة",
    site: "المتجر",
    job: "البريد",
    section: "الخدمات",
    window: "الأقراص",
    incident: "عطل",
  },
} as const;

/** A page in one of these languages, with monitors in several states, incidents and maintenance. */
async function createPageIn(language: keyof typeof scripts, fields: object = {}) {
  const named = scripts[language];
  const publisher = await createPublisher({
    title: named.page,
    language,
    showLatency: true,
    ...fields,
  });
  const site = await publisher.createSite({ name: named.site });
  const job = await publisher.createJob({ name: named.job });
  await job.report();
  await publisher.publish({ sections: [buildSection(named.section, site.id, job.id)] });
  await publisher.insertPastHeartbeats(
    site.id,
    { ago: 2 * dayMs, status: "down", latencyMs: null, seconds: 17 },
    { ago: 3 * dayMs },
  );
  await publisher.planWindow({
    title: named.window,
    monitorIds: [site.id],
    rrule: "FREQ=DAILY;COUNT=3",
  });
  const { id } = await publisher.createIncident({ title: named.incident, monitorId: site.id });
  await publisher.postUpdate(id, { status: "identified" });
  const { id: resolvedId } = await publisher.createIncident({
    title: named.incident,
    severity: "critical",
  });
  publisher.time.now += 600_000;
  await publisher.postUpdate(resolvedId, { status: "resolved" });
  return { ...publisher, site, job, incidentId: id as string };
}

describe("everything that readers see is in the language of the page", () => {
  test("pages, feeds, the calendar, badges, JSON for Statuspage, and errors", async () => {
    await using page = await createPageIn("ru");
    const header = { headers: { "Accept-Language": "ru" } };
    const paths = ["", "/history", `/incidents/${page.incidentId}`, "/subscribe"];
    for (const path of paths) {
      const { text, headers } = await page.readHtml(`/status/ours${path}`);
      expect([path, findLatin(text)]).toEqual([path, []]);
      expect(text).toContain('<html lang="ru" dir="ltr"');
      expect([headers.get("vary"), headers.get("content-language")]).toEqual([
        "Accept-Encoding",
        null,
      ]);
    }
    for (const feed of ["feed.rss", "feed.atom"]) {
      const { text } = await page.readHtml(`/status/ours/${feed}`);
      const texts = [...text.matchAll(/<(title|description|content|name|language)[^>]*>([^<]*)/g)];
      const words = texts.map(([, , content = ""]) => content.replaceAll(/&lt;.*?&gt;/g, " "));
      expect(listLatin(words.join("\n")).filter((word) => word !== "ru")).toEqual([]);
    }
    expect((await page.readHtml("/status/ours/maintenance.ics")).text).toContain(
      "X-WR-CALNAME:Состояние: обслуживание",
    );
    const summary = (await page.readHtml("/status/ours/api/v2/status.json")).json();
    expect(listLatin(summary.status.description)).toEqual([]);
    const badge = await page.readHtml(`/badge/monitor/${page.site.id}/uptime.svg`);
    expect(badge.text).toContain("доступность");
    const signUp = await page.signUp("nobody");
    expect([signUp.status, findLatin(signUp.text)]).toEqual([422, []]);
    const missing = await page.get("/status/none", header);
    expect([missing.status, findLatin(missing.text)]).toEqual([404, []]);
    expect(missing.text).toContain('lang="ru"');
  });

  test("e-mails, and the pages of their links", async () => {
    await using page = await createPageIn("ru");
    await page.mailbox();
    expect((await page.signUp("bob@team.example")).status).toBe(200);
    await page.createIncident({ title: "Авария", severity: "major" });
    await page.planWindow({ title: "Кабели" });
    page.site.failNow();
    await page.advance(120);
    await page.send();
    expect(page.mails.length).toBeGreaterThan(2);
    for (const { text, headers } of page.mails)
      expect([headers["subject"], listLatin(text.replaceAll(/https?:\S+/g, ""))]).toEqual([
        headers["subject"],
        [],
      ]);
    for (const verb of ["confirm", "unsubscribe"] as const) {
      const mail = page.mails.find((one) => findLink(one, verb) !== "");
      const link = findLink(mail ?? { text: "" }, verb);
      for (const method of [undefined, "POST"] as const) {
        const { text } = await followMailLink(page, link, method);
        expect([verb, findLatin(text)]).toEqual([verb, []]);
      }
    }
  });

  test("the password form, and the notices of restricted pages", async () => {
    await using page = await createPageIn("ru");
    const password = "correct horse battery";
    await page.publish({ visibility: "password", password });
    const forms = [
      await page.get("/status/ours"),
      await page.get("/status/ours", { method: "POST", form: { password: "wrong" } }),
    ];
    await page.publish({ visibility: "signed-in" });
    forms.push(await page.get("/status/ours"));
    await page.publish({ visibility: "addresses", allowedAddresses: ["10.0.0.0/8"] });
    forms.push(await page.get("/status/ours"));
    const latinWords = forms.map(({ status, text }) => [
      status,
      findLatin(text).filter((word) => word !== "VPN"),
    ]);
    expect(latinWords).toEqual(forms.map(() => [403, []]));
  });
});

test("an Arabic page, its feed and its mails are Arabic, with Latin names isolated from the words around them", async () => {
  await using page = await createPageIn("ar");
  const paths = ["", "/history", `/incidents/${page.incidentId}`, "/subscribe", "/embed"];
  for (const path of paths) {
    const { text } = await page.readHtml(`/status/ours${path}`);
    expect([path, findLatin(text)]).toEqual([path, []]);
    expect(text).toContain('<html lang="ar" dir="rtl"');
  }
  for (const [path, mark] of [
    ["/feed.atom", 'xml:lang="ar"'],
    ["/feed.rss", "<language>ar</language>"],
  ] as const) {
    const { text } = await page.readHtml(`/status/ours${path}`);
    expect([path, text.includes(mark)]).toEqual([path, true]);
    const read = text.matchAll(/<(title|summary|description|content)[^>]*>([^<]+)</g);
    const words = [...read].map(([, , words = ""]) =>
      words.replaceAll(/&lt;.*?&gt;|&[a-z#0-9]+;/g, " "),
    );
    expect(words.length).toBeGreaterThan(2);
    expect([path, words.flatMap((one) => listLatin(one))]).toEqual([path, []]);
  }
  await page.mailbox();
  expect((await page.signUp("bob@team.example")).status).toBe(200);
  await page.planWindow({ title: "Disks" });
  await page.advance(120);
  await page.send();
  const subjects = page.mails.map(({ headers }) => headers["subject"]?.[0] ?? "");
  expect(subjects).toContain("صيانة مجدولة: \u2068Disks\u2069 – الحالة");
  for (const { text } of page.mails)
    expect(listLatin(text.replaceAll(/https?:\S+|Disks/g, ""))).toEqual([]);
  const badge = await page.readHtml(`/badge/monitor/${page.site.id}/uptime.svg`);
  expect(badge.text).toContain('direction="rtl">توفر المتجر</text>');
});

test("a right-to-left page has its direction, arrows and no word of another language", () => {
  const pseudo = Object.fromEntries(
    Object.entries(en).map(([key, text]) => {
      const distort = (words: string) =>
        words.replace(/\{\w+\}|\w/g, (part) => (part.length > 1 ? part : "ض"));
      return [
        key,
        typeof text === "string"
          ? distort(text)
          : Object.fromEntries(Object.entries(text).map(([form, one]) => [form, distort(one)])),
      ];
    }),
  ) as Dictionary;
  const language = new Language("ar", pseudo);
  const at = "2026-11-20T09:00:00.000Z";
  const page = {
    id: "p",
    slug: "ours",
    title: "ض",
    description: "",
    accentColor: null,
    look: defaultLook,
    theme: "auto" as const,
    logoUrl: null,
    files: { favicon: null, fontStyle: null, stylesheet: null },
    showLatency: true,
    historyDays: 30,
    timeZone: "UTC",
    indexing: true,
    language: "en" as const,
    languages: [],
    createdAt: at,
    updatedAt: at,
  };
  const monitor = {
    id: "m",
    name: "ض",
    description: null,
    state: "down" as const,
    impact: null,
    lastKnown: "down" as const,
    notJudgedSince: null,
    latencyMs: 34,
    days: new Map(),
    lastCheckedAt: at,
    createdAt: at,
    since: at,
  };
  const sections = [{ id: "s", name: "ض", monitors: [monitor] }];
  const data = { page, sections, incidents: [], windows: [], marks: [], takesMail: true };
  const view = buildView(data, Date.parse("2026-11-20T10:00:00.000Z"), language);
  const renderWords = (text: string) => ({ html: text, text });
  const to = createLinks("/status/ours", null);
  const html = [...renderStatusPage({ view, language, to, words: renderWords })].join("");
  expect(html).toContain('<html lang="ar" dir="rtl"');
  expect(html).toContain("←");
  expect(findLatin(html)).toEqual([]);
});

describe("a page that offers several languages", () => {
  const offered = { title: "Status", language: "en", languages: ["de", "fr"] };
  const readLang = ({ text }: SiteResponse) => /<html lang="([^"]+)"/.exec(text)?.[1];

  test("follows the browser and the switch, and names its languages", async () => {
    await using visitor = await createVisitor();
    await visitor.publish(offered);
    const read = (query: string, accept?: string) =>
      visitor.readHtml(`/status/ours${query}`, {
        headers: accept === undefined ? {} : { "Accept-Language": accept },
      });
    for (let round = 0; round < 2; round += 1) {
      expect(readLang(await read(""))).toBe("en");
      expect(readLang(await read("", "de-CH,de;q=0.9"))).toBe("de");
      expect(readLang(await read("?lang=fr", "de"))).toBe("fr");
      expect(readLang(await read("?lang=ru", "de"))).toBe("de");
    }
    await visitor.createIncident();
    visitor.time.now += 40 * dayMs;
    const { text, headers } = await read("/history?month=2026-11&lang=de", "fr");
    expect(headers.get("vary")).toBe("Accept-Encoding, Accept-Language");
    expect(headers.get("content-language")).toBe("de");
    expect(text).toContain('<a href="?month=2026-11&amp;lang=fr" lang="fr" hrefLang="fr">Français');
    expect(text).toContain('href="/status/ours?lang=de"');
    // Programs get the default language, regardless of their header.
    const feed = await read("/feed.rss", "de");
    expect(feed.text).toContain("<language>en</language>");
    expect(feed.headers.get("vary")).toBe("Accept-Encoding");
    expect((await read("/feed.rss?lang=de")).text).toContain("<language>de</language>");
  });

  test("is rendered again in every language after a change, and in one after it offers no other", async () => {
    await using visitor = await createVisitor();
    await visitor.publish(offered);
    const read = (query = "") => visitor.readHtml(`/status/ours${query}`);
    for (const query of ["", "?lang=de"]) await read(query);
    await visitor.publish({ title: "Renamed" });
    visitor.passPageTime(2_000);
    for (const query of ["", "?lang=de"]) expect((await read(query)).text).toContain("Renamed");
    await visitor.publish({ languages: [] });
    visitor.passPageTime(2_000);
    const { text, headers } = await read("?lang=de");
    expect([text.includes('class="languages"'), headers.get("vary")]).toEqual([
      false,
      "Accept-Encoding",
    ]);
    expect(text).toContain('<html lang="en"');
  });

  test("shows translations by people, else the original with its language", async () => {
    await using visitor = await createVisitor();
    await visitor.publish(offered);
    const message = "We found the cause.";
    const translations = { de: { message: "Wir haben die *Ursache* gefunden." } };
    const { id } = await visitor.createIncident({ message, translations });
    const read = async (lang: string) =>
      (await visitor.readHtml(`/status/ours/incidents/${id}?lang=${lang}`)).text;
    expect(await read("en")).toContain(message);
    expect(await read("de")).toContain("Wir haben die <em>Ursache</em> gefunden.");
    expect(await read("fr")).toContain('<div class="md" lang="en" dir="auto">');
    const { json } = await visitor.api("GET", `/api/v1/incidents/${id}`);
    expect(json.data.updates[0]).toMatchObject({ message, translations });
    const bad = { title: "Slow", message, translations: { tlh: { message } } };
    expect((await visitor.api("POST", "/api/v1/incidents", { body: bad })).status).toBe(422);
  });

  test("remembers the language of a subscriber", async () => {
    await using publisher = await createPublisher(offered);
    const path = "/status/ours/subscribe?lang=de";
    const signUp = await publisher.get(path, { method: "POST", form: { email: ann } });
    expect([signUp.status, readLang(signUp)]).toEqual([200, "de"]);
    await publisher.send();
    expect(publisher.listSubjects()).toEqual(["Meldungen von Status bestätigen"]);
    expect(await publisher.subscribers()).toMatchObject([{ email: ann, language: "de" }]);
    await followMailLink(
      publisher,
      findLink(publisher.mails[0] ?? { text: "" }, "confirm"),
      "POST",
    );
    publisher.time.now += 1000;
    const translations = { de: { message: "Wir sehen nach." } };
    await publisher.createIncident({ title: "Checkout", message: "We look.", translations });
    await publisher.send();
    const last = publisher.mails.at(-1);
    expect(last?.headers["subject"]).toEqual(["Wird untersucht: Checkout – Status"]);
    expect(last?.text).toContain("Wir sehen nach.");
    expect(last?.text).not.toContain("We look.");
  });
});

test("dates are formatted in the language of the page", () => {
  const options = { day: "numeric", month: "long", year: "numeric" } as const;
  const format = (locale: string) =>
    getFormatter("UTC", options, locale).format(Date.UTC(2026, 10, 20));
  const dates: Record<PageLanguage, string> = {
    ar: "20 نوفمبر 2026",
    cs: "20. listopadu 2026",
    de: "20. November 2026",
    en: "20 November 2026",
    es: "20 de noviembre de 2026",
    fr: "20 novembre 2026",
    it: "20 novembre 2026",
    ja: "2026年11月20日",
    ko: "2026년 11월 20일",
    nl: "20 november 2026",
    pl: "20 listopada 2026",
    "pt-BR": "20 de novembro de 2026",
    ru: "20 ноября 2026 г.",
    sv: "20 november 2026",
    tr: "20 Kasım 2026",
    uk: "20 листопада 2026 р.",
    "zh-CN": "2026年11月20日",
  };
  for (const tag of pageLanguages)
    expect([tag, format(getLanguage(tag).locale)]).toEqual([tag, dates[tag]]);
});
