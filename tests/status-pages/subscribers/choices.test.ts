import { describe, expect, test } from "bun:test";
import {
  ann,
  bob,
  createPublisher,
  findLink,
  followMailLink,
  type Publisher,
} from "../../support/publisher.ts";
import { replyWith, startTarget } from "../../support/target.ts";
import { buildSection } from "../../support/visitor.ts";

/** A page with a group and a single monitor, and the ids of both. */
async function createShop() {
  const publisher = await createPublisher();
  const group = await publisher.api("POST", "/api/v1/monitor-groups", { body: { name: "Shop" } });
  const groupId = group.json.data.id as string;
  const cart = await publisher.monitor({ name: "Cart", type: "ping", host: "a.lan", groupId });
  const mail = await publisher.monitor({ name: "Mail", type: "ping", host: "b.lan" });
  await publisher.publish({
    sections: [{ groupId, monitors: [] }, buildSection("Office", mail.id)],
  });
  return { publisher, groupId, cart: cart.id as string, mail: mail.id as string };
}

const openForm = async ({ mails, get }: Publisher, form?: Record<string, string>) => {
  const link = findLink(mails.at(-1) ?? { text: "" }, "manage");
  const { host, pathname } = new URL(link);
  return get(pathname, { host, ...(form && { method: "POST", form }) });
};

describe.concurrent("a subscriber gets", () => {
  test("incidents from a severity, and all further updates of a reported one", async () => {
    await using publisher = await createPublisher();
    await publisher.added({ type: "email", email: ann, confirmed: true, minimumSeverity: "major" });
    publisher.time.now += 1;
    await publisher.createIncident({ title: "Small", severity: "minor" });
    const { id } = await publisher.createIncident({ title: "Large", severity: "critical" });
    await publisher.send();
    await publisher.postUpdate(id, { severity: "minor" });
    await publisher.postUpdate(id, { status: "resolved" });
    await publisher.send();
    expect(publisher.listSubjects().map((subject) => subject?.split(" –")[0])).toEqual([
      "Investigating: Large",
      "Resolved: Large",
    ]);
  });

  test("only the kinds they chose", async () => {
    await using publisher = await createPublisher();
    await publisher.added({ type: "email", email: ann, confirmed: true, maintenance: false });
    await publisher.added({ type: "email", email: bob, confirmed: true, incidents: false });
    publisher.time.now += 1;
    await publisher.createIncident();
    await publisher.planWindow();
    await publisher.send();
    expect(publisher.listRecipients().toSorted()).toEqual([ann, bob]);
    expect(publisher.mails.find(({ to }) => to.includes(bob))?.text).toContain(
      "Scheduled maintenance",
    );
  });

  test("updates about their monitors, their groups and the whole page", async () => {
    const { publisher, groupId, cart, mail } = await createShop();
    await using _closing = publisher;
    const components = { monitorIds: [mail], groupIds: [] };
    await publisher.added({ type: "email", email: ann, confirmed: true, components });
    const groups = { monitorIds: [], groupIds: [groupId] };
    await publisher.added({ type: "email", email: bob, confirmed: true, components: groups });
    publisher.time.now += 1;
    await publisher.createIncident({ title: "Cart", monitorIds: [cart] });
    await publisher.createIncident({ title: "Mail", monitorIds: [mail] });
    await publisher.createIncident({ title: "Page" });
    await publisher.planWindow({ title: "Cart work", groupIds: [groupId] });
    await publisher.send();
    const titlesOf = (email: string) =>
      publisher.mails
        .filter(({ to }) => to.includes(email))
        .map(({ headers }) => /: (.*) –/.exec(headers["subject"]?.[0] ?? "")?.[1] ?? "")
        .toSorted();
    expect(titlesOf(ann)).toEqual(["Mail", "Page"]);
    expect(titlesOf(bob)).toEqual(["Cart", "Cart work", "Page"]);
  });
});

describe.concurrent("the link that changes the choice", () => {
  test("shows it, stores it, and unsubscribes", async () => {
    const { publisher, groupId, mail } = await createShop();
    await using _closing = publisher;
    const { id } = await publisher.mailbox();
    await publisher.createIncident();
    await publisher.send();
    const { text, status } = await openForm(publisher);
    expect([status, text.match(/type="checkbox"/g)?.length]).toEqual([200, 5]);
    const section = /name="group" value="([^"]+)"/.exec(text)?.[1] ?? "";
    // The id of an internal group is not public.
    expect(text).not.toContain(groupId);
    const saved = await openForm(publisher, {
      do: "save",
      maintenance: "1",
      incidents: "1",
      severity: "critical",
      components: "some",
      monitor: mail,
      group: section,
    });
    expect(saved.text).toContain("Saved.");
    expect(await publisher.subscriber({ id })).toMatchObject({
      incidents: true,
      minimumSeverity: "critical",
      components: { monitorIds: [mail], groupIds: [groupId] },
    });
    expect((await openForm(publisher)).text).toContain(`value="${mail}" checked`);
    const last = await openForm(publisher, { do: "unsubscribe" });
    expect(last.text).toContain("You are unsubscribed");
    expect(await publisher.subscribers()).toEqual([]);
  });

  test("changes the language of all further messages to one that the page offers", async () => {
    await using publisher = await createPublisher({ language: "en", languages: ["de", "fr"] });
    const { id } = await publisher.mailbox();
    await publisher.createIncident({ title: "First" });
    await publisher.send();
    const { text } = await openForm(publisher);
    expect(text).toContain('<option value="en" lang="en" selected>English</option>');
    const save = (language: string) =>
      openForm(publisher, {
        do: "save",
        incidents: "1",
        maintenance: "1",
        components: "all",
        language,
      });
    expect((await save("en")).text).toContain("Saved.");
    expect(await publisher.subscriber({ id })).toMatchObject({ language: null });
    const german = await save("de");
    expect(german.text).toContain("Gespeichert.");
    expect(german.text).toContain('<option value="de" lang="de" selected>Deutsch</option>');
    for (const language of ["ja", "x", ""]) await save(language);
    expect(await publisher.subscriber({ id })).toMatchObject({ language: "de" });
    await publisher.createIncident({ title: "Second" });
    await publisher.send();
    expect(publisher.listSubjects()[1]).toStartWith("Wird untersucht: Second");
    // The page stops offering it, and the subscriber keeps it.
    await publisher.publish({ languages: [] });
    await save("de");
    expect(await publisher.subscriber({ id })).toMatchObject({ language: "de" });
    expect((await save("en")).text).toContain("Saved.");
    expect(await publisher.subscriber({ id })).toMatchObject({ language: "en" });
  });

  test("rejects an empty choice and components that the page does not show", async () => {
    const { publisher } = await createShop();
    await using _closing = publisher;
    const hidden = await publisher.monitor({ name: "Hidden", type: "ping", host: "c.lan" });
    const before = await publisher.mailbox();
    await publisher.createIncident();
    await publisher.send();
    for (const form of [
      { do: "save", components: "all" },
      { do: "save", incidents: "1", components: "some", monitor: hidden.id as string },
    ]) {
      const { status, text } = await openForm(publisher, form);
      expect([status, text.includes("Choose at least one")]).toEqual([422, true]);
    }
    expect(await publisher.subscriber(before)).toMatchObject({ incidents: true, components: null });
  });

  test("shows nothing of a page that the subscriber can no longer open", async () => {
    const { publisher } = await createShop();
    await using _closing = publisher;
    await publisher.mailbox();
    await publisher.createIncident();
    await publisher.send();
    await publisher.publish({ visibility: "hidden" });
    const { text } = await openForm(publisher);
    expect(text).toContain("Unsubscribe");
    expect(text).not.toContain("Cart");
    await openForm(publisher, { do: "save", incidents: "1" });
    expect(await publisher.subscribers()).toHaveLength(1);
  });

  test("is in every mail, and on the page that confirms a subscription", async () => {
    await using publisher = await createPublisher();
    await publisher.signUp(ann);
    await publisher.send();
    const link = findLink(publisher.mails[0] ?? { text: "" }, "confirm");
    const { text } = await followMailLink(publisher, link, "POST");
    expect(text).toMatch(/href="\.\.\/manage\/[\w.-]+"/);
  });
});

describe.concurrent("the API", () => {
  test("changes a choice, and rejects one of nothing or of unknown components", async () => {
    await using publisher = await createPublisher();
    const { id } = await publisher.mailbox();
    const patch = (body: object) => publisher.api("PATCH", `${publisher.path}/${id}`, { body });
    expect((await patch({ minimumSeverity: "major" })).json.data).toMatchObject({
      minimumSeverity: "major",
      maintenance: true,
    });
    for (const [body, path] of [
      [{ incidents: false, maintenance: false }, "incidents"],
      [{ components: {} }, "components"],
      [{ components: { monitorIds: [id] } }, "components.monitorIds"],
      [{ email: bob }, "email"],
    ] as const) {
      const { status, json } = await patch(body);
      expect([status >= 400, JSON.stringify(json)]).toEqual([true, expect.stringContaining(path)]);
    }
  });

  test("adds a chat, whose webhook URL it never returns", async () => {
    await using publisher = await createPublisher();
    await using slack = await startTarget(replyWith(200, "ok"));
    const body = { type: "slack", webhookUrl: slack.at("/services/T0/secret") };
    const added = await publisher.added(body);
    expect(added).toMatchObject({
      url: slack.at("").replace(/\/$/, ""),
      secretsSet: ["webhookUrl"],
    });
    expect(JSON.stringify(await publisher.subscribers())).not.toContain('secret"');
    expect((await publisher.api("POST", publisher.path, { body })).status).toBe(409);
    publisher.time.now += 1;
    await publisher.createIncident({ title: "Checkout fails" });
    await publisher.send();
    expect(slack.asked).toHaveLength(1);
    expect(JSON.stringify(slack.asked)).toContain("Checkout fails");
  });
});
