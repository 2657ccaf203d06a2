import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { channelKinds } from "../../src/alerting/channels/kinds-schema.ts";
import { assets } from "../../src/core/assets.ts";
import { copyDatabase } from "../../src/database/backup/copy.ts";
import { openData } from "../../src/database/data.ts";
import { type SealedTable, sealPlainSecrets } from "../../src/database/seal-plain-secrets.ts";
import { monitorKinds } from "../../src/monitoring/monitors/kinds-schema.ts";
import { createOrganization } from "../../src/accounts/organizations/service.ts";
import { createDashboard } from "../support/dashboard.ts";
import { canary, newMonitors, signingCanary } from "../support/samples.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

const tables: SealedTable[] = [
  { name: "monitors", noun: "monitor", kinds: monitorKinds },
  { name: "alert_channels", noun: "alert-channel", kinds: channelKinds },
];

/** Monitors and channels whose header values an older version stored unencrypted. */
async function createOlder() {
  const dashboard = await createDashboard();
  const { monitor, channel, database, appliance } = dashboard;
  const headers = { "X-Api-Key": canary, "X.Team": "" };
  const shop = await monitor({ type: "http", ...newMonitors.http, headers, bearerToken: "token" });
  const bot = await channel({
    type: "webhook",
    url: "http://bot.lan",
    headers,
    secret: signingCanary,
  });
  await monitor({ type: "http", ...newMonitors.http, headers: { "X-New": "sealed" } });
  await monitor();
  for (const [table, id] of [
    ["monitors", shop.id],
    ["alert_channels", bot.id],
  ])
    database.run(
      `update ${table} set settings = json_set(settings, '$.headers', json(?)),
        secrets = json_remove(secrets, '$."headers.X-Api-Key"', '$."headers.X.Team"') where id = ?`,
      [JSON.stringify(headers), id],
    );
  const { store, vault } = appliance;
  const seal = () => sealPlainSecrets({ store, vault, scrub: async () => {} }, tables);
  return { ...dashboard, shop: shop.id as string, bot: bot.id as string, seal };
}

test("unencrypted secrets of an older version are encrypted, and read as before", async () => {
  const { shop, bot, seal, readSecrets, readMonitor, changeMonitor, database } =
    await createOlder();
  const headers = { "headers.X-Api-Key": canary, "headers.X.Team": "" };
  expect(JSON.stringify(database.query("select settings from monitors").values())).toContain(
    canary,
  );
  expect(await seal()).toBe(2);
  expect(readSecrets("monitor", shop)).toEqual({ bearerToken: "token", ...headers });
  expect(readSecrets("alert-channel", bot)).toEqual({ secret: signingCanary, ...headers });
  const shopRecord = await readMonitor(shop);
  expect(shopRecord.headers).toEqual({ "X-Api-Key": null, "X.Team": null });
  expect(shopRecord.secretsSet).toEqual(["bearerToken"]);
  expect((await changeMonitor(shop, shopRecord)).json.data).toEqual(shopRecord);
  expect(readSecrets("monitor", shop)).toEqual({ bearerToken: "token", ...headers });
});

test("those of deleted records, too", async () => {
  const { shop, bot, seal, readSecrets, database, api } = await createOlder();
  const paths = [`/api/v1/monitors/${shop}`, `/api/v1/alert-channels/${bot}`];
  for (const path of paths) await api("DELETE", path);
  expect(await seal()).toBe(2);
  const deleted = database.query("select content from deleted_rows").values();
  expect(JSON.stringify(deleted)).not.toContain(canary);
  for (const path of paths)
    expect((await api("POST", `${path}/restore`, { body: { name: "Back" } })).status).toBe(200);
  const headers = { "headers.X-Api-Key": canary, "headers.X.Team": "" };
  expect(readSecrets("monitor", shop)).toEqual({ bearerToken: "token", ...headers });
  expect(readSecrets("alert-channel", bot)).toEqual({ secret: signingCanary, ...headers });
});

test("that happens once, and to nothing else", async () => {
  const { seal, database } = await createOlder();
  const readRows = () =>
    database.query("select id, settings, secrets, version from monitors").values();
  const untouched = readRows().filter(([, settings]) => !String(settings).includes(canary));
  await seal();
  expect(readRows()).toEqual(expect.arrayContaining(untouched));
  const after = readRows();
  expect(await seal()).toBe(0);
  expect(readRows()).toEqual(after);
});

test("a backup created afterwards contains none of them", async () => {
  const directory = newDirectory();
  const clock = () => Date.parse("2026-11-20T10:00:00.000Z");
  const data = await openData({ dataDir: directory }, { migrations: assets.migrations, clock });
  const { id: organization } = await createOrganization(data.store, clock, "Ours");
  const headers = { "X-Api-Key": canary.repeat(300) };
  const settings = JSON.stringify({ url: "http://bot.lan", headers });
  await data.store.atomic(
    Array.from({ length: 20 }, (_, index) => ({
      text: `insert into alert_channels (organization_id, id, name, type, enabled, is_default, incidents,
        settings, secrets, version, created_at, updated_at)
       values (?, ?, 'Bot', 'webhook', 1, 0, 1, ?, '{}', 1, '', '')`,
      parameters: [organization, `c${index}`, settings],
    })),
  );
  const readBackup = async () => {
    const file = join(newDirectory(), "backup.db");
    await copyDatabase(directory, file);
    return readFileSync(file).includes(canary);
  };
  expect(await readBackup()).toBe(true);
  expect(await sealPlainSecrets(data, tables)).toBe(20);
  expect(await readBackup()).toBe(false);
  // Neither in free pages nor in the log, even while the database is open.
  for (const file of readdirSync(directory))
    expect([file, readFileSync(join(directory, file)).includes(canary)]).toEqual([file, false]);
  await data.close();
});
