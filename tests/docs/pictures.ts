/** Creates the README's pictures: `bun run build && bun tests/docs/pictures.ts`. Needs Chromium and pngquant. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { setTheme, startOwnedMachine } from "../support/admin-world.ts";
import { launchChromium } from "../support/browser.ts";

const hourMs = 3_600_000;

type Pictured = {
  name: string;
  type?: string;
  fields: object;
  latencyMs: number;
  /** The hours of the last day, oldest first; `u` up, `g` degraded, `d` down. Default: all up. */
  hours?: string;
  down?: { minutes: number; message: string };
};

const buildHttp = (url: string) => ({ fields: { url } });
const calm = "u".repeat(24);

const groups: { name: string; color: string; tags: string[]; monitors: Pictured[] }[] = [
  {
    name: "Shop",
    color: "blue",
    tags: ["production"],
    monitors: [
      { name: "Web shop", ...buildHttp("https://shop.acme.example"), latencyMs: 84 },
      {
        name: "Checkout API",
        ...buildHttp("https://api.acme.example/checkout/health"),
        latencyMs: 212,
        hours: `${"u".repeat(9)}g${"u".repeat(13)}d`,
        down: { minutes: 6, message: "HTTP 502" },
      },
      { name: "Search", ...buildHttp("https://search.acme.example/ping"), latencyMs: 41 },
      {
        name: "Orders database",
        type: "tcp",
        fields: { host: "db.acme.example", port: 5432 },
        latencyMs: 3,
      },
    ],
  },
  {
    name: "Office",
    color: "orange",
    tags: ["berlin"],
    monitors: [
      { name: "Router", type: "ping", fields: { host: "192.168.1.1" }, latencyMs: 1 },
      { name: "NAS", ...buildHttp("http://nas.office.example"), latencyMs: 9 },
      {
        name: "Door system",
        type: "tcp",
        fields: { host: "192.168.1.40", port: 443 },
        latencyMs: 17,
        hours: `${"u".repeat(4)}dd${"u".repeat(18)}`,
      },
    ],
  },
  {
    name: "Jobs",
    color: "teal",
    tags: [],
    monitors: [
      {
        name: "Nightly backup",
        type: "push",
        fields: { interval: 86_400 },
        latencyMs: 4_200,
      },
      {
        name: "Certificate of acme.example",
        type: "tls",
        fields: { host: "acme.example" },
        latencyMs: 63,
      },
    ],
  },
];

await using machine = await startOwnedMachine();
const keys = new Map<string, Pictured>();
for (const { monitors, ...group } of groups) {
  const { id: groupId } = await machine.ask("POST", "/api/v1/monitor-groups", group);
  for (const monitor of monitors) {
    const { name, type = "http", fields } = monitor;
    const common = { name, type, groupId, interval: 86_400, paused: true };
    const { id } = await machine.ask("POST", "/api/v1/monitors", { ...common, ...fields });
    keys.set(id, monitor);
  }
}
await machine.stop();
writePast(join(machine.box.dataDir, "signalbox.db"));
await machine.box.serve({ port: Number(new URL(machine.url).port) });

const browser = launchChromium();
const page = await browser.newPage({
  viewport: { width: 1120, height: 720 },
  deviceScaleFactor: 2,
  storageState: machine.storageState,
});
await page.goto(machine.url);
await page.getByText("Checkout API").first().waitFor();
for (const scheme of ["light", "dark"] as const) {
  await setTheme(page, scheme);
  const path = join(import.meta.dir, "../../docs/pictures", `monitors-${scheme}.png`);
  await page.screenshot({ path });
  Bun.spawnSync(["pngquant", "--force", "--strip", "--output", path, path]);
}
await browser.close();

/** Writes the results of a day: the targets are fictional, so nothing checks them. */
function writePast(file: string) {
  using database = new Database(file, { strict: true });
  database.run("PRAGMA foreign_keys = OFF");
  const now = Date.now();
  const nowHour = Math.floor(now / hourMs);
  database.transaction(() => {
    database.run("UPDATE monitors SET paused = 0");
    for (const [id, { latencyMs, hours = calm, down }] of keys) {
      const since = now - (down?.minutes ?? 2_880) * 60_000;
      const row = database
        .query<{ key: number }, [string, string, string | null, number, string, string]>(
          `UPDATE monitor_states SET paused = 0, status = ?, since = ?, last_message = ?,
             latency_ms = ?, last_checked_at = ? WHERE monitor_id = ? RETURNING key`,
        )
        .get(
          down ? "down" : "up",
          new Date(since).toISOString(),
          down?.message ?? null,
          latencyMs,
          new Date(now).toISOString(),
          id,
        );
      for (const [index, letter] of hours.split("").entries()) {
        const bad = { u: 0, g: 600, d: 900 }[letter] ?? 0;
        database.run(
          `INSERT INTO uptime_hours (hour, monitor_key, up_seconds, degraded_seconds, down_seconds,
             unknown_seconds, maintenance_seconds, latency_count, latency_sum)
           VALUES (?, ?, ?, ?, ?, 0, 0, 60, ?)`,
          [
            nowHour - 23 + index,
            row?.key ?? 0,
            3_600 - bad,
            letter === "g" ? bad : 0,
            letter === "d" ? bad : 0,
            60 * latencyMs,
          ],
        );
      }
    }
  })();
}
