import { describe, expect, test } from "bun:test";
import type { TestResponse } from "../../support/appliance.ts";
import { signingCanary as secret } from "../../support/samples.ts";
import { ann, followMailLink, findLink, createPublisher } from "../../support/publisher.ts";

const webhook = { type: "webhook", url: "https://hooks.team.example/status" };

describe.concurrent("a subscriber that the API adds", () => {
  test("has to confirm first if it is a mailbox", async () => {
    await using publisher = await createPublisher();
    const { api, path } = publisher;
    const { status, headers, json } = await api("POST", path, {
      body: { type: "email", email: ann },
    });
    expect(status).toBe(201);
    expect(json.data).toEqual({
      incidents: true,
      minimumSeverity: "minor",
      maintenance: true,
      components: null,
      frequency: "immediately",
      id: json.data.id,
      type: "email",
      email: ann,
      url: null,
      status: "pending",
      secretsSet: [],
      confirmedAt: null,
      language: null,
      lastDeliveryAt: null,
      lastError: null,
      createdAt: "2026-11-20T10:00:00.000Z",
    });
    expect(headers.get("location")).toBe(`${path}/${json.data.id}`);
    await publisher.createIncident();
    await publisher.send();
    expect(publisher.listSubjects()).toEqual(["Confirm updates from Acme status"]);
    publisher.time.now += 1_000;
    await followMailLink(
      publisher,
      findLink(publisher.mails[0] ?? { text: "" }, "confirm"),
      "POST",
    );
    expect(await publisher.subscriber(json.data)).toMatchObject({
      status: "confirmed",
      confirmedAt: "2026-11-20T10:00:01.000Z",
      lastDeliveryAt: "2026-11-20T10:00:00.000Z",
    });
  });

  test("is notified at once if its owner has already agreed", async () => {
    await using publisher = await createPublisher();
    expect(await publisher.mailbox()).toMatchObject({
      status: "confirmed",
      confirmedAt: "2026-11-20T10:00:00.000Z",
    });
    await publisher.createIncident();
    await publisher.send();
    expect(publisher.listSubjects()).toEqual(["Investigating: Slow answers – Acme status"]);
  });

  test("is notified at once if it is a webhook, whose secret is never shown", async () => {
    await using publisher = await createPublisher();
    const { id } = await publisher.added({ ...webhook, secret });
    const expected = {
      id,
      type: "webhook",
      email: null,
      url: webhook.url,
      status: "confirmed",
      secretsSet: ["secret"],
    };
    expect(await publisher.subscriber({ id })).toMatchObject(expected);
    expect(await publisher.subscribers()).toMatchObject([expected]);
    expect(JSON.stringify(await publisher.subscribers())).not.toContain("sesame");
  });

  test("accepts a GET response", async () => {
    await using publisher = await createPublisher();
    const { email: _, ...one } = await publisher.added(webhook);
    const other = { ...one, url: "https://hooks.team.example/other" };
    expect(await publisher.added(other)).toMatchObject({ url: other.url, status: "confirmed" });
  });

  test("is added once by two requests with the same Idempotency-Key", async () => {
    await using publisher = await createPublisher();
    const headers = { "Idempotency-Key": "one" };
    const body = { ...webhook, secret };
    const [first, second] = [
      await publisher.api("POST", publisher.path, { body, headers }),
      await publisher.api("POST", publisher.path, { body, headers }),
    ];
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(await publisher.subscribers()).toHaveLength(1);
  });
});

describe.concurrent("the list of subscribers", () => {
  /** Three mailboxes, the last of them not confirmed, and two webhooks. */
  async function setUpFive() {
    const publisher = await createPublisher();
    await publisher.mailbox("ann_lee@team.example");
    await publisher.mailbox("ann.lee@team.example");
    for (const body of [
      webhook,
      { type: "webhook", url: "https://bot.example/?page=100%25" },
      { type: "email", email: "Zoe@Team.example" },
    ]) {
      await publisher.added(body);
      publisher.time.now += 1;
    }
    return publisher;
  }
  const buildAddresses = ({ json }: TestResponse): string[] =>
    json.data.map(({ email, url }: { email: string | null; url: string | null }) => email ?? url);

  test("has the newest first, and their total", async () => {
    await using world = await setUpFive();
    const all = await world.api("GET", world.path);
    expect(buildAddresses(all)).toEqual([
      "Zoe@Team.example",
      "https://bot.example/?page=100%25",
      webhook.url,
      "ann.lee@team.example",
      "ann_lee@team.example",
    ]);
    expect(all.json.meta).toEqual({ page: 1, per_page: 20, total: 5 });
    const second = await world.api("GET", `${world.path}?page=2&per_page=2`);
    expect(buildAddresses(second)).toEqual([webhook.url, "ann.lee@team.example"]);
    expect(second.json.meta).toEqual({ page: 2, per_page: 2, total: 5 });
    const past = await world.api("GET", `${world.path}?page=9&per_page=500`);
    expect(past.json).toEqual({ data: [], meta: { page: 9, per_page: 100, total: 5 } });
  });

  test("can be filtered by several values at once", async () => {
    await using world = await setUpFive();
    for (const [query, expected] of [
      ["type=email", 3],
      ["type=webhook", 2],
      ["status=pending", 1],
      ["status=confirmed", 4],
      ["type=webhook&status=pending", 0],
      ["q=TEAM.example", 4],
      ["q=n_l", 1],
      ["q=%25", 1],
      ["q=%5C", 0],
      ["q='", 0],
      ["type=email&status=confirmed&q=ann", 2],
    ] as const) {
      const { json } = await world.api("GET", `${world.path}?${query}`);
      expect([query, json.data.length, json.meta.total]).toEqual([query, expected, expected]);
    }
  });

  test("accepts no other query", async () => {
    await using publisher = await createPublisher();
    for (const query of [
      "type=sms",
      "status=gone",
      "page=0",
      "per_page=-1",
      "page=1e1",
      "email=x",
      `q=${"x".repeat(201)}`,
    ])
      expect([query, (await publisher.api("GET", `${publisher.path}?${query}`)).status]).toEqual([
        query,
        422,
      ]);
    expect((await publisher.api("GET", `${publisher.path}-export?type=email`)).status).toBe(422);
  });

  test("is exported in full, oldest first, with a read key", async () => {
    await using world = await setUpFive();
    const many = Array.from({ length: 120 }, (_, index) => `n${index}@team.example`);
    for (const email of many) await world.mailbox(email);
    const exported = await world.ours.reader("GET", `${world.path}-export`);
    expect(buildAddresses(exported).slice(0, 2)).toEqual([
      "ann_lee@team.example",
      "ann.lee@team.example",
    ]);
    expect(buildAddresses(exported)).toHaveLength(125);
    expect(Object.keys(exported.json)).toEqual(["data"]);
    const [first] = exported.json.data;
    expect(await world.subscriber(first)).toEqual(first);
    const { json } = await world.api("GET", `${world.path}?per_page=100&page=2`);
    expect(exported.json.data.slice(0, 25).toReversed()).toEqual(json.data);
  });

  test("is empty for a page without subscribers", async () => {
    await using publisher = await createPublisher();
    expect((await publisher.api("GET", publisher.path)).json.meta.total).toBe(0);
    expect((await publisher.api("GET", `${publisher.path}-export`)).json).toEqual({ data: [] });
  });
});

describe.concurrent("a subscriber that is deleted", () => {
  test("is removed, gets no waiting notices, and can subscribe again", async () => {
    await using publisher = await createPublisher();
    const one = await publisher.mailbox();
    publisher.refusals.set(ann, 450);
    await publisher.createIncident();
    await publisher.send();
    const { status, json } = await publisher.api("DELETE", `${publisher.path}/${one.id}`);
    expect([status, json]).toEqual([200, { data: { deleted: true } }]);
    publisher.refusals.clear();
    await publisher.sendAfter(60);
    expect(publisher.mails).toEqual([]);
    for (const method of ["GET", "DELETE"])
      expect((await publisher.api(method, `${publisher.path}/${one.id}`)).status).toBe(404);
    await publisher.mailbox();
    await publisher.createIncident({ title: "Later" });
    await publisher.send();
    expect(publisher.listSubjects()).toEqual(["Investigating: Later – Acme status"]);
  });

  test("leaves no waiting notices in the outbox", async () => {
    await using publisher = await createPublisher();
    const one = await publisher.mailbox();
    publisher.refusals.set(ann, 450);
    await publisher.createIncident();
    await publisher.send();
    await publisher.api("DELETE", `${publisher.path}/${one.id}`);
    await publisher.sendAfter(60);
    const waiting = "select count(*) from deliveries where due_at is not null";
    expect(publisher.database.query(waiting).values()).toEqual([[0]]);
  });

  test("is deleted with its page, and so are its waiting notices", async () => {
    await using publisher = await createPublisher();
    const { id } = await publisher.createPage();
    const path = `/api/v1/status-pages/${id}/subscribers`;
    await publisher.mailbox(ann, path);
    publisher.refusals.set(ann, 450);
    await publisher.createIncident();
    await publisher.send();
    expect((await publisher.api("DELETE", `/api/v1/status-pages/${id}`)).status).toBe(200);
    publisher.refusals.clear();
    await publisher.sendAfter(60);
    await publisher.sendAfter(3_600);
    expect(publisher.mails).toEqual([]);
    for (const table of ["subscribers", "notices"])
      expect(publisher.database.query(`select * from ${table}`).values()).toEqual([]);
    expect((await publisher.api("GET", path)).status).toBe(404);
  });

  test("can't be deleted with a read key, or by strangers", async () => {
    await using publisher = await createPublisher();
    const one = await publisher.mailbox();
    expect((await publisher.ours.reader("DELETE", `${publisher.path}/${one.id}`)).status).toBe(403);
    expect((await publisher.stranger("DELETE", `${publisher.path}/${one.id}`)).status).toBe(401);
    expect(await publisher.subscribers()).toHaveLength(1);
  });
});

describe.concurrent("an unchanged response", () => {
  test("is not sent again until it changes", async () => {
    await using publisher = await createPublisher();
    const one = await publisher.mailbox();
    for (const path of [publisher.path, `${publisher.path}/${one.id}`]) {
      const { headers } = await publisher.api("GET", path);
      const known = { headers: { "If-None-Match": headers.get("etag") ?? "" } };
      expect((await publisher.api("GET", path, known)).status).toBe(304);
    }
    const before =
      (await publisher.api("GET", `${publisher.path}/${one.id}`)).headers.get("etag") ?? "";
    await publisher.createIncident();
    await publisher.send();
    const headers = { "If-None-Match": before };
    const after = await publisher.api("GET", `${publisher.path}/${one.id}`, { headers });
    expect([after.status, after.json?.data.lastDeliveryAt !== null]).toEqual([200, true]);
  });
});

test("every write is in the audit log and the events, without the address", async () => {
  await using publisher = await createPublisher();
  const one = await publisher.added({ type: "email", email: ann });
  await publisher.send();
  await followMailLink(publisher, findLink(publisher.mails[0] ?? { text: "" }, "confirm"), "POST");
  await publisher.api("DELETE", `${publisher.path}/${one.id}`);
  const readColumn = (table: string, column: string) =>
    publisher.database
      .query(`select ${column} from ${table} where ${column} like 'subscriber.%' order by rowid`)
      .values()
      .flat();
  const expected = ["subscriber.invited", "subscriber.confirmed", "subscriber.deleted"];
  expect(readColumn("audit_entries", "action")).toEqual(expected);
  expect(readColumn("events", "type")).toEqual(expected);
  for (const table of ["audit_entries", "events"])
    expect(
      JSON.stringify(publisher.database.query(`select * from ${table}`).values()),
    ).not.toContain(ann);
});
