import { describe, expect, test } from "bun:test";
import {
  ann,
  bob,
  follow,
  joined,
  linkIn,
  type Publisher,
  publisher,
} from "../../support/subscribing.ts";

const day = 86_400;

/** The link with which the last mail asks. */
const question = ({ mails }: Publisher) => linkIn(mails.at(-1) ?? { text: "" }, "confirm");
/** The link with which the last mail lets go. */
const wayOut = ({ mails }: Publisher) => linkIn(mails.at(-1) ?? { text: "" }, "unsubscribe");

describe.concurrent("the link of a question", () => {
  test("only asks when it is opened, as often as a scanner likes", async () => {
    await using made = await publisher();
    await made.signUp(ann);
    await made.send();
    const link = question(made);
    for (const method of ["GET", "HEAD", "GET"] as const) {
      const seen = await follow(made, link, method);
      expect([seen.status, seen.headers.get("cache-control")]).toEqual([200, "no-store"]);
    }
    expect(await made.subscribers()).toMatchObject([{ status: "pending", confirmedAt: null }]);
  });

  test("confirms once, however often its button is pressed, also twice at once", async () => {
    await using made = await publisher();
    await made.signUp(ann);
    await made.send();
    const press = () => follow(made, question(made), "POST");
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
    await using made = await publisher();
    await made.signUp(ann);
    await made.send();
    made.time.now += 7 * day * 1000;
    expect((await follow(made, question(made))).status).toBe(200);
    made.time.now += 1;
    expect((await follow(made, question(made))).status).toBe(404);
    expect((await follow(made, question(made), "POST")).status).toBe(404);
    expect(await made.subscribers()).toMatchObject([{ status: "pending" }]);
  });

  test("has ended when its mailbox was deleted, also for a mailbox that signed up again", async () => {
    await using made = await publisher();
    await made.signUp(ann);
    await made.send();
    const link = question(made);
    const [{ id }] = (await made.subscribers()) as [{ id: string }];
    await made.api("DELETE", `${made.path}/${id}`);
    for (const method of ["GET", "POST"] as const)
      expect((await follow(made, link, method)).text).toContain("This link has expired");
    await made.signUp(ann);
    await follow(made, link, "POST");
    expect(await made.subscribers()).toMatchObject([{ status: "pending" }]);
  });

  test("does not work for anything else, nor changed, nor made up", async () => {
    await using made = await publisher();
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

  test("leads to a page that was renamed between the mail and the click", async () => {
    await using made = await publisher();
    await made.signUp(ann);
    await made.send();
    await made.publish({ title: "New <b>name</b>", slug: "renamed" });
    await made.restart();
    expect((await follow(made, question(made))).text).toContain("New &lt;b&gt;name&lt;/b&gt;");
    await follow(made, question(made), "POST");
    expect(await made.subscribers()).toMatchObject([{ status: "confirmed" }]);
    made.time.now += 1;
    await made.incident();
    await made.send();
    expect(made.mails.at(-1)?.text).toContain("/status/renamed/incidents/");
    await follow(made, wayOut(made), "POST");
    expect(await made.subscribers()).toEqual([]);
  });
});

describe.concurrent("the link that unsubscribes", () => {
  test("only asks when it is opened, and needs no form to be pressed", async () => {
    await using made = await publisher();
    await made.mailbox();
    await made.incident();
    await made.send();
    for (const method of ["GET", "HEAD", "GET"] as const)
      expect((await follow(made, wayOut(made), method)).status).toBe(200);
    expect(await made.subscribers()).toHaveLength(1);
    expect((await follow(made, wayOut(made), "POST")).text).toContain("You are unsubscribed");
    expect(await made.subscribers()).toEqual([]);
  });

  test("may be pressed again, also twice at once", async () => {
    await using made = await publisher();
    await made.mailbox();
    await made.incident();
    await made.send();
    const press = () => follow(made, wayOut(made), "POST");
    for (const { status } of await Promise.all([press(), press()])) expect(status).toBe(200);
    const again = await press();
    expect([again.status, again.text.includes("You are not subscribed")]).toEqual([200, true]);
  });

  test("works as long as somebody may read the mail", async () => {
    await using made = await publisher();
    await made.mailbox();
    await made.incident();
    await made.send();
    made.time.now += 5 * 365 * day * 1000;
    await follow(made, wayOut(made), "POST");
    expect(await made.subscribers()).toEqual([]);
  });

  test("works also while the page is locked or hidden", async () => {
    for (const change of [
      { visibility: "password", password: "open sesame" },
      { visibility: "hidden" },
    ]) {
      await using made = await publisher();
      await made.mailbox();
      await made.incident();
      await made.send();
      await made.publish(change);
      await made.restart();
      await follow(made, wayOut(made), "POST");
      expect(await made.subscribers()).toEqual([]);
    }
  });

  test("ends what still waits, and leaves the others alone", async () => {
    await using made = await publisher();
    await made.mailbox();
    await made.mailbox(bob);
    const { id } = await made.incident();
    await made.send();
    const link = linkIn(
      made.mails.find(({ to }) => to.includes(ann)) ?? { text: "" },
      "unsubscribe",
    );
    made.refusals.set(ann, 450);
    made.time.now += 1;
    await made.post(id, { message: "Still." });
    await made.send();
    await follow(made, link, "POST");
    made.refusals.clear();
    await made.later(60);
    await made.later(3_600);
    expect(made.told().filter((to) => to === ann)).toHaveLength(1);
    expect(made.told().filter((to) => to === bob)).toHaveLength(2);
  });

  test("does not undo a later sign-up", async () => {
    await using made = await publisher();
    await made.mailbox();
    await made.incident();
    await made.send();
    const link = wayOut(made);
    await follow(made, link, "POST");
    await joined(made);
    await follow(made, link, "POST");
    expect(await made.subscribers()).toMatchObject([{ status: "confirmed" }]);
  });
});
