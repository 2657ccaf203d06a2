import { describe, expect, test } from "bun:test";
import { sweepSubscribers } from "../../../src/status-pages/subscribers/store.ts";
import { createSweeping } from "../../../src/database/backup/sweeping.ts";
import { askMailbox } from "../../../src/status-pages/subscribers/service.ts";
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

test.concurrent(
  "a mailbox signs up, confirms, is notified, and unsubscribes with one click",
  async () => {
    await using made = await createPublisher();
    const { mails, signUp, send, get, subscribers } = made;
    expect((await signUp("Ann@Team.example")).status).toBe(200);
    await made.createIncident({ title: "Before the yes" });
    await send();
    expect(mails.map(({ to, headers }) => [to, headers["subject"]])).toEqual([
      [["Ann@Team.example"], ["Confirm updates from Acme status"]],
    ]);
    expect(await subscribers()).toMatchObject([{ status: "pending", email: "Ann@Team.example" }]);

    made.time.now += 1000;
    const confirm = question(made);
    expect((await followMailLink(made, confirm)).text).toContain("Confirm");
    expect(await subscribers()).toMatchObject([{ status: "pending" }]);
    expect((await followMailLink(made, confirm, "POST")).text).toContain("You are subscribed");
    expect(await subscribers()).toMatchObject([{ status: "confirmed" }]);

    const { id } = await made.createIncident({
      title: "Checkout fails",
      severity: "major",
      message: "We look.",
    });
    await send();
    const told = mails[1];
    expect(told?.headers["subject"]).toEqual(["Investigating: Checkout fails – Acme status"]);
    expect(told?.text).toContain("We look.");
    expect(told?.text).toContain(`/status/ours/incidents/${id}`);
    expect(told?.headers["list-unsubscribe"]).toEqual([`<${wayOut(made)}>`]);
    // RFC 8058 requires https for one-click unsubscribing.
    expect(told?.headers["list-unsubscribe-post"]).toBeUndefined();
    const form = { "List-Unsubscribe": "One-Click" };
    const { pathname } = new URL(wayOut(made));
    expect((await get(pathname, { method: "POST", form })).status).toBe(200);
    expect(await subscribers()).toEqual([]);
    await made.postUpdate(id, { status: "resolved" });
    await send();
    expect(mails.length).toBe(2);
  },
);

test.concurrent("over https a mail offers one-click unsubscribing, and it works", async () => {
  await using made = await createPublisher();
  made.appliance.origin = () => "https://status.team.example";
  await made.restart();
  await made.mailbox();
  await made.createIncident();
  await made.send();
  const [mail] = made.mails;
  expect(mail?.headers["list-unsubscribe"]).toEqual([`<${wayOut(made)}>`]);
  expect(mail?.headers["list-unsubscribe-post"]).toEqual(["List-Unsubscribe=One-Click"]);
  const { protocol, pathname } = new URL(wayOut(made));
  expect(protocol).toBe("https:");
  const form = { "List-Unsubscribe": "One-Click" };
  expect((await made.get(pathname, { method: "POST", form })).status).toBe(200);
  expect(await made.subscribers()).toEqual([]);
});

describe.concurrent("a mailbox that was given on the page", () => {
  test("gets only the confirmation mail before it confirms", async () => {
    await using made = await createPublisher();
    await made.signUp(ann);
    const { id } = await made.createIncident();
    await made.postUpdate(id, { message: "We look." });
    await made.planWindow();
    await made.sendAfter(day);
    expect(made.listSubjects()).toEqual(["Confirm updates from Acme status"]);
    const [mail] = made.mails;
    expect(mail?.headers["list-unsubscribe"]).toBeUndefined();
    expect(mail?.text).not.toContain("unsubscribe/");
  });

  test("gets nothing from before its confirmation", async () => {
    await using made = await createPublisher();
    await made.signUp(ann);
    await made.send();
    const { id } = await made.createIncident({ message: "Before." });
    made.time.now += 1;
    await followMailLink(made, question(made), "POST");
    made.time.now += 1;
    await made.postUpdate(id, { message: "After." });
    await made.send();
    const texts = made.mails.map(({ text }) => text);
    expect(texts).toHaveLength(2);
    expect(texts[1]).toContain("After.");
    expect(texts[1]).not.toContain("Before.");
  });

  test("gets at most three confirmation mails, ten minutes apart, in any case", async () => {
    await using made = await createPublisher();
    const wait = async (seconds: number, email = ann) => {
      made.time.now += seconds * 1000;
      expect((await made.signUp(email)).status).toBe(200);
      await made.send();
      return made.mails.length;
    };
    expect(await wait(0)).toBe(1);
    expect(await wait(599)).toBe(1);
    expect(await wait(1, ann.toUpperCase())).toBe(2);
    expect(await wait(599)).toBe(2);
    expect(await wait(1)).toBe(3);
    for (const _ of [1, 2, 3]) expect(await wait(day)).toBe(3);
    expect(await made.subscribers()).toHaveLength(1);
    expect(made.listRecipients()).toEqual([ann, ann, ann]);
  });

  test("is deleted after seven days without a confirmation, and can sign up again", async () => {
    await using made = await createPublisher();
    await made.signUp(ann);
    await made.send();
    const link = question(made);
    made.time.now += 7 * day * 1000;
    await sweepSubscribers(createSweeping(made.store, made.time.now));
    expect(await made.subscribers()).toHaveLength(1);
    made.time.now += 1;
    await sweepSubscribers(createSweeping(made.store, made.time.now));
    expect(await made.subscribers()).toEqual([]);
    expect((await followMailLink(made, link, "POST")).status).toBe(404);
    await made.signUp(ann);
    await made.send();
    await followMailLink(made, link, "POST");
    expect(await made.subscribers()).toMatchObject([{ status: "pending" }]);
    await followMailLink(made, question(made), "POST");
    expect(await made.subscribers()).toMatchObject([{ status: "confirmed" }]);
  });

  test("stays after its confirmation, however long ago", async () => {
    await using made = await createPublisher();
    await subscribeMailbox(made);
    await sweepSubscribers(createSweeping(made.store, made.time.now + 400 * day * 1000));
    expect(await made.subscribers()).toMatchObject([{ status: "confirmed", email: ann }]);
  });

  test("is one subscriber of each page that it joins", async () => {
    await using made = await createPublisher();
    const { id } = await made.createPage();
    await subscribeMailbox(made);
    const form = { email: ann };
    const answer = await made.get("/status/payments/subscribe", { method: "POST", form });
    expect(answer.status).toBe(200);
    await made.send();
    expect(made.listSubjects()).toEqual(["Confirm updates from Payments"]);
    await followMailLink(made, question(made), "POST");
    made.time.now += 1;
    const { total } = (await made.api("GET", `/api/v1/status-pages/${id}/subscribers`)).json.meta;
    expect(total).toBe(1);
    // Only the default page shows incidents of monitors that are on no page.
    await made.createIncident({ monitorId: (await made.monitor()).id });
    await made.send();
    expect(made.listSubjects().slice(1)).toEqual(["Investigating: Slow answers – Acme status"]);
    await followMailLink(made, wayOut(made), "POST");
    expect(await made.subscribers()).toEqual([]);
    const rest = await made.api("GET", `/api/v1/status-pages/${id}/subscribers`);
    expect(rest.json.meta.total).toBe(1);
  });
});

test.concurrent("a mailbox that signs up twice at once gets one confirmation mail", async () => {
  await using made = await createPublisher();
  const spellings = [ann, ann.toUpperCase(), ann];
  const answers = await Promise.all(spellings.map((email) => made.signUp(email)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  await Promise.all(
    [bob, bob].map((email) =>
      askMailbox(made.ours.scope, made.pageId, { email, language: null }, () => true),
    ),
  );
  await made.send();
  expect(
    made
      .listRecipients()
      .map((address) => address.toLowerCase())
      .sort(),
  ).toEqual([ann, bob]);
  expect(await made.subscribers()).toHaveLength(2);
});

test.concurrent(
  "without a mail server sign-ups are rejected, and the page does not offer them",
  async () => {
    await using made = await createPublisher();
    expect((await made.readHtml("/status/ours/subscribe")).text).toContain("E-mail address");
    await made.useMail(null);
    await made.restart();
    expect((await made.readHtml("/status/ours/subscribe")).text).not.toContain("E-mail address");
    const { status, text } = await made.signUp(ann);
    expect([status, text]).toEqual([404, (await made.get("/status/nothing")).text]);
    expect(await made.subscribers()).toEqual([]);
  },
);

test.concurrent("sign-ups for a hidden or unknown page are rejected", async () => {
  await using made = await createPublisher();
  await made.publish({ visibility: "hidden" });
  await made.restart();
  const form = { email: ann };
  const { text } = await made.get("/status/nothing");
  for (const slug of ["ours", "nothing"]) {
    const seen = await made.get(`/status/${slug}/subscribe`, { method: "POST", form });
    expect([seen.status, seen.text]).toEqual([404, text]);
  }
  expect(await made.subscribers()).toEqual([]);
});

describe.concurrent("a page with a password", () => {
  const locked = { visibility: "password", password: "open sesame" };

  test("accepts sign-ups of visitors with the password, and notifies them", async () => {
    await using made = await createPublisher(locked);
    const stranger = await made.signUp(ann);
    expect([stranger.status, stranger.text.includes("Enter the password")]).toEqual([403, true]);
    expect(await made.subscribers()).toEqual([]);
    const form = { password: "open sesame" };
    const opened = await made.get("/status/ours", { method: "POST", form });
    const Cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(
      (await made.signUp(ann, { method: "POST", form: { email: ann }, headers: { Cookie } }))
        .status,
    ).toBe(200);
    await made.send();
    await followMailLink(made, question(made), "POST");
    made.time.now += 1;
    await made.createIncident();
    await made.send();
    expect(made.listSubjects().at(-1)).toBe("Investigating: Slow answers – Acme status");
  });
});

describe.concurrent("a page with a host name of its own", () => {
  const host = "status.team.example:3210";
  const asking = { method: "POST", host };

  test("accepts sign-ups there, and its links lead there", async () => {
    await using made = await createPublisher({ hosts: ["status.team.example", "other.example"] });
    await made.restart();
    const seen = await made.get("/subscribe", { ...asking, form: { email: ann } });
    expect(seen.status).toBe(200);
    await made.send();
    expect(question(made)).toStartWith(`http://${host}/status/ours/confirm/`);
    await followMailLink(made, question(made), "POST");
    made.time.now += 1;
    const { id } = await made.createIncident();
    await made.send();
    expect(made.mails.at(-1)?.text).toContain(`http://${host}/incidents/${id}\n`);
    expect((await made.readHtml(`/incidents/${id}`, { host })).text).toContain("Slow answers");
    expect(wayOut(made)).toStartWith(`http://${host}/status/ours/unsubscribe/`);
    await followMailLink(made, wayOut(made), "POST");
    expect(await made.subscribers()).toEqual([]);
  });
});
