/** The common part of SMTP, IMAP and POP3 checks: greeting, STARTTLS and login. */
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import type { DetailsOf } from "../../monitors/details-rules.ts";
import type { MonitorSettings } from "../../monitors/kinds-schema.ts";
import type { CheckContext, CheckResult } from "../check.ts";
import { converse, buildTls } from "./conversation.ts";

type Credentials = { username: string; password: string };

/** Commands of one mail protocol. All functions throw TargetFailure. */
type MailProtocol = {
  /** Reads the greeting of the server and returns its text. */
  readGreeting(wire: Wire): Promise<string>;
  /** Queries the capabilities of the server. They can change after STARTTLS. */
  readCapabilities(wire: Wire): Promise<string>;
  /** Requests TLS. The handshake follows. */
  startTls(wire: Wire): Promise<void>;
  signIn(wire: Wire, credentials: Credentials, offered: string): Promise<void>;
  /** Command that ends the session. */
  leave: string;
};

/** Creates the check of a mail protocol. Up when the server sends a greeting and accepts the login if a user is set. */
export const checkMail =
  (protocol: MailProtocol) =>
  (
    settings: MonitorSettings<"smtp">,
    context: CheckContext,
  ): Promise<CheckResult<DetailsOf<"smtp">>> =>
    converse(settings, context, async (wire) => {
      const { tls, username, password } = settings;
      const greeting = (await protocol.readGreeting(wire)).trim();
      let offered = await protocol.readCapabilities(wire);
      if (tls === "starttls") {
        await protocol.startTls(wire);
        await wire.secure(buildTls(settings));
        offered = await protocol.readCapabilities(wire);
      }
      if (username !== null)
        await protocol.signIn(wire, { username, password: password ?? "" }, offered);
      wire.write(`${protocol.leave}\r\n`);
      return {
        words: username === null ? "Greeted" : "Accepted the user",
        details: { greeting },
      };
    });

export const refusalReasons = {
  noTls: "The server does not offer STARTTLS.",
  refused: "The server rejected the user name or the password.",
  onlySecured: "The server accepts no password over an unencrypted connection.",
  noUser: "The server does not accept the user name over this connection.",
  notNow: "The server can't accept sign-ins at the moment.",
  inUse: "The mailbox is in use by another session.",
  turnedAway: "The server rejected the connection.",
};
