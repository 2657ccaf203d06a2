import { describe, expect, test } from "bun:test";
import { parseMarkdown, renderText } from "../../../src/core/text/markdown.ts";
import { startListener } from "../../support/check-runs.ts";
import { buildSmtpSettings } from "../../support/scripted-mail-server.ts";
import { ann, followMailLink, findLink, createPublisher } from "../../support/publisher.ts";
import { describeShape } from "../../support/visitor.ts";

/** Text that the API accepts and that has a meaning in mails, HTML or JSON. */
const hostile = {
  markup: `<script>alert(1)</script><img src=x onerror=alert(1)>`,
  "ends of attributes": `" onload="alert(1)" x="' onclick='alert(1)`,
  "ends of tags": `</title></h1></a></body><b>`,
  entities: `&lt;b&gt; &amp;amp; &#60;b&#62;`,
  "encoded words": `=?utf-8?q?Bcc=3A_eve=40evil.example?= =?utf-8?b?QmNjOiBldmU=?=`,
  "a header": `Bcc: eve@evil.example`,
  "escaped line ends": `a\\r\\nBcc: eve@evil.example %0d%0aBcc: eve@evil.example`,
  "line ends of Unicode": `a\u2028Bcc: eve@evil.example\u2029b`,
  "the end of a mail": ".",
  "a boundary": `----_NmP-0-Part_1--`,
  "right to left": "العربية \u200fevil\u200e עברית",
  emoji: "👩‍👩‍👧‍👦🏳️‍🌈 é ﷽",
  templates: "{{7+7}} ${7+7} <%= 7 %>",
};

describe.concurrent("in a page's title, an incident's and its message", () => {
  for (const [what, text] of Object.entries(hostile))
    test(`${what}: is only text`, async () => {
      await using plain = await createPublisher({ title: "plain" });
      await using publisher = await createPublisher({ title: text });
      await using hook = await publisher.addHook();
      for (const one of [plain, publisher]) {
        await one.mailbox();
        const words = one === publisher ? text : "plain";
        await one.createIncident({ title: words, message: words });
        await one.send();
      }
      const [mail] = publisher.mails;
      expect(publisher.mails.map(({ to }) => to)).toEqual([[ann]]);
      expect(mail?.headers["subject"]).toEqual([`Investigating: ${text} – ${text}`]);
      expect(Object.keys(mail?.headers ?? {})).toEqual(Object.keys(plain.mails[0]?.headers ?? {}));
      expect(mail?.text).toContain(`\n\n${renderText(parseMarkdown(text))}\n`);
      expect(describeShape(mail?.html ?? "")).toEqual(describeShape(plain.mails[0]?.html ?? ""));
      expect(hook.received()[0]?.data).toMatchObject({
        page: { title: text },
        incident: { title: text },
        message: text,
      });
    });

  test("a line break is rejected by the API", async () => {
    await using publisher = await createPublisher();
    for (const title of ["a\r\nBcc: eve@evil.example", "a\nb", "a\rb", "a\0b"]) {
      const incident = await publisher.api("POST", "/api/v1/incidents", { body: { title } });
      const page = await publisher.api("PATCH", `/api/v1/status-pages/${publisher.pageId}`, {
        body: { title },
      });
      expect([incident.status, page.status]).toEqual([422, 422]);
    }
  });
});

test.concurrent(
  "a page's title is text in the confirmation mail and on the pages of its links",
  async () => {
    const title = `"><script>alert(1)</script> =?utf-8?q?x?=`;
    await using publisher = await createPublisher({ title });
    await publisher.signUp(ann);
    await publisher.send();
    const [mail] = publisher.mails;
    expect(mail?.headers["subject"]).toEqual([`Confirm updates from ${title}`]);
    expect(mail?.html).not.toContain("<script>");
    const link = findLink(mail ?? { text: "" }, "confirm");
    for (const method of ["GET", "POST"] as const) {
      const { text, headers } = await followMailLink(publisher, link, method);
      expect(text).not.toContain("<script>");
      expect(text).toContain("&lt;script&gt;");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    }
  },
);

test.concurrent(
  "the longest words that the API accepts arrive complete, in lines that mail servers accept",
  async () => {
    const raw: string[] = [];
    await using server = await startListener((socket) => {
      let unread = "";
      let isMail = false;
      socket.write("220 mx.example\r\n");
      socket.on("data", (chunk: Buffer) => {
        unread += chunk.toString("latin1");
        for (let at = unread.indexOf("\r\n"); at !== -1; at = unread.indexOf("\r\n")) {
          const line = unread.slice(0, at);
          unread = unread.slice(at + 2);
          if (isMail && line !== ".") raw.push(line);
          else socket.write(line === "DATA" ? "354 go\r\n" : "250 fine\r\n");
          isMail = line === "DATA" || (isMail && line !== ".");
        }
      });
    });
    const title = "👩".repeat(255);
    await using publisher = await createPublisher({ title });
    await publisher.useMail(buildSmtpSettings(server.port));
    await publisher.mailbox(`${"a".repeat(64)}@${"b".repeat(60)}.${"c".repeat(60)}.example`);
    await publisher.createIncident({ title: "é".repeat(500), message: "ع".repeat(5_000) });
    await publisher.send();
    expect(raw.length).toBeGreaterThan(100);
    expect(raw.filter((line) => line.length > 998)).toEqual([]);
    expect(raw.filter((line) => /[^\t -~]/.test(line))).toEqual([]);
    expect((await publisher.subscribers())[0]?.lastError).toBeNull();
  },
);

test.concurrent("an address in the form of a header is rejected and changes nothing", async () => {
  await using publisher = await createPublisher();
  const sneaky = [
    `${ann}%0d%0aBcc:eve@evil.example`,
    `${ann}\u2028Bcc:eve@evil.example`,
    `${ann}>\r\nRCPT TO:<eve@evil.example`,
    `<${ann}>`,
  ];
  for (const email of sneaky) {
    publisher.time.now += 60_000;
    expect((await publisher.signUp(email)).status).toBe(422);
  }
  await publisher.send();
  expect(publisher.mails).toEqual([]);
});
