import { describe, expect, test } from "bun:test";
import type { Answer } from "../../support/appliance.ts";
import { signingCanary as secret } from "../../support/samples.ts";
import { ann, followMailLink, findLink, createPublisher } from "../../support/publisher.ts";

const webhook = { type: "webhook", url: "https://hooks.team.example/status" };

describe.concurrent("a subscriber that the API adds", () => {
  test("has to confirm first if it is a mailbox", async () => {
    await using made = await createPublisher();
    const { api, path } = made;
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
    await made.createIncident();
    await made.send();
    expect(made.listSubjects()).toEqual(["Confirm updates from Acme status"]);
    made.time.now += 1_000;
    await followMailLink(made, findLink(made.mails[0] ?? { text: "" }, "confirm"), "POST");
    expect(await made.subscriber(json.data)).toMatchObject({
      status: "confirmed",
      confirmedAt: "2026-11-20T10:00:01.000Z",
      lastDeliveryAt: "2026-11-20T10:00:00.000Z",
    });
  });

  test("is notified at once if its owner has already agreed", async () => {
    await using made = await createPublisher();
    expect(await made.mailbox()).toMatchObject({
      status: "confirmed",
      confirmedAt: "2026-11-20T10:00:00.000Z",
    });
    await made.createIncident();
    await made.send();
    expect(made.listSubjects()).toEqual(["Investigating: Slow answers – Acme status"]);
  });

  test("is notified at once if it is a webhook, whose secret is never shown", async () => {
    await using made = await createPublisher();
    const { id } = await made.added({ ...webhook, secret });
    const expected = {
      id,
      type: "webhook",
      email: null,
      url: webhook.url,
      status: "confirmed",
      secretsSet: ["secret"],
    };
    expect(await made.subscriber({ id })).toMatchObject(expected);
    expect(await made.subscribers()).toMatchObject([expected]);
    expect(JSON.stringify(await made.subscribers())).not.toContain("sesame");
  });

  test("accepts a GET response", async () => {
    await using made = await createPublisher();
    const { email: _, ...one } = await made.added(webhook);
    const other = { ...one, url: "https://hooks.team.example/other" };
    expect(await made.added(other)).toMatchObject({ url: other.url, status: "confirmed" });
  });

  test("is added once by two requests with the same Idempotency-Key", async () => {
    await using made = await createPublisher();
    const headers = { "Idempotency-Key": "one" };
    const body = { ...webhook, secret };
    const [first, second] = [
      await made.api("POST", made.path, { body, headers }),
      await made.api("POST", made.path, { body, headers }),
    ];
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(await made.subscribers()).toHaveLength(1);
  });
});

describe.concurrent("the list of subscribers", () => {
  /** Three mailboxes, the last of them not confirmed, and two webhooks. */
  async function five() {
    const made = await createPublisher();
    await made.mailbox("ann_lee@team.example");
    await made.mailbox("ann.lee@team.example");
    for (const body of [
      webhook,
      { type: "webhook", url: "https://bot.example/?page=100%25" },
      { type: "email", email: "Zoe@Team.example" },
    ]) {
      await made.added(body);
      made.time.now += 1;
    }
    return made;
  }
  const addresses = ({ json }: Answer): string[] =>
    json.data.map(({ email, url }: { email: string | null; url: string | null }) => email ?? url);

  test("has the newest first, and their total", async () => {
    await using made = await five();
    const all = await made.api("GET", made.path);
    expect(addresses(all)).toEqual([
      "Zoe@Team.example",
      "https://bot.example/?page=100%25",
      webhook.url,
      "ann.lee@team.example",
      "ann_lee@team.example",
    ]);
    expect(all.json.meta).toEqual({ page: 1, per_page: 20, total: 5 });
    const second = await made.api("GET", `${made.path}?page=2&per_page=2`);
    expect(addresses(second)).toEqual([webhook.url, "ann.lee@team.example"]);
    expect(second.json.meta).toEqual({ page: 2, per_page: 2, total: 5 });
    const past = await made.api("GET", `${made.path}?page=9&per_page=500`);
    expect(past.json).toEqual({ data: [], meta: { page: 9, per_page: 100, total: 5 } });
  });

  test("can be filtered by several values at once", async () => {
    await using made = await five();
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
      const { json } = await made.api("GET", `${made.path}?${query}`);
      expect([query, json.data.length, json.meta.total]).toEqual([query, expected, expected]);
    }
  });

  test("accepts no other query", async () => {
    await using made = await createPublisher();
    for (const query of [
      "type=sms",
      "status=gone",
      "page=0",
      "per_page=-1",
      "page=1e1",
      "email=x",
      `q=${"x".repeat(201)}`,
    ])
      expect([query, (await made.api("GET", `${made.path}?${query}`)).status]).toEqual([
        query,
        422,
      ]);
    expect((await made.api("GET", `${made.path}-export?type=email`)).status).toBe(422);
  });

  test("is exported in full, oldest first, with a read key", async () => {
    await using made = await five();
    const many = Array.from({ length: 120 }, (_, index) => `n${index}@team.example`);
    for (const email of many) await made.mailbox(email);
    const exported = await made.ours.reader("GET", `${made.path}-export`);
    expect(addresses(exported).slice(0, 2)).toEqual([
      "ann_lee@team.example",
      "ann.lee@team.example",
    ]);
    expect(addresses(exported)).toHaveLength(125);
    expect(Object.keys(exported.json)).toEqual(["data"]);
    const [first] = exported.json.data;
    expect(await made.subscriber(first)).toEqual(first);
    const { json } = await made.api("GET", `${made.path}?per_page=100&page=2`);
    expect(exported.json.data.slice(0, 25).toReversed()).toEqual(json.data);
  });

  test("is empty for a page without subscribers", async () => {
    await using made = await createPublisher();
    expect((await made.api("GET", made.path)).json.meta.total).toBe(0);
    expect((await made.api("GET", `${made.path}-export`)).json).toEqual({ data: [] });
  });
});

describe.concurrent("a subscriber that is deleted", () => {
  test("is removed, gets no waiting notices, and can subscribe again", async () => {
    await using made = await createPublisher();
    const one = await made.mailbox();
    made.refusals.set(ann, 450);
    await made.createIncident();
    await made.send();
    const { status, json } = await made.api("DELETE", `${made.path}/${one.id}`);
    expect([status, json]).toEqual([200, { data: { deleted: true } }]);
    made.refusals.clear();
    await made.sendAfter(60);
    expect(made.mails).toEqual([]);
    for (const method of ["GET", "DELETE"])
      expect((await made.api(method, `${made.path}/${one.id}`)).status).toBe(404);
    await made.mailbox();
    await made.createIncident({ title: "Later" });
    await made.send();
    expect(made.listSubjects()).toEqual(["Investigating: Later – Acme status"]);
  });

  test("leaves no waiting notices in the outbox", async () => {
    await using made = await createPublisher();
    const one = await made.mailbox();
    made.refusals.set(ann, 450);
    await made.createIncident();
    await made.send();
    await made.api("DELETE", `${made.path}/${one.id}`);
    await made.sendAfter(60);
    const waiting = "select count(*) from deliveries where due_at is not null";
    expect(made.database.query(waiting).values()).toEqual([[0]]);
  });

  test("is deleted with its page, and so are its waiting notices", async () => {
    await using made = await createPublisher();
    const { id } = await made.createPage();
    const path = `/api/v1/status-pages/${id}/subscribers`;
    await made.mailbox(ann, path);
    made.refusals.set(ann, 450);
    await made.createIncident();
    await made.send();
    expect((await made.api("DELETE", `/api/v1/status-pages/${id}`)).status).toBe(200);
    made.refusals.clear();
    await made.sendAfter(60);
    await made.sendAfter(3_600);
    expect(made.mails).toEqual([]);
    for (const table of ["subscribers", "notices"])
      expect(made.database.query(`select * from ${table}`).values()).toEqual([]);
    expect((await made.api("GET", path)).status).toBe(404);
  });

  test("can't be deleted with a read key, or by strangers", async () => {
    await using made = await createPublisher();
    const one = await made.mailbox();
    expect((await made.ours.reader("DELETE", `${made.path}/${one.id}`)).status).toBe(403);
    expect((await made.stranger("DELETE", `${made.path}/${one.id}`)).status).toBe(401);
    expect(await made.subscribers()).toHaveLength(1);
  });
});

describe.concurrent("an unchanged response", () => {
  test("is not sent again until it changes", async () => {
    await using made = await createPublisher();
    const one = await made.mailbox();
    for (const path of [made.path, `${made.path}/${one.id}`]) {
      const { headers } = await made.api("GET", path);
      const known = { headers: { "If-None-Match": headers.get("etag") ?? "" } };
      expect((await made.api("GET", path, known)).status).toBe(304);
    }
    const before = (await made.api("GET", `${made.path}/${one.id}`)).headers.get("etag") ?? "";
    await made.createIncident();
    await made.send();
    const headers = { "If-None-Match": before };
    const after = await made.api("GET", `${made.path}/${one.id}`, { headers });
    expect([after.status, after.json?.data.lastDeliveryAt !== null]).toEqual([200, true]);
  });
});

test("every write is in the audit log and the events, without the address", async () => {
  await using made = await createPublisher();
  const one = await made.added({ type: "email", email: ann });
  await made.send();
  await followMailLink(made, findLink(made.mails[0] ?? { text: "" }, "confirm"), "POST");
  await made.api("DELETE", `${made.path}/${one.id}`);
  const of = (table: string, column: string) =>
    made.database
      .query(`select ${column} from ${table} where ${column} like 'subscriber.%' order by rowid`)
      .values()
      .flat();
  const expected = ["subscriber.invited", "subscriber.confirmed", "subscriber.deleted"];
  expect(of("audit_entries", "action")).toEqual(expected);
  expect(of("events", "type")).toEqual(expected);
  for (const table of ["audit_entries", "events"])
    expect(JSON.stringify(made.database.query(`select * from ${table}`).values())).not.toContain(
      ann,
    );
});
