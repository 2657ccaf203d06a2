import { assets } from "../../src/core/assets.ts";
import { hourMs, dayMs } from "../../src/core/time/clock.ts";
import { openDataDirectory } from "../../src/database/file/data-directory.ts";
import { signedIn } from "./admin-world.ts";
import { until } from "./journeys.ts";
import { machine, succeeded } from "./outside.ts";
import { answer, slow, target } from "./target.ts";
import { simulatedYear } from "./year.ts";

const names = [
  "Checkout",
  "Web shop",
  "決済ゲートウェイ（東京リージョン）",
  "Großhandel: Bestellübersicht und Rechnungen für Filialen im Südwesten",
  "بوابة الدفع",
  "Поиск по каталогу",
  "payments-webhook-consumer-eu-central-1-production-blue-green-7f9c",
  "API",
  "שירות הזמנות",
  "Zażółć gęślą jaźń",
  "🚚 Parcel tracking",
  "ระบบจัดส่งสินค้า",
];
const parts = ["", " (staging)", ", replica 2", " · EU", " v2"];
const groups = [
  "Shop",
  "Großkunden und Handelspartner (nur werktags, Bereitschaft über Leitstand Süd)",
  "物流",
  "Office",
  "Интеграции",
  "Databases & queues",
];

const showcaseMonitors = 60;

const markdown = `Between **8 and 12 %** of payments are rejected.

- The provider answers \`503\` since the deploy
- Orders are queued; *none are lost*

See [the provider's page](https://status.example.com/incidents/2026-11-22-elevated-error-rates-of-card-payments).`;

/**
 * An appliance to show around: a year of 60 monitors with outages, long names and other alphabets, and
 * something on every page: open and past incidents, maintenance, channels that fail, people, keys, subscribers.
 */
export async function showcase() {
  const box = machine();
  const site = await target(answer(200));
  const end = Math.floor(Date.now() / hourMs) * hourMs;
  const time = { now: end - 365 * dayMs };
  const data = openDataDirectory(box.dataDir, {
    migrations: assets.migrations,
    clock: () => time.now,
  });
  const { ids } = await simulatedYear(data, {
    monitors: showcaseMonitors,
    days: 365,
    resultDays: 3,
    end,
    outagesPerDay: 3,
    group: (number) => groups[Math.floor(number / 10)] ?? "More",
    perGroup: 10,
    monitor: (number) => ({
      name: `${names[number % names.length] ?? ""}${parts[Math.floor(number / names.length)] ?? ""}`,
      url: site.at(`/${number}`),
      interval: 20,
      retries: 0,
      tags: number % 4 === 0 ? ["eu", "customers", "a-rather-long-tag-of-the-payment-team"] : [],
    }),
  });
  data.close();
  const email = "ada@acme.example";
  const create = ["users", "create", "--org", "bench", "--email", email];
  const made = await succeeded(box.run([...create, "--name", "Ada Lovelace", "--json"]));
  const { password } = JSON.parse(made) as { password: string };
  site.reply(answer(503), "/0");
  site.reply(answer(502), "/13");
  site.reply(slow(1_600), "/17");
  // With a second organization, this machine itself is no target of either unless that is said.
  const server = await box.serve({ flags: ["--rate-limit", "0", "--allow-target", "127.0.0.0/8"] });
  const person = await signedIn(server.url, { email, password });
  const { ask } = person;

  await ask("PATCH", "/organization", { name: "Acme GmbH", timeZone: "Europe/Berlin" });
  for (const [number, id] of ids.entries()) {
    if (number === 0 || number === 17)
      await ask("PATCH", `/api/v1/monitors/${id}`, {
        description: markdown,
        ...(number === 17 && { degradedAfterMs: 800 }),
      });
    if (number === 21 || number === 22)
      await ask("PATCH", `/api/v1/monitors/${id}`, { paused: true });
  }
  for (const type of ["push", "tcp", "dns"])
    await ask("POST", "/api/v1/monitors", {
      type,
      name: `Nightly ${type}`,
      ...(type === "tcp" && { host: "127.0.0.1", port: site.port }),
      ...(type === "dns" && { host: "shop.example" }),
    });
  const json = { "content-type": "application/json" };
  site.reply(answer(200, '{"token": "t", "items": [{"state": "reserved"}]}', json), "/sign-in");
  site.reply(answer(200, '{"items": [{"state": "reserved"}]}', json), "/orders");
  await ask("POST", "/api/v1/monitors", {
    type: "http",
    name: "Sign-in and first order",
    url: site.at("/sign-in"),
    method: "POST",
    bodyType: "json",
    body: '{"user": "probe"}',
    save: [{ name: "token", source: "json", path: "$.token" }],
    steps: [
      {
        name: "Order",
        url: "/orders",
        headers: { Authorization: "Bearer {{token}}" },
        assertions: [
          { source: "json", path: "$.items[0].state", op: "equals", value: "reserved" },
          { source: "header", path: "Content-Type", op: "contains", value: "json" },
          { source: "latency", op: "lessThan", value: 800 },
        ],
      },
      { url: "/orders/latest", expectedStatus: ["200", "404"] },
    ],
  });
  await ask("PUT", "/api/v1/config", {
    source: "platform-team",
    groups: { edge: { name: "Edge" } },
    monitors: {
      gateway: { type: "http", name: "Gateway", url: site.at("/gateway"), group: "edge" },
    },
  });
  const gateway = (await ask("GET", "/api/v1/monitors?q=Gateway"))[0].id as string;
  // What somebody has changed by hand since.
  await ask("PATCH", `/api/v1/monitors/${gateway}`, { interval: 90, retries: 3 });
  const failing = await ask("POST", "/api/v1/alert-channels", {
    type: "webhook",
    name: "Bereitschaft Leitstand Süd (Störungen, Wochenende und Feiertage)",
    url: site.at("/broken-hook"),
  });
  site.reply(answer(500), "/broken-hook");
  await ask("POST", "/api/v1/alert-channels", {
    type: "webhook",
    name: "On-call",
    url: site.at("/hook"),
    default: true,
  });
  await ask("POST", `/api/v1/alert-channels/${failing.id}/test`);
  const checkout = await ask("POST", "/api/v1/incidents", {
    title: "Checkout fails for some customers",
    severity: "major",
    monitorIds: [ids[0], ids[1], ids[13]],
    message: markdown,
  });
  await ask("PATCH", `/api/v1/incidents/${checkout.id}`, {
    status: "identified",
    message: "A deploy broke the signature. We are **rolling back**.",
  });
  await ask("POST", `/api/v1/incidents/${checkout.id}/notes`, {
    message: "Old key is cached in `SignatureVerifier.keys`: restart the workers.",
  });
  await ask("POST", "/api/v1/incidents", {
    title:
      "Зависают запросы к каталогу — 一部の検索リクエストがタイムアウトしています — Bestellübersichtsseitenaufbauverzögerungen",
    severity: "critical",
    monitorIds: [ids[5]],
  });
  const past = await ask("POST", "/api/v1/incidents", { title: "Slow search results" });
  await ask("POST", `/api/v1/incidents/${past.id}/resolve`);
  await ask("PATCH", `/api/v1/incidents/${past.id}/postmortem`, {
    message:
      "**Root cause**\n\nA reindex used all disk bandwidth.\n\n1. It runs at night now\n2. With a limit",
  });
  await ask("POST", "/api/v1/incident-templates", {
    name: "Supplier",
    status: "identified",
    message: "{{monitors}} waits for a supplier since {{time}}.",
  });
  const inHours = (hours: number) =>
    new Date(Math.floor(Date.now() / 60_000) * 60_000 + hours * hourMs).toISOString();
  for (const [title, from, to] of [
    ["Switch of the second rack", -0.5, 2],
    ["Datenbankumstellung und Neuaufbau der Suchindizes in allen Regionen", 20, 26],
  ] as const)
    await ask("POST", "/api/v1/maintenance-windows", {
      title,
      description: markdown,
      startsAt: inHours(from),
      endsAt: inHours(to),
      monitorIds: ids.slice(30, 33),
    });
  const [page] = await ask("GET", "/api/v1/status-pages");
  await ask("PATCH", "/api/v1/settings", {
    smtp: { host: "127.0.0.1", port: 9, tls: "none", from: "status@acme.example" },
  });
  for (const number of [1, 2, 3])
    await ask("POST", `/api/v1/status-pages/${page.id}/subscribers`, {
      type: "email",
      email: `customer-${number}.with.a.long.name@subsidiary.of.a.customer.example`,
    });
  await ask("POST", "/api-keys", { name: "Deploy jobs", scope: "write", expiresInDays: 90 });
  await ask("POST", "/invitations", { email: "grace@acme.example", role: "member" });
  await ask("POST", "/organizations", { name: "Second organization of the same people" });
  for (const role of ["member", "viewer"]) {
    const name = `Maximiliane ${role} von Hohenzollern-Sigmaringen`;
    const args = ["users", "create", "--org", "bench", "--email", `${role}@acme.example`];
    await succeeded(box.run([...args, "--name", name, "--role", role]));
  }
  const invited = await ask("POST", "/invitations", { email: "new@acme.example", role: "admin" });
  return {
    ...server,
    ...person,
    box,
    site,
    ids,
    /** A record of each kind for `/incidents/:id` and the like. */
    records: {
      monitors: ids[0] ?? "",
      incidents: checkout.id as string,
      maintenance: (await ask("GET", "/api/v1/maintenance-windows"))[0].id as string,
      "alert-channels": failing.id as string,
      "status-pages": page.id as string,
    },
    pastIncident: past.id as string,
    managedMonitor: gateway,
    slug: page.slug as string,
    invitation: invited.link as string,
    /** Until the checks have found all that is wrong: nothing comes up by itself from then on. */
    untilTroubled: () =>
      until(
        () => ask("GET", "/attention"),
        (troubled: unknown[]) => troubled.length >= 4,
      ),
    async [Symbol.asyncDispose]() {
      await box[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}
