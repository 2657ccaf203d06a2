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
    await using made = await createPublisher();
    await made.mailbox();
    await made.mailbox(bob);
    await made.useMail({ ...made.mailSettings(), port: 1 });
    const { id } = await made.createIncident({ message: "0" });
    await made.send();
    await made.sendAfter(10);
    await made.postUpdate(id, { message: "1" });
    await made.postUpdate(id, { status: "resolved", message: "2" });
    await made.sendAfter(60);
    for (const { lastError } of await made.subscribers())
      expect(lastError).toBe("The connection was refused.");
    await made.useMail(made.mailSettings());
    await made.sendAfter(300);
    await made.sendAfter(300);
    for (const address of [ann, bob]) {
      const own = made.mails.filter(({ to }) => to.includes(address));
      expect(own.map(({ text }) => /\n\n(\d)\n/.exec(text)?.[1])).toEqual(["0", "1", "2"]);
    }
    expect(new Set(idsOf(made)).size).toBe(6);
    for (const { lastError } of await made.subscribers()) expect(lastError).toBeNull();
  });

  test("that is down during a sign-up sends the confirmation mail once it recovers", async () => {
    await using made = await createPublisher();
    await made.useMail({ ...made.mailSettings(), port: 1 });
    expect((await made.signUp(ann)).status).toBe(200);
    await made.send();
    await made.sendAfter(60);
    await made.useMail(made.mailSettings());
    await made.sendAfter(300);
    await made.sendAfter(3_600);
    expect(made.listSubjects()).toEqual(["Confirm updates from Acme status"]);
    await followMailLink(made, findLink(made.mails[0] ?? { text: "" }, "confirm"), "POST");
    expect(await made.subscribers()).toMatchObject([{ status: "confirmed", lastError: null }]);
  });

  test("that rejects one mailbox delays no other, temporarily or permanently", async () => {
    for (const [code, tries] of [
      [450, 2],
      [550, 1],
    ] as const) {
      await using made = await createPublisher();
      await made.mailbox();
      await made.mailbox(bob);
      made.refusals.set(ann, code);
      await made.createIncident();
      await made.send();
      expect(made.listRecipients()).toEqual([bob]);
      await made.sendAfter(6);
      const attempts = made.database.query("select count(*) from delivery_attempts").values();
      expect(attempts).toEqual([[tries + 1]]);
      made.refusals.clear();
      await made.sendAfter(60);
      expect(made.listRecipients()).toEqual(code === 450 ? [bob, ann] : [bob]);
      const [other, failing] = await made.subscribers();
      expect(other.lastError).toBeNull();
      expect(failing.lastError === null).toBe(code === 450);
    }
  });
});

describe.concurrent("a power failure", () => {
  test("before the notices of an event are written: they are sent once after the restart", async () => {
    for (const statement of ['insert into "notices"', "insert or replace into followers"]) {
      await using made = await createPublisher();
      await made.mailbox();
      await made.createIncident();
      made.crashBefore(statement);
      expect(await failureOf(made.send())).toBe("The power failed.");
      const left = "select (select count(*) from notices) + (select count(*) from deliveries)";
      expect(made.database.query(left).values()).toEqual([[0]]);
      await made.restart();
      await made.sendAfter(1);
      await made.sendAfter(60);
      expect(made.mails).toHaveLength(1);
    }
  });

  test("before a mail is claimed: it is sent once after the restart", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await made.createIncident();
    made.crashBefore("first_attempt_at = coalesce");
    await made.send();
    expect(made.mails).toEqual([]);
    await made.restart();
    await made.send();
    await made.sendAfter(60);
    expect(made.mails).toHaveLength(1);
  });

  test("after a mail was sent: it can be sent again, with the same id and date", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await made.createIncident();
    made.crashBefore("attempts = attempts + 1");
    await made.send();
    await made.restart();
    await made.sendAfter(30);
    await made.sendAfter(600);
    expect(made.mails).toHaveLength(2);
    expect(new Set(idsOf(made)).size).toBe(1);
    expect(new Set(made.mails.map(({ headers }) => headers["date"]?.[0])).size).toBe(1);
    expect(await made.subscribers()).toMatchObject([{ lastError: null }]);
  });

  test("between two subscribers: both are notified once", async () => {
    await using made = await createPublisher();
    await using first = await made.addHook();
    await using second = await made.addHook();
    await made.createIncident();
    made.crashBefore("first_attempt_at = coalesce");
    await made.send();
    expect(first.asked.length + second.asked.length).toBe(1);
    await made.restart();
    await made.send();
    expect([first.asked.length, second.asked.length]).toEqual([1, 1]);
  });

  test("before a sign-up is written: no mail is sent, and a second sign-up gets one mail", async () => {
    await using made = await createPublisher();
    made.crashBefore('insert into "notices"');
    expect((await made.signUp(ann)).status).toBe(500);
    expect(await made.subscribers()).toEqual([]);
    await made.signUp(ann);
    await made.restart();
    await made.send();
    expect(made.mails).toHaveLength(1);
  });

  test("before a confirmation is written: the mailbox stays pending and can confirm again", async () => {
    await using made = await createPublisher();
    await made.signUp(ann);
    await made.send();
    const link = findLink(made.mails[0] ?? { text: "" }, "confirm");
    made.crashBefore("subscribers");
    expect((await followMailLink(made, link, "POST")).status).toBe(500);
    expect(await made.subscribers()).toMatchObject([{ status: "pending" }]);
    await made.restart();
    await followMailLink(made, link, "POST");
    expect(await made.subscribers()).toMatchObject([{ status: "confirmed" }]);
  });
});

describe.concurrent("a restart", () => {
  test("sends nothing again", async () => {
    await using made = await createPublisher();
    await using hook = await made.addHook();
    const { id } = await made.createIncident();
    await made.send();
    for (const message of ["a", "b"]) {
      await made.restart();
      await made.send();
      await made.postUpdate(id, { message });
      await made.restart();
      await made.send();
    }
    expect(hook.listMessages()).toEqual(["Incident opened.", "a", "b"]);
  });

  test("sends nothing from before the first subscriber", async () => {
    await using made = await createPublisher();
    const { id } = await made.createIncident();
    await made.send();
    made.time.now += 1;
    await subscribeMailbox(made);
    await made.restart();
    await made.send();
    expect(made.mails).toEqual([]);
    await made.postUpdate(id, { message: "Now." });
    await made.send();
    expect(made.mails).toHaveLength(1);
  });
});

describe.concurrent("many subscribers", () => {
  test("simultaneous updates reach each subscriber in order", async () => {
    await using made = await createPublisher();
    await using one = await made.addHook();
    await using two = await made.addHook();
    const { id } = await made.createIncident({ message: "0" });
    const messages = Array.from({ length: 40 }, (_, index) => String(index + 1));
    for (const message of messages) await made.postUpdate(id, { message });
    await made.send();
    expect(one.listMessages()).toEqual(["0", ...messages]);
    expect(two.listMessages()).toEqual(["0", ...messages]);
  });

  test("webhooks are each called once, fifty at a time", async () => {
    await using made = await createPublisher();
    await using receiver = await startTarget(hang);
    const urls = Array.from({ length: 100 }, (_, index) => receiver.at(`/hook/${index}`));
    for (const url of urls) await made.added({ type: "webhook", url });
    made.time.now += 1;
    await made.createIncident();
    const sending = made.send();
    await receiver.waitUntilAsked(50);
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
    await using made = await createPublisher();
    await using hooks = await startTarget();
    const added: { id: string }[] = [];
    for (const number of [1, 2, 3, 4, 5])
      added.push(await made.added({ type: "webhook", url: hooks.at(`/${number}`) }));
    made.time.now += 1;
    await made.createIncident();
    await made.notices.runOnce();
    await made.api("DELETE", `${made.path}/${added[1]?.id}`);
    await made.send();
    expect(hooks.asked.map(({ path }) => path).sort()).toEqual(["/1", "/3", "/4", "/5"]);
  });
});
