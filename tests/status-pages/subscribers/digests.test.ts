import { expect, test } from "bun:test";
import { findWeekEnd } from "../../../src/status-pages/subscribers/digests.ts";
import { ann, bob, createPublisher, type Publisher } from "../../support/publisher.ts";

async function moveTo(made: Publisher, time: string) {
  made.time.now = Date.parse(time);
  await made.notices.planDigests();
  await made.restart();
  await made.send();
}

test("a week ends on Monday at 8:00 in the time zone of the page, also when clocks change", () => {
  const endOf = (now: string, zone: string) =>
    new Date(findWeekEnd(Date.parse(now), zone)).toISOString();
  expect(endOf("2026-11-23T07:59:59Z", "UTC")).toBe("2026-11-16T08:00:00.000Z");
  expect(endOf("2026-11-23T08:00:00Z", "UTC")).toBe("2026-11-23T08:00:00.000Z");
  expect(endOf("2026-11-23T12:00:00Z", "America/New_York")).toBe("2026-11-16T13:00:00.000Z");
  expect(endOf("2026-10-26T12:00:00Z", "Europe/Berlin")).toBe("2026-10-26T07:00:00.000Z");
  expect(endOf("2026-10-25T12:00:00Z", "Europe/Berlin")).toBe("2026-10-19T06:00:00.000Z");
});

test("a weekly digest has what the subscriber chose, once, and nothing is sent before or for nothing", async () => {
  await using made = await createPublisher();
  const weekly = { type: "email", confirmed: true, frequency: "weekly" };
  await made.added({ ...weekly, email: ann });
  await made.added({ ...weekly, email: bob, minimumSeverity: "critical", maintenance: false });
  made.time.now += 1;
  await made.notices.planDigests();
  const { id } = await made.createIncident({ title: "Slow", severity: "minor" });
  made.time.now += 1;
  await made.planWindow({ progressNotices: false });
  await made.postUpdate(id, { status: "resolved" });
  await made.send();
  expect(made.mails).toEqual([]);
  for (const time of ["2026-11-23T07:59:00Z", "2026-11-23T08:00:00Z", "2026-11-24T08:00:00Z"])
    await moveTo(made, time);
  expect(made.listRecipients()).toEqual([ann]);
  expect(made.listSubjects()).toEqual(["The week at Acme status"]);
  expect(made.mails[0]?.text).toContain("Resolved: Slow");
  expect(made.mails[0]?.text).toContain("Scheduled maintenance: Firmware");
  expect(made.mails[0]?.text).not.toContain("Investigating");
  await moveTo(made, "2026-11-30T08:00:00Z");
  expect(made.mails).toHaveLength(1);
});

test("a weekly digest has nothing of incidents and maintenance that are no longer public", async () => {
  await using made = await createPublisher();
  await made.added({ type: "email", email: ann, confirmed: true, frequency: "weekly" });
  made.time.now += 1;
  await made.notices.planDigests();
  const secret = await made.createIncident({ title: "Leak at Umbrella" });
  await made.createIncident({ title: "Slow" });
  const window = await made.planWindow({ title: "Move to Umbrella", progressNotices: false });
  const gone = await made.planWindow({ title: "Umbrella is deleted", progressNotices: false });
  await made.send();
  made.time.now += 1;
  const hide = { body: { public: false } };
  expect((await made.api("PATCH", `/api/v1/incidents/${secret.id}`, hide)).status).toBe(200);
  expect((await made.api("PATCH", `/api/v1/maintenance-windows/${window.id}`, hide)).status).toBe(
    200,
  );
  expect((await made.api("DELETE", `/api/v1/maintenance-windows/${gone.id}`)).status).toBe(200);
  await moveTo(made, "2026-11-23T08:00:00Z");
  expect(made.mails).toHaveLength(1);
  expect(made.mails[0]?.text).toContain("Slow");
  expect(made.mails[0]?.text).not.toContain("Umbrella");
});

test("a weekly digest names maintenance that is cancelled after an earlier digest announced it", async () => {
  await using made = await createPublisher();
  await made.added({ type: "email", email: ann, confirmed: true, frequency: "weekly" });
  made.time.now += 1;
  await made.notices.planDigests();
  const times = { startsAt: "2026-12-22T02:00:00Z", endsAt: "2026-12-22T04:00:00Z" };
  const { id } = await made.planWindow(times);
  await made.send();
  await moveTo(made, "2026-11-23T08:00:00Z");
  expect((await made.api("DELETE", `/api/v1/maintenance-windows/${id}`)).status).toBe(200);
  await made.send();
  await moveTo(made, "2026-11-30T08:00:00Z");
  expect(made.mails.map(({ text }) => /Maintenance cancelled|Scheduled/.exec(text)?.[0])).toEqual([
    "Scheduled",
    "Maintenance cancelled",
  ]);
});

test("only mailboxes can have a digest", async () => {
  await using made = await createPublisher();
  const body = { type: "webhook", url: "https://hooks.team.example/x", frequency: "weekly" };
  const { status, json } = await made.api("POST", made.path, { body });
  expect([status, JSON.stringify(json)]).toEqual([422, expect.stringContaining("frequency")]);
});
