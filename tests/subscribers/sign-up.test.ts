import { describe, expect, test } from "bun:test";
import { sweepSubscribers } from "../../src/subscribers/fan-out.ts";
import { ann, bob, publisher } from "../support/subscribing.ts";

const day = 86_400;

describe.concurrent("whoever signs up learns nothing about the address", () => {
  test("unknown, asked, asked too often, subscribed: the answer is the same", async () => {
    await using made = await publisher();
    const { signUp, time } = made;
    const first = await signUp(ann);
    const again = await signUp(ann);
    time.now += 61_000;
    await made.mailbox(bob);
    for (const seen of [again, await signUp(bob), await signUp("cid@team.example")]) {
      expect(seen.status).toBe(200);
      expect([...seen.headers]).toEqual([...first.headers]);
      const spelt = /(bob|cid)@/.exec(seen.text)?.[0] ?? "ann@";
      expect(seen.text.replaceAll(spelt, "ann@")).toBe(first.text);
    }
    await made.send();
    expect(made.told().sort()).toEqual([ann, "cid@team.example"]);
  });

  test("a sixth sign-up within a minute is refused, and its mailbox not asked", async () => {
    await using made = await publisher();
    for (const number of [1, 2, 3, 4, 5])
      expect((await made.signUp(`n${number}@team.example`)).status).toBe(200);
    const { status, text } = await made.signUp(ann);
    expect(status).toBe(429);
    expect(text).toContain("Try again in a minute");
    expect(text).not.toContain("Check your mailbox");
    expect(await made.subscribers()).toHaveLength(5);
    made.time.now += 60_000;
    expect((await made.signUp(ann)).status).toBe(200);
    expect(await made.subscribers()).toHaveLength(6);
  });

  test("a thousand that were never answered end the sign-ups until they are forgotten", async () => {
    await using made = await publisher();
    const { database, pageId, ours } = made;
    const others = Array.from({ length: 999 }, (_, index) => `n${index}@team.example`);
    await made.signUp(ann);
    database.run(
      `insert into subscribers (organization_id, id, page_id, type, address, address_key, secrets,
         asked, asked_at, version, created_at)
       select ?, value, ?, 'email', value, value, '{}', 1, ?, 1, '' from json_each(?)`,
      [ours.id, pageId, made.time.now, JSON.stringify(others)],
    );
    const { status, text } = await made.signUp(bob);
    expect(status).toBe(429);
    expect(text).toContain("Too many people are signing up");
    await sweepSubscribers(made.store, made.time.now + 8 * day * 1000);
    expect((await made.signUp(bob)).status).toBe(200);
  });
});

describe.concurrent("what is no e-mail address", () => {
  for (const [what, email] of Object.entries({
    nothing: "",
    "a word": "ann",
    "no domain": "ann@",
    "a header behind it": "ann@team.example\r\nBcc: eve@evil.example",
    "a header behind a bare line feed": "ann@team.example\nBcc: eve@evil.example",
    "two addresses": "ann@team.example, eve@evil.example",
    "a name with it": "Ann <ann@team.example>",
    "a NUL": "ann@team.example\0",
    "a word encoded": "=?utf-8?q?ann=40team.example?=",
    "a quoted header": '"ann\r\nBcc: eve"@team.example',
    "an address that is too long": `${"a".repeat(250)}@team.example`,
    "emoji and bidi controls": "ann\u202e😀@team.example",
  }))
    test(`is refused: ${what}`, async () => {
      await using made = await publisher();
      const { status, text } = await made.signUp(email);
      expect([status, text.includes("must be an e-mail address")]).toEqual([422, true]);
      expect(await made.subscribers()).toEqual([]);
      await made.send();
      expect(made.mails).toEqual([]);
    });

  test("comes back in the form as text", async () => {
    await using made = await publisher();
    const { text } = await made.signUp(`"><script>alert(1)</script>`);
    expect(text).not.toContain("<script>alert");
    expect(text).toContain("&lt;script&gt;alert(1)");
  });

  test("is what a form has that is too long or has no such field", async () => {
    await using made = await publisher();
    const send = async (form: Record<string, string>) =>
      (await made.get("/status/ours/subscribe", { method: "POST", form })).status;
    expect(await send({ email: ann, more: "x".repeat(5_000) })).toBe(422);
    expect(await send({ mail: ann })).toBe(422);
    expect(await made.subscribers()).toEqual([]);
  });

  test("is not an address with spaces around it: these are dropped", async () => {
    await using made = await publisher();
    expect((await made.signUp(`  ${ann}\n`)).status).toBe(200);
    expect(await made.subscribers()).toMatchObject([{ email: ann }]);
  });
});
