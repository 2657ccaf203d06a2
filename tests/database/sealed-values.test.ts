import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createVault } from "../../src/core/security/secrets.ts";
import { hasSealedValues, isKeyOf } from "../../src/database/sealed-values.ts";
import { testAppliance } from "../support/appliance.ts";
import { signingCanary } from "../support/samples.ts";
import { signInMember, password } from "../support/people.ts";

/** The vault of these tests' appliances, and another one. */
const vault = createVault(new Uint8Array(32).fill(7));
const other = createVault(new Uint8Array(32).fill(8));

/** Responses that are stored for a day, to repeat them for retries. */
const passing = ["idempotent_answers"];

/** One value in every encrypted column. */
async function createEverySecret() {
  const appliance = await testAppliance();
  const { api } = appliance.ours;
  const make = async (path: string, body: object) => {
    const { status, json } = await api("POST", `/api/v1/${path}`, { body });
    expect([path, status]).toEqual([path, 201]);
    return json.data.id as string;
  };
  await make("monitors", { type: "push", name: "Job" });
  await make("alert-channels", {
    type: "webhook",
    name: "Bot",
    url: "http://bot.lan",
    secret: signingCanary,
  });
  const smtp = { host: "mail.lan", from: "a@team.example", user: "a", password: "secret" };
  expect((await api("PATCH", "/api/v1/settings", { body: { smtp } })).status).toBe(200);
  const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
  const subscriber = { type: "webhook", url: "http://bot.lan", secret: signingCanary };
  await make(`status-pages/${page.id}/subscribers`, subscriber);
  const runs = await signInMember(appliance, "owner", { administrator: true });
  const plan = { passphrase: "correct horse battery" };
  expect((await runs.page("PATCH", "/dashboard/backup/schedule", { body: plan })).status).toBe(200);
  const { page: request } = await signInMember(appliance, "owner");
  const begun = await request("POST", "/dashboard/two-factor", { body: { password } });
  expect(begun.status).toBe(200);
  return appliance;
}

test("any encrypted value, in any table, identifies the right key", async () => {
  const { database } = await createEverySecret();
  const tables = database
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table'")
    .all()
    .map(({ name }) => name);
  const sealing = tables.filter((name) =>
    /\bv1\.[\w-]{16}\.[\w-]{22}\./.test(
      JSON.stringify(database.query(`select * from "${name}"`).values()),
    ),
  );
  expect(sealing.filter((name) => !passing.includes(name)).length).toBe(6);
  for (const name of sealing.filter((name) => !passing.includes(name))) {
    const alone = Database.deserialize(database.serialize());
    alone.run("pragma foreign_keys = off");
    for (const table of sealing.filter((table) => table !== name))
      alone.run(`delete from ${table}`);
    expect([name, hasSealedValues(alone)]).toEqual([name, true]);
    expect([name, isKeyOf(alone, vault), isKeyOf(alone, other)]).toEqual([name, true, false]);
  }
});

test("without encrypted values any key is accepted, in any version", async () => {
  const { database } = await testAppliance();
  for (const each of [database, new Database(":memory:")])
    expect([hasSealedValues(each), isKeyOf(each, other)]).toEqual([false, true]);
});
