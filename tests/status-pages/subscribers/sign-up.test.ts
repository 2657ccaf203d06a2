import { describe, expect, test } from "bun:test";
import { sweepSubscribers } from "../../../src/status-pages/subscribers/store.ts";
import { createSweeping } from "../../../src/database/backup/sweeping.ts";
import { defaultLimits } from "../../../src/core/limits.ts";
import {
  ann,
  bob,
  followMailLink,
  findLink,
  type Publisher,
  createPublisher,
} from "../../support/publisher.ts";

const day = 86_400;

test("forms of visitors arrive also in chunks, in which some proxies forward them", async () => {
  await using publisher = await createPublisher();
  const headers = { "Transfer-Encoding": "chunked" };
  const post = (path: string, form: Record<string, string>, host?: string) =>
    publisher.get(path, { method: "POST", form, headers, ...(host && { host }) });
  expect((await publisher.signUp(ann, { headers })).text).toContain("Check your inbox");
  await publisher.send();
  await followMailLink(publisher, findLink(publisher.mails[0] ?? { text: "" }, "confirm"), "POST");
  await publisher.createIncident();
  await publisher.send();
  const { host, pathname } = new URL(findLink(publisher.mails.at(-1) ?? { text: "" }, "manage"));
  expect((await post(pathname, { incidents: "on", from: "major" }, host)).status).toBe(200);
  expect((await publisher.subscribers())[0]).toMatchObject({ maintenance: false });
  const password = "correct horse battery";
  await publisher.publish({ visibility: "password", password });
  const opened = await post("/status/ours", { password });
  expect([opened.status, opened.headers.has("set-cookie")]).toEqual([303, true]);
});

describe.concurrent("a sign-up reveals nothing about the address", () => {
  test("unknown, pending, limited or subscribed: the response is the same", async () => {
    await using publisher = await createPublisher();
    const { signUp, time } = publisher;
    const first = await signUp(ann);
    const again = await signUp(ann);
    time.now += 61_000;
    await publisher.mailbox(bob);
    for (const seen of [again, await signUp(bob), await signUp("cid@team.example")]) {
      expect(seen.status).toBe(200);
      expect([...seen.headers]).toEqual([...first.headers]);
      const typedAddress = /(bob|cid)@/.exec(seen.text)?.[0] ?? "ann@";
      expect(seen.text.replaceAll(typedAddress, "ann@")).toBe(first.text);
    }
    await publisher.send();
    expect(publisher.listRecipients().sort()).toEqual([ann, "cid@team.example"]);
  });

  test("a sixth sign-up within a minute is rejected, and its mailbox gets no mail", async () => {
    await using publisher = await createPublisher();
    for (const number of [1, 2, 3, 4, 5])
      expect((await publisher.signUp(`n${number}@team.example`)).status).toBe(200);
    const { status, text } = await publisher.signUp(ann);
    expect(status).toBe(429);
    expect(text).toContain("Try again in a minute");
    expect(text).not.toContain("Check your inbox");
    expect(await publisher.subscribers()).toHaveLength(5);
    publisher.time.now += 60_000;
    expect((await publisher.signUp(ann)).status).toBe(200);
    expect(await publisher.subscribers()).toHaveLength(6);
  });
});

/** Adds unconfirmed mailboxes, oldest first. */
function insertWaiting(
  { database, ours, pageId, time }: Publisher,
  count: number,
  { ago = 0, byVisitor = 1, prefix = "n" } = {},
) {
  const others = Array.from({ length: count }, (_, index) => `${prefix}${index}@team.example`);
  database.run(
    `insert into subscribers (organization_id, id, page_id, type, address, address_key, secrets,
       by_visitor, asked, asked_at, version, created_at)
     select ?, value, ?, 'email', value, value, '{}', ?, 1, ? + key, 1, '' from json_each(?)`,
    [ours.id, pageId, byVisitor, time.now - ago * 1000 - count, JSON.stringify(others)],
  );
}

/** A page, and the address of the next sign-up. */
async function setUpStrangers() {
  const from = { address: "192.168.1.7" };
  return { ...(await createPublisher({}, { addressOf: () => from.address })), from };
}

const countOf = ({ database }: Publisher, condition: string) =>
  database.query(`select count(*) from subscribers where ${condition}`).values()[0]?.[0] as number;

describe.concurrent("no stranger can block a page's sign-ups", () => {
  test("the oldest unconfirmed mailboxes make room; confirmed ones stay", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox(bob);
    publisher.database.run("update subscribers set asked_at = 0");
    insertWaiting(publisher, 1_000);
    const owners = { ago: day, byVisitor: 0, prefix: "owner" };
    insertWaiting(publisher, 5, owners);
    expect((await publisher.signUp(ann)).status).toBe(200);
    await publisher.send();
    expect(publisher.listRecipients()).toEqual([ann]);
    expect(countOf(publisher, "confirmed_at is null and by_visitor")).toBe(1_000);
    expect(countOf(publisher, "address like 'owner%'")).toBe(5);
    expect(countOf(publisher, "address = 'n0@team.example'")).toBe(0);
    expect(countOf(publisher, "address = 'n1@team.example'")).toBe(1);
    expect(await publisher.subscribers("&status=confirmed")).toMatchObject([{ email: bob }]);
  });

  test("unconfirmed mailboxes do not count towards the organization's limit of subscribers", async () => {
    await using publisher = await createPublisher(
      {},
      { limits: { ...defaultLimits, subscribers: 2 } },
    );
    insertWaiting(publisher, 3);
    await publisher.mailbox(bob);
    await publisher.signUp(ann);
    await publisher.send();
    const link = findLink(publisher.mails[0] ?? { text: "" }, "confirm");
    await publisher.mailbox("cid@team.example");
    const full = await followMailLink(publisher, link, "POST");
    expect([full.status, full.text.includes("accepts no more subscribers")]).toEqual([409, true]);
    const [cid] = await publisher.subscribers("&q=cid");
    expect((await publisher.api("DELETE", `${publisher.path}/${cid.id}`)).status).toBe(200);
    expect((await followMailLink(publisher, link, "POST")).text).toContain("You are subscribed");
  });

  test("many unconfirmed mailboxes are stored for a day, a few for a week", async () => {
    await using publisher = await createPublisher();
    const other = await publisher.createPage();
    insertWaiting(publisher, 250, { ago: day + 60 });
    await sweepSubscribers(createSweeping(publisher.store, publisher.time.now));
    expect(countOf(publisher, "true")).toBe(250);
    publisher.database.run("update subscribers set page_id = ? where id = 'n0@team.example'", [
      other.id,
    ]);
    await publisher.signUp(ann);
    await publisher.signUp(bob);
    await publisher.mailbox("cid@team.example");
    await sweepSubscribers(createSweeping(publisher.store, publisher.time.now));
    const emails = (await publisher.subscribers()).map(({ email }) => email as string);
    expect(emails.sort()).toEqual([ann, bob, "cid@team.example"]);
    expect(countOf(publisher, "id = 'n0@team.example'")).toBe(1);
    await sweepSubscribers(createSweeping(publisher.store, publisher.time.now + 8 * day * 1000));
    expect(await publisher.subscribers()).toMatchObject([{ status: "confirmed" }]);
  });

  test("one network has twenty sign-ups an hour for all mailboxes, and other networks have their own", async () => {
    await using world = await setUpStrangers();
    await world.mailbox();
    const statuses = [];
    for (let minute = 0; minute < 5; minute++) {
      for (const number of [1, 2, 3, 4, 5]) {
        const email = number === 1 ? ann : `n${minute}-${number}@team.example`;
        statuses.push((await world.signUp(email)).status);
      }
      world.time.now += 60_000;
    }
    expect(statuses).toEqual([...Array(20).fill(200), ...Array(5).fill(429)]);
    const { headers, text } = await world.signUp(ann);
    expect(Number(headers.get("retry-after"))).toBe(55 * 60);
    expect(text).toContain("Too many sign-ups from here. Try again in an hour.");
    world.from.address = "192.168.1.8";
    expect((await world.signUp(bob)).status).toBe(200);
    world.from.address = "192.168.1.7";
    world.time.now += 55 * 60_000;
    expect((await world.signUp("dan@team.example")).status).toBe(200);
  });

  test("two hundred networks cause few mails, and the next network can still sign up", async () => {
    await using world = await setUpStrangers();
    let taken = 0;
    for (let round = 0; round < 3; round++)
      for (let network = 0; network < 200; network++) {
        world.from.address = `10.0.${network}.1`;
        const { status } = await world.signUp(`n${round}-${network}@team.example`);
        if (status === 200) taken++;
      }
    expect(taken).toBeLessThanOrEqual(260);
    expect(countOf(world, "true")).toBe(taken);
    world.from.address = "10.1.0.1";
    expect((await world.signUp(ann)).status).toBe(200);
    // An IPv6 site with any number of networks counts as one.
    const site = [];
    for (let network = 0; network < 20; network++) {
      world.from.address = `2001:db8:7:${network.toString(16)}::1`;
      site.push((await world.signUp(`six${network}@team.example`)).status);
    }
    expect(site.filter((status) => status === 200)).toHaveLength(1);
    const { headers, text } = await world.signUp(bob);
    expect(text).toContain("Too many people are signing up at the moment. Try again in an hour.");
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe.concurrent("no stranger can flood a mailbox", () => {
  const spellings = [ann, "Ann@team.example", "ann+1@team.example", "ann+b+c@team.example"];

  test("through many pages and spellings: five mails a day, and the same response", async () => {
    await using world = await setUpStrangers();
    const slugs = ["ours"];
    for (const slug of ["one", "two"])
      slugs.push((await world.createPage({ slug, title: slug })).slug);
    await world.restart();
    let network = 0;
    const responses = new Set<string>();
    const request = async () => {
      for (const slug of slugs)
        for (const email of spellings) {
          world.from.address = `10.0.${network++}.1`;
          const form = { email };
          const seen = await world.get(`/status/${slug}/subscribe`, { method: "POST", form });
          if (slug === "ours") responses.add(`${seen.status} ${seen.text.replaceAll(email, "")}`);
          else expect(seen.status).toBe(200);
        }
    };
    await request();
    world.time.now += 11 * 60_000;
    await request();
    await world.send();
    expect(world.mails).toHaveLength(5);
    expect(responses.size).toBe(1);
    world.time.now += day * 1000;
    await request();
    await world.send();
    expect(world.mails).toHaveLength(10);
  });

  test("by deleting it in between", async () => {
    await using world = await setUpStrangers();
    for (let round = 0; round < 10; round++) {
      world.from.address = `10.0.${round}.1`;
      await world.signUp(ann);
      await world.send();
      world.database.run("delete from subscribers");
    }
    expect(world.mails).toHaveLength(5);
  });
});

describe.concurrent("an invalid e-mail address", () => {
  for (const [what, email] of Object.entries({
    nothing: "",
    "a word": "ann",
    "no domain": "ann@",
    "a header after it": "ann@team.example\r\nBcc: eve@evil.example",
    "a header after a single line feed": "ann@team.example\nBcc: eve@evil.example",
    "two addresses": "ann@team.example, eve@evil.example",
    "a name with it": "Ann <ann@team.example>",
    "a NUL": "ann@team.example\0",
    "an encoded word": "=?utf-8?q?ann=40team.example?=",
    "a quoted header": '"ann\r\nBcc: eve"@team.example',
    "an address that is too long": `${"a".repeat(250)}@team.example`,
    "emoji and bidi controls": "ann\u202e😀@team.example",
  }))
    test(`is rejected: ${what}`, async () => {
      await using publisher = await createPublisher();
      const { status, text } = await publisher.signUp(email);
      expect([status, text.includes("must be an e-mail address")]).toEqual([422, true]);
      expect(await publisher.subscribers()).toEqual([]);
      await publisher.send();
      expect(publisher.mails).toEqual([]);
    });

  test("is returned in the form as text", async () => {
    await using publisher = await createPublisher();
    const { text } = await publisher.signUp(`"><script>alert(1)</script>`);
    expect(text).not.toContain("<script>alert");
    expect(text).toContain("&lt;script&gt;alert(1)");
  });

  test("is a form that is too long or lacks the field", async () => {
    await using publisher = await createPublisher();
    const send = async (form: Record<string, string>) =>
      (await publisher.get("/status/ours/subscribe", { method: "POST", form })).status;
    expect(await send({ email: ann, more: "x".repeat(5_000) })).toBe(422);
    expect(await send({ mail: ann })).toBe(422);
    expect(await publisher.subscribers()).toEqual([]);
  });

  test("does not include an address with spaces around it: they are dropped", async () => {
    await using publisher = await createPublisher();
    expect((await publisher.signUp(`  ${ann}\n`)).status).toBe(200);
    expect(await publisher.subscribers()).toMatchObject([{ email: ann }]);
  });
});
