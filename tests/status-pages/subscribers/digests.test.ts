import { expect, test } from "bun:test";
import { findWeekEnd } from "../../../src/status-pages/subscribers/digests.ts";
import { ann, bob, createPublisher, type Publisher } from "../../support/publisher.ts";

async function moveTo(publisher: Publisher, time: string) {
  publisher.time.now = Date.parse(time);
  await publisher.notices.planDigests();
  await publisher.restart();
  await publisher.send();
}

test("a week ends on Monday at 8:00 in the time zone of the page, even when clocks change", () => {
  const endOf = (now: string, zone: string) =>
    new Date(findWeekEnd(Date.parse(now), zone)).toISOString();
  expect(endOf("2026-11-23T07:59:59Z", "UTC")).toBe("2026-11-16T08:00:00.000Z");
  expect(endOf("2026-11-23T08:00:00Z", "UTC")).toBe("2026-11-23T08:00:00.000Z");
  expect(endOf("2026-11-23T12:00:00Z", "America/New_York")).toBe("2026-11-16T13:00:00.000Z");
  expect(endOf("2026-10-26T12:00:00Z", "Europe/Berlin")).toBe("2026-10-26T07:00:00.000Z");
  expect(endOf("2026-10-25T12:00:00Z", "Europe/Berlin")).toBe("2026-10-19T06:00:00.000Z");
});

test("a weekly digest has what the subscriber chose, once, and nothing is sent before or for nothing", async () => {
  await using publisher = await createPublisher();
  const weekly = { type: "email", confirmed: true, frequency: "weekly" };
  await publisher.added({ ...weekly, email: ann });
  await publisher.added({ ...weekly, email: bob, minimumSeverity: "critical", maintenance: false });
  publisher.time.now += 1;
  await publisher.notices.planDigests();
  const { id } = await publisher.createIncident({ title: "Slow", severity: "minor" });
  publisher.time.now += 1;
  await publisher.planWindow({ progressNotices: false });
  await publisher.postUpdate(id, { status: "resolved" });
  await publisher.send();
  expect(publisher.mails).toEqual([]);
  for (const time of ["2026-11-23T07:59:00Z", "2026-11-23T08:00:00Z", "2026-11-24T08:00:00Z"])
    await moveTo(publisher, time);
  expect(publisher.listRecipients()).toEqual([ann]);
  expect(publisher.listSubjects()).toEqual(["The week at Acme status"]);
  expect(publisher.mails[0]?.text).toContain("Resolved: Slow");
  expect(publisher.mails[0]?.text).toContain("Scheduled maintenance: Firmware");
  expect(publisher.mails[0]?.text).not.toContain("Investigating");
  await moveTo(publisher, "2026-11-30T08:00:00Z");
  expect(publisher.mails).toHaveLength(1);
});

test("a weekly digest has nothing of incidents and maintenance that are no longer public", async () => {
  await using publisher = await createPublisher();
  await publisher.added({ type: "email", email: ann, confirmed: true, frequency: "weekly" });
  publisher.time.now += 1;
  await publisher.notices.planDigests();
  const secret = await publisher.createIncident({ title: "Leak at Umbrella" });
  await publisher.createIncident({ title: "Slow" });
  const window = await publisher.planWindow({ title: "Move to Umbrella", progressNotices: false });
  const gone = await publisher.planWindow({ title: "Umbrella is deleted", progressNotices: false });
  await publisher.send();
  publisher.time.now += 1;
  const hide = { body: { public: false } };
  expect((await publisher.api("PATCH", `/api/v1/incidents/${secret.id}`, hide)).status).toBe(200);
  expect(
    (await publisher.api("PATCH", `/api/v1/maintenance-windows/${window.id}`, hide)).status,
  ).toBe(200);
  expect((await publisher.api("DELETE", `/api/v1/maintenance-windows/${gone.id}`)).status).toBe(
    200,
  );
  await moveTo(publisher, "2026-11-23T08:00:00Z");
  expect(publisher.mails).toHaveLength(1);
  expect(publisher.mails[0]?.text).toContain("Slow");
  expect(publisher.mails[0]?.text).not.toContain("Umbrella");
});

test("a weekly digest names maintenance that is cancelled after an earlier digest announced it", async () => {
  await using publisher = await createPublisher();
  await publisher.added({ type: "email", email: ann, confirmed: true, frequency: "weekly" });
  publisher.time.now += 1;
  await publisher.notices.planDigests();
  const times = { startsAt: "2026-12-22T02:00:00Z", endsAt: "2026-12-22T04:00:00Z" };
  const { id } = await publisher.planWindow(times);
  await publisher.send();
  await moveTo(publisher, "2026-11-23T08:00:00Z");
  expect((await publisher.api("DELETE", `/api/v1/maintenance-windows/${id}`)).status).toBe(200);
  await publisher.send();
  await moveTo(publisher, "2026-11-30T08:00:00Z");
  expect(
    publisher.mails.map(({ text }) => /Maintenance cancelled|Scheduled/.exec(text)?.[0]),
  ).toEqual(["Scheduled", "Maintenance cancelled"]);
});

test("only mailboxes can have a digest", async () => {
  await using publisher = await createPublisher();
  const body = { type: "webhook", url: "https://hooks.team.example/x", frequency: "weekly" };
  const { status, json } = await publisher.api("POST", publisher.path, { body });
  expect([status, JSON.stringify(json)]).toEqual([422, expect.stringContaining("frequency")]);
});
