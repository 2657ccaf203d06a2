import { describe, expect, test } from "bun:test";
import {
  ann,
  bob,
  followMailLink,
  subscribeMailbox,
  findLink,
  type Publisher,
  createPublisher,
} from "../../support/publisher.ts";

const day = 86_400;

/** The confirmation link of the last mail. */
const question = ({ mails }: Publisher) => findLink(mails.at(-1) ?? { text: "" }, "confirm");
/** The unsubscribe link of the last mail. */
const wayOut = ({ mails }: Publisher) => findLink(mails.at(-1) ?? { text: "" }, "unsubscribe");

describe.concurrent("the confirmation link", () => {
  test("confirms nothing when it is opened, however often a scanner opens it", async () => {
    await using made = await createPublisher();
    await made.signUp(ann);
    await made.send();
    const link = question(made);
    for (const method of ["GET", "HEAD", "GET"] as const) {
      const seen = await followMailLink(made, link, method);
      expect([seen.status, seen.headers.get("cache-control")]).toEqual([200, "no-store"]);
    }
    expect(await made.subscribers()).toMatchObject([{ status: "pending", confirmedAt: null }]);
  });

  test("confirms once, however often its button is pressed, also concurrently", async () => {
    await using made = await createPublisher();
    await made.signUp(ann);
    await made.send();
    const press = () => followMailLink(made, question(made), "POST");
    const answers = await Promise.all([press(), press(), press()]);
    for (const { status, text } of [...answers, await press()]) {
      expect(status).toBe(200);
      expect(text).toContain(`Updates from Acme status are sent to ${ann}.`);
    }
    const events = made.database
      .query("select type from events where type like 'subscriber.%' order by seq")
      .values();
    expect(events.flat()).toEqual(["subscriber.asked", "subscriber.confirmed"]);
    expect(await made.subscribers()).toMatchObject([{ status: "confirmed" }]);
  });

  test("works for seven days", async () => {
    await using made = await createPublisher();
    await made.signUp(ann);
    await made.send();
    made.time.now += 7 * day * 1000;
    expect((await followMailLink(made, question(made))).status).toBe(200);
    made.time.now += 1;
    expect((await followMailLink(made, question(made))).status).toBe(404);
    expect((await followMailLink(made, question(made), "POST")).status).toBe(404);
    expect(await made.subscribers()).toMatchObject([{ status: "pending" }]);
  });

  test("stops working when its mailbox is deleted, even if it signs up again", async () => {
    await using made = await createPublisher();
    await made.signUp(ann);
    await made.send();
    const link = question(made);
    const [{ id }] = (await made.subscribers()) as [{ id: string }];
    await made.api("DELETE", `${made.path}/${id}`);
    for (const method of ["GET", "POST"] as const)
      expect((await followMailLink(made, link, method)).text).toContain("This link has expired");
    await made.signUp(ann);
    await followMailLink(made, link, "POST");
    expect(await made.subscribers()).toMatchObject([{ status: "pending" }]);
  });

  test("works for no other purpose, and is rejected if it was changed or made up", async () => {
    await using made = await createPublisher();
    await made.signUp(ann);
    await made.send();
    const unknown = await made.get("/status/nothing");
    const { pathname } = new URL(question(made));
    const token = pathname.split("/").at(-1) ?? "";
    const changed = `${token.slice(0, -2)}${token.at(-2) === "A" ? "B" : "A"}${token.at(-1)}`;
    for (const path of [
      `/status/ours/unsubscribe/${token}`,
      `/status/ours/confirm/${changed}`,
      `/status/ours/confirm/${token.slice(0, 40)}`,
      "/status/ours/confirm/x",
      "/status/ours/confirm/v1...",
    ])
      for (const method of ["GET", "POST"]) {
        const { status, text } = await made.get(path, { method });
        expect([path, status, text]).toEqual([path, 404, unknown.text]);
      }
    for (const method of ["PUT", "DELETE", "PATCH"])
      expect((await made.get(pathname, { method })).status).toBe(404);
    expect(await made.subscribers()).toMatchObject([{ status: "pending" }]);
  });

  test("leads to the page, even if it was renamed after the mail", async () => {
    await using made = await createPublisher();
    await made.signUp(ann);
    await made.send();
    await made.publish({ title: "New <b>name</b>", slug: "renamed" });
    await made.restart();
    expect((await followMailLink(made, question(made))).text).toContain(
      "New &lt;b&gt;name&lt;/b&gt;",
    );
    await followMailLink(made, question(made), "POST");
    expect(await made.subscribers()).toMatchObject([{ status: "confirmed" }]);
    made.time.now += 1;
    await made.createIncident();
    await made.send();
    expect(made.mails.at(-1)?.text).toContain("/status/renamed/incidents/");
    await followMailLink(made, wayOut(made), "POST");
    expect(await made.subscribers()).toEqual([]);
  });
});

describe.concurrent("the link that unsubscribes", () => {
  test("unsubscribes only when its button is pressed, without further input", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await made.createIncident();
    await made.send();
    for (const method of ["GET", "HEAD", "GET"] as const)
      expect((await followMailLink(made, wayOut(made), method)).status).toBe(200);
    expect(await made.subscribers()).toHaveLength(1);
    expect((await followMailLink(made, wayOut(made), "POST")).text).toContain(
      "You are unsubscribed",
    );
    expect(await made.subscribers()).toEqual([]);
  });

  test("can be pressed again, also concurrently", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await made.createIncident();
    await made.send();
    const press = () => followMailLink(made, wayOut(made), "POST");
    for (const { status } of await Promise.all([press(), press()])) expect(status).toBe(200);
    const again = await press();
    expect([again.status, again.text.includes("You are not subscribed")]).toEqual([200, true]);
  });

  test("still works after five years", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await made.createIncident();
    await made.send();
    made.time.now += 5 * 365 * day * 1000;
    await followMailLink(made, wayOut(made), "POST");
    expect(await made.subscribers()).toEqual([]);
  });

  test("works while the page is locked or hidden", async () => {
    for (const change of [
      { visibility: "password", password: "open sesame" },
      { visibility: "hidden" },
    ]) {
      await using made = await createPublisher();
      await made.mailbox();
      await made.createIncident();
      await made.send();
      await made.publish(change);
      await made.restart();
      await followMailLink(made, wayOut(made), "POST");
      expect(await made.subscribers()).toEqual([]);
    }
  });

  test("cancels waiting notices, and only this subscriber's", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await made.mailbox(bob);
    const { id } = await made.createIncident();
    await made.send();
    const link = findLink(
      made.mails.find(({ to }) => to.includes(ann)) ?? { text: "" },
      "unsubscribe",
    );
    made.refusals.set(ann, 450);
    made.time.now += 1;
    await made.postUpdate(id, { message: "Still." });
    await made.send();
    await followMailLink(made, link, "POST");
    made.refusals.clear();
    await made.sendAfter(60);
    await made.sendAfter(3_600);
    expect(made.listRecipients().filter((to) => to === ann)).toHaveLength(1);
    expect(made.listRecipients().filter((to) => to === bob)).toHaveLength(2);
  });

  test("does not undo a later sign-up", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await made.createIncident();
    await made.send();
    const link = wayOut(made);
    await followMailLink(made, link, "POST");
    await subscribeMailbox(made);
    await followMailLink(made, link, "POST");
    expect(await made.subscribers()).toMatchObject([{ status: "confirmed" }]);
  });
});
