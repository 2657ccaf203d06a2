import { describe, expect, test } from "bun:test";
import { createPerson } from "../../support/people.ts";
import { ann, bob, createPublisher } from "../../support/publisher.ts";
import { buildSection } from "../../support/visitor.ts";

describe.concurrent("subscribers of an incident are notified", () => {
  test("of each update with its own status, and of the end", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await using hook = await publisher.addHook();
    const { id } = await publisher.createIncident({
      title: "Checkout fails",
      severity: "critical",
    });
    for (const change of [
      { status: "identified", message: "A disk is full." },
      { message: "We make room." },
      { status: "monitoring" },
      { status: "resolved", message: "All is well." },
      { status: "investigating", message: "It is back." },
      { status: "resolved" },
    ]) {
      publisher.time.now += 60_000;
      await publisher.postUpdate(id, change);
    }
    await publisher.send();
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
    expect(publisher.listSubjects().map((subject) => subject?.replace(/:.*/, ""))).toEqual([
      "Investigating",
      "Identified",
      "Identified",
      "Monitoring",
      "Resolved",
      "Investigating",
      "Resolved",
    ]);
    const threads = new Set(publisher.mails.map(({ headers }) => headers["references"]?.[0]));
    expect(threads.size).toBe(1);
  });

  test("of a part for signed-in people only if the whole page is for them", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    const { id } = await publisher.monitor({ name: "Internal", type: "ping", host: "db.lan" });
    const sections = [{ ...buildSection("Part", id), audience: "signed-in" }];
    await publisher.publish({ sections });
    await publisher.createIncident({ title: "Concealed", monitorIds: [id] });
    await publisher.send();
    expect(publisher.mails).toHaveLength(0);
    await publisher.publish({ visibility: "signed-in" });
    await publisher.createIncident({ title: "For members", monitorIds: [id] });
    await publisher.send();
    expect(publisher.listSubjects()).toEqual([expect.stringContaining("For members")]);
  });

  test("if they can still open a page for signed-in people to which they subscribed themselves", async () => {
    await using publisher = await createPublisher({
      visibility: "signed-in",
      allowedRoles: ["admin"],
    });
    await publisher.mailbox();
    const byVisitor = { text: "update subscribers set by_visitor = 1", parameters: [] };
    await publisher.store.atomic([byVisitor]);
    const countSubjects = async (title: string) => {
      await publisher.createIncident({ title });
      await publisher.send();
      return publisher.listSubjects().length;
    };
    expect(await countSubjects("No member")).toBe(0);
    const member = await createPerson(publisher, publisher.ours.id, "admin", { email: ann });
    expect(await countSubjects("A member")).toBe(1);
    await publisher.store.atomic([
      {
        text: "update memberships set role = 'viewer' where person_id = ?",
        parameters: [member.id],
      },
    ]);
    expect(await countSubjects("Another role")).toBe(1);
  });

  test("of no correction of a title, a severity or the public flag", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    const { id } = await publisher.createIncident();
    await publisher.send();
    for (const change of [{ title: "Other words" }, { severity: "major" }, { public: false }])
      await publisher.postUpdate(id, change);
    await publisher.send();
    expect(publisher.mails).toHaveLength(1);
  });

  test("of nothing while it is private, and of updates once it is public", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    const { id } = await publisher.createIncident({ public: false, message: "Secret." });
    await publisher.postUpdate(id, { message: "Also secret." });
    await publisher.send();
    expect(publisher.mails).toEqual([]);
    await publisher.postUpdate(id, { public: true });
    await publisher.postUpdate(id, { message: "Said to all." });
    await publisher.send();
    expect(publisher.mails).toHaveLength(1);
    expect(publisher.mails[0]?.text).toContain("Said to all.");
    expect(publisher.mails[0]?.text).not.toMatch(/secret/i);
  });

  test("of nothing that became private before it was sent, and of nothing deleted", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    const one = await publisher.createIncident();
    const other = await publisher.createIncident();
    await publisher.postUpdate(one.id, { public: false });
    expect((await publisher.api("DELETE", `/api/v1/incidents/${other.id}`)).status).toBe(200);
    await publisher.send();
    expect(publisher.mails).toEqual([]);
  });

  test("under the public name of its monitor, on pages that show that", async () => {
    await using publisher = await createPublisher();
    const { id: monitorId } = await publisher.monitor({ name: "db-7.internal" });
    await publisher.publish({ sections: [buildSection("Shop", [monitorId, "Checkout"])] });
    const other = await publisher.createPage();
    await publisher.mailbox();
    await publisher.mailbox(bob, `/api/v1/status-pages/${other.id}/subscribers`);
    await using hook = await publisher.addHook();
    await publisher.createIncident({ monitorId });
    await publisher.send();
    expect(publisher.listRecipients()).toEqual([ann]);
    expect(publisher.mails[0]?.text).toContain("Affects: Checkout");
    expect(hook.received()[0]?.data.incident.monitor).toBe("Checkout");
    expect(JSON.stringify([publisher.mails, hook.asked])).not.toContain("db-7.internal");
    expect(JSON.stringify([publisher.mails, hook.asked])).not.toContain(monitorId);
  });

  test("of an automatic incident, under its monitor's public name", async () => {
    await using publisher = await createPublisher();
    const shop = await publisher.createJob({
      name: "db-7.internal",
      autoIncidentSeverity: "major",
    });
    await publisher.publish({ sections: [buildSection("Shop", [shop.id, "Checkout"])] });
    await shop.report();
    await publisher.mailbox();
    await using hook = await publisher.addHook();
    await shop.report({ status: "down", msg: "CANARY" });
    await publisher.send();
    publisher.time.now += 60_000;
    await shop.report({ status: "up", latency_ms: "1" });
    await publisher.send();
    expect(publisher.listSubjects()).toEqual([
      "Investigating: Checkout is down – Acme status",
      "Resolved: Checkout is down – Acme status",
    ]);
    expect(hook.received()[1]?.data.message).toStartWith("Checkout is responding again");
    expect(JSON.stringify([publisher.mails, hook.asked])).not.toMatch(/db-7\.internal|CANARY/);
  });

  test("of its end when its monitor is deleted, under the public name, if they were notified of its start", async () => {
    await using publisher = await createPublisher();
    const createJob = (name: string) =>
      publisher.createJob({ name, autoIncidentSeverity: "major" });
    const [shop, bare] = [await createJob("db-7.internal"), await createJob("db-8.internal")];
    await publisher.publish({ sections: [buildSection("Shop", [shop.id, "Checkout"])] });
    await publisher.mailbox();
    await using hook = await publisher.addHook();
    for (const { report } of [shop, bare]) await report({ status: "down", msg: "CANARY" });
    await publisher.send();
    publisher.time.now += 60_000;
    for (const { id } of [shop, bare])
      expect((await publisher.api("DELETE", `/api/v1/monitors/${id}`)).status).toBe(200);
    await publisher.send();
    expect(publisher.listSubjects()).toEqual([
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
          resolvedAt: new Date(publisher.time.now).toISOString(),
        },
      },
    });
    expect(hook.asked).toHaveLength(2);
    expect(JSON.stringify([publisher.mails, hook.asked])).not.toMatch(/db-[78]\.internal|CANARY/);
    // The page and its feeds do not show it any more.
    await publisher.restart();
    for (const part of ["", ".json", "/feed.atom", "/feed.rss"])
      expect([part, (await publisher.get(`/status/ours${part}`)).text]).toEqual([
        part,
        expect.not.stringContaining("Checkout is down"),
      ]);
  });

  test("of its start if its monitor is deleted at once, and of nothing private", async () => {
    await using publisher = await createPublisher();
    const shop = await publisher.createJob({ name: "Shop", autoIncidentSeverity: "major" });
    const secret = await publisher.createJob({ name: "Secret", autoIncidentSeverity: "major" });
    await publisher.publish({
      sections: [buildSection("Shop", [shop.id, "Shop"], [secret.id, "Secret"])],
    });
    await using hook = await publisher.addHook();
    await secret.report({ status: "down" });
    await publisher.send();
    const [{ id }] = (await publisher.api("GET", "/api/v1/incidents")).json.data;
    await publisher.api("PATCH", `/api/v1/incidents/${id}`, { body: { public: false } });
    await shop.report({ status: "down" });
    for (const one of [shop, secret]) await publisher.api("DELETE", `/api/v1/monitors/${one.id}`);
    await publisher.send();
    expect(hook.received().map(({ type }) => type)).toEqual(["incident.opened"]);
  });

  test("of nothing if no page shows its monitor", async () => {
    await using publisher = await createPublisher();
    const shop = await publisher.createJob({ name: "Hidden", autoIncidentSeverity: "major" });
    await shop.report();
    await publisher.mailbox();
    await shop.report({ status: "down" });
    await publisher.send();
    expect(publisher.mails).toEqual([]);
  });

  test("without private ids and fields", async () => {
    await using publisher = await createPublisher({ timeZone: "Europe/Berlin" });
    await using hook = await publisher.addHook();
    const incident = await publisher.createIncident({ severity: "major", message: "We look." });
    await publisher.send();
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
    await using publisher = await createPublisher({ timeZone: "Europe/Berlin" });
    await publisher.mailbox();
    await publisher.createIncident();
    await publisher.send();
    expect(publisher.mails[0]?.text).toContain("Time: 20 November 2026 at 11:00 (Europe/Berlin)");
  });
});

describe.concurrent("subscribers of planned work are notified", () => {
  test("once, when it is scheduled", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await using hook = await publisher.addHook();
    const window = await publisher.planWindow({ title: "New disks", description: "Short gaps." });
    await publisher.send();
    await publisher.api("PATCH", `/api/v1/maintenance-windows/${window.id}`, {
      body: { title: "Newer disks" },
    });
    await publisher.sendAfter(3 * 86_400);
    expect(publisher.listSubjects()).toEqual(["Scheduled maintenance: New disks – Acme status"]);
    expect(publisher.mails[0]?.text).toContain(
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
    await using publisher = await createPublisher();
    await using hook = await publisher.addHook();
    const first = { startsAt: "2026-11-15T02:00:00.000Z", endsAt: "2026-11-15T04:00:00.000Z" };
    await publisher.planWindow({ rrule: "FREQ=WEEKLY", ...first });
    await publisher.send();
    expect(hook.received()[0]?.data.maintenance.startsAt).toBe("2026-11-22T02:00:00.000Z");
    expect(hook.asked).toHaveLength(1);
  });

  test("of nothing if it is private, over, or deleted", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.planWindow({ public: false });
    await publisher.planWindow({
      startsAt: "2026-11-19T02:00:00.000Z",
      endsAt: "2026-11-19T04:00:00.000Z",
    });
    const { id } = await publisher.planWindow();
    await publisher.api("DELETE", `/api/v1/maintenance-windows/${id}`);
    await publisher.send();
    expect(publisher.mails).toEqual([]);
  });

  test("if it concerns their page", async () => {
    await using publisher = await createPublisher();
    const { id: shop } = await publisher.monitor({ name: "Shop" });
    const { id: mail } = await publisher.monitor({ name: "Mail" });
    const { id: groupId } = await publisher.group({ monitorIds: [mail] });
    const page = await publisher.createPage({ sections: [buildSection("Shop", shop)] });
    await publisher.mailbox(bob, `/api/v1/status-pages/${page.id}/subscribers`);
    await publisher.planWindow({ title: "Mail", monitorIds: [mail] });
    await publisher.planWindow({ title: "Group", groupIds: [groupId] });
    await publisher.planWindow({ title: "Shop", monitorIds: [mail, shop] });
    await publisher.planWindow({ title: "Everything" });
    await publisher.send();
    expect(publisher.listSubjects()).toEqual([
      "Scheduled maintenance: Shop – Payments",
      "Scheduled maintenance: Everything – Payments",
    ]);
  });
});

describe.concurrent("a page that is hidden", () => {
  test("notifies no one, neither then nor when it is public again", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await using hook = await publisher.addHook();
    const other = await publisher.createPage();
    await publisher.mailbox(bob, `/api/v1/status-pages/${other.id}/subscribers`);
    await publisher.publish({ visibility: "hidden" });
    const { id } = await publisher.createIncident();
    await publisher.planWindow();
    await publisher.sendAfter(60);
    await publisher.publish({ visibility: "public" });
    await publisher.sendAfter(60);
    expect(hook.asked).toEqual([]);
    expect(publisher.listRecipients()).toEqual([bob, bob]);
    await publisher.postUpdate(id, { message: "We are back." });
    await publisher.send();
    expect(hook.listMessages()).toEqual(["We are back."]);
    expect(publisher.listRecipients().slice(2).sort()).toEqual([ann, bob]);
  });

  test("does not send notices that were waiting when it was hidden", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    publisher.refusals.set(ann, 450);
    await publisher.createIncident();
    await publisher.send();
    await publisher.publish({ visibility: "hidden" });
    publisher.refusals.clear();
    await publisher.sendAfter(60);
    await publisher.publish({ visibility: "public" });
    await publisher.sendAfter(3_600);
    expect(publisher.mails).toEqual([]);
  });
});

test.concurrent("subscribers of a page with a password are notified without it", async () => {
  await using publisher = await createPublisher({
    visibility: "password",
    password: "open sesame",
  });
  await publisher.mailbox();
  await using hook = await publisher.addHook();
  await publisher.createIncident();
  await publisher.send();
  expect(publisher.mails).toHaveLength(1);
  expect(hook.asked).toHaveLength(1);
  expect(JSON.stringify([publisher.mails, hook.asked])).not.toContain("sesame");
});

test.concurrent(
  "a notice has the values from when it happened, even if it arrives later",
  async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    publisher.refusals.set(ann, 450);
    const { id } = await publisher.createIncident({ title: "Slow", message: "We look." });
    await publisher.send();
    await publisher.postUpdate(id, { title: "Slower", status: "resolved" });
    publisher.refusals.clear();
    await publisher.sendAfter(60);
    await publisher.sendAfter(60);
    expect(publisher.listSubjects()).toEqual([
      "Investigating: Slow – Acme status",
      "Resolved: Slower – Acme status",
    ]);
    expect(publisher.mails[0]?.text).toContain("We look.");
  },
);
