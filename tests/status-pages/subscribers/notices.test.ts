import { describe, expect, test } from "bun:test";
import { createPerson } from "../../support/people.ts";
import { ann, bob, createPublisher } from "../../support/publisher.ts";
import { buildSection } from "../../support/visitor.ts";

describe.concurrent("subscribers of an incident are notified", () => {
  test("of each update with its own status, and of the end", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await using hook = await made.addHook();
    const { id } = await made.createIncident({ title: "Checkout fails", severity: "critical" });
    for (const change of [
      { status: "identified", message: "A disk is full." },
      { message: "We make room." },
      { status: "monitoring" },
      { status: "resolved", message: "All is well." },
      { status: "investigating", message: "It is back." },
      { status: "resolved" },
    ]) {
      made.time.now += 60_000;
      await made.postUpdate(id, change);
    }
    await made.send();
    expect(
      hook
        .received()
        .map(({ type, data }) => [
          type,
          data.incident.status,
          data.incident.resolvedAt,
          data.message,
        ]),
    ).toEqual([
      ["incident.opened", "investigating", null, "Incident opened."],
      ["incident.updated", "identified", null, "A disk is full."],
      ["incident.updated", "identified", null, "We make room."],
      ["incident.updated", "monitoring", null, "Monitoring."],
      ["incident.resolved", "resolved", expect.any(String), "All is well."],
      ["incident.updated", "investigating", null, "It is back."],
      ["incident.resolved", "resolved", "2026-11-20T10:06:00.002Z", "Incident resolved."],
    ]);
    expect(made.listSubjects().map((subject) => subject?.replace(/:.*/, ""))).toEqual([
      "Investigating",
      "Identified",
      "Identified",
      "Monitoring",
      "Resolved",
      "Investigating",
      "Resolved",
    ]);
    const threads = new Set(made.mails.map(({ headers }) => headers["references"]?.[0]));
    expect(threads.size).toBe(1);
  });

  test("of a part for signed-in people only if the whole page is for them", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    const { id } = await made.monitor({ name: "Internal", type: "ping", host: "db.lan" });
    const sections = [{ ...buildSection("Part", id), audience: "signed-in" }];
    await made.publish({ sections });
    await made.createIncident({ title: "Concealed", monitorIds: [id] });
    await made.send();
    expect(made.mails).toHaveLength(0);
    await made.publish({ visibility: "signed-in" });
    await made.createIncident({ title: "For members", monitorIds: [id] });
    await made.send();
    expect(made.listSubjects()).toEqual([expect.stringContaining("For members")]);
  });

  test("if they can still open a page for signed-in people to which they subscribed themselves", async () => {
    await using made = await createPublisher({ visibility: "signed-in", allowedRoles: ["admin"] });
    await made.mailbox();
    const byVisitor = { text: "update subscribers set by_visitor = 1", parameters: [] };
    await made.store.atomic([byVisitor]);
    const subjectsAfter = async (title: string) => {
      await made.createIncident({ title });
      await made.send();
      return made.listSubjects().length;
    };
    expect(await subjectsAfter("No member")).toBe(0);
    const member = await createPerson(made, made.ours.id, "admin", { email: ann });
    expect(await subjectsAfter("A member")).toBe(1);
    await made.store.atomic([
      {
        text: "update memberships set role = 'viewer' where person_id = ?",
        parameters: [member.id],
      },
    ]);
    expect(await subjectsAfter("Another role")).toBe(1);
  });

  test("of no correction of a title, a severity or the public flag", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    const { id } = await made.createIncident();
    await made.send();
    for (const change of [{ title: "Other words" }, { severity: "major" }, { public: false }])
      await made.postUpdate(id, change);
    await made.send();
    expect(made.mails).toHaveLength(1);
  });

  test("of nothing while it is private, and of updates once it is public", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    const { id } = await made.createIncident({ public: false, message: "Secret." });
    await made.postUpdate(id, { message: "Also secret." });
    await made.send();
    expect(made.mails).toEqual([]);
    await made.postUpdate(id, { public: true });
    await made.postUpdate(id, { message: "Said to all." });
    await made.send();
    expect(made.mails).toHaveLength(1);
    expect(made.mails[0]?.text).toContain("Said to all.");
    expect(made.mails[0]?.text).not.toMatch(/secret/i);
  });

  test("of nothing that became private before it was sent, and of nothing deleted", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    const one = await made.createIncident();
    const other = await made.createIncident();
    await made.postUpdate(one.id, { public: false });
    expect((await made.api("DELETE", `/api/v1/incidents/${other.id}`)).status).toBe(200);
    await made.send();
    expect(made.mails).toEqual([]);
  });

  test("under the public name of its monitor, on pages that show that", async () => {
    await using made = await createPublisher();
    const { id: monitorId } = await made.monitor({ name: "db-7.internal" });
    await made.publish({ sections: [buildSection("Shop", [monitorId, "Checkout"])] });
    const other = await made.createPage();
    await made.mailbox();
    await made.mailbox(bob, `/api/v1/status-pages/${other.id}/subscribers`);
    await using hook = await made.addHook();
    await made.createIncident({ monitorId });
    await made.send();
    expect(made.listRecipients()).toEqual([ann]);
    expect(made.mails[0]?.text).toContain("Affects: Checkout");
    expect(hook.received()[0]?.data.incident.monitor).toBe("Checkout");
    expect(JSON.stringify([made.mails, hook.asked])).not.toContain("db-7.internal");
    expect(JSON.stringify([made.mails, hook.asked])).not.toContain(monitorId);
  });

  test("of an automatic incident, under its monitor's public name", async () => {
    await using made = await createPublisher();
    const shop = await made.createJob({ name: "db-7.internal", autoIncidentSeverity: "major" });
    await made.publish({ sections: [buildSection("Shop", [shop.id, "Checkout"])] });
    await shop.report();
    await made.mailbox();
    await using hook = await made.addHook();
    await shop.report({ status: "down", msg: "CANARY" });
    await made.send();
    made.time.now += 60_000;
    await shop.report({ status: "up", latency_ms: "1" });
    await made.send();
    expect(made.listSubjects()).toEqual([
      "Investigating: Checkout is down – Acme status",
      "Resolved: Checkout is down – Acme status",
    ]);
    expect(hook.received()[1]?.data.message).toStartWith("Checkout is responding again");
    expect(JSON.stringify([made.mails, hook.asked])).not.toMatch(/db-7\.internal|CANARY/);
  });

  test("of its end when its monitor is deleted, under the public name, if they were notified of its start", async () => {
    await using made = await createPublisher();
    const job = (name: string) => made.createJob({ name, autoIncidentSeverity: "major" });
    const [shop, bare] = [await job("db-7.internal"), await job("db-8.internal")];
    await made.publish({ sections: [buildSection("Shop", [shop.id, "Checkout"])] });
    await made.mailbox();
    await using hook = await made.addHook();
    for (const { report } of [shop, bare]) await report({ status: "down", msg: "CANARY" });
    await made.send();
    made.time.now += 60_000;
    for (const { id } of [shop, bare])
      expect((await made.api("DELETE", `/api/v1/monitors/${id}`)).status).toBe(200);
    await made.send();
    expect(made.listSubjects()).toEqual([
      "Investigating: Checkout is down – Acme status",
      "Resolved: Checkout is down – Acme status",
    ]);
    const [opened, resolved] = hook.received();
    expect(resolved).toMatchObject({
      type: "incident.resolved",
      data: {
        message: "Checkout is no longer monitored.",
        incident: {
          ...opened?.data.incident,
          status: "resolved",
          resolvedAt: new Date(made.time.now).toISOString(),
        },
      },
    });
    expect(hook.asked).toHaveLength(2);
    expect(JSON.stringify([made.mails, hook.asked])).not.toMatch(/db-[78]\.internal|CANARY/);
    // The page and its feeds do not show it any more.
    await made.restart();
    for (const part of ["", ".json", "/feed.atom", "/feed.rss"])
      expect([part, (await made.get(`/status/ours${part}`)).text]).toEqual([
        part,
        expect.not.stringContaining("Checkout is down"),
      ]);
  });

  test("of its start if its monitor is deleted at once, and of nothing private", async () => {
    await using made = await createPublisher();
    const shop = await made.createJob({ name: "Shop", autoIncidentSeverity: "major" });
    const secret = await made.createJob({ name: "Secret", autoIncidentSeverity: "major" });
    await made.publish({
      sections: [buildSection("Shop", [shop.id, "Shop"], [secret.id, "Secret"])],
    });
    await using hook = await made.addHook();
    await secret.report({ status: "down" });
    await made.send();
    const [{ id }] = (await made.api("GET", "/api/v1/incidents")).json.data;
    await made.api("PATCH", `/api/v1/incidents/${id}`, { body: { public: false } });
    await shop.report({ status: "down" });
    for (const one of [shop, secret]) await made.api("DELETE", `/api/v1/monitors/${one.id}`);
    await made.send();
    expect(hook.received().map(({ type }) => type)).toEqual(["incident.opened"]);
  });

  test("of nothing if no page shows its monitor", async () => {
    await using made = await createPublisher();
    const shop = await made.createJob({ name: "Hidden", autoIncidentSeverity: "major" });
    await shop.report();
    await made.mailbox();
    await shop.report({ status: "down" });
    await made.send();
    expect(made.mails).toEqual([]);
  });

  test("without private ids and fields", async () => {
    await using made = await createPublisher({ timeZone: "Europe/Berlin" });
    await using hook = await made.addHook();
    const incident = await made.createIncident({ severity: "major", message: "We look." });
    await made.send();
    const url = "http://signalbox.lan:3210/status/ours";
    expect(hook.received()).toEqual([
      {
        id: hook.asked[0]?.headers["webhook-id"] as string,
        type: "incident.opened",
        timestamp: incident.createdAt,
        data: {
          page: { title: "Acme status", url },
          incident: {
            id: incident.id,
            title: "Slow answers",
            status: "investigating",
            severity: "major",
            monitor: null,
            monitors: [],
            createdAt: incident.createdAt,
            resolvedAt: null,
            url: `${url}/incidents/${incident.id}`,
          },
          message: "We look.",
        },
      },
    ]);
  });

  test("with its time in the page's time zone", async () => {
    await using made = await createPublisher({ timeZone: "Europe/Berlin" });
    await made.mailbox();
    await made.createIncident();
    await made.send();
    expect(made.mails[0]?.text).toContain("Time: 20 November 2026 at 11:00 (Europe/Berlin)");
  });
});

describe.concurrent("subscribers of planned work are notified", () => {
  test("once, when it is scheduled", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await using hook = await made.addHook();
    const window = await made.planWindow({ title: "New disks", description: "Short gaps." });
    await made.send();
    await made.api("PATCH", `/api/v1/maintenance-windows/${window.id}`, {
      body: { title: "Newer disks" },
    });
    await made.sendAfter(3 * 86_400);
    expect(made.listSubjects()).toEqual(["Scheduled maintenance: New disks – Acme status"]);
    expect(made.mails[0]?.text).toContain(
      "Short gaps.\nFrom: 22 November 2026 at 02:00 (UTC)\nUntil: 22 November 2026 at 04:00 (UTC)",
    );
    expect(hook.received()).toMatchObject([
      {
        type: "maintenance.planned",
        data: {
          page: { title: "Acme status", url: "http://signalbox.lan:3210/status/ours" },
          maintenance: {
            id: window.id,
            title: "New disks",
            description: "Short gaps.",
            startsAt: "2026-11-22T02:00:00.000Z",
            endsAt: "2026-11-22T04:00:00.000Z",
          },
        },
      },
    ]);
    expect(hook.asked).toHaveLength(1);
  });

  test("of the next occurrence of recurring work", async () => {
    await using made = await createPublisher();
    await using hook = await made.addHook();
    const first = { startsAt: "2026-11-15T02:00:00.000Z", endsAt: "2026-11-15T04:00:00.000Z" };
    await made.planWindow({ rrule: "FREQ=WEEKLY", ...first });
    await made.send();
    expect(hook.received()[0]?.data.maintenance.startsAt).toBe("2026-11-22T02:00:00.000Z");
    expect(hook.asked).toHaveLength(1);
  });

  test("of nothing if it is private, over, or deleted", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await made.planWindow({ public: false });
    await made.planWindow({
      startsAt: "2026-11-19T02:00:00.000Z",
      endsAt: "2026-11-19T04:00:00.000Z",
    });
    const { id } = await made.planWindow();
    await made.api("DELETE", `/api/v1/maintenance-windows/${id}`);
    await made.send();
    expect(made.mails).toEqual([]);
  });

  test("if it concerns their page", async () => {
    await using made = await createPublisher();
    const { id: shop } = await made.monitor({ name: "Shop" });
    const { id: mail } = await made.monitor({ name: "Mail" });
    const { id: groupId } = await made.group({ monitorIds: [mail] });
    const page = await made.createPage({ sections: [buildSection("Shop", shop)] });
    await made.mailbox(bob, `/api/v1/status-pages/${page.id}/subscribers`);
    await made.planWindow({ title: "Mail", monitorIds: [mail] });
    await made.planWindow({ title: "Group", groupIds: [groupId] });
    await made.planWindow({ title: "Shop", monitorIds: [mail, shop] });
    await made.planWindow({ title: "Everything" });
    await made.send();
    expect(made.listSubjects()).toEqual([
      "Scheduled maintenance: Shop – Payments",
      "Scheduled maintenance: Everything – Payments",
    ]);
  });
});

describe.concurrent("a page that is hidden", () => {
  test("notifies no one, neither then nor when it is public again", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await using hook = await made.addHook();
    const other = await made.createPage();
    await made.mailbox(bob, `/api/v1/status-pages/${other.id}/subscribers`);
    await made.publish({ visibility: "hidden" });
    const { id } = await made.createIncident();
    await made.planWindow();
    await made.sendAfter(60);
    await made.publish({ visibility: "public" });
    await made.sendAfter(60);
    expect(hook.asked).toEqual([]);
    expect(made.listRecipients()).toEqual([bob, bob]);
    await made.postUpdate(id, { message: "We are back." });
    await made.send();
    expect(hook.listMessages()).toEqual(["We are back."]);
    expect(made.listRecipients().slice(2).sort()).toEqual([ann, bob]);
  });

  test("does not send notices that were waiting when it was hidden", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    made.refusals.set(ann, 450);
    await made.createIncident();
    await made.send();
    await made.publish({ visibility: "hidden" });
    made.refusals.clear();
    await made.sendAfter(60);
    await made.publish({ visibility: "public" });
    await made.sendAfter(3_600);
    expect(made.mails).toEqual([]);
  });
});

test.concurrent("subscribers of a page with a password are notified without it", async () => {
  await using made = await createPublisher({ visibility: "password", password: "open sesame" });
  await made.mailbox();
  await using hook = await made.addHook();
  await made.createIncident();
  await made.send();
  expect(made.mails).toHaveLength(1);
  expect(hook.asked).toHaveLength(1);
  expect(JSON.stringify([made.mails, hook.asked])).not.toContain("sesame");
});

test.concurrent(
  "a notice has the values from when it happened, even if it arrives later",
  async () => {
    await using made = await createPublisher();
    await made.mailbox();
    made.refusals.set(ann, 450);
    const { id } = await made.createIncident({ title: "Slow", message: "We look." });
    await made.send();
    await made.postUpdate(id, { title: "Slower", status: "resolved" });
    made.refusals.clear();
    await made.sendAfter(60);
    await made.sendAfter(60);
    expect(made.listSubjects()).toEqual([
      "Investigating: Slow – Acme status",
      "Resolved: Slower – Acme status",
    ]);
    expect(made.mails[0]?.text).toContain("We look.");
  },
);
