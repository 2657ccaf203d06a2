import { describe, expect, test } from "bun:test";
import { buildMail } from "../../../src/alerting/providers/email-mail.ts";
import { submitMail } from "../../../src/alerting/providers/email-session.ts";
import { createTargetGuard } from "../../../src/core/security/target-guard.ts";
import {
  createCheckContext,
  startListener,
  type SocketHandler,
  replyOnce,
  runUntilTimedOut,
} from "../../support/check-runs.ts";
import { createAlert, createMessage } from "../../support/alert-receiver.ts";
import { findReason } from "../../support/dial-context.ts";
import { getFreePort } from "../../support/binary.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { ann, bob, delivered, findOutcome } from "../../support/mail-outcomes.ts";
import { startScriptedMailServer, buildSmtpSettings } from "../../support/scripted-mail-server.ts";
import { canBeSilent, openSilentAddress } from "../../support/silent-address.ts";

const stayIdle: SocketHandler = (socket) => void socket.resume();
const greetOnly: SocketHandler = (socket) => void socket.resume().write("220 mx.example ESMTP\r\n");

describe("a connection", () => {
  test("ends with QUIT once the mail is accepted", async () => {
    await using server = await startScriptedMailServer();
    expect(await findOutcome(server.smtp(), [ann])).toEqual(delivered);
    await server.waitUntilAllClosed();
    expect(server.said).toEqual(["EHLO", "MAIL", "RCPT", "DATA", "QUIT"]);
  });

  const closing = "TargetFailure: The connection was closed before the response was complete.";
  const hangsUp: [when: string, greets: SocketHandler, reason: string][] = [
    ["before the greeting", (socket) => void socket.end(), closing],
    ["after the greeting", (socket) => void socket.end("220 hello\r\n"), closing],
    [
      "after a command",
      (socket) => {
        greetOnly(socket);
        replyOnce("250 mx.example\r\n")(socket);
      },
      closing,
    ],
    [
      "by a reset",
      (socket) => {
        greetOnly(socket);
        socket.once("data", () => socket.resetAndDestroy());
      },
      closing,
    ],
    [
      "with a response of another protocol",
      (socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
      "TargetFailure: The port does not speak SMTP.",
    ],
  ];
  test.each(hangsUp)("that the server closes %s is a failure", async (_when, greets, reason) => {
    await using server = await startListener(greets);
    expect(await findOutcome(buildSmtpSettings(server.port))).toBe(reason);
  });

  test("that the server closes instead of encrypting it is a failure", async () => {
    await using server = await startListener((socket) => {
      greetOnly(socket);
      const replies = ["250 STARTTLS\r\n", "220 go ahead\r\n"];
      socket.on("data", () => {
        const reply = replies.shift();
        if (reply === undefined) socket.end();
        else socket.write(reply);
      });
    });
    expect(await findOutcome(buildSmtpSettings(server.port, { tls: "starttls" }))).toBe(closing);
    await server.waitUntilAllClosed();
  });

  test("that hangs is given up at the timeout, and closed", async () => {
    const waiting = "TargetFailure: Timed out while waiting for the response.";
    const waitForTimeout = async (smtp: ReturnType<typeof buildSmtpSettings>) =>
      runUntilTimedOut(waiting, async (timeoutMs) => {
        const text = await findOutcome(smtp, [ann], { timeoutMs });
        return { message: typeof text === "string" ? text : text.outcome };
      });
    const hanging = [
      ["none", stayIdle],
      ["none", greetOnly],
      ["starttls", stayIdle],
      ["starttls", greetOnly],
      ["tls", stayIdle],
    ] as const;
    for (const [tls, greets] of hanging) {
      await using server = await startListener(greets);
      expect(await waitForTimeout(buildSmtpSettings(server.port, { tls }))).toEqual({
        message: waiting,
      });
      await server.waitUntilAllClosed();
    }
    for (const verb of ["EHLO", "MAIL", "DATA", "."]) {
      await using server = await startScriptedMailServer({ replies: { [verb]: "" } });
      expect(await waitForTimeout(server.smtp())).toEqual({ message: waiting });
      await server.waitUntilAllClosed();
    }
  });

  test("is closed when the appliance stops", async () => {
    const stopping = new AbortController();
    await using server = await startListener(greetOnly);
    const outcome = findOutcome(buildSmtpSettings(server.port), [ann], {
      signal: stopping.signal,
    });
    await server.waitUntilAccepted(1);
    stopping.abort();
    expect(await outcome).toBe("LocalFailure: it was stopped");
    await server.waitUntilAllClosed();
  });

  test("that is refused is a failure", async () => {
    const port = getFreePort();
    for (const tls of ["none", "starttls", "tls"] as const)
      expect(await findOutcome(buildSmtpSettings(port, { tls }))).toBe(
        "TargetFailure: The connection was refused.",
      );
  });

  test("is opened to no blocked address, by number or by name", async () => {
    await using server = await startMailServer();
    const { port } = server.smtp();
    const targets = createTargetGuard(() => [{ host: "127.0.0.1", port }]);
    for (const host of ["127.0.0.1", "localhost"])
      expect(await findOutcome(server.smtp({ host }), [ann], { targets })).toBe(
        "BlockedTarget: Blocked: the target is this appliance itself.",
      );
    expect(server.connections()).toBe(0);
  });

  const mail = () => buildMail(createMessage(createAlert("test")), [ann], bob);
  const sendThroughAddresses = (...addresses: string[]) => {
    const ending = new AbortController();
    const judged = addresses.map((address) => ({ address, family: 4 as const, isPrivate: true }));
    const context = { ...createCheckContext(ending), addressesOf: async () => judged };
    return { context, end: () => ending.abort() };
  };

  test("is opened to the checked address, even if the name resolves to another later", async () => {
    await using server = await startMailServer();
    const { context, end } = sendThroughAddresses("127.0.0.2", "127.0.0.1");
    expect(await submitMail(await mail(), server.smtp({ host: "mail.invalid" }), context)).toEqual(
      [],
    );
    end();
    expect(server.getOnlyMail().to).toEqual([ann]);
    const attempt = sendThroughAddresses("127.0.0.2");
    expect(
      await findReason(
        submitMail(await mail(), server.smtp({ host: "localhost" }), attempt.context),
      ),
    ).toBe("The connection was refused.");
    attempt.end();
  });

  test.if(canBeSilent)("uses the next address if one is silent", async () => {
    using silent = openSilentAddress();
    const where = { address: "127.0.0.2", port: silent.port };
    await using server = await startScriptedMailServer(where);
    const { context, end } = sendThroughAddresses(silent.address, "127.0.0.2");
    expect(await submitMail(await mail(), server.smtp({ host: "mail.invalid" }), context)).toEqual(
      [],
    );
    end();
    await server.waitUntilAllClosed();
  });
});
