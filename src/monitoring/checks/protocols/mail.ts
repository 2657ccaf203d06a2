import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { excerpt } from "../../../core/text/words.ts";
import type { DetailsOf } from "../../monitors/details-rules.ts";
import type { MonitorSettings } from "../../monitors/kinds-schema.ts";
import { repeats } from "./assertions.ts";
import type { CheckContext, CheckResult } from "../check.ts";
import { converse, tlsOf } from "./conversation.ts";

type Credentials = { username: string; password: string };

/** How one protocol of mail says what all of them do. Each throws TargetFailure. */
type MailProtocol = {
  /** Waits for the server to greet, and tells how. */
  greeted(wire: Wire): Promise<string>;
  /** What the server offers over the connection as it is by now. */
  offered(wire: Wire): Promise<string>;
  /** Asks for TLS, which begins after it. */
  startTls(wire: Wire): Promise<void>;
  signIn(wire: Wire, credentials: Credentials, offered: string): Promise<void>;
  /** The command that ends it. */
  leave: string;
};

/** Up when the server greets and, where there is a user, lets that one in. */
export const checkMail =
  (protocol: MailProtocol) =>
  (
    settings: MonitorSettings<"smtp">,
    context: CheckContext,
  ): Promise<CheckResult<DetailsOf<"smtp">>> =>
    converse(settings, context, async (wire) => {
      const { tls, username, password } = settings;
      const greeting = (await protocol.greeted(wire)).trim();
      let offered = await protocol.offered(wire);
      if (tls === "starttls") {
        await protocol.startTls(wire);
        await wire.secure(tlsOf(settings));
        offered = await protocol.offered(wire);
      }
      if (username !== null)
        await protocol.signIn(wire, { username, password: password ?? "" }, offered);
      wire.write(`${protocol.leave}\r\n`);
      return {
        words: username === null ? "Greeted" : "Accepted the user",
        details: { greeting },
      };
    });

export const sentences = {
  noTls: "The server does not offer STARTTLS.",
  refused: "The server refused the user name or the password.",
  onlySecured: "The server accepts no password over an unencrypted connection.",
  noUser: "The server does not accept the user name over this connection.",
  notNow: "The server can't sign anybody in at the moment.",
  inUse: "The mailbox is in use by another session.",
  turnedAway: "The server rejected the connection.",
};

/** A refusal with what the server said of it, for those who may see that, unless it repeats what it was told. */
export function refusal(sentence: string, text: string, ...secrets: string[]): TargetFailure {
  const said = text.trim();
  const mayBeShown = said !== "" && !repeats(said, () => secrets);
  return new TargetFailure(
    sentence,
    false,
    mayBeShown ? `${sentence.slice(0, -1)}: ${excerpt(said, 200)}` : undefined,
  );
}
