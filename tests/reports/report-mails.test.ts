/** Reports by mail: when they are sent, to whom, what they say, and that each is sent once. */
import { expect, test } from "bun:test";
import { insertHeartbeats } from "../../src/monitoring/uptime/store.ts";
import { findLastPeriod } from "../../src/reports/rules.ts";
import { ReportMailer } from "../../src/reports/mailer.ts";
import { unknownId } from "../support/appliance.ts";
import { createDashboard } from "../support/dashboard.ts";
import { createPerson } from "../support/people.ts";
import { startMailServer } from "../support/mail-server.ts";

const at = (text: string) => Date.parse(text);
const path = "/api/v1/settings";

async function createWorld() {
  const server = await startMailServer();
  const dashboard = await createDashboard({ allowTarget: ["127.0.0.0/8"] });
  const { api, time, appliance, database, store } = dashboard;
  time.now = at("2026-10-05T10:00:00.000Z");
  const group = await dashboard.group({ name: "Payments" });
  await dashboard.monitor({ name: "Checkout <b>", groupId: group.id });
  database.run("UPDATE events SET at = '2026-09-01T00:00:00.000Z'");
  const key = database.query<{ key: number }, []>("SELECT key FROM monitor_states").get()?.key ?? 0;
  const usual = { monitorKey: key, latencyMs: 34, message: null };
  for (const [when, status] of [
    ["2026-10-20T08:00:00.000Z", "up"],
    ["2026-10-28T08:00:00.000Z", "down"],
  ] as const)
    await store.atomic(insertHeartbeats([{ ...usual, at: at(when), status, seconds: 3_600 }]));
  const update = (body: object) => api("PATCH", path, { body });
  expect((await update({ smtp: server.smtp() })).status).toBe(200);
  return {
    ...dashboard,
    server,
    group,
    update,
    /** Sends due mails at a time, like a process that was just started. */
    runAt: async (text: string) => {
      time.now = at(text);
      await new ReportMailer(appliance).runOnce();
      await dashboard.alerts.runOnce();
      return server.mails
        .splice(0)
        .map(({ to, headers }) => `${to.join()}: ${headers["subject"]?.join().replace(/\s/g, " ")}`)
        .toSorted();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test("a report is sent once to each address when its week or month is over in the time zone of the organization", async () => {
  await using world = await createWorld();
  const { update, runAt, time, server, database } = world;
  database.run("UPDATE organization_settings SET time_zone = 'Europe/Berlin'");
  const mail = {
    interval: "monthly",
    slaTarget: 0.999,
    to: [{ email: "boss@team.example" }, { email: "cfo@team.example" }],
  };
  time.now = at("2026-10-24T10:00:00.000Z");
  const saved = await update({
    reportMails: [mail, { interval: "weekly", to: [{ email: "boss@team.example" }] }],
  });
  const unset = { groupId: null, statusPageId: null, slaTarget: null, maintenance: "excluded" };
  const [boss, cfo] = ["boss", "cfo"].map((name) => ({
    email: `${name}@team.example`,
    personId: null,
    language: null,
  }));
  expect(saved.json.data.reportMails).toEqual([
    { ...unset, ...mail, to: [boss, cfo] },
    { ...unset, interval: "weekly", to: [boss] },
  ]);
  // No report covers the time before the reports were set up.
  expect(await runAt("2026-10-24T10:01:00.000Z")).toEqual([]);
  const buildWeek = (days: string) => `boss@team.example: Report of ${days} October 2026: Ours`;
  expect(await runAt("2026-10-25T23:10:00.000Z")).toEqual([]);
  expect(await runAt("2026-10-25T23:20:00.000Z")).toEqual([buildWeek("19 – 25")]);
  expect(await runAt("2026-10-25T23:21:00.000Z")).toEqual([]);
  time.now = at("2026-10-31T23:15:00.000Z");
  // The process is killed after it has added the report to the outbox.
  await new ReportMailer(world.appliance).runOnce();
  expect(server.mails).toEqual([]);
  const formatSubject = (to: string) => `${to}@team.example: Report of October 2026: Ours`;
  expect(await runAt("2026-10-31T23:16:00.000Z")).toEqual([
    formatSubject("boss"),
    formatSubject("cfo"),
  ]);
  await Promise.all([1, 2].map(() => new ReportMailer(world.appliance).runOnce()));
  expect(await runAt("2026-11-01T12:00:00.000Z")).toEqual([]);
  // A new recipient gets the last report, a removed one no further report.
  await update({ reportMails: [{ ...mail, to: [{ email: "cto@team.example" }] }] });
  expect(await runAt("2026-11-01T13:00:00.000Z")).toEqual([formatSubject("cto")]);
  expect(await runAt("2026-12-01T01:00:00.000Z")).toEqual([
    "cto@team.example: Report of November 2026: Ours",
  ]);
});

test("an address that two reports spell differently gets both, and is queued once", async () => {
  await using world = await createWorld();
  const { update, runAt, group, database } = world;
  const reportMails = [
    { interval: "monthly", to: [{ email: "Boss@team.example" }] },
    { interval: "monthly", groupId: group.id, to: [{ email: "boss@team.example" }] },
  ];
  expect((await update({ reportMails })).status).toBe(200);
  const subjects = (await runAt("2026-11-01T00:20:00.000Z")).map((one) => one.toLowerCase());
  expect(subjects).toEqual([
    "boss@team.example: report of october 2026: ours",
    "boss@team.example: report of october 2026: payments, ours",
  ]);
  const readChanges = () => database.query("SELECT total_changes() AS sum").get();
  const before = readChanges();
  expect(await runAt("2026-11-01T00:21:00.000Z")).toEqual([]);
  expect(readChanges()).toEqual(before);
});

test("a report has the figures of its group, its target, and the monitors that were down", async () => {
  await using world = await createWorld();
  const { update, time, server, group } = world;
  const mail = {
    interval: "monthly",
    groupId: group.id,
    slaTarget: 0.999,
    to: [{ email: "boss@team.example" }],
  };
  expect((await update({ reportMails: [mail] })).status).toBe(200);
  time.now = at("2026-11-01T00:20:00.000Z");
  await new ReportMailer(world.appliance).runOnce();
  await world.alerts.runOnce();
  const { text: raw, html } = server.getOnlyMail();
  const text = raw.replaceAll(/[^\S\n]/g, " ");
  expect(text).toContain("Report of October 2026: Payments, Ours");
  expect(text).toContain("Uptime: 50.00 % (target 99.90 %: missed)");
  expect(text).toContain(`/reports?month=2026-10&groupId=${group.id}`);
  expect(text).toContain("Down time: 1 h");
  expect(text).toContain("Checkout <b>: 50.00 %, down for 1 h");
  expect(html).toContain("Checkout &lt;b&gt;");
  expect(html).not.toContain("Checkout <b>");
});

test("each recipient gets the report in their language, and people at the address of their account", async () => {
  await using world = await createWorld();
  const { update, runAt, server, database, time, group } = world;
  const person = await createPerson(world, world.ours.id, "viewer");
  const to = [
    { personId: person.id, language: "de" },
    { email: person.email, language: "fr" },
    { email: "jefe@team.example", language: "ja" },
  ];
  const mail = { interval: "monthly", groupId: group.id, slaTarget: 0.999, to };
  expect((await update({ reportMails: [mail] })).status).toBe(200);
  const german = `${person.email}: Bericht für Oktober 2026: Payments, Ours`;
  expect(await runAt("2026-11-01T00:20:00.000Z")).toEqual(
    [german, "jefe@team.example: 2026年10月のレポート：Payments、Ours"].toSorted(),
  );
  // A new address of the same person is not a new recipient.
  database.run("UPDATE people SET email = 'new@team.example', email_key = 'new@team.example'");
  await update({ reportMails: [{ ...mail, to: [to[0]] }] });
  expect(await runAt("2026-11-01T00:21:00.000Z")).toEqual([]);
  time.now = at("2026-12-01T00:20:00.000Z");
  await new ReportMailer(world.appliance).runOnce();
  await world.alerts.runOnce();
  expect(server.getOnlyMail().to).toEqual(["new@team.example"]);
  expect(server.getOnlyMail().text).toContain("Ziel 99,90");
});

test("a person who is limited to monitor groups gets only the reports of these groups", async () => {
  await using world = await createWorld();
  const { update, runAt, group, database, alerts, server } = world;
  const person = await createPerson(world, world.ours.id, "viewer");
  const to = [{ personId: person.id }];
  const setLimit = (groupIds: string[] | null) =>
    database.run("UPDATE memberships SET group_ids = ? WHERE person_id = ?", [
      groupIds && JSON.stringify(groupIds),
      person.id,
    ]);
  const [whole, ofGroup] = [
    { interval: "monthly", to },
    { interval: "weekly", groupId: group.id, to },
  ];
  expect((await update({ reportMails: [whole, ofGroup] })).status).toBe(200);
  setLimit([]);
  expect(await runAt("2026-11-02T00:20:00.000Z")).toEqual([]);
  setLimit([group.id]);
  expect(await runAt("2026-11-02T00:21:00.000Z")).toEqual([expect.stringContaining("Payments")]);
  setLimit(null);
  await new ReportMailer(world.appliance).runOnce();
  setLimit([group.id]);
  await alerts.runOnce();
  expect(server.mails).toEqual([]);
});

test("a report excludes time in maintenance, or counts it as down time, and says which", async () => {
  await using world = await createWorld();
  const { api, update, store, time, database, group } = world;
  const key = database.query<{ key: number }, []>("SELECT key FROM monitor_states").get()?.key ?? 0;
  await store.atomic(
    insertHeartbeats([
      {
        monitorKey: key,
        latencyMs: null,
        message: null,
        at: at("2026-10-21T08:00:00.000Z"),
        status: "maintenance",
        seconds: 7_200,
      },
    ]),
  );
  time.now = at("2026-11-01T00:20:00.000Z");
  const ratioOf = async (query: string) => {
    const { status, json } = await api("GET", `/api/v1/reports?month=2026-10${query}`);
    const { summary, groups, monitors, maintenance } = json.data ?? {};
    return [status, maintenance, ...[summary, groups?.[0], monitors?.[0]].map((one) => one?.ratio)];
  };
  expect(await ratioOf("")).toEqual([200, "excluded", 0.5, 0.5, 0.5]);
  expect(await ratioOf("&maintenance=down")).toEqual([200, "down", 0.25, 0.25, 0.25]);
  expect((await ratioOf("&maintenance=up"))[0]).toBe(422);
  const texts: string[] = [];
  for (const maintenance of ["excluded", "down"]) {
    time.now = at("2026-10-24T10:00:00.000Z");
    const mail = { interval: "monthly", to: [{ email: `${maintenance}@team.example` }] };
    await update({ reportMails: [{ ...mail, groupId: group.id, maintenance }] });
    time.now = at("2026-11-01T00:20:00.000Z");
    await new ReportMailer(world.appliance).runOnce();
    await world.alerts.runOnce();
    texts.push(world.server.mails.splice(0)[0]?.text.replaceAll(/[^\S\n]/g, " ") ?? "");
  }
  expect(texts[0]).toContain("Uptime: 50.00 %\n");
  expect(texts[0]).toContain("Maintenance: 2 h, not counted");
  expect(texts[1]).toContain("Uptime: 25.00 %\n");
  expect(texts[1]).toContain("Maintenance: 2 h, counted as down time");
});

test("reports of a deleted group are not sent, and settings name only existing groups and valid targets", async () => {
  await using world = await createWorld();
  const { api, update, runAt, group, theirs } = world;
  const mail = { interval: "weekly", groupId: group.id, to: [{ email: "boss@team.example" }] };
  await update({ reportMails: [mail] });
  const detailsOf = async (changes: object) => {
    const { status, json } = await update({ reportMails: [{ ...mail, ...changes }] });
    return [status, json.error?.details?.[0]?.path];
  };
  expect(await detailsOf({ groupId: unknownId })).toEqual([404, "reportMails"]);
  expect(await detailsOf({ statusPageId: unknownId })).toEqual([422, "reportMails[0].groupId"]);
  expect(await detailsOf({ slaTarget: 99.9 })).toEqual([422, "reportMails[0].slaTarget"]);
  expect(await detailsOf({ to: [{ email: "nobody" }] })).toEqual([
    422,
    "reportMails[0].to[0].email",
  ]);
  expect(await detailsOf({ to: [{}] })).toEqual([422, "reportMails[0].to[0].email"]);
  expect(await detailsOf({ to: [{ personId: unknownId }] })).toEqual([404, "reportMails"]);
  const sameRecipient = ["boss@team.example", "BOSS@team.example"].map((email) => ({ email }));
  expect(await detailsOf({ to: sameRecipient })).toEqual([422, "reportMails[0].to"]);
  expect((await update({ reportMails: [mail, mail] })).status).toBe(422);
  expect(await detailsOf({ to: [] })).toEqual([422, "reportMails[0].to"]);
  expect(await detailsOf({ since: 0 })).toEqual([422, "reportMails[0].since"]);
  expect((await theirs.api("PATCH", path, { body: { reportMails: [mail] } })).status).toBe(404);
  await api("DELETE", `/api/v1/monitor-groups/${group.id}`);
  expect(await runAt("2026-10-12T01:00:00.000Z")).toEqual([]);
});

test("weeks start on Monday, and periods follow the clock changes of the zone", () => {
  const zone = "Europe/Berlin";
  const spanOf = (interval: "weekly" | "monthly", now: string) => {
    const { key, span } = findLastPeriod(interval, at(now), zone);
    return [key, ...[span.from, span.to].map((time) => new Date(time).toISOString())];
  };
  const october = ["2026-10", "2026-09-30T22:00:00.000Z", "2026-10-31T23:00:00.000Z"];
  expect(spanOf("monthly", "2026-10-31T23:00:00.000Z")).toEqual(october);
  expect(spanOf("monthly", "2026-11-30T22:59:59.000Z")).toEqual(october);
  expect(spanOf("monthly", "2027-01-15T00:00:00.000Z")[0]).toBe("2026-12");
  const week = ["2026-10-19", "2026-10-18T22:00:00.000Z", "2026-10-25T23:00:00.000Z"];
  expect(spanOf("weekly", "2026-10-25T23:00:00.000Z")).toEqual(week);
  expect(spanOf("weekly", "2026-11-01T22:59:59.000Z")).toEqual(week);
});

const mailPath = "/api/v1/reports/mail";

test("a preview is the mail that is sent, and sends nothing", async () => {
  await using world = await createWorld();
  const { api, update, server, group, runAt, time } = world;
  const to = [{ email: "boss@team.example", language: "de" }];
  const mail = { interval: "monthly", groupId: group.id, slaTarget: 0.4, maintenance: "down", to };
  expect((await update({ reportMails: [mail] })).status).toBe(200);
  time.now = at("2026-11-01T00:10:00.000Z");
  const query = `?interval=monthly&groupId=${group.id}`;
  const { status, json } = await api("GET", `${mailPath}${query}&language=de`);
  const { subject, html, text, ...about } = json.data;
  expect([status, about]).toEqual([
    200,
    {
      from: "2026-10-01T00:00:00.000Z",
      to: "2026-11-01T00:00:00.000Z",
      timeZone: "UTC",
      language: "de",
      attachment: null,
    },
  ]);
  expect(server.mails).toEqual([]);
  time.now = at("2026-11-01T00:20:00.000Z");
  await new ReportMailer(world.appliance).runOnce();
  await world.alerts.runOnce();
  const sent = server.getOnlyMail();
  const removeOrigin = (document: string) => document.replaceAll(/https?:\/\/[^/]*/g, "");
  expect(
    [sent.headers["subject"]?.join(), sent.text.trim(), sent.html].map((one) =>
      removeOrigin(one ?? ""),
    ),
  ).toEqual([subject, text.trim(), html].map(removeOrigin));
  server.mails.splice(0);
  const missed = await api("GET", `${mailPath}${query}&slaTarget=0.9&maintenance=excluded`);
  expect(missed.json.data.text).toContain("target 90.00");
  const weekly = await api("GET", `${mailPath}?interval=weekly`);
  expect(weekly.json.data.subject).toStartWith("Report of 19");
  const statusOf = async (search: string) => (await api("GET", `${mailPath}${search}`)).status;
  expect(await statusOf("?interval=daily")).toBe(422);
  expect(await statusOf(`?interval=weekly&groupId=${unknownId}`)).toBe(404);
  expect(await statusOf(`?interval=weekly&statusPageId=${unknownId}`)).toBe(404);
  expect(await statusOf(`${query}&statusPageId=${unknownId}`)).toBe(422);
  expect((await world.theirs.api("GET", `${mailPath}${query}`)).status).toBe(404);
  expect(await statusOf(`/pdf${query}`)).toBe(409);
  expect(await runAt("2026-11-01T00:21:00.000Z")).toEqual([]);
});

test("a report that is sent now is held, and then reaches each recipient once, even after a kill", async () => {
  await using world = await createWorld();
  const { api, update, server, group, runAt, time, held, database } = world;
  const to = ["boss", "cfo"].map((name) => ({ email: `${name}@team.example` }));
  const mail = { interval: "monthly", groupId: group.id, to };
  const others = { interval: "monthly", to: [{ email: "boss@team.example" }] };
  expect((await update({ reportMails: [mail, others] })).status).toBe(200);
  const october = ["boss", "cfo"].map(
    (name) => `${name}@team.example: Report of October 2026: Payments, Ours`,
  );
  expect(await runAt("2026-11-01T00:20:00.000Z")).toHaveLength(3);
  const body = { interval: "monthly", groupId: group.id };
  const send = (search = "") => api("POST", `${mailPath}/send${search}`, { body });

  const undone = await send("?hold=10");
  expect([undone.status, undone.json.data.title]).toEqual([
    202,
    "Report of October 2026: Payments, Ours",
  ]);
  expect((await api("DELETE", `/api/v1/held-changes/${undone.json.data.id}`)).status).toBe(200);
  time.now += 20_000;
  await held.runOnce();
  await world.alerts.runOnce();
  expect(server.mails).toEqual([]);

  expect((await send("?hold=10")).status).toBe(202);
  time.now += 9_000;
  await held.runOnce();
  await world.alerts.runOnce();
  expect(server.mails).toEqual([]);
  time.now += 1_000;
  await held.runOnce();
  await held.runOnce();
  expect((await send()).json.error).toMatchObject({
    code: "CONFLICT",
    message: "This report is being sent. Wait until it is delivered.",
  });
  // A process claims the deliveries and is killed.
  database.run("UPDATE deliveries SET leased_until = ? WHERE due_at IS NOT NULL", [
    time.now + 60_000,
  ]);
  expect(await runAt("2026-11-01T00:21:00.000Z")).toEqual([]);
  expect(await runAt("2026-11-01T00:25:00.000Z")).toEqual(october);
  expect(await runAt("2026-11-01T00:26:00.000Z")).toEqual([]);

  const again = await send();
  expect([again.status, again.json.data]).toEqual([
    200,
    {
      title: "Report of October 2026: Payments, Ours",
      recipients: 2,
      from: "2026-10-01T00:00:00.000Z",
      to: "2026-11-01T00:00:00.000Z",
    },
  ]);
  // Removed recipients get nothing more.
  await update({ reportMails: [{ ...mail, to: to.slice(0, 1) }] });
  expect(await runAt("2026-11-01T00:27:00.000Z")).toEqual(october.slice(0, 1));
  const entries = database.query(
    "SELECT 1 FROM audit_entries WHERE action = 'settings.report-sent'",
  );
  expect(entries.all()).toHaveLength(2);
});

test("only a report that is set up is sent, by an admin, and only with a mail server", async () => {
  await using world = await createWorld();
  const { api, update, theirs, group } = world;
  const send = async (client: typeof api, body: object) =>
    (await client("POST", `${mailPath}/send`, { body })).status;
  expect(await send(api, { interval: "monthly" })).toBe(404);
  await update({ reportMails: [{ interval: "monthly", to: [{ email: "boss@team.example" }] }] });
  expect(await send(api, { interval: "weekly" })).toBe(404);
  expect(await send(api, { interval: "monthly", groupId: group.id })).toBe(404);
  expect(await send(theirs.api, { interval: "monthly" })).toBe(404);
  expect(await send(api, { interval: "monthly", to: [] })).toBe(422);
  await update({ smtp: null });
  expect(await send(api, { interval: "monthly" })).toBe(409);
});

test("reports that people send now are limited to ten per hour of an organization", async () => {
  await using world = await createWorld();
  const { api, update, time, database } = world;
  await update({ reportMails: [{ interval: "monthly", to: [{ email: "boss@team.example" }] }] });
  const send = async () => {
    const { status } = await api("POST", `${mailPath}/send`, { body: { interval: "monthly" } });
    database.run("UPDATE deliveries SET due_at = NULL");
    return status;
  };
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 12; attempt++) statuses.push(await send());
  expect(statuses).toEqual([...Array<number>(10).fill(200), 429, 429]);
  time.now += 3_600_000;
  expect(await send()).toBe(200);
});
