import { inTime } from "../../outgoing/exchange.ts";
import { TargetFailure } from "../../outgoing/failures.ts";
import type { Message } from "../messages.ts";
import {
  delivered,
  type DeliveryRoom,
  permanent,
  type Provider,
  type Verdict,
} from "../provider.ts";
import { mailOf, type Manner } from "./email-mail.ts";
import { handOver, type SessionError } from "./email-session.ts";

export const email: Provider<"email"> = {
  digests: true,
  deliver: ({ to }, message, room) => mailed(message, to, room),
};

/**
 * One mail to all receivers, over the organization's mail server. 2yz is success, 5yz is permanent but
 * for 503, 4yz is tried again: https://www.rfc-editor.org/rfc/rfc5321#section-4.2.1 and, of AUTH,
 * https://www.rfc-editor.org/rfc/rfc4954#section-6
 */
export async function mailed(
  message: Message,
  to: readonly string[],
  room: DeliveryRoom,
  manner?: Manner,
): Promise<Verdict> {
  const { smtp } = room;
  if (smtp === null) return permanent("No mail server is set; see the settings.");
  if (smtp.user !== null && smtp.password === null)
    return permanent("The settings have a user name for the mail server, but no password.");
  const mail = await mailOf(message, to, smtp.from, manner);
  return inTime(room, async (context) => {
    try {
      return afterRefusals(await handOver(mail, smtp, context), to.length);
    } catch (error) {
      return verdictOf(error as SessionError);
    }
  });
}

/** What became of a mail that the server took for the others. */
function afterRefusals(refusals: readonly SessionError[], of: number): Verdict {
  if (refusals.length === 0) return delivered;
  const part = `${refusals.length} of ${of} recipients`;
  if (refusals.every(({ permanent }) => permanent === true))
    return { outcome: "delivered", note: `The mail server refused ${part}.` };
  return later(`The mail server refused ${part} for now.`);
}

const refusedSteps: Record<string, string> = {
  "MAIL FROM": "the sender",
  "RCPT TO": "every recipient",
  DATA: "the mail",
};

function verdictOf(error: SessionError): Verdict {
  const { code, command = "", responseCode, permanent: isFinal = false } = error;
  if (code === "ENOAUTH")
    return permanent("The mail server takes no user name and password, or only when encrypted.");
  if (responseCode === undefined) return withoutReply(error);
  if (isFinal && (command === "STARTTLS" || command === "EHLO"))
    return permanent("The mail server offers no STARTTLS; see tls in the settings.");
  if (responseCode === 530) return permanent("The mail server asks for a user name and password.");
  const what = code === "EAUTH" ? "the user name or password" : refusedSteps[command];
  const refused = `The mail server refused ${what ?? "the connection"}`;
  return isFinal ? permanent(`${refused}.`) : later(`${refused} for now.`);
}

function withoutReply(error: SessionError): Verdict {
  const { code, originalCode } = error;
  if (code === "EMESSAGE") return permanent("The mail is larger than the mail server takes.");
  if (code === "EPROTOCOL") throw new TargetFailure("The port does not speak SMTP.");
  // What the socket said stands behind nodemailer's own code; it said nothing where it just closed.
  if (originalCode !== undefined) error.code = originalCode;
  else if (code === "ECONNECTION") error.code = "ECONNRESET";
  throw error;
}

function later(reason: string): Verdict {
  return { outcome: "failed", reason, permanent: false };
}
