import { describe, expect, test } from "bun:test";
import { sweepSubscribers } from "../../../src/status-pages/subscribers/store.ts";
import { createSweeping } from "../../../src/database/backup/sweeping.ts";
import { askMailbox } from "../../../src/status-pages/subscribers/service.ts";
import {
  ann,
  bob,
  followMailLink,
  subscribeMailbox,
  findConfirmationLink,
  findUnsubscribeLink,
  createPublisher,
} from "../../support/publisher.ts";

const day = 86_400;

test.concurrent(
  "a mailbox signs up, confirms, is notified, and unsubscribes with one click",
  async () => {
    await using publisher = await createPublisher();
    const { mails, signUp, send, get, subscribers } = publisher;
    expect((await signUp("Ann@Team.example")).status).toBe(200);
    await publisher.createIncident({ title: "Before the yes" });
    await send();
    expect(mails.map(({ to, headers }) => [to, headers["subject"]])).toEqual([
      [["Ann@Team.example"], ["Confirm updates from Acme status"]],
    ]);
    expect(await subscribers()).toMatchObject([{ status: "pending", email: "Ann@Team.example" }]);

    publisher.time.now += 1000;
    const confirm = findConfirmationLink(publisher);
    expect((await followMailLink(publisher, confirm)).text).toContain("Confirm");
    expect(await subscribers()).toMatchObject([{ status: "pending" }]);
    expect((await followMailLink(publisher, confirm, "POST")).text).toContain("You are subscribed");
    expect(await subscribers()).toMatchObject([{ status: "confirmed" }]);

    const { id } = await publisher.createIncident({
      title: "Checkout fails",
      severity: "major",
      message: "We look.",
    });
    await send();
    const message = mails[1];
    expect(message?.headers["subject"]).toEqual(["Investigating: Checkout fails – Acme status"]);
    expect(message?.text).toContain("We look.");
    expect(message?.text).toContain(`/status/ours/incidents/${id}`);
    expect(message?.headers["list-unsubscribe"]).toEqual([`<${findUnsubscribeLink(publisher)}>`]);
    // RFC 8058 requires https for one-click unsubscribing.
    expect(message?.headers["list-unsubscribe-post"]).toBeUndefined();
    const form = { "List-Unsubscribe": "One-Click" };
    const { pathname } = new URL(findUnsubscribeLink(publisher));
    expect((await get(pathname, { method: "POST", form })).status).toBe(200);
    expect(await subscribers()).toEqual([]);
    await publisher.postUpdate(id, { status: "resolved" });
    await send();
    expect(mails.length).toBe(2);
  },
);

test.concurrent("over https a mail offers one-click unsubscribing, and it works", async () => {
  await using publisher = await createPublisher();
  publisher.appliance.origin = () => "https://status.team.example";
  await publisher.restart();
  await publisher.mailbox();
  await publisher.createIncident();
  await publisher.send();
  const [mail] = publisher.mails;
  expect(mail?.headers["list-unsubscribe"]).toEqual([`<${findUnsubscribeLink(publisher)}>`]);
  expect(mail?.headers["list-unsubscribe-post"]).toEqual(["List-Unsubscribe=One-Click"]);
  const { protocol, pathname } = new URL(findUnsubscribeLink(publisher));
  expect(protocol).toBe("https:");
  const form = { "List-Unsubscribe": "One-Click" };
  expect((await publisher.get(pathname, { method: "POST", form })).status).toBe(200);
  expect(await publisher.subscribers()).toEqual([]);
});

describe.concurrent("a mailbox that was given on the page", () => {
  test("gets only the confirmation mail before it confirms", async () => {
    await using publisher = await createPublisher();
    await publisher.signUp(ann);
    const { id } = await publisher.createIncident();
    await publisher.postUpdate(id, { message: "We look." });
    await publisher.planWindow();
    await publisher.sendAfter(day);
    expect(publisher.listSubjects()).toEqual(["Confirm updates from Acme status"]);
    const [mail] = publisher.mails;
    expect(mail?.headers["list-unsubscribe"]).toBeUndefined();
    expect(mail?.text).not.toContain("unsubscribe/");
  });

  test("gets nothing from before its confirmation", async () => {
    await using publisher = await createPublisher();
    await publisher.signUp(ann);
    await publisher.send();
    const { id } = await publisher.createIncident({ message: "Before." });
    publisher.time.now += 1;
    await followMailLink(publisher, findConfirmationLink(publisher), "POST");
    publisher.time.now += 1;
    await publisher.postUpdate(id, { message: "After." });
    await publisher.send();
    const texts = publisher.mails.map(({ text }) => text);
    expect(texts).toHaveLength(2);
    expect(texts[1]).toContain("After.");
    expect(texts[1]).not.toContain("Before.");
  });

  test("gets at most three confirmation mails, ten minutes apart, in any case", async () => {
    await using publisher = await createPublisher();
    const wait = async (seconds: number, email = ann) => {
      publisher.time.now += seconds * 1000;
      expect((await publisher.signUp(email)).status).toBe(200);
      await publisher.send();
      return publisher.mails.length;
    };
    expect(await wait(0)).toBe(1);
    expect(await wait(599)).toBe(1);
    expect(await wait(1, ann.toUpperCase())).toBe(2);
    expect(await wait(599)).toBe(2);
    expect(await wait(1)).toBe(3);
    for (const _ of [1, 2, 3]) expect(await wait(day)).toBe(3);
    expect(await publisher.subscribers()).toHaveLength(1);
    expect(publisher.listRecipients()).toEqual([ann, ann, ann]);
  });

  test("is deleted after seven days without a confirmation, and can sign up again", async () => {
    await using publisher = await createPublisher();
    await publisher.signUp(ann);
    await publisher.send();
    const link = findConfirmationLink(publisher);
    publisher.time.now += 7 * day * 1000;
    await sweepSubscribers(createSweeping(publisher.store, publisher.time.now));
    expect(await publisher.subscribers()).toHaveLength(1);
    publisher.time.now += 1;
    await sweepSubscribers(createSweeping(publisher.store, publisher.time.now));
    expect(await publisher.subscribers()).toEqual([]);
    expect((await followMailLink(publisher, link, "POST")).status).toBe(404);
    await publisher.signUp(ann);
    await publisher.send();
    await followMailLink(publisher, link, "POST");
    expect(await publisher.subscribers()).toMatchObject([{ status: "pending" }]);
    await followMailLink(publisher, findConfirmationLink(publisher), "POST");
    expect(await publisher.subscribers()).toMatchObject([{ status: "confirmed" }]);
  });

  test("stays after its confirmation, however long ago", async () => {
    await using publisher = await createPublisher();
    await subscribeMailbox(publisher);
    await sweepSubscribers(createSweeping(publisher.store, publisher.time.now + 400 * day * 1000));
    expect(await publisher.subscribers()).toMatchObject([{ status: "confirmed", email: ann }]);
  });

  test("is one subscriber of each page that it joins", async () => {
    await using publisher = await createPublisher();
    const { id } = await publisher.createPage();
    await subscribeMailbox(publisher);
    const form = { email: ann };
    const response = await publisher.get("/status/payments/subscribe", { method: "POST", form });
    expect(response.status).toBe(200);
    await publisher.send();
    expect(publisher.listSubjects()).toEqual(["Confirm updates from Payments"]);
    await followMailLink(publisher, findConfirmationLink(publisher), "POST");
    publisher.time.now += 1;
    const { total } = (await publisher.api("GET", `/api/v1/status-pages/${id}/subscribers`)).json
      .meta;
    expect(total).toBe(1);
    // Only the default page shows incidents of monitors that are on no page.
    await publisher.createIncident({ monitorId: (await publisher.monitor()).id });
    await publisher.send();
    expect(publisher.listSubjects().slice(1)).toEqual([
      "Investigating: Slow answers – Acme status",
    ]);
    await followMailLink(publisher, findUnsubscribeLink(publisher), "POST");
    expect(await publisher.subscribers()).toEqual([]);
    const rest = await publisher.api("GET", `/api/v1/status-pages/${id}/subscribers`);
    expect(rest.json.meta.total).toBe(1);
  });
});

test.concurrent("a mailbox that signs up twice at once gets one confirmation mail", async () => {
  await using publisher = await createPublisher();
  const spellings = [ann, ann.toUpperCase(), ann];
  const responses = await Promise.all(spellings.map((email) => publisher.signUp(email)));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
  await Promise.all(
    [bob, bob].map((email) =>
      askMailbox(publisher.ours.scope, publisher.pageId, { email, language: null }, () => true),
    ),
  );
  await publisher.send();
  expect(
    publisher
      .listRecipients()
      .map((address) => address.toLowerCase())
      .sort(),
  ).toEqual([ann, bob]);
  expect(await publisher.subscribers()).toHaveLength(2);
});

test.concurrent(
  "without a mail server sign-ups are rejected, and the page does not offer them",
  async () => {
    await using publisher = await createPublisher();
    expect((await publisher.readHtml("/status/ours/subscribe")).text).toContain("E-mail address");
    await publisher.useMail(null);
    await publisher.restart();
    expect((await publisher.readHtml("/status/ours/subscribe")).text).not.toContain(
      "E-mail address",
    );
    const { status, text } = await publisher.signUp(ann);
    expect([status, text]).toEqual([404, (await publisher.get("/status/nothing")).text]);
    expect(await publisher.subscribers()).toEqual([]);
  },
);

test.concurrent("sign-ups for a hidden or unknown page are rejected", async () => {
  await using publisher = await createPublisher();
  await publisher.publish({ visibility: "hidden" });
  await publisher.restart();
  const form = { email: ann };
  const { text } = await publisher.get("/status/nothing");
  for (const slug of ["ours", "nothing"]) {
    const seen = await publisher.get(`/status/${slug}/subscribe`, { method: "POST", form });
    expect([seen.status, seen.text]).toEqual([404, text]);
  }
  expect(await publisher.subscribers()).toEqual([]);
});

describe.concurrent("a page with a password", () => {
  const locked = { visibility: "password", password: "open sesame" };

  test("accepts sign-ups of visitors with the password, and notifies them", async () => {
    await using publisher = await createPublisher(locked);
    const stranger = await publisher.signUp(ann);
    expect([stranger.status, stranger.text.includes("Enter the password")]).toEqual([403, true]);
    expect(await publisher.subscribers()).toEqual([]);
    const form = { password: "open sesame" };
    const opened = await publisher.get("/status/ours", { method: "POST", form });
    const Cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(
      (await publisher.signUp(ann, { method: "POST", form: { email: ann }, headers: { Cookie } }))
        .status,
    ).toBe(200);
    await publisher.send();
    await followMailLink(publisher, findConfirmationLink(publisher), "POST");
    publisher.time.now += 1;
    await publisher.createIncident();
    await publisher.send();
    expect(publisher.listSubjects().at(-1)).toBe("Investigating: Slow answers – Acme status");
  });
});

describe.concurrent("a page with a host name of its own", () => {
  const host = "status.team.example:3210";
  const asking = { method: "POST", host };

  test("accepts sign-ups there, and its links lead there", async () => {
    await using publisher = await createPublisher({
      hosts: ["status.team.example", "other.example"],
    });
    await publisher.restart();
    const seen = await publisher.get("/subscribe", { ...asking, form: { email: ann } });
    expect(seen.status).toBe(200);
    await publisher.send();
    expect(findConfirmationLink(publisher)).toStartWith(`http://${host}/status/ours/confirm/`);
    await followMailLink(publisher, findConfirmationLink(publisher), "POST");
    publisher.time.now += 1;
    const { id } = await publisher.createIncident();
    await publisher.send();
    expect(publisher.mails.at(-1)?.text).toContain(`http://${host}/incidents/${id}\n`);
    expect((await publisher.readHtml(`/incidents/${id}`, { host })).text).toContain("Slow answers");
    expect(findUnsubscribeLink(publisher)).toStartWith(`http://${host}/status/ours/unsubscribe/`);
    await followMailLink(publisher, findUnsubscribeLink(publisher), "POST");
    expect(await publisher.subscribers()).toEqual([]);
  });
});
