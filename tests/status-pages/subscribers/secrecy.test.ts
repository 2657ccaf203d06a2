import { describe, expect, test } from "bun:test";
import { ann, bob, followMailLink, findLink, createPublisher } from "../../support/publisher.ts";
import { replyWith } from "../../support/target.ts";
import { dumpTables } from "../../support/appliance.ts";

const secret = "whsec_CANARYsecret7f3aAAAAAAAAAAAAAAAA";
const sneaky = "canary-address@team.example";

/** A page with every action that leaves traces. */
async function setUpHistory() {
  const publisher = await createPublisher({ hosts: ["status.team.example"] });
  const failing = await publisher.addHook(replyWith(500), { secret });
  await publisher.signUp(sneaky);
  await publisher.send();
  const confirm = findLink(publisher.mails[0] ?? { text: "" }, "confirm");
  await followMailLink(publisher, confirm);
  await followMailLink(publisher, confirm, "POST");
  publisher.time.now += 1;
  const { id } = await publisher.createIncident();
  await publisher.send();
  const unsubscribe = findLink(publisher.mails[1] ?? { text: "" }, "unsubscribe");
  await followMailLink(publisher, unsubscribe);
  publisher.refusals.set(sneaky, 550);
  await publisher.postUpdate(id, { message: "More." });
  await publisher.sendAfter(60);
  await publisher.restart();
  const tokens = [confirm, unsubscribe].map((link) => link.split("/").at(-1) ?? "");
  return {
    ...publisher,
    failing,
    incidentId: id as string,
    tokens,
    async [Symbol.asyncDispose]() {
      await publisher[Symbol.asyncDispose]();
      await failing[Symbol.asyncDispose]();
    },
  };
}

describe.concurrent("a subscriber's secrets", () => {
  test("are encrypted in the database, and link tokens are not stored at all", async () => {
    await using world = await setUpHistory();
    const stored = dumpTables(world);
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain(Buffer.from(secret).toString("base64").slice(0, 12));
    const bytes = Buffer.from(world.database.serialize()).toString("latin1");
    expect(bytes).not.toContain(secret);
    for (const token of world.tokens) {
      expect(token.length).toBeGreaterThan(100);
      for (const part of [token, ...token.split(".").slice(1)]) {
        expect(stored).not.toContain(part);
        expect(bytes).not.toContain(part);
      }
    }
  });

  test("can't be decrypted in another subscriber's row", async () => {
    await using world = await setUpHistory();
    await using other = await world.addHook();
    world.database.run(
      "update subscribers set secrets = (select secrets from subscribers where id = ?) where id = ?",
      [world.failing.id, other.id],
    );
    await world.createIncident();
    await world.send();
    expect(other.asked).toEqual([]);
    expect((await world.subscriber(other)).lastError).toStartWith("Not sent:");
    expect(world.logged.join("\n")).not.toContain(secret);
  });

  test("and its address are neither in the log nor in an API error", async () => {
    await using world = await setUpHistory();
    world.crashBefore("subscribers");
    await world.api("POST", world.path, {
      body: { type: "webhook", url: `https://${sneaky.split("@")[1]}/`, secret },
    });
    const body = { type: "email", email: sneaky, confirmed: true };
    const conflict = await world.api("POST", world.path, { body });
    expect(conflict.status).toBe(409);
    expect(conflict.text).not.toContain(sneaky);
    const invalid = await world.api("POST", world.path, {
      body: { type: "email", email: `${sneaky} `, secret },
    });
    expect(invalid.status).toBe(422);
    expect(invalid.text).not.toMatch(/canary/i);
    expect(world.logged.join("\n")).not.toMatch(/canary/i);
    for (const token of world.tokens) expect(world.logged.join("\n")).not.toContain(token);
  });

  test("are in no API response, and addresses only in their own", async () => {
    await using world = await setUpHistory();
    const paths = [
      "/api/v1/status-pages",
      `/api/v1/status-pages/${world.pageId}`,
      "/api/v1/incidents",
      `/api/v1/incidents/${world.incidentId}`,
      "/api/v1/alerts",
      "/api/v1/alert-channels",
      "/api/v1/settings",
      "/api/v1/openapi.json",
    ];
    for (const path of paths) expect((await world.api("GET", path)).text).not.toMatch(/canary/i);
    for (const path of [world.path, `${world.path}-export`, `${world.path}/${world.failing.id}`]) {
      const { text } = await world.api("GET", path);
      expect(text).not.toContain(secret);
      for (const token of world.tokens) expect(text).not.toContain(token);
    }
  });

  test("are nowhere in public, neither on the page nor in its feeds", async () => {
    await using world = await setUpHistory();
    const parts = ["", ".json", "/subscribe", "/history", "/feed.rss", "/feed.atom"];
    const paths = [
      ...parts.map((part) => `/status/ours${part}`),
      `/status/ours/incidents/${world.incidentId}`,
      "/status/ours/maintenance.ics",
      "/status/ours/api/v2/summary.json",
      "/status/ours/confirm/x",
    ];
    for (const path of paths) {
      const seen = await world.get(path);
      expect([path, /canary/i.test(seen.text + JSON.stringify([...seen.headers]))]).toEqual([
        path,
        false,
      ]);
      expect(seen.text).not.toContain(world.failing.at());
    }
  });
});

test.concurrent("a mail names no recipient but its own", async () => {
  await using publisher = await createPublisher();
  await publisher.mailbox();
  await publisher.mailbox(bob);
  await publisher.createIncident();
  await publisher.send();
  for (const [one, other] of [
    [ann, bob],
    [bob, ann],
  ] as const) {
    const ownMails = publisher.mails.filter(({ to }) => to.includes(one));
    expect(ownMails).toHaveLength(1);
    expect(ownMails[0]?.to).toEqual([one]);
    expect(JSON.stringify(ownMails)).not.toContain(other);
  }
  const links = publisher.mails.map((mail) => findLink(mail, "unsubscribe"));
  expect(new Set(links).size).toBe(2);
});
