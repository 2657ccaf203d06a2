import { describe, expect, test } from "bun:test";
import {
  ann,
  bob,
  subscribeMailbox,
  findLink,
  followMailLink,
  createPublisher,
  type Publisher,
} from "../../support/publisher.ts";
import { replyWith, hang, startTarget } from "../../support/target.ts";

/** Ids of the deliveries in the mails. */
const idsOf = ({ mails }: Publisher) =>
  mails.map(({ headers }) => headers["x-signalbox-delivery"]?.[0]);

/** Error of a rejected promise; null if it resolves. */
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: Error) => error.message,
  );

describe.concurrent("a mail server", () => {
  test("that is down and recovers delivers everything to everyone, once and in order", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.mailbox(bob);
    await publisher.useMail({ ...publisher.mailSettings(), port: 1 });
    const { id } = await publisher.createIncident({ message: "0" });
    await publisher.send();
    await publisher.sendAfter(10);
    await publisher.postUpdate(id, { message: "1" });
    await publisher.postUpdate(id, { status: "resolved", message: "2" });
    await publisher.sendAfter(60);
    for (const { lastError } of await publisher.subscribers())
      expect(lastError).toBe("The connection was refused.");
    await publisher.useMail(publisher.mailSettings());
    await publisher.sendAfter(300);
    await publisher.sendAfter(300);
    for (const address of [ann, bob]) {
      const ownMails = publisher.mails.filter(({ to }) => to.includes(address));
      expect(ownMails.map(({ text }) => /\n\n(\d)\n/.exec(text)?.[1])).toEqual(["0", "1", "2"]);
    }
    expect(new Set(idsOf(publisher)).size).toBe(6);
    for (const { lastError } of await publisher.subscribers()) expect(lastError).toBeNull();
  });

  test("that is down during a sign-up sends the confirmation mail once it recovers", async () => {
    await using publisher = await createPublisher();
    await publisher.useMail({ ...publisher.mailSettings(), port: 1 });
    expect((await publisher.signUp(ann)).status).toBe(200);
    await publisher.send();
    await publisher.sendAfter(60);
    await publisher.useMail(publisher.mailSettings());
    await publisher.sendAfter(300);
    await publisher.sendAfter(3_600);
    expect(publisher.listSubjects()).toEqual(["Confirm updates from Acme status"]);
    await followMailLink(
      publisher,
      findLink(publisher.mails[0] ?? { text: "" }, "confirm"),
      "POST",
    );
    expect(await publisher.subscribers()).toMatchObject([{ status: "confirmed", lastError: null }]);
  });

  test("that rejects one mailbox delays no other, temporarily or permanently", async () => {
    for (const [code, tries] of [
      [450, 2],
      [550, 1],
    ] as const) {
      await using publisher = await createPublisher();
      await publisher.mailbox();
      await publisher.mailbox(bob);
      publisher.refusals.set(ann, code);
      await publisher.createIncident();
      await publisher.send();
      expect(publisher.listRecipients()).toEqual([bob]);
      await publisher.sendAfter(6);
      const attempts = publisher.database.query("select count(*) from delivery_attempts").values();
      expect(attempts).toEqual([[tries + 1]]);
      publisher.refusals.clear();
      await publisher.sendAfter(60);
      expect(publisher.listRecipients()).toEqual(code === 450 ? [bob, ann] : [bob]);
      const [other, failing] = await publisher.subscribers();
      expect(other.lastError).toBeNull();
      expect(failing.lastError === null).toBe(code === 450);
    }
  });
});

describe.concurrent("a power failure", () => {
  test("before the notices of an event are written: they are sent once after the restart", async () => {
    for (const statement of ['insert into "notices"', "insert or replace into followers"]) {
      await using publisher = await createPublisher();
      await publisher.mailbox();
      await publisher.createIncident();
      publisher.crashBefore(statement);
      expect(await failureOf(publisher.send())).toBe("The power failed.");
      const left = "select (select count(*) from notices) + (select count(*) from deliveries)";
      expect(publisher.database.query(left).values()).toEqual([[0]]);
      await publisher.restart();
      await publisher.sendAfter(1);
      await publisher.sendAfter(60);
      expect(publisher.mails).toHaveLength(1);
    }
  });

  test("before a mail is claimed: it is sent once after the restart", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.createIncident();
    publisher.crashBefore("first_attempt_at = coalesce");
    await publisher.send();
    expect(publisher.mails).toEqual([]);
    await publisher.restart();
    await publisher.send();
    await publisher.sendAfter(60);
    expect(publisher.mails).toHaveLength(1);
  });

  test("after a mail was sent: it can be sent again, with the same id and date", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.createIncident();
    publisher.crashBefore("attempts = attempts + 1");
    await publisher.send();
    await publisher.restart();
    await publisher.sendAfter(30);
    await publisher.sendAfter(600);
    expect(publisher.mails).toHaveLength(2);
    expect(new Set(idsOf(publisher)).size).toBe(1);
    expect(new Set(publisher.mails.map(({ headers }) => headers["date"]?.[0])).size).toBe(1);
    expect(await publisher.subscribers()).toMatchObject([{ lastError: null }]);
  });

  test("between two subscribers: both are notified once", async () => {
    await using publisher = await createPublisher();
    await using first = await publisher.addHook();
    await using second = await publisher.addHook();
    await publisher.createIncident();
    publisher.crashBefore("first_attempt_at = coalesce");
    await publisher.send();
    expect(first.asked.length + second.asked.length).toBe(1);
    await publisher.restart();
    await publisher.send();
    expect([first.asked.length, second.asked.length]).toEqual([1, 1]);
  });

  test("before a sign-up is written: no mail is sent, and a second sign-up gets one mail", async () => {
    await using publisher = await createPublisher();
    publisher.crashBefore('insert into "notices"');
    expect((await publisher.signUp(ann)).status).toBe(500);
    expect(await publisher.subscribers()).toEqual([]);
    await publisher.signUp(ann);
    await publisher.restart();
    await publisher.send();
    expect(publisher.mails).toHaveLength(1);
  });

  test("before a confirmation is written: the mailbox stays pending and can confirm again", async () => {
    await using publisher = await createPublisher();
    await publisher.signUp(ann);
    await publisher.send();
    const link = findLink(publisher.mails[0] ?? { text: "" }, "confirm");
    publisher.crashBefore("subscribers");
    expect((await followMailLink(publisher, link, "POST")).status).toBe(500);
    expect(await publisher.subscribers()).toMatchObject([{ status: "pending" }]);
    await publisher.restart();
    await followMailLink(publisher, link, "POST");
    expect(await publisher.subscribers()).toMatchObject([{ status: "confirmed" }]);
  });
});

describe.concurrent("a restart", () => {
  test("sends nothing again", async () => {
    await using publisher = await createPublisher();
    await using hook = await publisher.addHook();
    const { id } = await publisher.createIncident();
    await publisher.send();
    for (const message of ["a", "b"]) {
      await publisher.restart();
      await publisher.send();
      await publisher.postUpdate(id, { message });
      await publisher.restart();
      await publisher.send();
    }
    expect(hook.listMessages()).toEqual(["Incident opened.", "a", "b"]);
  });

  test("sends nothing from before the first subscriber", async () => {
    await using publisher = await createPublisher();
    const { id } = await publisher.createIncident();
    await publisher.send();
    publisher.time.now += 1;
    await subscribeMailbox(publisher);
    await publisher.restart();
    await publisher.send();
    expect(publisher.mails).toEqual([]);
    await publisher.postUpdate(id, { message: "Now." });
    await publisher.send();
    expect(publisher.mails).toHaveLength(1);
  });
});

describe.concurrent("many subscribers", () => {
  test("simultaneous updates reach each subscriber in order", async () => {
    await using publisher = await createPublisher();
    await using one = await publisher.addHook();
    await using two = await publisher.addHook();
    const { id } = await publisher.createIncident({ message: "0" });
    const messages = Array.from({ length: 40 }, (_, index) => String(index + 1));
    for (const message of messages) await publisher.postUpdate(id, { message });
    await publisher.send();
    expect(one.listMessages()).toEqual(["0", ...messages]);
    expect(two.listMessages()).toEqual(["0", ...messages]);
  });

  test("webhooks are each called once, fifty at a time", async () => {
    await using publisher = await createPublisher();
    await using receiver = await startTarget(hang);
    const urls = Array.from({ length: 100 }, (_, index) => receiver.at(`/hook/${index}`));
    for (const url of urls) await publisher.added({ type: "webhook", url });
    publisher.time.now += 1;
    await publisher.createIncident();
    const sending = publisher.send();
    await receiver.waitUntilRequested(50);
    // During these round trips a fifty-first request would have arrived.
    await using other = await startTarget();
    for (const _ of [1, 2, 3, 4, 5]) await fetch(other.at());
    expect(receiver.asked).toHaveLength(50);
    receiver.setReply(replyWith(204));
    receiver.release();
    await sending;
    expect(receiver.asked).toHaveLength(100);
    expect(new Set(receiver.asked.map(({ path }) => path)).size).toBe(100);
    expect(new Set(receiver.asked.map(({ headers }) => headers["webhook-id"])).size).toBe(100);
  });

  test("subscribers who leave during the delivery get nothing more, and the others are notified", async () => {
    await using publisher = await createPublisher();
    await using hooks = await startTarget();
    const added: { id: string }[] = [];
    for (const number of [1, 2, 3, 4, 5])
      added.push(await publisher.added({ type: "webhook", url: hooks.at(`/${number}`) }));
    publisher.time.now += 1;
    await publisher.createIncident();
    await publisher.notices.runOnce();
    await publisher.api("DELETE", `${publisher.path}/${added[1]?.id}`);
    await publisher.send();
    expect(hooks.asked.map(({ path }) => path).sort()).toEqual(["/1", "/3", "/4", "/5"]);
  });
});
