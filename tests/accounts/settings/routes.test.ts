import { describe, expect, test } from "bun:test";
import { canary } from "../../support/samples.ts";
import { SmtpSettings } from "../../../src/accounts/settings/schema.ts";
import { dumpTables, testAppliance } from "../../support/appliance.ts";

const path = "/api/v1/settings";
const mail = { host: "mail.lan", from: "signalbox@team.example" };

test("a new organization has no mail server", async () => {
  const { ours } = await testAppliance();
  const { status, json } = await ours.api("GET", path);
  expect([status, json.data]).toEqual([
    200,
    {
      smtp: null,
      certificateAuthorities: null,
      keepDeletedDays: 30,
      oneAlertPerCause: true,
      reportMails: [],
      secretsSet: [],
      updatedAt: "2026-11-20T10:00:00.000Z",
    },
  ]);
});

test("a mail server is set with defaults, changed field by field, and removed", async () => {
  const { ours } = await testAppliance();
  const set = async (smtp: object | null) => {
    const { status, json } = await ours.api("PATCH", path, { body: { smtp } });
    return [status, json.data.smtp];
  };
  const byPassword = { auth: "password", tenant: null, clientId: null };
  const whole = { ...mail, port: 587, user: null, ...byPassword, tls: "starttls" };
  expect(await set(mail)).toEqual([200, whole]);
  expect(await set({ port: 25, tls: "none" })).toEqual([200, { ...whole, port: 25, tls: "none" }]);
  expect(await set(null)).toEqual([200, null]);
});

test("a GET response can be sent back", async () => {
  const { ours } = await testAppliance();
  await ours.api("PATCH", path, { body: { smtp: { ...mail, password: canary } } });
  const { data } = (await ours.api("GET", path)).json;
  const { status, json } = await ours.api("PATCH", path, { body: data });
  expect([status, json.data]).toEqual([200, data]);
});

test("a patch without the password leaves it unchanged, null clears it, and no response shows it", async () => {
  const appliance = await testAppliance();
  const { api, reader } = appliance.ours;
  const patch = (smtp: object) => api("PATCH", path, { body: { smtp } });
  await patch({ ...mail, user: "signalbox", password: canary });
  const stored = await patch({ user: "other" });
  expect(stored.json.data.secretsSet).toEqual(["smtp.password"]);
  for (const { text } of [stored, await reader("GET", path)]) expect(text).not.toContain(canary);
  expect(dumpTables(appliance)).not.toContain(canary);
  expect((await patch({ password: null })).json.data.secretsSet).toEqual([]);
});

describe("a user who authenticates with an access token", () => {
  const key = {
    type: "service_account",
    project_id: "signalbox",
    private_key_id: "1",
    private_key: `-----BEGIN PRIVATE KEY-----\n${canary.replace("-", "")}\n-----END PRIVATE KEY-----\n`,
    client_email: "signalbox@project.iam.gserviceaccount.com",
    token_uri: "https://evil.example/token",
  };
  const box = { ...mail, user: "box@team.example" };
  const app = { tenant: "team.onmicrosoft.com", clientId: "app", clientSecret: canary };
  const microsoft = { ...box, auth: "microsoft", ...app };
  const google = { ...box, auth: "google", serviceAccountKey: JSON.stringify(key, null, 2) };

  async function createSettings(smtp: object) {
    const appliance = await testAppliance();
    const patch = (change: object) => appliance.ours.api("PATCH", path, { body: { smtp: change } });
    const { status, json, text } = await patch(smtp);
    expect([status, text.includes(canary)]).toEqual([200, false]);
    expect(dumpTables(appliance)).not.toContain(canary.replace("-", ""));
    return { appliance, patch, data: json.data };
  }

  test("of Microsoft, for a mailbox: its fields are shown, except for its secret", async () => {
    const { data, appliance } = await createSettings(microsoft);
    const { clientSecret: _secret, ...shown } = microsoft;
    expect(data).toMatchObject({
      smtp: { ...shown, port: 587, tls: "starttls" },
      secretsSet: ["smtp.clientSecret"],
    });
    const { status, json } = await appliance.ours.api("PATCH", path, { body: data });
    expect([status, json.data]).toEqual([200, data]);
  });

  test("of Google: only the used fields of the key file are stored, and none of its URLs", async () => {
    const { data, patch } = await createSettings(google);
    expect(data).toMatchObject({
      smtp: { ...box, auth: "google", tenant: null, clientId: null },
      secretsSet: ["smtp.serviceAccountKey"],
    });
    expect((await patch({ from: "other@team.example" })).json.data.secretsSet).toEqual([
      "smtp.serviceAccountKey",
    ]);
    const stored = JSON.parse(SmtpSettings.parse(google).serviceAccountKey ?? "");
    const { token_uri: _address, project_id: _project, ...used } = key;
    expect(stored).toEqual(used);
  });

  test("a change of the method clears the fields of the old one", async () => {
    const { patch } = await createSettings({ ...box, password: canary });
    for (const [change, left] of [
      [microsoft, ["smtp.clientSecret"]],
      [google, ["smtp.serviceAccountKey"]],
      [{ auth: "password", password: canary }, ["smtp.password"]],
      [{ auth: "password", clientSecret: canary }, ["smtp.password"]],
    ] as const) {
      const { status, json } = await patch(change);
      expect([status, json.data.secretsSet]).toEqual([200, left]);
    }
    expect((await patch({})).json.data.smtp).toMatchObject({ tenant: null, clientId: null });
  });

  const ways = {
    password: [{ auth: "password", password: canary }, "smtp.password"],
    microsoft: [{ auth: "microsoft", ...app }, "smtp.clientSecret"],
    google: [
      { auth: "google", serviceAccountKey: google.serviceAccountKey },
      "smtp.serviceAccountKey",
    ],
  } as const;
  for (const [from, [before]] of Object.entries(ways))
    for (const [to, [after, left]] of Object.entries(ways))
      for (const moved of [{ host: "other.lan" }, { port: 2525 }, {}])
        test(`from ${from} to ${to} with ${JSON.stringify(moved)}: an obsolete secret is not required`, async () => {
          const { patch } = await createSettings({ ...box, ...before });
          const { status, json } = await patch({ ...after, ...moved, user: "new@team.example" });
          expect([status, json.data?.secretsSet]).toEqual([200, [left]]);
          const { status: refused, json: stored } = await patch({ host: "third.lan" });
          expect([refused, stored.error.details.map((one: { path: string }) => one.path)]).toEqual([
            422,
            [left],
          ]);
        });

  const wrong: [object, string][] = [
    [{ ...microsoft, tenant: null }, "smtp.tenant"],
    [{ ...microsoft, tenant: "a/b" }, "smtp.tenant"],
    [{ ...microsoft, tenant: ".." }, "smtp.tenant"],
    [{ ...microsoft, clientId: null }, "smtp.clientId"],
    [{ ...microsoft, clientSecret: null }, "smtp.clientSecret"],
    [{ ...microsoft, user: null }, "smtp.user"],
    [{ ...microsoft, tls: "none" }, "smtp.tls"],
    [{ ...google, serviceAccountKey: null }, "smtp.serviceAccountKey"],
    [{ ...google, serviceAccountKey: "{}" }, "smtp.serviceAccountKey"],
    [{ ...google, serviceAccountKey: "no JSON" }, "smtp.serviceAccountKey"],
    [{ ...google, serviceAccountKey: key }, "smtp.serviceAccountKey"],
    [{ ...google, user: null }, "smtp.user"],
    [{ ...google, tls: "none" }, "smtp.tls"],
    [{ ...box, auth: "oauth" }, "smtp.auth"],
  ];
  test.each(wrong)("is rejected with the field: %j", async (smtp, field) => {
    const appliance = await testAppliance();
    const { status, json } = await appliance.ours.api("PATCH", path, { body: { smtp } });
    expect([status, json.error.details[0].path]).toEqual([422, field]);
  });

  test("a mail server from an older version still uses its password", async () => {
    const { appliance, patch } = await createSettings({ ...box, password: canary });
    const {
      auth: _1,
      tenant: _2,
      clientId: _3,
      ...older
    } = JSON.parse(
      appliance.database.query<{ smtp: string }, []>("select smtp from organization_settings").get()
        ?.smtp ?? "{}",
    );
    appliance.database.run("update organization_settings set smtp = ?", [JSON.stringify(older)]);
    const { json } = await patch({});
    expect(json.data).toMatchObject({
      smtp: { auth: "password", tenant: null, clientId: null },
      secretsSet: ["smtp.password"],
    });
  });
});

describe("the stored password stays with its mail server", () => {
  const stored = { ...mail, port: 465, user: "signalbox", password: canary, tls: "tls" };
  const requests: [change: object, isAsked: boolean][] = [
    [{ host: "other.lan" }, true],
    [{ port: 466 }, true],
    [{ tls: "starttls" }, true],
    [{ tls: "none" }, true],
    [{ host: "other.lan", password: "new" }, false],
    [{ host: "other.lan", password: null }, false],
    [{ host: "MAIL.lan", user: "other", from: "b@team.example", tls: "tls", port: 465 }, false],
  ];
  test.each(requests)("%j", async (change, isAsked) => {
    const appliance = await testAppliance();
    const patch = (smtp: object) => appliance.ours.api("PATCH", path, { body: { smtp } });
    await patch(stored);
    const before = dumpTables(appliance);
    const { status, json } = await patch(change);
    expect([status, json.error?.details]).toEqual(
      isAsked ? [422, [{ path: "smtp.password", message: refusal }]] : [200, undefined],
    );
    if (isAsked) expect(dumpTables(appliance)).toBe(before);
  });
  const refusal =
    "stays with the address it was given for: send it again for the new address, or null";
});

test("organizations have separate settings", async () => {
  const { ours, theirs } = await testAppliance();
  await ours.api("PATCH", path, { body: { smtp: mail } });
  expect((await theirs.api("GET", path)).json.data.smtp).toBe(null);
});

test("a read key can read and not write", async () => {
  const { ours } = await testAppliance();
  expect((await ours.reader("GET", path)).status).toBe(200);
  expect((await ours.reader("PATCH", path, { body: { smtp: null } })).status).toBe(403);
});

test("an old ETag is rejected", async () => {
  const { ours } = await testAppliance();
  const etag = (await ours.api("GET", path)).headers.get("etag") ?? "";
  await ours.api("PATCH", path, { body: { smtp: mail } });
  const late = await ours.api("PATCH", path, {
    body: { smtp: null },
    headers: { "If-Match": etag },
  });
  expect(late.status).toBe(412);
});

describe("rejected with the field:", () => {
  const wrong: [object, string][] = [
    [{ smtp: {} }, "smtp.host"],
    [{ smtp: { host: "mail.lan" } }, "smtp.from"],
    [{ smtp: { ...mail, host: "user:secret@mail.lan" } }, "smtp.host"],
    [{ smtp: { ...mail, host: "smtp://mail.lan" } }, "smtp.host"],
    [{ smtp: { ...mail, host: "mail.lan:25" } }, "smtp.host"],
    [{ smtp: { ...mail, port: 0 } }, "smtp.port"],
    [{ smtp: { ...mail, port: "25" } }, "smtp.port"],
    [{ smtp: { ...mail, from: "signalbox" } }, "smtp.from"],
    [{ smtp: { ...mail, from: "A <a@b.example>\r\nBcc: c@d.example" } }, "smtp.from"],
    [{ smtp: { ...mail, tls: true } }, "smtp.tls"],
    [{ smtp: { ...mail, secure: true } }, "smtp.secure"],
    [{ smtp: "mail.lan" }, "smtp"],
    [{ mail }, "mail"],
  ];
  test.each(wrong)("%j", async (body, field) => {
    const appliance = await testAppliance();
    const before = dumpTables(appliance);
    const { status, json } = await appliance.ours.api("PATCH", path, { body });
    expect([status, json.error.details[0].path]).toEqual([422, field]);
    expect(dumpTables(appliance)).toBe(before);
  });
});
