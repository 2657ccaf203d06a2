import { describe, expect, test } from "bun:test";
import { formatCsvRow } from "../../../src/core/text/formatting.ts";
import {
  ann,
  bob,
  createPublisher,
  findLink,
  followMailLink,
  type Publisher,
} from "../../support/publisher.ts";

const importCsv = (publisher: Publisher, csv: string, confirmed: unknown = true) =>
  publisher.api("POST", `${publisher.path}-import`, { body: { csv, confirmed } });

describe.concurrent("an import of subscribers", () => {
  test("adds each address once with its choice, who is notified of later updates only", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox(bob);
    const { id } = await publisher.monitor({ name: "Shop", type: "ping", host: "a.lan" });
    await publisher.createIncident({ title: "Earlier" });
    const csv = [
      "email,minimumSeverity,maintenance,monitorIds,language",
      `${ann},major,false,${id},de`,
      `"${ann.toUpperCase()}",major,false,"${id}",de`,
      `${bob},,,,`,
      "",
    ].join("\r\n");
    const { status, json } = await importCsv(publisher, csv);
    expect([status, json.data]).toEqual([200, { added: 1, existing: 1, skipped: 0 }]);
    expect(await publisher.subscribers("&q=ANN")).toMatchObject([
      {
        status: "confirmed",
        language: "de",
        minimumSeverity: "major",
        maintenance: false,
        components: { monitorIds: [id], groupIds: [] },
      },
    ]);
    expect((await importCsv(publisher, csv)).json.data).toEqual({
      added: 0,
      existing: 2,
      skipped: 0,
    });
    publisher.time.now += 1;
    await publisher.createIncident({ title: "Later", severity: "critical" });
    await publisher.send();
    const toAnn = publisher.mails.filter(({ to }) => to.some((one) => one.toLowerCase() === ann));
    expect(toAnn.map(({ headers }) => headers["subject"]?.[0])).toEqual([
      expect.stringContaining("Later"),
    ]);
  });

  test("confirms an address that a visitor entered, which would otherwise be deleted after a week", async () => {
    await using publisher = await createPublisher();
    await publisher.signUp(ann);
    const { json } = await importCsv(publisher, `email\n${ann}\n`);
    expect(json.data).toEqual({ added: 1, existing: 0, skipped: 0 });
    expect(await publisher.subscribers()).toMatchObject([{ status: "confirmed" }]);
    expect((await importCsv(publisher, `email\n${ann}\n`)).json.data).toMatchObject({
      existing: 1,
    });
  });

  test("reads addresses that the export protects from spreadsheets", async () => {
    await using publisher = await createPublisher();
    const email = "+news@team.example";
    const [row = ""] = formatCsvRow([email]).split("\r");
    expect(row).toBe(`'${email}`);
    expect((await importCsv(publisher, `email\n${row}\n`)).status).toBe(200);
    expect(await publisher.subscribers()).toMatchObject([{ email }]);
  });

  test("names the wrong line, and then adds nothing", async () => {
    await using publisher = await createPublisher();
    for (const [csv, message] of [
      [`email\n${ann}\nnobody\n`, "line 3, email"],
      [`email,minimumSeverity\n${ann},huge\n`, "line 2, minimumSeverity"],
      [`email,incidents\n${ann},maybe\n`, "line 2, incidents"],
      [`email,color\n${ann},red\n`, "unknown column: color"],
      [`email,language\n${ann}\n`, "2 values in line 2"],
      [`name\n${ann}\n`, "unknown column"],
      [`email\n"${ann}\n`, "misplaced quote in line 2"],
      [`email,incidents,maintenance\n${ann},false,false\n`, "line 2"],
      [`email,monitorIds\n${ann},01a1fb99-3c58-7a90-b1d2-0f4e6a8c2b35\n`, "components.monitorIds"],
    ] as const) {
      const { status, json } = await importCsv(publisher, csv);
      expect([csv, status >= 400, JSON.stringify(json)]).toEqual([
        csv,
        true,
        expect.stringContaining(message),
      ]);
    }
    expect((await importCsv(publisher, `email\n${ann}\n`, false)).status).toBe(422);
    expect(await publisher.subscribers()).toEqual([]);
  });

  test("skips webhooks, and addresses that get nothing", async () => {
    await using publisher = await createPublisher();
    const csv = `type,address,status\nwebhook,https://a.example,confirmed\nemail,${bob},pending\nemail,${ann},confirmed\n`;
    const { json } = await importCsv(publisher, csv);
    expect(json.data).toEqual({ added: 1, existing: 0, skipped: 2 });
  });
});

describe.concurrent("an address that its mail server rejects", () => {
  test("permanently is quarantined, shown, and gets updates again once it is released", async () => {
    await using publisher = await createPublisher();
    const { id } = await publisher.mailbox();
    await publisher.mailbox(bob);
    publisher.refusals.set(ann, 550);
    await publisher.createIncident({ title: "First" });
    await publisher.createIncident({ title: "Second" });
    await publisher.send();
    expect(await publisher.subscribers("&status=quarantined")).toMatchObject([
      { email: ann, status: "quarantined", lastError: expect.any(String) },
    ]);
    publisher.refusals.clear();
    await publisher.createIncident({ title: "Third" });
    await publisher.sendAfter(60);
    expect(new Set(publisher.listRecipients())).toEqual(new Set([bob]));
    const release = () => publisher.api("POST", `${publisher.path}/${id}/release`);
    expect((await release()).json.data).toMatchObject({ status: "confirmed", lastError: null });
    expect((await release()).status).toBe(409);
    publisher.time.now += 1;
    await publisher.createIncident({ title: "Fourth" });
    await publisher.send();
    const toAnn = publisher.mails.filter(({ to }) => to.includes(ann));
    expect(toAnn.map(({ headers }) => headers["subject"]?.[0])).toEqual([
      expect.stringContaining("Fourth"),
    ]);
  });

  test("is released once it signs up again and confirms, and not by signing up alone", async () => {
    await using publisher = await createPublisher({ languages: ["de"] });
    const { id } = await publisher.mailbox();
    publisher.refusals.set(ann, 550);
    await publisher.createIncident({ title: "First" });
    await publisher.send();
    await publisher.signUp(ann);
    // The question itself is rejected, which changes nothing.
    await publisher.send();
    publisher.refusals.clear();
    publisher.time.now += 8 * 86_400_000;
    const seen = await publisher.get("/status/ours/subscribe?lang=de", {
      method: "POST",
      form: { email: ann },
    });
    expect(seen.status).toBe(200);
    await publisher.createIncident({ title: "Second" });
    await publisher.sendAfter(60);
    expect(publisher.listSubjects()).toEqual(["Confirm updates from Acme status"]);
    expect(await publisher.subscriber({ id })).toMatchObject({
      status: "quarantined",
      language: null,
    });
    const link = findLink(publisher.mails[0] ?? { text: "" }, "confirm");
    for (let visit = 0; visit < 2; visit++)
      expect((await followMailLink(publisher, link, "POST")).text).toContain("You are subscribed");
    expect(await publisher.subscriber({ id })).toMatchObject({
      status: "confirmed",
      lastError: null,
    });
    publisher.time.now += 1;
    await publisher.createIncident({ title: "Third" });
    await publisher.send();
    expect(publisher.listSubjects()).toEqual([
      "Confirm updates from Acme status",
      expect.stringContaining("Third"),
    ]);
  });

  test("for now is not quarantined", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    publisher.refusals.set(ann, 450);
    await publisher.createIncident();
    await publisher.send();
    expect(await publisher.subscribers()).toMatchObject([{ status: "confirmed" }]);
  });
});
