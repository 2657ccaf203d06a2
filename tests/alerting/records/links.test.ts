/** Links in messages that acknowledge an alert without signing in: the page, and attacks on it. */
import { describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { buildAcknowledgeUrl, parseToken } from "../../../src/alerting/records/links.ts";
import type { LinkTarget } from "../../../src/alerting/records/rules.ts";
import { createAlertEngine } from "../../../src/alerting/deciding/engine.ts";
import { createSubscriberReceivers } from "../../../src/status-pages/subscribers/receivers.ts";
import { createPublicHandler } from "../../../src/server.ts";
import { unknownId } from "../../support/appliance.ts";
import type { Json } from "../../support/json.ts";
import { createPager } from "../../support/pager.ts";
import { createPerson, signInMember } from "../../support/people.ts";
import { createPublicLinks } from "../../support/public-links.ts";

const origin = "http://signalbox.lan:3210";

/** A monitor that is down, and the path of the link that its channel got. */
async function createWorld() {
  const pager = await createPager();
  const hook = await pager.inbox({ name: "Team hook" });
  const job = await pager.createWatchedJob([hook], {
    name: "A & <b>",
    degradedAfterMs: 100,
  });
  await job.changeState("down");
  await pager.later();
  const [{ id }] = (await pager.readAlerts()) as [Json];
  const [received] = hook.alerts();
  const path = String(received?.data.acknowledgeUrl).replace(origin, "");
  const token = path.replace("/a/", "");
  const get = (to = path) => pager.stranger("GET", to);
  const post = (to = path) => pager.stranger("POST", to);
  const readAlert = () => pager.readAlert(id);
  const { target } = parseToken(token) as { target: LinkTarget };
  return {
    ...pager,
    hook,
    job,
    id: id as string,
    path,
    token,
    target,
    get,
    post,
    readOne: readAlert,
  };
}

const invalidTitle = '<h1 dir="auto">This link is no longer valid</h1>';

async function expectInvalid(
  response: Promise<{ status: number; text: string; headers: Headers }>,
) {
  const { status, text, headers } = await response;
  expect([status, text.includes(invalidTitle)]).toEqual([404, true]);
  expect(text).not.toContain("<button>");
  expect(text).not.toContain("A &amp;");
  expect(headers.get("Cache-Control")).toBe("no-store");
  return text;
}

describe("the link in a message", () => {
  test("shows the alert, and acknowledges it with POST as the channel", async () => {
    const world = await createWorld();
    await using _ = world.hook;
    const { get, post, readOne } = world;
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.text).toContain("A &amp; &lt;b&gt; is down</h1>");
    expect(response.text).toContain("Nobody has acknowledged it.");
    expect(response.text).toContain(
      "<button>Acknowledge</button><p>You acknowledge as Team hook.</p>",
    );
    expect(response.text).not.toContain("<script");
    const done = await post();
    expect(done.status).toBe(200);
    expect(done.text).toContain("Acknowledged by Team hook.");
    expect(done.text).not.toContain("<button>");
    expect((await get()).text).toContain("Acknowledged by Team hook.");
    const alert = await readOne();
    expect(alert.status).toBe("acknowledged");
    expect(alert.acknowledgments).toMatchObject([
      { type: "link", id: world.hook.id, name: "Team hook" },
    ]);
    const { page } = await signInMember(world, "owner");
    const [entry] = (await page("GET", "/dashboard/audit-log?noun=alert")).json.data;
    expect(entry).toMatchObject({
      action: "alert.acknowledged",
      actor: { type: "link", id: world.hook.id, name: "Team hook" },
    });
  });

  test("sends headers against caches, search engines, referrers and scripts", async () => {
    const { hook, get } = await createWorld();
    await using _ = hook;
    const { headers } = await get();
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(headers.get("X-Robots-Tag")).toBe("noindex, nofollow");
    expect(headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Content-Security-Policy")).toStartWith("default-src 'none'");
    expect(headers.get("Set-Cookie")).toBeNull();
  });

  test("acknowledges nothing when scanners read it, and only POST and OPTIONS exist besides", async () => {
    const { hook, path, stranger, readOne } = await createWorld();
    await using _ = hook;
    for (const method of ["GET", "HEAD", "OPTIONS"]) {
      expect((await stranger(method, path)).status).toBeLessThan(300);
      await stranger(method, `${path}?utm_source=mail`);
      await stranger(method, `${path}/`);
    }
    for (const method of ["PUT", "PATCH", "DELETE"])
      expect((await stranger(method, path)).status).toBe(405);
    expect((await readOne()).status).toBe("open");
  });

  test("can be used again and at the same time without a further effect", async () => {
    const { hook, post, readOne } = await createWorld();
    await using _ = hook;
    const responses = await Promise.all(Array.from({ length: 8 }, () => post()));
    expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200));
    await post();
    const alert = await readOne();
    expect(alert.acknowledgments).toHaveLength(1);
    expect(alert.timeline.filter(({ type }: Json) => type === "acknowledged")).toHaveLength(1);
  });

  test("ends a snooze, and names those who acknowledged before", async () => {
    const { hook, api, id, time, get, post, readOne } = await createWorld();
    await using _ = hook;
    await api("POST", `/api/v1/alerts/${id}/acknowledge`);
    const [{ name }] = (await readOne()).acknowledgments;
    expect((await get()).text).toContain(`Acknowledged by ${name}.`);
    time.now += 1_000;
    await post();
    const until = new Date(time.now + 3_600_000).toISOString();
    await api("POST", `/api/v1/alerts/${id}/snooze`, { body: { until } });
    const snoozed = (await get()).text;
    expect(snoozed).toContain("Snoozed until ");
    expect(snoozed).toContain("<button>");
    expect((await post()).text).toContain(`Acknowledged by ${name}, Team hook.`);
    expect((await readOne()).snoozedUntil).toBe(null);
  });
});

test("the link of a contact method acknowledges as its person, until the method is deleted", async () => {
  const world = await createWorld();
  const { appliance, hook, api, ours, database, target, store, get, post, readOne } = world;
  await using _ = hook;
  const ada = await createPerson(world, ours.id, "member", { name: "Ada" });
  const body = { type: "ntfy", name: "Phone", personId: ada.id, topic: "ada-4f2c9e" };
  const method = (await api("POST", "/api/v1/contact-methods", { body })).json.data;
  database.run("UPDATE alert_channels SET verified_at = updated_at WHERE person_id IS NOT NULL");
  const [{ key }] = (await store.query("select link_key as key from alert_records where id = ?", [
    target.recordId,
  ])) as [{ key: string }];
  const path = String(
    buildAcknowledgeUrl(appliance.vault, "", { ...target, channelId: method.id }, key),
  );
  expect((await get(path)).text).toContain("You acknowledge as Ada.");
  await post(path);
  expect((await readOne()).acknowledgments).toMatchObject([{ type: "link", name: "Ada" }]);
  const { status } = await api("DELETE", `/api/v1/contact-methods/${method.id}`);
  expect(status).toBe(200);
  await expectInvalid(get(path));
});

describe("a link is no longer valid", () => {
  test("after the alert has ended", async () => {
    const { hook, job, later, get, post, readOne } = await createWorld();
    await using _ = hook;
    await job.changeState("up");
    await later();
    await expectInvalid(get());
    await expectInvalid(post());
    expect((await readOne()).acknowledgments).toEqual([]);
  });

  test("after its channel was deleted", async () => {
    const { hook, api, get, post } = await createWorld();
    await using _ = hook;
    await api("DELETE", `/api/v1/alert-channels/${hook.id}`);
    await expectInvalid(get());
    await expectInvalid(post());
  });

  test("after the links were revoked; later messages have new ones", async () => {
    const { hook, api, ours, id, job, later, get, post, path, readOne } = await createWorld();
    await using _ = hook;
    const revoke = `/api/v1/alerts/${id}/revoke-links`;
    expect((await ours.reader("POST", revoke)).status).toBe(403);
    expect((await get()).status).toBe(200);
    expect((await api("POST", revoke)).status).toBe(200);
    await expectInvalid(get());
    await expectInvalid(post());
    const alert = await readOne();
    expect(alert.status).toBe("open");
    expect(alert.timeline).toContainEqual(
      expect.objectContaining({ type: "links-revoked", message: null }),
    );
    await job.changeState("slow");
    await later();
    const renewed = String(hook.alerts().at(-1)?.data.acknowledgeUrl).replace(origin, "");
    expect(renewed).not.toBe(path);
    expect((await get(renewed)).status).toBe(200);
    await job.changeState("up");
    await later();
    expect((await api("POST", revoke)).status).toBe(409);
  });

  test("if it is malformed, truncated or forged, with the same page", async () => {
    const { hook, token, get, post, readOne } = await createWorld();
    await using _ = hook;
    const texts = new Set<string>();
    const flip = (at: number) =>
      `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
    const forged = [
      token.slice(0, -1),
      `${token}A`,
      token.slice(0, 40),
      "x",
      "A".repeat(token.length),
      ...[0, 20, 30, 50, 70, token.length - 2].map(flip),
      // A sibling of the last character encodes the same bytes.
      ...["A", "B", "C", "D"].map((last) => `${token.slice(0, -1)}${last}`),
      "%00",
      "..%2F..",
      token.toLowerCase(),
    ].filter((one) => one !== token);
    for (const one of forged) {
      texts.add(await expectInvalid(get(`/a/${one}`)));
      texts.add(await expectInvalid(post(`/a/${one}`)));
    }
    expect(texts.size).toBe(1);
    expect((await readOne()).status).toBe("open");
  });

  test("if the signature is of another alert, channel or organization, or of another key", async () => {
    const { appliance, hook, target, store, theirs, get, post, readOne, channel } =
      await createWorld();
    await using _ = hook;
    const [{ key }] = (await store.query("select link_key as key from alert_records where id = ?", [
      target.recordId,
    ])) as [{ key: string }];
    const sign = (changes: Partial<LinkTarget>, linkKey = key) =>
      String(buildAcknowledgeUrl(appliance.vault, "", { ...target, ...changes }, linkKey));
    expect((await get(sign({}))).status).toBe(200);
    const other = await channel({ type: "webhook", url: "http://127.0.0.1:9/hook" });
    const buildSignature = (path: string) => Buffer.from(path.slice(3), "base64url").subarray(48);
    const swap = (path: string, from: string) => {
      const ids = Buffer.from(path.slice(3), "base64url").subarray(0, 48);
      return `/a/${Buffer.concat([ids, buildSignature(from)]).toString("base64url")}`;
    };
    const foreign = [
      sign({}, "another key"),
      sign({ recordId: unknownId }),
      sign({ channelId: unknownId }),
      sign({ organizationId: theirs.id }),
      // The ids of one link with the signature of another one.
      swap(sign({ channelId: other.id }), sign({})),
      swap(sign({}), sign({ channelId: other.id })),
    ];
    for (const one of foreign) {
      await expectInvalid(get(one));
      await expectInvalid(post(one));
    }
    expect((await readOne()).status).toBe("open");
  });

  test("and too many of them from one network are rejected, while valid links still work", async () => {
    const { hook, get, path } = await createWorld();
    await using _ = hook;
    const statuses = [];
    for (let i = 0; i < 61; i++) statuses.push((await get("/a/forged")).status);
    expect(statuses.slice(-2)).toEqual([404, 429]);
    expect((await get(path)).status).toBe(200);
  });

  test("and one link is limited to 60 requests per minute", async () => {
    const { hook, get, time } = await createWorld();
    await using _ = hook;
    const statuses = [];
    for (let i = 0; i < 61; i++) statuses.push((await get()).status);
    expect(statuses.slice(-2)).toEqual([200, 429]);
    time.now += 60_000;
    expect((await get()).status).toBe(200);
  });
});

describe("messages", () => {
  test("have one link per alert and channel, also in a digest; recoveries and tests have none", async () => {
    const pager = await createPager();
    await using first = await pager.inbox({ name: "First" });
    await using second = await pager.inbox({ name: "Second" });
    const jobs = [];
    for (const name of ["A", "B"])
      jobs.push(await pager.createWatchedJob([first, second], { name }));
    for (const job of jobs) await job.changeState("down");
    await pager.later();
    expect(first.received().map(({ type }) => type)).toEqual(["digest"]);
    const urls = [...first.alerts(), ...second.alerts()].map(({ data }) => data.acknowledgeUrl);
    expect(new Set(urls).size).toBe(4);
    const path = String(urls[3]).replace(origin, "");
    expect((await pager.stranger("POST", path)).text).toContain("Acknowledged by Second.");
    const states = (await pager.readAlerts()).map(({ title, status }: Json) => [title, status]);
    expect(states).toEqual([
      ["A is down", "open"],
      ["B is down", "acknowledged"],
    ]);
    const before = first.alerts().length;
    for (const job of jobs) await job.changeState("up");
    await pager.later();
    await pager.api("POST", `/api/v1/alert-channels/${first.id}/test`);
    const later = first.alerts().slice(before);
    expect(later.map(({ type }) => type)).toEqual(["monitor.up", "monitor.up", "test"]);
    expect(later.filter(({ data }) => "acknowledgeUrl" in data)).toEqual([]);
  });
});

describe("on the port of public pages, a link", () => {
  async function createPublicWorld() {
    const world = await createWorld();
    const handle = createPublicHandler(
      world.appliance.log,
      () => null,
      new Elysia(),
      createPublicLinks(world.appliance),
    );
    const request = async (method: string, path: string) => {
      const response = await handle(new Request(`${origin}${path}`, { method }));
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    return { ...world, request };
  }

  test("shows and acknowledges its alert, without links to pages that are not there", async () => {
    const { hook, path, request, readOne } = await createPublicWorld();
    await using _ = hook;
    const { status, text } = await request("GET", path);
    expect([status, text.includes("is down</h1>"), text.includes("<a ")]).toEqual([
      200,
      true,
      false,
    ]);
    expect((await request("HEAD", path)).status).toBe(200);
    expect((await readOne()).status).toBe("open");
    expect((await request("POST", path)).text).toContain("Acknowledged by Team hook.");
    expect((await readOne()).status).toBe("acknowledged");
  });

  test("has no other power, and other paths don't exist", async () => {
    const { hook, id, path, token, request, readOne } = await createPublicWorld();
    await using _ = hook;
    for (const method of ["PUT", "PATCH", "DELETE"])
      expect((await request(method, path)).status).toBe(404);
    const others = ["/", "/a/", "/api/v1/alerts", `/api/v1/alerts/${id}`, "/healthz", "/monitors"];
    for (const other of [...others, `${path}/x`, `/a/../api/v1/alerts/${id}`, `/a/%00`])
      for (const method of ["GET", "POST"])
        expect([other, (await request(method, other)).status]).toEqual([other, 404]);
    const forged = `/a/${token.slice(0, -4)}AAAA`;
    await expectInvalid(request("POST", forged));
    expect((await readOne()).status).toBe("open");
  });

  test("is limited per network, and per link", async () => {
    const { hook, path, request, readOne } = await createPublicWorld();
    await using _ = hook;
    const statuses = new Set<number>();
    for (let i = 0; i < 61; i++) statuses.add((await request("POST", "/a/x")).status);
    expect([...statuses]).toEqual([404, 429]);
    for (let i = 0; i < 61; i++) statuses.add((await request("GET", path)).status);
    expect([...statuses]).toEqual([404, 429, 200]);
    expect((await request("POST", path)).status).toBe(429);
    expect((await readOne()).status).toBe("open");
  });
});

test("links start with the address of the public port, if it is set; others don't", async () => {
  const { appliance, hook, job, time } = await createWorld();
  await using _ = hook;
  const alerts = createAlertEngine({
    ...appliance,
    linkOrigin: () => "https://status.team.example",
    subscribers: createSubscriberReceivers(appliance),
  });
  await job.changeState("slow");
  await alerts.runOnce();
  time.now += 10_000;
  await alerts.runOnce();
  const data = hook.alerts().at(-1)?.data;
  expect(data?.acknowledgeUrl).toStartWith("https://status.team.example/a/");
  expect(data?.url).toStartWith(`${origin}/monitors/`);
});
