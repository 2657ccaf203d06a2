import { describe, expect, test } from "bun:test";
import { ann, bob, followMailLink, findLink, createPublisher } from "../../support/publisher.ts";
import { replyWith } from "../../support/target.ts";
import { dumpTables } from "../../support/appliance.ts";

const secret = "whsec_CANARYsecret7f3aAAAAAAAAAAAAAAAA";
const sneaky = "canary-address@team.example";

/** A page with every action that leaves traces. */
async function lived() {
  const made = await createPublisher({ hosts: ["status.team.example"] });
  const failing = await made.addHook(replyWith(500), { secret });
  await made.signUp(sneaky);
  await made.send();
  const confirm = findLink(made.mails[0] ?? { text: "" }, "confirm");
  await followMailLink(made, confirm);
  await followMailLink(made, confirm, "POST");
  made.time.now += 1;
  const { id } = await made.createIncident();
  await made.send();
  const unsubscribe = findLink(made.mails[1] ?? { text: "" }, "unsubscribe");
  await followMailLink(made, unsubscribe);
  made.refusals.set(sneaky, 550);
  await made.postUpdate(id, { message: "More." });
  await made.sendAfter(60);
  await made.restart();
  const tokens = [confirm, unsubscribe].map((link) => link.split("/").at(-1) ?? "");
  return {
    ...made,
    failing,
    incidentId: id as string,
    tokens,
    async [Symbol.asyncDispose]() {
      await made[Symbol.asyncDispose]();
      await failing[Symbol.asyncDispose]();
    },
  };
}

describe.concurrent("a subscriber's secrets", () => {
  test("are encrypted in the database, and link tokens are not stored at all", async () => {
    await using made = await lived();
    const stored = dumpTables(made);
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain(Buffer.from(secret).toString("base64").slice(0, 12));
    const bytes = Buffer.from(made.database.serialize()).toString("latin1");
    expect(bytes).not.toContain(secret);
    for (const token of made.tokens) {
      expect(token.length).toBeGreaterThan(100);
      for (const part of [token, ...token.split(".").slice(1)]) {
        expect(stored).not.toContain(part);
        expect(bytes).not.toContain(part);
      }
    }
  });

  test("can't be decrypted in another subscriber's row", async () => {
    await using made = await lived();
    await using other = await made.addHook();
    made.database.run(
      "update subscribers set secrets = (select secrets from subscribers where id = ?) where id = ?",
      [made.failing.id, other.id],
    );
    await made.createIncident();
    await made.send();
    expect(other.asked).toEqual([]);
    expect((await made.subscriber(other)).lastError).toStartWith("Not sent:");
    expect(made.logged.join("\n")).not.toContain(secret);
  });

  test("and its address are neither in the log nor in an API error", async () => {
    await using made = await lived();
    made.crashBefore("subscribers");
    await made.api("POST", made.path, {
      body: { type: "webhook", url: `https://${sneaky.split("@")[1]}/`, secret },
    });
    const body = { type: "email", email: sneaky, confirmed: true };
    const conflict = await made.api("POST", made.path, { body });
    expect(conflict.status).toBe(409);
    expect(conflict.text).not.toContain(sneaky);
    const invalid = await made.api("POST", made.path, {
      body: { type: "email", email: `${sneaky} `, secret },
    });
    expect(invalid.status).toBe(422);
    expect(invalid.text).not.toMatch(/canary/i);
    expect(made.logged.join("\n")).not.toMatch(/canary/i);
    for (const token of made.tokens) expect(made.logged.join("\n")).not.toContain(token);
  });

  test("are in no API response, and addresses only in their own", async () => {
    await using made = await lived();
    const paths = [
      "/api/v1/status-pages",
      `/api/v1/status-pages/${made.pageId}`,
      "/api/v1/incidents",
      `/api/v1/incidents/${made.incidentId}`,
      "/api/v1/alerts",
      "/api/v1/alert-channels",
      "/api/v1/settings",
      "/api/v1/openapi.json",
    ];
    for (const path of paths) expect((await made.api("GET", path)).text).not.toMatch(/canary/i);
    for (const path of [made.path, `${made.path}-export`, `${made.path}/${made.failing.id}`]) {
      const { text } = await made.api("GET", path);
      expect(text).not.toContain(secret);
      for (const token of made.tokens) expect(text).not.toContain(token);
    }
  });

  test("are nowhere in public, neither on the page nor in its feeds", async () => {
    await using made = await lived();
    const parts = ["", ".json", "/subscribe", "/history", "/feed.rss", "/feed.atom"];
    const paths = [
      ...parts.map((part) => `/status/ours${part}`),
      `/status/ours/incidents/${made.incidentId}`,
      "/status/ours/maintenance.ics",
      "/status/ours/api/v2/summary.json",
      "/status/ours/confirm/x",
    ];
    for (const path of paths) {
      const seen = await made.get(path);
      expect([path, /canary/i.test(seen.text + JSON.stringify([...seen.headers]))]).toEqual([
        path,
        false,
      ]);
      expect(seen.text).not.toContain(made.failing.at());
    }
  });
});

test.concurrent("a mail names no recipient but its own", async () => {
  await using made = await createPublisher();
  await made.mailbox();
  await made.mailbox(bob);
  await made.createIncident();
  await made.send();
  for (const [one, other] of [
    [ann, bob],
    [bob, ann],
  ] as const) {
    const own = made.mails.filter(({ to }) => to.includes(one));
    expect(own).toHaveLength(1);
    expect(own[0]?.to).toEqual([one]);
    expect(JSON.stringify(own)).not.toContain(other);
  }
  const links = made.mails.map((mail) => findLink(mail, "unsubscribe"));
  expect(new Set(links).size).toBe(2);
});
