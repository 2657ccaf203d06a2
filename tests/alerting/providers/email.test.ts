import { describe, expect, test } from "bun:test";
import { email } from "../../../src/alerting/providers/email.ts";
import type { SmtpSettings } from "../../../src/accounts/settings/schema.ts";
import {
  createAlert,
  deliveryId,
  monitor,
  startReceiver,
  createAlertStorm,
  createMessage,
} from "../../support/alert-receiver.ts";
import { startMailServer } from "../../support/mail-server.ts";

const to = ["oncall@team.example", "boss@team.example"];

/** Sends this message, and returns the mail. */
async function mailFor(
  message: ReturnType<typeof createMessage>,
  smtp: Partial<SmtpSettings> = {},
) {
  await using server = await startMailServer();
  await using net = await startReceiver();
  const settings = { to, template: null };
  expect(await net.deliver(email, settings, message, { smtp: server.smtp(smtp) })).toEqual({
    outcome: "delivered",
    progress: { reached: to, refused: [] },
  });
  return server.getOnlyMail();
}

describe("content of a mail", () => {
  test("an outage: one mail to all recipients, with its text as plain text and HTML", async () => {
    const mail = await mailFor(createMessage(createAlert("monitor.down")));
    expect(mail.from).toBe("signalbox@team.example");
    expect(mail.to).toEqual(to);
    expect(mail.headers).toEqual({
      from: ["Signalbox <signalbox@team.example>"],
      to: ["oncall@team.example, boss@team.example"],
      subject: ["Shop is down"],
      date: ["Fri, 20 Nov 2026 23:02:00 +0000"],
      "message-id": [`<${deliveryId}@team.example>`],
      "in-reply-to": [`<signalbox-${monitor.id}@team.example>`],
      references: [`<signalbox-${monitor.id}@team.example>`],
      "auto-submitted": ["auto-generated"],
      "x-signalbox-delivery": [deliveryId],
      "mime-version": ["1.0"],
      "content-type": [expect.stringMatching(/^multipart\/alternative; boundary="[^"]+"$/)],
    });
    expect(mail.text).toBe(
      [
        "Shop is down",
        "",
        "The connection was refused.",
        "Since: 2026-11-20 23:02:00 UTC",
        "Group: Front of house",
        "",
        `https://signalbox.lan/monitors/${monitor.id}`,
        "",
      ].join("\n"),
    );
    expect(mail.html).toContain('border-left:4px solid #d92d20">');
    expect(mail.html).toMatch(/<h1 [^>]*>Shop is down<\/h1>/);
    expect(mail.html).toMatch(/<p [^>]*>The connection was refused\.<\/p>/);
    expect(mail.html).toMatch(/>Since<\/th><td [^>]*>2026-11-20 23:02:00 UTC<\/td>/);
    expect(mail.html).toContain(`<a href="https://signalbox.lan/monitors/${monitor.id}">`);
  });

  test("its recovery is in the same thread, in green", async () => {
    const down = await mailFor(createMessage(createAlert("monitor.down")));
    const up = await mailFor(createMessage(createAlert("monitor.up")));
    expect(up.headers["subject"]).toEqual(["Shop is up again"]);
    expect(up.headers["references"]).toEqual(down.headers["references"] ?? []);
    expect(up.headers["in-reply-to"]).toEqual(down.headers["in-reply-to"] ?? []);
    expect(up.text).toContain("\nWas down for: 12 min 34 s\n");
    expect(up.html).toContain('border-left:4px solid #12a150">');
  });

  test("an empty line between a multi-line text and the facts below it", async () => {
    const mail = await mailFor(
      createMessage(
        createAlert("incident.updated", {
          message: "Two causes:\r\n\r\n- the disk\r\n- the network",
          isMarkdown: true,
        }),
      ),
    );
    expect(mail.text).toContain("Two causes:\n\n- the disk\n- the network\n\nSeverity: major\n");
    expect(mail.text).not.toMatch(/\n\n\n/);
  });

  test("a digest of 1,000 alerts is a list of all, in no thread", async () => {
    const mail = await mailFor(createMessage(createAlertStorm(1_000)));
    expect(mail.headers["subject"]).toEqual(["1,000 monitors are down"]);
    expect(mail.headers["references"]).toBeUndefined();
    expect(mail.headers["in-reply-to"]).toBeUndefined();
    const lines = Array.from(
      { length: 1_000 },
      (_, index) => `Shop ${index + 1} is down. The connection was refused.`,
    );
    expect(mail.text).toBe(
      ["1,000 monitors are down", "", ...lines, "", "https://signalbox.lan", ""].join("\n"),
    );
    expect(mail.html.match(/<li>/g)).toHaveLength(1_000);
    expect(mail.html).toContain("<li>Shop 1000 is down. The connection was refused.</li>");
  });

  test("a test alert", async () => {
    const mail = await mailFor(createMessage(createAlert("test")));
    expect(mail.headers["subject"]).toEqual(["Test alert from Signalbox"]);
    expect(mail.text).toContain("\nAlerts of this channel arrive here.\n");
  });

  test("a custom text preserves its lines", async () => {
    const template = "{{monitor}} is {{status}}!\n  Call <Jo> & Max: 1 < 2";
    const mail = await mailFor(createMessage(createAlert("monitor.down"), template));
    expect(mail.text).toContain("\n\nShop is down!\n  Call <Jo> & Max: 1 < 2\n\nhttps://");
    expect(mail.html).toContain(
      'white-space:pre-line">Shop is down!\n  Call &lt;Jo&gt; &amp; Max: 1 &lt; 2</p>',
    );
  });

  test("each attempt has the same id and the same date", async () => {
    await using server = await startMailServer();
    await using net = await startReceiver();
    const message = createMessage(createAlert("monitor.down"));
    for (const now of [0, 86_400_000])
      await net.deliver(email, { to, template: null }, message, { now, smtp: server.smtp() });
    const [first, second] = server.mails;
    for (const name of ["message-id", "date", "x-signalbox-delivery"])
      expect(second?.headers[name]).toEqual(first?.headers[name] ?? []);
  });
});

describe("names and texts", () => {
  const findByName = (name: string) =>
    createMessage(createAlert("monitor.down", { monitor: { ...monitor, name } }));

  test("are shown unchanged in every script, and never as HTML", async () => {
    const name = `<script>"Größe" & 'メール' 📈</script>`;
    const mail = await mailFor(findByName(name));
    expect(mail.headers["subject"]).toEqual([`${name} is down`]);
    expect(mail.text).toStartWith(`${name} is down\n`);
    expect(mail.html).toContain(
      "&lt;script&gt;&quot;Größe&quot; &amp; 'メール' 📈&lt;/script&gt; is down</h1>",
    );
    expect(mail.html).not.toContain("<script");
  });

  test("of 255 characters, or with encoded words, arrive unchanged", async () => {
    for (const name of ["ä".repeat(255), "w".repeat(255), "=?utf-8?Q?=42oo?= Shop"]) {
      const mail = await mailFor(findByName(name));
      expect(mail.text).toStartWith(`${name} is down\n`);
      expect(mail.headers["subject"]).toEqual([`${name} is down`]);
    }
  });

  test("add no header and no recipient", async () => {
    const plain = await mailFor(createMessage(createAlert("monitor.down")));
    for (const end of ["\r\n", "\n", "\r", "\u2028", "\0"]) {
      const name = `Shop${end}Bcc: eve@evil.example${end}${end}<b>`;
      const mail = await mailFor(findByName(name));
      expect(mail.to).toEqual(to);
      expect(Object.keys(mail.headers).sort()).toEqual(Object.keys(plain.headers).sort());
      expect(mail.headers["subject"]).toHaveLength(1);
    }
  });

  test("a single dot does not end the mail", async () => {
    const template = "before\n.\r\n.\r\nQUIT\n..\nafter";
    const mail = await mailFor(createMessage(createAlert("monitor.down"), template));
    expect(mail.text).toContain("\nbefore\n.\n.\nQUIT\n..\nafter\n");
  });
});

describe("the sender", () => {
  test.each([
    ["signalbox@team.example", "signalbox@team.example", "signalbox@team.example"],
    ["Doe, Jo <jo@team.example>", '"Doe, Jo" <jo@team.example>', "jo@team.example"],
    ['"Doe, Jo" <jo@team.example>', '"Doe, Jo" <jo@team.example>', "jo@team.example"],
    ["Störung <jo@team.example>", "Störung <jo@team.example>", "jo@team.example"],
    ["eve@evil.example, <jo@team.example>", /<jo@team\.example>$/, "jo@team.example"],
  ])("%s", async (from, shown, envelope) => {
    const mail = await mailFor(createMessage(createAlert("test")), { from });
    expect(mail.from).toBe(envelope);
    expect(mail.headers["from"]).toEqual([
      typeof shown === "string" ? shown : expect.stringMatching(shown),
    ]);
    expect(mail.headers["message-id"]).toEqual([`<${deliveryId}@team.example>`]);
  });
});

test("without a mail server it is retried for an hour", async () => {
  await using net = await startReceiver();
  expect(
    await net.deliver(email, { to, template: null }, createMessage(createAlert("test"))),
  ).toEqual({
    outcome: "failed",
    reason: "No mail server is set up; see Settings.",
    failure: "looks-permanent",
  });
});
