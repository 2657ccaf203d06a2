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

const importCsv = (made: Publisher, csv: string, confirmed: unknown = true) =>
  made.api("POST", `${made.path}-import`, { body: { csv, confirmed } });

describe.concurrent("an import of subscribers", () => {
  test("adds each address once with its choice, who is notified of later updates only", async () => {
    await using made = await createPublisher();
    await made.mailbox(bob);
    const { id } = await made.monitor({ name: "Shop", type: "ping", host: "a.lan" });
    await made.createIncident({ title: "Earlier" });
    const csv = [
      "email,minimumSeverity,maintenance,monitorIds,language",
      `${ann},major,false,${id},de`,
      `"${ann.toUpperCase()}",major,false,"${id}",de`,
      `${bob},,,,`,
      "",
    ].join("\r\n");
    const { status, json } = await importCsv(made, csv);
    expect([status, json.data]).toEqual([200, { added: 1, existing: 1, skipped: 0 }]);
    expect(await made.subscribers("&q=ANN")).toMatchObject([
      {
        status: "confirmed",
        language: "de",
        minimumSeverity: "major",
        maintenance: false,
        components: { monitorIds: [id], groupIds: [] },
      },
    ]);
    expect((await importCsv(made, csv)).json.data).toEqual({ added: 0, existing: 2, skipped: 0 });
    made.time.now += 1;
    await made.createIncident({ title: "Later", severity: "critical" });
    await made.send();
    const toAnn = made.mails.filter(({ to }) => to.some((one) => one.toLowerCase() === ann));
    expect(toAnn.map(({ headers }) => headers["subject"]?.[0])).toEqual([
      expect.stringContaining("Later"),
    ]);
  });

  test("confirms an address that a visitor entered, which would otherwise be deleted after a week", async () => {
    await using made = await createPublisher();
    await made.signUp(ann);
    const { json } = await importCsv(made, `email\n${ann}\n`);
    expect(json.data).toEqual({ added: 1, existing: 0, skipped: 0 });
    expect(await made.subscribers()).toMatchObject([{ status: "confirmed" }]);
    expect((await importCsv(made, `email\n${ann}\n`)).json.data).toMatchObject({ existing: 1 });
  });

  test("reads addresses that the export protects from spreadsheets", async () => {
    await using made = await createPublisher();
    const email = "+news@team.example";
    const [row = ""] = formatCsvRow([email]).split("\r");
    expect(row).toBe(`'${email}`);
    expect((await importCsv(made, `email\n${row}\n`)).status).toBe(200);
    expect(await made.subscribers()).toMatchObject([{ email }]);
  });

  test("names the wrong line, and then adds nothing", async () => {
    await using made = await createPublisher();
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
      const { status, json } = await importCsv(made, csv);
      expect([csv, status >= 400, JSON.stringify(json)]).toEqual([
        csv,
        true,
        expect.stringContaining(message),
      ]);
    }
    expect((await importCsv(made, `email\n${ann}\n`, false)).status).toBe(422);
    expect(await made.subscribers()).toEqual([]);
  });

  test("skips webhooks, and addresses that get nothing", async () => {
    await using made = await createPublisher();
    const csv = `type,address,status\nwebhook,https://a.example,confirmed\nemail,${bob},pending\nemail,${ann},confirmed\n`;
    const { json } = await importCsv(made, csv);
    expect(json.data).toEqual({ added: 1, existing: 0, skipped: 2 });
  });
});

describe.concurrent("an address that its mail server rejects", () => {
  test("for good is quarantined, shown, and gets updates again once it is released", async () => {
    await using made = await createPublisher();
    const { id } = await made.mailbox();
    await made.mailbox(bob);
    made.refusals.set(ann, 550);
    await made.createIncident({ title: "First" });
    await made.createIncident({ title: "Second" });
    await made.send();
    expect(await made.subscribers("&status=quarantined")).toMatchObject([
      { email: ann, status: "quarantined", lastError: expect.any(String) },
    ]);
    made.refusals.clear();
    await made.createIncident({ title: "Third" });
    await made.sendAfter(60);
    expect(new Set(made.listRecipients())).toEqual(new Set([bob]));
    const release = () => made.api("POST", `${made.path}/${id}/release`);
    expect((await release()).json.data).toMatchObject({ status: "confirmed", lastError: null });
    expect((await release()).status).toBe(409);
    made.time.now += 1;
    await made.createIncident({ title: "Fourth" });
    await made.send();
    const toAnn = made.mails.filter(({ to }) => to.includes(ann));
    expect(toAnn.map(({ headers }) => headers["subject"]?.[0])).toEqual([
      expect.stringContaining("Fourth"),
    ]);
  });

  test("is released once it signs up again and confirms, and not by signing up alone", async () => {
    await using made = await createPublisher({ languages: ["de"] });
    const { id } = await made.mailbox();
    made.refusals.set(ann, 550);
    await made.createIncident({ title: "First" });
    await made.send();
    await made.signUp(ann);
    // The question itself is rejected, which changes nothing.
    await made.send();
    made.refusals.clear();
    made.time.now += 8 * 86_400_000;
    const seen = await made.get("/status/ours/subscribe?lang=de", {
      method: "POST",
      form: { email: ann },
    });
    expect(seen.status).toBe(200);
    await made.createIncident({ title: "Second" });
    await made.sendAfter(60);
    expect(made.listSubjects()).toEqual(["Confirm updates from Acme status"]);
    expect(await made.subscriber({ id })).toMatchObject({ status: "quarantined", language: null });
    const link = findLink(made.mails[0] ?? { text: "" }, "confirm");
    for (let visit = 0; visit < 2; visit++)
      expect((await followMailLink(made, link, "POST")).text).toContain("You are subscribed");
    expect(await made.subscriber({ id })).toMatchObject({ status: "confirmed", lastError: null });
    made.time.now += 1;
    await made.createIncident({ title: "Third" });
    await made.send();
    expect(made.listSubjects()).toEqual([
      "Confirm updates from Acme status",
      expect.stringContaining("Third"),
    ]);
  });

  test("for now is not quarantined", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    made.refusals.set(ann, 450);
    await made.createIncident();
    await made.send();
    expect(await made.subscribers()).toMatchObject([{ status: "confirmed" }]);
  });
});
