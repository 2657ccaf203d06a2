/** Sends messages as mail through the organization's mail server, and judges the server's replies. */
import { runWithTimeout } from "../../core/outgoing/http/exchange.ts";
import { TargetFailure } from "../../core/outgoing/failures.ts";
import type { SmtpSettings } from "../../accounts/settings/schema.ts";
import { composeLine, type Message } from "../sending/messages.ts";
import {
  delivered,
  type DeliveryContext,
  failFinally,
  failTemporarily,
  failPermanently,
  type Provider,
  type Verdict,
} from "../provider.ts";
import type { MailStyle } from "./mail-texts.ts";
import type { SessionError } from "./email-session.ts";
import { getAccessToken, forgetAccessToken, TokenRefused } from "./email-token.ts";

export const email: Provider<"email"> = {
  digests: true,
  digestLimit: {
    // Gmail cuts mails off after 102 kB.
    bytes: 90_000,
    bytesOf: (alert) => countQuotedBytes(composeLine(alert)),
  },
  async deliver({ to }, message, context) {
    const verdict = await sendAsMail(message, to, context);
    if (verdict.outcome === "failed" || verdict.progress !== undefined) return verdict;
    return { ...verdict, progress: { reached: to, refused: [] } };
  },
};

/**
 * Sends one mail to all recipients through the organization's mail server. A retry is sent only to
 * recipients that rejected it temporarily. 2yz is success, 4yz is retried, and 5yz is permanent,
 * except 503.
 * https://www.rfc-editor.org/rfc/rfc5321#section-4.2.1 and, for AUTH,
 * https://www.rfc-editor.org/rfc/rfc4954#section-6
 */
export async function sendAsMail(
  message: Message,
  to: readonly string[],
  context: DeliveryContext,
  mailStyle?: MailStyle,
): Promise<Verdict> {
  const { smtp, progress } = context;
  const [reached, refused] = [progress?.reached ?? [], progress?.refused ?? []];
  const remaining = to.filter(
    (address) => !reached.includes(address) && !refused.includes(address),
  );
  if (remaining.length === 0) return judgeRefusals([], to, refused);
  if (smtp === null) return failPermanently("No mail server is set up; see Settings.");
  const token = await getCredential(smtp, context);
  if (typeof token === "object" && token !== null) return token;
  const groups = Map.groupBy(remaining, (address) => context.messageTo?.(address) ?? message);
  const refusals: SessionError[] = [];
  const unsent = new Set(remaining);
  // Loaded before the time of the server starts: on a busy machine, that takes seconds.
  const { buildMail } = await import("./email-mail.ts");
  const { submitMail } = await import("./email-session.ts");
  const talk = runWithTimeout(context, async (outgoing) => {
    try {
      for (const [groupMessage, groupRecipients] of groups) {
        const { envelope, bytes } = await buildMail(groupMessage, to, smtp.from, mailStyle);
        const mail = { envelope: { ...envelope, to: groupRecipients }, bytes };
        refusals.push(
          ...(await collectRefusals(submitMail(mail, smtp, outgoing, token), groupRecipients)),
        );
        for (const address of groupRecipients) unsent.delete(address);
      }
      return judgeRefusals(refusals, to, refused);
    } catch (error) {
      if ((error as SessionError).code === "EAUTH" && token !== null)
        forgetAccessToken(smtp, context);
      if (unsent.size === remaining.length) return judgeSessionError(error as SessionError, smtp);
      throw error;
    }
  });
  return talk.catch((error: unknown) => {
    if (unsent.size === remaining.length) throw error;
    // The next attempt is sent only to these recipients.
    const waiting = [...unsent].map((recipient) => Object.assign(new Error(), { recipient }));
    return judgeRefusals([...refusals, ...waiting], to, refused);
  });
}

/**
 * Connects to the mail server and signs in. `certificateEnds` is the expiry of its certificate;
 * null without encryption. Throws TargetFailure, LocalFailure.
 */
export async function tryMailServer(
  smtp: SmtpSettings,
  context: DeliveryContext,
): Promise<{ verdict: Verdict; certificateEnds: Date | null }> {
  const token = await getCredential(smtp, context);
  if (typeof token === "object" && token !== null) return { verdict: token, certificateEnds: null };
  const { trySession } = await import("./email-session.ts");
  return runWithTimeout(context, async (outgoing) => {
    try {
      return { verdict: delivered, certificateEnds: await trySession(smtp, outgoing, token) };
    } catch (error) {
      return { verdict: judgeSessionError(error as SessionError, smtp), certificateEnds: null };
    }
  });
}

/** Returns the user's access token, null if none is needed, or a failure. */
async function getCredential(
  smtp: SmtpSettings,
  context: DeliveryContext,
): Promise<string | Verdict | null> {
  if (smtp.auth !== "password") return getTokenOrVerdict(smtp, context);
  if (smtp.user === null || smtp.password !== null) return null;
  return failPermanently("The mail server's settings have a user name, but no password.");
}

/** Returns the errors of rejected recipients, even if all were rejected. Throws SessionError. */
function collectRefusals(handedOver: Promise<SessionError[]>, to: readonly string[]) {
  return handedOver.catch((error: unknown) => {
    const { rejectedErrors } = error as SessionError;
    if (rejectedErrors?.length === to.length) return rejectedErrors;
    throw error;
  });
}

/** Returns the user's access token, or the failure to get one. */
function getTokenOrVerdict(
  smtp: SmtpSettings,
  context: DeliveryContext,
): Promise<string | Verdict> {
  return getAccessToken(smtp, context).catch((error: unknown) => {
    if (error instanceof TokenRefused) return error.verdict;
    throw error;
  });
}

/**
 * Returns the maximum encoded size of a digest line, as text and as list item. RFC 2045 §6.7 needs
 * three characters per byte; HTML escapes need up to six.
 */
function countQuotedBytes(line: string): number {
  const plainCharacters = line.replace(/[^ !#-%'-;?-~]/g, "").length;
  return Math.ceil(
    (2 * plainCharacters + 9 * (Buffer.byteLength(line) - plainCharacters) + 40) * 1.05,
  );
}

/** Returns the verdict on a mail that some recipients rejected. */
function judgeRefusals(
  refusals: readonly SessionError[],
  to: readonly string[],
  earlier: readonly string[],
): Verdict {
  const listRecipients = (those: readonly SessionError[]) =>
    those.map(({ recipient = "" }) => recipient);
  const recipientCount = to.length;
  const later = listRecipients(refusals.filter(({ permanent }) => permanent !== true));
  const refused = [
    ...earlier.filter((one) => to.includes(one)),
    ...listRecipients(refusals.filter(({ permanent }) => permanent === true)),
  ];
  const part = refused.length + later.length;
  const recipients =
    part >= recipientCount ? "every recipient" : `${part} of ${recipientCount} recipients`;
  const reason = `The mail server rejected ${recipients}`;
  if (later.length > 0) {
    const reached = to.filter((address) => !refused.includes(address) && !later.includes(address));
    const got = reached.length + refused.length > 0;
    return {
      ...failTemporarily(`${reason} for now.`),
      ...(got && { progress: { reached, refused } }),
    };
  }
  if (refused.length === 0) return delivered;
  if (part >= recipientCount)
    return { ...failFinally(`${reason}.`), ...(refusals.every(isBounce) && { isBounce: true }) };
  const reached = to.filter((address) => !refused.includes(address));
  return { outcome: "delivered", note: `${reason}.`, progress: { reached, refused } };
}

/**
 * Whether a rejection concerns the address. X.7 concerns the sender, such as a relay that is not allowed:
 * https://www.rfc-editor.org/rfc/rfc3463#section-3.8
 */
function isBounce({ permanent, responseCode = 0, response = "" }: SessionError): boolean {
  const [, subject] = /^5\d\d[ -]5\.(\d{1,3})\./.exec(response) ?? [];
  return permanent === true && responseCode >= 550 && responseCode < 560 && subject !== "7";
}

const refusedSteps: Record<string, string> = {
  "MAIL FROM": "the sender",
  "RCPT TO": "every recipient",
  DATA: "the mail",
};

/** Descriptions of rejected credentials, with settings that administrators often forget. */
const rejectedCredentials = {
  microsoft:
    "the access token: the mailbox needs SMTP AUTH, and the app SMTP.SendAsApp and full access to it",
  google: "the access token of this user",
};

function judgeSessionError(error: SessionError, { auth }: SmtpSettings): Verdict {
  const { code, command = "", responseCode, permanent: isFinal = false } = error;
  if (code === "ENOAUTH")
    return failPermanently(
      auth === "password"
        ? "The mail server accepts no user name and password, or only over an encrypted connection."
        : "The mail server accepts no access tokens (XOAUTH2).",
    );
  if (responseCode === undefined) return judgeMissingReply(error);
  if (isFinal && (command === "STARTTLS" || command === "EHLO"))
    return failPermanently(
      "The mail server does not offer STARTTLS; see its encryption in Settings.",
    );
  if (responseCode === 530)
    return failPermanently("The mail server requires a user name and password.");
  const credentials = auth === "password" ? "the user name or password" : rejectedCredentials[auth];
  const rejected = code === "EAUTH" ? credentials : refusedSteps[command];
  const refused = `The mail server rejected ${rejected ?? "the connection"}`;
  if (!isFinal) return failTemporarily(`${refused} for now.`);
  return command === "DATA" ? failFinally(`${refused}.`) : failPermanently(`${refused}.`);
}

function judgeMissingReply(error: SessionError): Verdict {
  const { code, originalCode } = error;
  if (code === "EMESSAGE") return failFinally("The e-mail is larger than the mail server accepts.");
  if (code === "EPROTOCOL") throw new TargetFailure("The port does not speak SMTP.");
  // nodemailer hides the socket's error behind its own code. A closed socket reports no error.
  if (originalCode !== undefined) error.code = originalCode;
  else if (code === "ECONNECTION") error.code = "ECONNRESET";
  throw error;
}
