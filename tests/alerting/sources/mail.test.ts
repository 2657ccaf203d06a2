/** Mails to alert sources over SMTP: from the first command of a sender to the message about the alert. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { describe, expect, spyOn, test } from "bun:test";
import { createTransport } from "nodemailer";
import { boundHeaders } from "../../../src/alerting/sources/mail/header-rules.ts";
import { parseMail } from "../../../src/alerting/sources/mail/message.ts";
import { createMailMetrics } from "../../../src/alerting/sources/mail/metrics.ts";
import { MailListener } from "../../../src/alerting/sources/mail/listener.ts";
import { mailBounds } from "../../../src/core/limits.ts";
import { formatMetrics } from "../../../src/core/metrics.ts";
import { createNetworkLimit, createRateLimit } from "../../../src/http/access/rate-limit.ts";
import { reportRun } from "../../../src/monitoring/pings/ping.ts";
import type { Tls } from "../../../src/http/listener.ts";
import { writeCertificates } from "../../support/certificates.ts";
import type { Json } from "../../support/json.ts";
import { createPager } from "../../support/pager.ts";
import { dialPort } from "../../support/raw-connection.ts";

const path = "/api/v1/alert-sources";

async function createWorld({
  tls = null,
  perMinute = 1_000,
}: { tls?: Tls | null; perMinute?: number } = {}) {
  const pager = await createPager();
  const { api, appliance } = pager;
  const inbox = await pager.inbox({ name: "Ops" });
  const { clock, store, log, sourceWriter: writer } = appliance;
  const metrics = createMailMetrics();
  const listener = new MailListener({
    log,
    metrics,
    context: {
      store,
      writer,
      wrongTokens: createNetworkLimit(3, clock),
      mails: createRateLimit(100, clock),
      reportRun: (job, report) =>
        reportRun(job, report, { reportTo: pager.engine.reportTo, services: appliance }),
    },
    connections: createNetworkLimit(perMinute, clock),
  });
  await listener.open("127.0.0.1", 0, tls);
  async function createSource(fields: object = {}) {
    const body = { name: "NAS im Keller", type: "email", alertChannelIds: [inbox.id], ...fields };
    const { status, json, text } = await api("POST", path, { body });
    if (status !== 201) throw new Error(text);
    return json.data as { id: string; address: string };
  }
  const transport = createTransport({
    host: "127.0.0.1",
    port: listener.number,
    tls: { rejectUnauthorized: false },
    pool: false,
  });
  let sent = 0;
  /** Sends a mail with nodemailer. Returns the response of the server. */
  const send = async (to: string | string[], fields: object = {}) => {
    const mail = {
      from: "nas@lan.example",
      to,
      subject: "Backup failed",
      text: "Disk 2 is broken.",
    };
    return transport.sendMail({ messageId: `<${++sent}@nas>`, ...mail, ...fields });
  };
  const listLog = async (id: string): Promise<Json[]> =>
    (await api("GET", `${path}/${id}/requests`)).json.data;
  return {
    ...pager,
    inbox,
    createSource,
    send,
    listLog,
    listener,
    readMetrics: () => formatMetrics(metrics.metrics()),
    [Symbol.asyncDispose]: () => listener.stop(),
  };
}

/** A conversation in which each line is sent after the previous reply. Returns all replies. */
async function converse(port: number, lines: readonly string[]) {
  const connection = await dialPort(port);
  await connection.waitForText(/^220 .*\r\n/);
  let received = "";
  for (const [index, line] of lines.entries()) {
    connection.send(`${line}\r\n`);
    const replies = `^((\\d{3}-[^\n]*\n)*\\d{3} [^\n]*\n){${index + 2}}$`;
    received = await connection.waitForText(new RegExp(replies));
  }
  connection.hangUp();
  return received;
}

const mailTo = (recipient: string) => [
  "EHLO nas",
  "MAIL FROM:<nas@lan.example>",
  `RCPT TO:<${recipient}>`,
];

describe("a mail", () => {
  test("opens an alert, the mail about the end resolves it, and channels hear of both", async () => {
    await using world = await createWorld();
    const { createSource, send, later, inbox, readAlerts } = world;
    const { address } = await createSource();
    expect(address).toMatch(/^nas-im-keller\+[0-9A-Za-z]{32}@signalbox\.internal$/);
    await send(address, { subject: "[nas] Backup failed", priority: "high" });
    await later();
    const [alert] = await readAlerts("&status=open");
    expect(alert).toMatchObject({ title: "[nas] Backup failed", priority: "critical" });
    await send(address, { subject: "Re: [nas] Backup successful" });
    await later();
    expect(await readAlerts("&status=open")).toEqual([]);
    expect(inbox.alerts().map(({ type }) => type)).toEqual(["source.opened", "source.resolved"]);
    expect(inbox.alerts()[0]?.data.report).toMatchObject({ key: "nas backup" });
  });

  test("to several sources is stored for each that can read it", async () => {
    await using world = await createWorld();
    const { createSource, send, listLog } = world;
    const strict = await createSource({ mailRules: { key: "host=(\\S+)" } });
    const other = await createSource({ name: "Two" });
    await send([strict.address, other.address]);
    expect((await listLog(strict.id))[0]).toMatchObject({ status: 422 });
    expect((await listLog(other.id))[0]).toMatchObject({ outcome: "Opened 1 alert." });
    expect(String(await send(strict.address).catch((error: unknown) => error))).toContain("554");
  });

  test("to several sources is stored for each, and is replayed from the log", async () => {
    await using world = await createWorld();
    const { createSource, send, listLog, api } = world;
    const [one, two] = [await createSource(), await createSource({ name: "Two" })];
    await send([one.address, two.address]);
    const [logged] = await listLog(two.id);
    expect(logged).toMatchObject({ status: 200, outcome: "Opened 1 alert." });
    expect(JSON.stringify(await listLog(one.id))).not.toContain(one.address);
    const { json } = await api("POST", `${path}/${two.id}/requests/${logged?.["id"]}/replay`);
    expect(json.data.outcome).toBe("It changed no alert.");
  });

  test("is decoded: charsets, encodings, HTML without text", async () => {
    await using world = await createWorld();
    const { createSource, send, listLog } = world;
    const { address, id } = await createSource();
    const html = "<style>p{}</style><p>Datentr&auml;ger&nbsp;2<br>ist <b>kaputt</b> &#8364;</p>";
    await send(address, { subject: "Festplatte größer", text: undefined, html });
    const raw = [
      "Message-ID: <latin@nas>",
      "Subject: =?iso-8859-1?Q?St=F6rung?=",
      "Content-Type: text/plain; charset=windows-1252",
      "Content-Transfer-Encoding: base64",
      "",
      Buffer.from("K\xfchlung \x80", "latin1").toString("base64"),
    ];
    await send(address, { raw: raw.join("\r\n"), envelope: { from: "a@b.c", to: address } });
    expect((await listLog(id)).map(({ body }) => JSON.parse(body as string))).toMatchObject([
      { subject: "Störung", text: "Kühlung €" },
      { subject: "Festplatte größer", text: "Datenträger 2\nist kaputt €" },
    ]);
  });

  test("is decoded with bounded headers: 64 KiB of colons in From took 0.7 s", async () => {
    const limit = mailBounds.header.value;
    const buildHostileHeader = (name: string) => `${name}: ${"a:b,\r\n ".repeat(1_500)}`;
    const boundAndDecode = (headers: readonly string[]) =>
      boundHeaders(Buffer.from([...headers, "", "The text.\r\n"].join("\r\n"))).toString();
    for (const name of ["From", "To", "Subject", "Content-Type", "X-Own"])
      expect(boundAndDecode([buildHostileHeader(name)]).length).toBeLessThan(limit + 50);
    expect(boundAndDecode([buildHostileHeader("Message-ID")])).toBe("\r\nThe text.\r\n");
    expect(
      boundAndDecode([
        "To: a",
        "subject : Backup\r\n\tfailed",
        "Subject: b",
        " c",
        "no colon",
        "From: d",
      ]),
    ).toBe("subject : Backup\r\n\tfailed\r\nFrom: d\r\n\r\nThe text.\r\n");
    expect(boundAndDecode(["From: d\n\nSubject: of the text"])).toStartWith(
      "From: d\r\n\r\nSubject:",
    );
    expect(() =>
      boundAndDecode(Array.from({ length: 66 }, () => `X: ${"a".repeat(1_000)}`)),
    ).toThrow("at most 64 KiB of headers");
    const mail = await parseMail(
      Buffer.from(`${buildHostileHeader("From")}\r\nSubject: Größer\r\n\r\nText`),
    );
    expect(mail).toMatchObject({ subject: "Größer", text: "Text" });
  });

  test("of a Signalbox to its own source opens nothing, so that no alert repeats itself", async () => {
    await using world = await createWorld();
    const { createSource, send, listLog } = world;
    const { address, id } = await createSource();
    await send(address, { headers: { "X-Signalbox-Delivery": "1" } });
    expect(await listLog(id)).toMatchObject([{ outcome: "It reports no alert." }]);
  });
});

describe("a mail to a job", () => {
  test("reports a run, whose keywords can make it a failure, as in Healthchecks", async () => {
    await using world = await createWorld();
    const { send, createJob, readStatus, engine, api } = world;
    const { id, path: pushPath } = await createJob({ failureKeywords: ["ERROR"], retries: 0 });
    await engine.runOnce();
    const address = `${pushPath.split("/").at(-1)}@signalbox.lan`;
    await send(address, { subject: "Backup", text: "All files copied." });
    expect(await readStatus(id)).toBe("up");
    await send(`backup+${address}`, { subject: "Backup", text: "ERROR: disk full" });
    expect(await readStatus(id)).toBe("down");
    const { reports } = (await api("GET", `/api/v1/monitors/${id}/job`)).json.data;
    expect(reports).toHaveLength(2);
  });

  test("counts once if it arrives again, at the same time or later", async () => {
    await using world = await createWorld();
    const { send, createJob, engine, api, time } = world;
    const { id, path: pushPath } = await createJob({});
    await engine.runOnce();
    const address = `${pushPath.split("/").at(-1)}@signalbox.lan`;
    const mail = { messageId: "<backup-1@nas>" };
    await Promise.all([send(address, mail), send(address, mail)]);
    time.now += 120_000;
    await send(address, mail);
    const read = async () => (await api("GET", `/api/v1/monitors/${id}/job`)).json.data.reports;
    expect(await read()).toHaveLength(1);
    await send(address, { messageId: "<backup-2@nas>" });
    expect(await read()).toHaveLength(2);
  });
});

describe("rules", () => {
  test("say what is down, what is up and what is ignored, by words and expressions", async () => {
    await using world = await createWorld();
    const { createSource, send, readAlerts, later } = world;
    const { address } = await createSource({
      mailRules: {
        searchIn: "all",
        ignoredWhen: ["/^info:/"],
        resolvedWhen: ["wieder da"],
        openWhen: ["/ausfall|fehler/"],
        key: "Host: (\\S+)",
      },
    });
    for (const [subject, text] of [
      ["Info: Fehler behoben", "Host: a"],
      ["Ausfall", "Host: b"],
      ["Ausfall", "Host: c"],
      ["Werbung", "Host: d"],
      ["Host C", "Host: c ist wieder da"],
      ["Zwischenausfallzeit", "Host: e"],
    ])
      await send(address, { subject, text });
    await later();
    const open = await readAlerts("&status=open");
    expect(open.map(({ title }) => title)).toEqual(["Ausfall", "Zwischenausfallzeit"]);
  });

  test("that are no expressions are rejected by name, and so are rules of other types", async () => {
    await using world = await createWorld();
    const { api } = world;
    const create = async (fields: object) =>
      (await api("POST", path, { body: { name: "x", type: "email", ...fields } })).json.error;
    expect(await create({ mailRules: { openWhen: ["ok", "/(/"] } })).toMatchObject({
      details: [{ path: "mailRules.openWhen[1]" }],
    });
    expect(await create({ mailRules: { key: "(" } })).toMatchObject({
      details: [{ path: "mailRules.key" }],
    });
    expect(await create({ type: "grafana", mailRules: {} })).toMatchObject({
      details: [{ path: "mailRules" }],
    });
  });

  test("find words with any character", async () => {
    await using world = await createWorld();
    const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
    for (const character of [...printable, "–", "…", "✓", "🔥", "é"]) {
      const word = `a${character}b`;
      const { json } = await world.api("POST", `${path}/preview`, {
        body: {
          type: "email",
          mailRules: { resolvedWhen: [word] },
          body: `Subject: state\nContent-Type: text/plain; charset=utf-8\n\nx`.replace(
            "state",
            `=?utf-8?B?${Buffer.from(`is ${word} now`).toString("base64")}?=`,
          ),
        },
      });
      expect([word, json.data?.alerts[0].status]).toEqual([word, "resolved"]);
    }
  });

  test("share one limit of work, so that a mail can't make all of them expensive", async () => {
    await using world = await createWorld();
    const text = createHash("shake256", { outputLength: 20_000 }).update("").digest("hex");
    const expensive = Array.from({ length: 19 }, (_, at) => `/[0-7][^z]{14}q${at}/`);
    const preview = async (ignoredWhen: string[]) =>
      (
        await world.api("POST", `${path}/preview`, {
          body: {
            type: "email",
            mailRules: { searchIn: "all", ignoredWhen },
            body: `Subject: x\n\n${text.replaceAll(/.{70}/g, "$&\n")}`,
          },
        })
      ).json.data.alerts.length;
    // Different expressions, because states of earlier searches are cached.
    const [first, last] = [text.slice(0, 8), text.slice(8, 16)];
    expect(await preview([...expensive.slice(0, 1), `/${first}/`])).toBe(0);
    expect(await preview([...expensive, `/${last}/`])).toBe(1);
  });

  test("are searched for each organization in turn, and too many previews are rejected", async () => {
    await using world = await createWorld();
    const theirApi = world.theirs.api;
    const body = { type: "email", mailRules: { resolvedWhen: ["/x/"] }, body: "Subject: x\n\nx" };
    const finished: string[] = [];
    const send = async (name: string, api: typeof world.api) => {
      const { status } = await api("POST", `${path}/preview`, { body });
      finished.push(name);
      return status;
    };
    const previews = Array.from({ length: 150 }, () => send("ours", world.api));
    const theirs = await send("theirs", theirApi);
    const statuses = await Promise.all(previews);
    expect(theirs).toBe(200);
    expect(finished.indexOf("theirs")).toBeLessThan(finished.lastIndexOf("ours"));
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });

  test("are tried on a pasted mail", async () => {
    await using world = await createWorld();
    const { api } = world;
    const body =
      "Subject: vzdump backup status (pve1): backup failed\n\nVM 100 ERROR: no space left";
    const { json } = await api("POST", `${path}/preview`, { body: { type: "email", body } });
    expect(json.data.alerts).toEqual([
      {
        key: "vzdump backup status pve1 backup",
        status: "open",
        title: "vzdump backup status (pve1): backup failed",
        text: "VM 100 ERROR: no space left",
        priority: null,
        link: null,
      },
    ]);
  });
});

describe("the SMTP listener", () => {
  test("relays nothing: any other recipient gets 550, and too many of them are slowed down", async () => {
    await using world = await createWorld();
    const { createSource, listener } = world;
    const { address } = await createSource();
    const other = await createSource({ type: "grafana", name: "Grafana" });
    const token = new URL(other.address).pathname.split("/").at(-1);
    const replies = await converse(listener.number, [
      ...mailTo("someone@example.com"),
      `RCPT TO:<x+${token}@signalbox.internal>`,
      `RCPT TO:<${address.replace(/\+./, "+!")}>`,
      "RCPT TO:<fourth@example.com>",
      `RCPT TO:<${address}>`,
      "VRFY root",
    ]);
    expect(replies.match(/^\d{3} [^\r]*/gm)?.slice(3)).toEqual([
      "550 5.1.1 This address belongs to no alert source and no job.",
      "550 5.1.1 This address belongs to no alert source and no job.",
      "550 5.1.1 This address belongs to no alert source and no job.",
      "451 4.3.0 Too many wrong addresses from this network. Try again in 60 s.",
      "250 Accepted",
      "252 Try to send something. No promises though",
    ]);
  });

  test("the token alone is an address, too, at any host", async () => {
    await using world = await createWorld();
    const { createSource, send, listLog } = world;
    const { address, id } = await createSource();
    const token = address.split("+")[1]?.split("@")[0];
    await send(`${token}@any.example`);
    expect(await listLog(id)).toHaveLength(1);
  });

  test("a mail that can't be stored gets a temporary error, so that its sender repeats it", async () => {
    await using world = await createWorld();
    const { createSource, listener, store, listLog, appliance, readAlerts, later } = world;
    const { address, id } = await createSource();
    const lines = [
      ...mailTo(address),
      "DATA",
      "Subject: Backup failed\r\nMessage-ID: <x@nas>\r\n\r\nx\r\n.",
    ];
    const atomic = store.atomic.bind(store);
    appliance.store.atomic = () => Promise.reject(new Error("disk full"));
    expect(await converse(listener.number, lines)).toMatch(
      /\n451 4\.3\.0 The request could not be stored\.\r\n$/,
    );
    appliance.store.atomic = atomic;
    expect(await listLog(id)).toEqual([]);
    expect(await converse(listener.number, lines)).toMatch(/\n250 2\.0\.0 Stored\r\n$/);
    await later();
    expect(await readAlerts("&status=open")).toHaveLength(1);
  });

  test("a mail without subject and text is a problem, such as a picture of a camera", async () => {
    await using world = await createWorld();
    const { createSource, listener, later, readAlerts } = world;
    const { address } = await createSource();
    for (const headers of ["From: a@b.c", "Subject: "]) {
      const lines = [...mailTo(address), "DATA", `${headers}\r\n\r\n.`];
      expect(await converse(listener.number, lines)).toMatch(/\n250 2\.0\.0 Stored\r\n$/);
    }
    await later();
    expect((await readAlerts("&status=open")).map(({ title }) => title)).toEqual(
      expect.arrayContaining(["Mail from a@b.c", "Mail from an unknown sender"]),
    );
  });

  test("the address can be quoted", async () => {
    await using world = await createWorld();
    const { createSource, listener } = world;
    const { address } = await createSource();
    const quoted = address.replace(/^(.*)@/, '"$1"@');
    const lines = [...mailTo(quoted), "DATA", "Subject: Disk full\r\n\r\n."];
    expect(await converse(listener.number, lines)).toMatch(/\n250 2\.0\.0 Stored\r\n$/);
  });

  test("a large attachment is discarded, and a mail beyond the limit is rejected", async () => {
    await using world = await createWorld();
    const { createSource, send, listLog } = world;
    const { address, id } = await createSource();
    const attach = (bytes: number) => ({
      attachments: [{ filename: "log", content: Buffer.alloc(bytes) }],
    });
    await send(address, attach(2_000_000));
    expect((await listLog(id))[0]?.["bytes"]).toBeLessThan(500);
    expect(send(address, attach(mailBounds.size.value))).rejects.toThrow("552");
  });

  test("a network has ten connections, and a flood of commands ends one", async () => {
    await using world = await createWorld();
    const { listener } = world;
    const connections = [];
    for (let i = 0; i < mailBounds.connectionsPerNetwork.value; i++) {
      const one = await dialPort(listener.number);
      await one.waitForText(/^220 /);
      connections.push(one);
    }
    const eleventh = await dialPort(listener.number);
    expect(await eleventh.waitUntilClosed()).toMatch(/^421 /);
    connections[0]?.send("NOOP\r\n".repeat(mailBounds.commands.value / 5));
    expect(await connections[0]?.waitUntilClosed()).toContain(
      "421 4.7.0 Too long or too many commands",
    );
    for (const one of connections) one.hangUp();
  });

  test.each([
    ["MAIL FROM:nas@lan.example", "RCPT TO:", "", 250],
    ["MAIL FROM: nas@lan.example SIZE=100", "RCPT TO: ", "", 250],
    ["mail from:nas", "rcpt to:", "", 250],
    ["MAIL FROM: <nas@lan.example> BODY=8BITMIME", "RCPT TO: <", ">", 250],
    ["MAIL FROM:<>", "RCPT TO:<", ">", 250],
    ["MAIL FROM:<root> SIZE=100", "RCPT TO:<", ">", 250],
    ["MAIL FROM:<ilo.@lan.example>", "RCPT TO:<", ">", 250],
    ["MAIL FROM:", "RCPT TO:", "", 501],
    ["MAIL FROM:<nas@lan.example", "RCPT TO:", "", 501],
    ["MAIL FROM:nas@lan.example>", "RCPT TO:", "", 501],
    ["MAIL FROM nas@lan.example", "RCPT TO:", "", 501],
  ])("%s, then %s, is read as Postfix does", async (from, to, end, code) => {
    await using world = await createWorld();
    const { address } = await world.createSource();
    const lines = code === 250 ? [from, `${to}${address}${end}`] : [from];
    const received = await converse(world.listener.number, ["EHLO nas", ...lines]);
    expect(received).toMatch(new RegExp(`(${code} .*\r\n){${lines.length}}$`));
  });

  test("a mail whose sender hangs up in the middle is not stored, and is no error of the appliance", async () => {
    await using world = await createWorld();
    const { createSource, send, listLog, listener, appliance } = world;
    const logged = spyOn(appliance.log, "error");
    const { id, address } = await createSource();
    await converse(listener.number, [...mailTo(address), "DATA"]);
    await send(address, { subject: "Whole" });
    expect(await listLog(id)).toHaveLength(1);
    expect(logged).not.toHaveBeenCalled();
  });

  test("metrics count connections, and mails by their outcome", async () => {
    await using world = await createWorld({ perMinute: 6 });
    const { createSource, send, listener, readMetrics } = world;
    const { address } = await createSource();
    const keyed = await createSource({ mailRules: { key: "host=(.+)" } });
    await send(address);
    await Promise.allSettled([
      send("nobody@lan.example"),
      send(keyed.address),
      send(address, { attachments: [{ content: Buffer.alloc(mailBounds.size.value) }] }),
    ]);
    const open = await dialPort(listener.number);
    await open.waitForText(/^220 /);
    const size = mailBounds.size.value + 1;
    open.send(`EHLO nas\r\nMAIL FROM:<nas@lan.example> SIZE=${size}\r\n`);
    await open.waitForText(/^552 /m);
    await converse(listener.number, [...mailTo(address), "DATA"]);
    const rejected = await dialPort(listener.number);
    await rejected.waitUntilClosed();
    const metrics = await readMetrics();
    for (const line of [
      `mail_connections 1`,
      `mail_connections_total{outcome="accepted"} 6`,
      `mail_connections_total{outcome="rejected"} 1`,
      `mails_accepted_total 1`,
      `mails_rejected_total{reason="unknown_address"} 1`,
      `mails_rejected_total{reason="too_large"} 2`,
      `mails_rejected_total{reason="invalid"} 1`,
      `mails_rejected_total{reason="interrupted"} 1`,
      `mails_rejected_total{reason="too_many"} 0`,
    ])
      expect(metrics).toContain(`signalbox_${line}\n`);
    open.hangUp();
  });

  test("mails travel encrypted with the certificate of the appliance", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mail-"));
    writeCertificates(folder);
    const read = (name: string) => readFileSync(join(folder, name), "utf8");
    await using world = await createWorld({
      tls: { cert: read("good.pem"), key: read("good.key") },
    });
    const { createSource, listener, listLog } = world;
    const { address, id } = await createSource();
    const { port, host } = { port: listener.number, host: "127.0.0.1" };
    const transport = createTransport({
      host,
      port,
      requireTLS: true,
      tls: { ca: read("authority.pem") },
    });
    await transport.sendMail({ from: "a@b.c", to: address, subject: "Backup failed", text: "x" });
    expect(await listLog(id)).toHaveLength(1);
  });
});
