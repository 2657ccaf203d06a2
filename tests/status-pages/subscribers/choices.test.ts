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
  const made = await createPublisher();
  const group = await made.api("POST", "/api/v1/monitor-groups", { body: { name: "Shop" } });
  const groupId = group.json.data.id as string;
  const cart = await made.monitor({ name: "Cart", type: "ping", host: "a.lan", groupId });
  const mail = await made.monitor({ name: "Mail", type: "ping", host: "b.lan" });
  await made.publish({
    sections: [{ groupId, monitors: [] }, buildSection("Office", mail.id)],
  });
  return { made, groupId, cart: cart.id as string, mail: mail.id as string };
}

const openForm = async ({ mails, get }: Publisher, form?: Record<string, string>) => {
  const link = findLink(mails.at(-1) ?? { text: "" }, "manage");
  const { host, pathname } = new URL(link);
  return get(pathname, { host, ...(form && { method: "POST", form }) });
};

describe.concurrent("a subscriber gets", () => {
  test("incidents from a severity, and all further updates of a reported one", async () => {
    await using made = await createPublisher();
    await made.added({ type: "email", email: ann, confirmed: true, minimumSeverity: "major" });
    made.time.now += 1;
    await made.createIncident({ title: "Small", severity: "minor" });
    const { id } = await made.createIncident({ title: "Large", severity: "critical" });
    await made.send();
    await made.postUpdate(id, { severity: "minor" });
    await made.postUpdate(id, { status: "resolved" });
    await made.send();
    expect(made.listSubjects().map((subject) => subject?.split(" –")[0])).toEqual([
      "Investigating: Large",
      "Resolved: Large",
    ]);
  });

  test("only the kinds they chose", async () => {
    await using made = await createPublisher();
    await made.added({ type: "email", email: ann, confirmed: true, maintenance: false });
    await made.added({ type: "email", email: bob, confirmed: true, incidents: false });
    made.time.now += 1;
    await made.createIncident();
    await made.planWindow();
    await made.send();
    expect(made.listRecipients().toSorted()).toEqual([ann, bob]);
    expect(made.mails.find(({ to }) => to.includes(bob))?.text).toContain("Scheduled maintenance");
  });

  test("updates about their monitors, their groups and the whole page", async () => {
    const { made, groupId, cart, mail } = await createShop();
    await using _closing = made;
    const components = { monitorIds: [mail], groupIds: [] };
    await made.added({ type: "email", email: ann, confirmed: true, components });
    const groups = { monitorIds: [], groupIds: [groupId] };
    await made.added({ type: "email", email: bob, confirmed: true, components: groups });
    made.time.now += 1;
    await made.createIncident({ title: "Cart", monitorIds: [cart] });
    await made.createIncident({ title: "Mail", monitorIds: [mail] });
    await made.createIncident({ title: "Page" });
    await made.planWindow({ title: "Cart work", groupIds: [groupId] });
    await made.send();
    const titlesOf = (email: string) =>
      made.mails
        .filter(({ to }) => to.includes(email))
        .map(({ headers }) => /: (.*) –/.exec(headers["subject"]?.[0] ?? "")?.[1] ?? "")
        .toSorted();
    expect(titlesOf(ann)).toEqual(["Mail", "Page"]);
    expect(titlesOf(bob)).toEqual(["Cart", "Cart work", "Page"]);
  });
});

describe.concurrent("the link that changes the choice", () => {
  test("shows it, stores it, and unsubscribes", async () => {
    const { made, groupId, mail } = await createShop();
    await using _closing = made;
    const { id } = await made.mailbox();
    await made.createIncident();
    await made.send();
    const { text, status } = await openForm(made);
    expect([status, text.match(/type="checkbox"/g)?.length]).toEqual([200, 5]);
    const section = /name="group" value="([^"]+)"/.exec(text)?.[1] ?? "";
    // The id of an internal group is not public.
    expect(text).not.toContain(groupId);
    const saved = await openForm(made, {
      do: "save",
      maintenance: "1",
      incidents: "1",
      severity: "critical",
      components: "some",
      monitor: mail,
      group: section,
    });
    expect(saved.text).toContain("Saved.");
    expect(await made.subscriber({ id })).toMatchObject({
      incidents: true,
      minimumSeverity: "critical",
      components: { monitorIds: [mail], groupIds: [groupId] },
    });
    expect((await openForm(made)).text).toContain(`value="${mail}" checked`);
    const last = await openForm(made, { do: "unsubscribe" });
    expect(last.text).toContain("You are unsubscribed");
    expect(await made.subscribers()).toEqual([]);
  });

  test("changes the language of all further messages to one that the page offers", async () => {
    await using made = await createPublisher({ language: "en", languages: ["de", "fr"] });
    const { id } = await made.mailbox();
    await made.createIncident({ title: "First" });
    await made.send();
    const { text } = await openForm(made);
    expect(text).toContain('<option value="en" lang="en" selected>English</option>');
    const save = (language: string) =>
      openForm(made, { do: "save", incidents: "1", maintenance: "1", components: "all", language });
    expect((await save("en")).text).toContain("Saved.");
    expect(await made.subscriber({ id })).toMatchObject({ language: null });
    const german = await save("de");
    expect(german.text).toContain("Gespeichert.");
    expect(german.text).toContain('<option value="de" lang="de" selected>Deutsch</option>');
    for (const language of ["ja", "x", ""]) await save(language);
    expect(await made.subscriber({ id })).toMatchObject({ language: "de" });
    await made.createIncident({ title: "Second" });
    await made.send();
    expect(made.listSubjects()[1]).toStartWith("Wird untersucht: Second");
    // The page stops offering it, and the subscriber keeps it.
    await made.publish({ languages: [] });
    await save("de");
    expect(await made.subscriber({ id })).toMatchObject({ language: "de" });
    expect((await save("en")).text).toContain("Saved.");
    expect(await made.subscriber({ id })).toMatchObject({ language: "en" });
  });

  test("rejects an empty choice and components that the page does not show", async () => {
    const { made } = await createShop();
    await using _closing = made;
    const hidden = await made.monitor({ name: "Hidden", type: "ping", host: "c.lan" });
    const before = await made.mailbox();
    await made.createIncident();
    await made.send();
    for (const form of [
      { do: "save", components: "all" },
      { do: "save", incidents: "1", components: "some", monitor: hidden.id as string },
    ]) {
      const { status, text } = await openForm(made, form);
      expect([status, text.includes("Choose at least one")]).toEqual([422, true]);
    }
    expect(await made.subscriber(before)).toMatchObject({ incidents: true, components: null });
  });

  test("shows nothing of a page that the subscriber can no longer open", async () => {
    const { made } = await createShop();
    await using _closing = made;
    await made.mailbox();
    await made.createIncident();
    await made.send();
    await made.publish({ visibility: "hidden" });
    const { text } = await openForm(made);
    expect(text).toContain("Unsubscribe");
    expect(text).not.toContain("Cart");
    await openForm(made, { do: "save", incidents: "1" });
    expect(await made.subscribers()).toHaveLength(1);
  });

  test("is in every mail, and on the page that confirms a subscription", async () => {
    await using made = await createPublisher();
    await made.signUp(ann);
    await made.send();
    const link = findLink(made.mails[0] ?? { text: "" }, "confirm");
    const { text } = await followMailLink(made, link, "POST");
    expect(text).toMatch(/href="\.\.\/manage\/[\w.-]+"/);
  });
});

describe.concurrent("the API", () => {
  test("changes a choice, and rejects one of nothing or of unknown components", async () => {
    await using made = await createPublisher();
    const { id } = await made.mailbox();
    const patch = (body: object) => made.api("PATCH", `${made.path}/${id}`, { body });
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
    await using made = await createPublisher();
    await using slack = await startTarget(replyWith(200, "ok"));
    const body = { type: "slack", webhookUrl: slack.at("/services/T0/secret") };
    const added = await made.added(body);
    expect(added).toMatchObject({
      url: slack.at("").replace(/\/$/, ""),
      secretsSet: ["webhookUrl"],
    });
    expect(JSON.stringify(await made.subscribers())).not.toContain('secret"');
    expect((await made.api("POST", made.path, { body })).status).toBe(409);
    made.time.now += 1;
    await made.createIncident({ title: "Checkout fails" });
    await made.send();
    expect(slack.asked).toHaveLength(1);
    expect(JSON.stringify(slack.asked)).toContain("Checkout fails");
  });
});
