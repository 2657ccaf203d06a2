import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { Verdict } from "../../../src/alerting/provider.ts";
import { certificates, writeCertificates } from "../../support/certificates.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { createDoubtfulVerdict, createFinalVerdict } from "../../support/alert-receiver.ts";
import {
  ann,
  bob,
  cid,
  delivered,
  createPassingVerdict,
  findOutcome,
} from "../../support/mail-outcomes.ts";
import { hasPrograms, defineTestWith } from "../../support/real-targets.ts";
import { startScriptedMailServer } from "../../support/scripted-mail-server.ts";

const note = (part: string, reached: string[], refused: string[]): Verdict => ({
  outcome: "delivered",
  note: `The mail server rejected ${part} recipients.`,
  progress: { reached, refused },
});
describe("encryption", () => {
  let folder: string;
  const readFile = (name: string) => readFileSync(join(folder, name), "utf8");
  const readCertificate = (name: (typeof certificates)[number]) => ({
    key: readFile(`${name}.key`),
    cert: readFile(`${name}.pem`),
  });
  const authorities = getCACertificates("default");
  const trust = () => setDefaultCACertificates([...authorities, readFile("authority.pem")]);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
    if (hasPrograms("openssl")) writeCertificates(folder);
  });
  afterEach(() => setDefaultCACertificates(authorities));
  afterAll(() => rmSync(folder, { recursive: true }));

  const modes = ["starttls", "tls"] as const;

  defineTestWith(
    ["openssl"],
    "precedes the user and the password, which precede the mail",
    async () => {
      trust();
      for (const tls of modes)
        for (const host of ["localhost", "127.0.0.1"]) {
          const options = { ...readCertificate("good"), secure: tls === "tls" };
          await using server = await startMailServer({ users: { jo: "CANARY-7f3a" } }, options);
          const smtp = server.smtp({ tls, host, user: "jo", password: "CANARY-7f3a" });
          expect(await findOutcome(smtp)).toEqual(delivered);
          expect(server.getOnlyMail()).toMatchObject({
            secure: true,
            user: "jo",
            to: [ann, bob, cid],
          });
        }
    },
  );

  defineTestWith(["openssl"], "with an untrusted certificate sends nothing", async () => {
    const reasons = {
      good: "The certificate's chain is incomplete, or its authority is not trusted.",
      selfSigned: "The certificate is self-signed, so it is not trusted.",
      expired: "The certificate has expired.",
      wrongName: "The certificate is for another name.",
    };
    for (const tls of modes)
      for (const name of certificates) {
        if (name !== "good") trust();
        const options = { ...readCertificate(name), secure: tls === "tls" };
        await using server = await startMailServer({}, options);
        const smtp = server.smtp({ tls, host: "localhost", user: "jo", password: "secret" });
        expect(await findOutcome(smtp)).toBe(`TargetFailure: ${reasons[name]}`);
        expect(server.mails).toEqual([]);
        setDefaultCACertificates(authorities);
      }
  });

  test("that is required but not offered is a configuration error", async () => {
    await using server = await startMailServer({}, { disabledCommands: ["STARTTLS"] });
    expect(await findOutcome(server.smtp({ tls: "starttls" }))).toEqual(
      createDoubtfulVerdict(
        "The mail server does not offer STARTTLS; see its encryption in Settings.",
      ),
    );
    await using old = await startScriptedMailServer({
      replies: { EHLO: "502 what?", HELO: "250 old" },
    });
    expect(await findOutcome(old.smtp({ tls: "starttls" }))).toEqual(
      createDoubtfulVerdict(
        "The mail server does not offer STARTTLS; see its encryption in Settings.",
      ),
    );
    expect(old.said).toEqual(["EHLO"]);
  });

  test("that is temporarily unavailable is retried", async () => {
    await using server = await startScriptedMailServer({
      replies: { STARTTLS: "454 TLS not available" },
    });
    expect(await findOutcome(server.smtp({ tls: "starttls" }))).toEqual(
      createPassingVerdict("The mail server rejected the connection for now."),
    );
    expect(server.said).toEqual(["EHLO", "STARTTLS"]);
  });

  test("from the start, at a port without TLS, is a failure", async () => {
    await using server = await startMailServer();
    expect(await findOutcome(server.smtp({ tls: "tls" }))).toBe(
      "TargetFailure: The port does not speak TLS.",
    );
    expect(server.mails).toEqual([]);
  });

  defineTestWith(["openssl"], "is not used if the settings turn it off", async () => {
    await using server = await startMailServer({}, readCertificate("selfSigned"));
    expect(await findOutcome(server.smtp({ tls: "none" }))).toEqual(delivered);
    expect(server.getOnlyMail()).toMatchObject({ secure: false, user: null });
  });
});

describe("the user and the password", () => {
  const users = { jo: "right" };
  const wrong = { user: "jo", password: "CANARY-7f3a" };
  const open = { allowInsecureAuth: true };

  test("are retried for an hour when they are rejected", async () => {
    for (const authMethods of [["PLAIN"], ["LOGIN"]]) {
      await using server = await startMailServer({ users }, { ...open, authMethods });
      expect(await findOutcome(server.smtp({ user: "jo", password: "right" }))).toEqual(delivered);
      expect(await findOutcome(server.smtp(wrong))).toEqual(
        createDoubtfulVerdict("The mail server rejected the user name or password."),
      );
    }
  });

  test("are retried when they can't be verified temporarily", async () => {
    await using server = await startMailServer({ users, login: 454 }, open);
    expect(await findOutcome(server.smtp(wrong))).toEqual(
      createPassingVerdict("The mail server rejected the user name or password for now."),
    );
  });

  test("are not sent to a server without authentication", async () => {
    await using server = await startScriptedMailServer();
    expect(await findOutcome(server.smtp(wrong))).toEqual(
      createDoubtfulVerdict(
        "The mail server accepts no user name and password, or only over an encrypted connection.",
      ),
    );
    expect(server.said).toEqual(["EHLO"]);
  });

  test("are required when they are missing", async () => {
    await using server = await startMailServer({ users }, open);
    expect(await findOutcome(server.smtp())).toEqual(
      createDoubtfulVerdict("The mail server requires a user name and password."),
    );
  });
});

describe("a rejection", () => {
  const codes: [step: string, treats: object, verdict: Verdict][] = [
    ["sender", { sender: 550 }, createDoubtfulVerdict("The mail server rejected the sender.")],
    [
      "sender",
      { sender: 451 },
      createPassingVerdict("The mail server rejected the sender for now."),
    ],
    ["mail", { mail: 554 }, createFinalVerdict("The mail server rejected the mail.")],
    ["mail", { mail: 452 }, createPassingVerdict("The mail server rejected the mail for now.")],
  ];
  test.each(codes)("of the %s: %o", async (_step, treats, verdict) => {
    await using server = await startMailServer(treats);
    expect(await findOutcome(server.smtp())).toEqual(verdict);
    expect(server.mails).toEqual([]);
  });

  const partly: [refusals: Record<string, number>, verdict: Verdict, took: string[]][] = [
    [{ [bob]: 550 }, note("1 of 3", [ann, cid], [bob]), [ann, cid]],
    [{ [bob]: 550, [ann]: 553 }, note("2 of 3", [cid], [ann, bob]), [cid]],
    [
      { [bob]: 450 },
      createPassingVerdict("The mail server rejected 1 of 3 recipients for now.", [ann, cid]),
      [ann, cid],
    ],
    [
      { [bob]: 450, [ann]: 550 },
      createPassingVerdict("The mail server rejected 2 of 3 recipients for now.", [cid], [ann]),
      [cid],
    ],
  ];
  test.each(partly)("of some recipients: %o", async (refusals, verdict, took) => {
    for (const hidePIPELINING of [false, true]) {
      const pickReply = (address: string) => refusals[address] ?? 0;
      await using server = await startMailServer({ recipient: pickReply }, { hidePIPELINING });
      expect(await findOutcome(server.smtp())).toEqual(verdict);
      expect(server.getOnlyMail().to).toEqual(took);
    }
  });

  const wholly: [codes: number[], verdict: Verdict][] = [
    [
      [550, 550, 550],
      {
        outcome: "failed",
        failure: "final",
        reason: "The mail server rejected every recipient.",
        isBounce: true,
      },
    ],
    [
      [550, 450, 550],
      createPassingVerdict("The mail server rejected every recipient for now.", [], [ann, cid]),
    ],
    [[450, 450, 450], createPassingVerdict("The mail server rejected every recipient for now.")],
  ];
  test.each(wholly)("of every recipient: %o", async (codes, verdict) => {
    for (const hidePIPELINING of [false, true]) {
      const pickReply = (address: string) => codes[[ann, bob, cid].indexOf(address)] ?? 0;
      await using server = await startMailServer({ recipient: pickReply }, { hidePIPELINING });
      expect(await findOutcome(server.smtp())).toEqual(verdict);
      expect(server.mails).toEqual([]);
    }
  });

  test("of an oversized mail happens before it is sent", async () => {
    await using server = await startMailServer({}, { size: 1_000 });
    expect(await findOutcome(server.smtp())).toEqual(
      createFinalVerdict("The e-mail is larger than the mail server accepts."),
    );
  });

  test("in the greeting, or because the server shuts down", async () => {
    const greetings: [string, Verdict][] = [
      ["421 too busy", createPassingVerdict("The mail server rejected the connection for now.")],
      ["554 no service here", createDoubtfulVerdict("The mail server rejected the connection.")],
    ];
    for (const [greeting, verdict] of greetings) {
      await using server = await startScriptedMailServer({ greeting });
      expect(await findOutcome(server.smtp())).toEqual(verdict);
    }
    await using going = await startScriptedMailServer({ replies: { RCPT: "421 shutting down" } });
    expect(await findOutcome(going.smtp(), [ann])).toEqual(
      createPassingVerdict("The mail server rejected every recipient for now."),
    );
  });
});
