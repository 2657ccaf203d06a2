import { describe, expect, test } from "bun:test";
import {
  ann,
  bob,
  followMailLink,
  subscribeMailbox,
  findConfirmationLink,
  findLink,
  findUnsubscribeLink,
  createPublisher,
} from "../../support/publisher.ts";

const day = 86_400;

describe.concurrent("the confirmation link", () => {
  test("confirms nothing when it is opened, however often a scanner opens it", async () => {
    await using publisher = await createPublisher();
    await publisher.signUp(ann);
    await publisher.send();
    const link = findConfirmationLink(publisher);
    for (const method of ["GET", "HEAD", "GET"] as const) {
      const seen = await followMailLink(publisher, link, method);
      expect([seen.status, seen.headers.get("cache-control")]).toEqual([200, "no-store"]);
    }
    expect(await publisher.subscribers()).toMatchObject([{ status: "pending", confirmedAt: null }]);
  });

  test("confirms once, however often its button is pressed, also concurrently", async () => {
    await using publisher = await createPublisher();
    await publisher.signUp(ann);
    await publisher.send();
    const press = () => followMailLink(publisher, findConfirmationLink(publisher), "POST");
    const responses = await Promise.all([press(), press(), press()]);
    for (const { status, text } of [...responses, await press()]) {
      expect(status).toBe(200);
      expect(text).toContain(`Updates from Acme status are sent to ${ann}.`);
    }
    const events = publisher.database
      .query("select type from events where type like 'subscriber.%' order by seq")
      .values();
    expect(events.flat()).toEqual(["subscriber.asked", "subscriber.confirmed"]);
    expect(await publisher.subscribers()).toMatchObject([{ status: "confirmed" }]);
  });

  test("works for seven days", async () => {
    await using publisher = await createPublisher();
    await publisher.signUp(ann);
    await publisher.send();
    publisher.time.now += 7 * day * 1000;
    expect((await followMailLink(publisher, findConfirmationLink(publisher))).status).toBe(200);
    publisher.time.now += 1;
    expect((await followMailLink(publisher, findConfirmationLink(publisher))).status).toBe(404);
    expect((await followMailLink(publisher, findConfirmationLink(publisher), "POST")).status).toBe(
      404,
    );
    expect(await publisher.subscribers()).toMatchObject([{ status: "pending" }]);
  });

  test("stops working when its mailbox is deleted, even if it signs up again", async () => {
    await using publisher = await createPublisher();
    await publisher.signUp(ann);
    await publisher.send();
    const link = findConfirmationLink(publisher);
    const [{ id }] = (await publisher.subscribers()) as [{ id: string }];
    await publisher.api("DELETE", `${publisher.path}/${id}`);
    for (const method of ["GET", "POST"] as const)
      expect((await followMailLink(publisher, link, method)).text).toContain(
        "This link has expired",
      );
    await publisher.signUp(ann);
    await followMailLink(publisher, link, "POST");
    expect(await publisher.subscribers()).toMatchObject([{ status: "pending" }]);
  });

  test("works for no other purpose, and is rejected if it was changed or made up", async () => {
    await using publisher = await createPublisher();
    await publisher.signUp(ann);
    await publisher.send();
    const unknown = await publisher.get("/status/nothing");
    const { pathname } = new URL(findConfirmationLink(publisher));
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
        const { status, text } = await publisher.get(path, { method });
        expect([path, status, text]).toEqual([path, 404, unknown.text]);
      }
    for (const method of ["PUT", "DELETE", "PATCH"])
      expect((await publisher.get(pathname, { method })).status).toBe(404);
    expect(await publisher.subscribers()).toMatchObject([{ status: "pending" }]);
  });

  test("leads to the page, even if it was renamed after the mail", async () => {
    await using publisher = await createPublisher();
    await publisher.signUp(ann);
    await publisher.send();
    await publisher.publish({ title: "New <b>name</b>", slug: "renamed" });
    await publisher.restart();
    expect((await followMailLink(publisher, findConfirmationLink(publisher))).text).toContain(
      "New &lt;b&gt;name&lt;/b&gt;",
    );
    await followMailLink(publisher, findConfirmationLink(publisher), "POST");
    expect(await publisher.subscribers()).toMatchObject([{ status: "confirmed" }]);
    publisher.time.now += 1;
    await publisher.createIncident();
    await publisher.send();
    expect(publisher.mails.at(-1)?.text).toContain("/status/renamed/incidents/");
    await followMailLink(publisher, findUnsubscribeLink(publisher), "POST");
    expect(await publisher.subscribers()).toEqual([]);
  });
});

describe.concurrent("the link that unsubscribes", () => {
  test("unsubscribes only when its button is pressed, without further input", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.createIncident();
    await publisher.send();
    for (const method of ["GET", "HEAD", "GET"] as const)
      expect((await followMailLink(publisher, findUnsubscribeLink(publisher), method)).status).toBe(
        200,
      );
    expect(await publisher.subscribers()).toHaveLength(1);
    expect(
      (await followMailLink(publisher, findUnsubscribeLink(publisher), "POST")).text,
    ).toContain("You are unsubscribed");
    expect(await publisher.subscribers()).toEqual([]);
  });

  test("can be pressed again, also concurrently", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.createIncident();
    await publisher.send();
    const press = () => followMailLink(publisher, findUnsubscribeLink(publisher), "POST");
    for (const { status } of await Promise.all([press(), press()])) expect(status).toBe(200);
    const again = await press();
    expect([again.status, again.text.includes("You are not subscribed")]).toEqual([200, true]);
  });

  test("still works after five years", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.createIncident();
    await publisher.send();
    publisher.time.now += 5 * 365 * day * 1000;
    await followMailLink(publisher, findUnsubscribeLink(publisher), "POST");
    expect(await publisher.subscribers()).toEqual([]);
  });

  test("works while the page is locked or hidden", async () => {
    for (const change of [
      { visibility: "password", password: "open sesame" },
      { visibility: "hidden" },
    ]) {
      await using publisher = await createPublisher();
      await publisher.mailbox();
      await publisher.createIncident();
      await publisher.send();
      await publisher.publish(change);
      await publisher.restart();
      await followMailLink(publisher, findUnsubscribeLink(publisher), "POST");
      expect(await publisher.subscribers()).toEqual([]);
    }
  });

  test("cancels waiting notices, and only this subscriber's", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.mailbox(bob);
    const { id } = await publisher.createIncident();
    await publisher.send();
    const link = findLink(
      publisher.mails.find(({ to }) => to.includes(ann)) ?? { text: "" },
      "unsubscribe",
    );
    publisher.refusals.set(ann, 450);
    publisher.time.now += 1;
    await publisher.postUpdate(id, { message: "Still." });
    await publisher.send();
    await followMailLink(publisher, link, "POST");
    publisher.refusals.clear();
    await publisher.sendAfter(60);
    await publisher.sendAfter(3_600);
    expect(publisher.listRecipients().filter((to) => to === ann)).toHaveLength(1);
    expect(publisher.listRecipients().filter((to) => to === bob)).toHaveLength(2);
  });

  test("does not undo a later sign-up", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.createIncident();
    await publisher.send();
    const link = findUnsubscribeLink(publisher);
    await followMailLink(publisher, link, "POST");
    await subscribeMailbox(publisher);
    await followMailLink(publisher, link, "POST");
    expect(await publisher.subscribers()).toMatchObject([{ status: "confirmed" }]);
  });
});
