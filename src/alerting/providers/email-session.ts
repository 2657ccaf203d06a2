/** Sends mail over an SMTP session, connected through the target guard. */
import { hourMs } from "../../core/time/clock.ts";
import { connect, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import XOAuth2 from "nodemailer/lib/xoauth2";
import { toAsciiName } from "../../core/security/destinations.ts";
import { checkServerIdentity } from "../../core/outgoing/certificates/judgment.ts";
import type { Address, OutgoingContext } from "../../core/outgoing/context.ts";
import { explainRefusal } from "../../core/outgoing/reachability.ts";
import type { SmtpSettings } from "../../accounts/settings/schema.ts";
import type { Mail } from "./email-mail.ts";

/** A nodemailer error. Its message contains the server's text, which is not shown to users. */
export type SessionError = Error & {
  /** nodemailer's code, or the socket's code if there was no connection. */
  code?: string;
  /** The socket's code, if `code` is nodemailer's. */
  originalCode?: string;
  /** The SMTP command that failed. */
  command?: string;
  /** Code of the server's reply. */
  responseCode?: number;
  permanent?: boolean;
  /** The server's reply. */
  response?: string;
  /** The rejected recipient. */
  recipient?: string;
  /** One error per recipient, if all were rejected. */
  rejectedErrors?: SessionError[];
};

/** Time for connecting to one address before the next is tried. */
const attemptMs = 2_000;

/** Longer than any delivery. The context's own timeout aborts first. */
const noTimeoutMs = hourMs;

/**
 * Sends the mail and returns the errors of rejected recipients. Throws SessionError, for example if all
 * recipients were rejected.
 */
export async function submitMail(
  { envelope, bytes }: Mail,
  smtp: SmtpSettings,
  context: OutgoingContext,
  accessToken: string | null = null,
): Promise<SessionError[]> {
  const { session, step } = await openSession(smtp, context, accessToken);
  const sent = await step<{ rejectedErrors?: SessionError[] }>((done) =>
    session.send(envelope, bytes, done as Parameters<typeof session.send>[2]),
  );
  session.quit();
  return sent.rejectedErrors ?? [];
}

/**
 * Connects and signs in. Returns the expiry of the server's certificate; null if the connection is
 * not encrypted. Throws SessionError.
 */
export async function trySession(
  smtp: SmtpSettings,
  context: OutgoingContext,
  accessToken: string | null = null,
): Promise<Date | null> {
  const { session } = await openSession(smtp, context, accessToken);
  const socket = session._socket;
  const end = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : undefined;
  session.quit();
  return end === undefined ? null : new Date(end);
}

/** Opens an authenticated session, encrypted as the settings require. */
async function openSession(
  { host: given, port, user, password, tls }: SmtpSettings,
  context: OutgoingContext,
  /** Token to use instead of the password. */
  accessToken: string | null,
) {
  const host = toAsciiName(given);
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  context.step = "connecting";
  const connection = await openConnection(host, addresses, port, context.signal);
  const session = new SMTPConnection({
    connection,
    host,
    secure: tls === "tls",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    tls: {
      rejectUnauthorized: true,
      checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
    },
    connectionTimeout: noTimeoutMs,
    greetingTimeout: noTimeoutMs,
    socketTimeout: noTimeoutMs,
  });

  function runStep<T>(
    begin: (done: (error?: Error | null, result?: T) => void) => void,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    // nodemailer reports a broken connection only through this event.
    session.once("error", reject);
    begin((error, result) => (error ? reject(error) : resolve(result as T)));
    return promise;
  }

  context.step = "waiting for the response";
  await runStep((done) => session.connect(done));
  if (user !== null) {
    // nodemailer would try to sign in even without AUTH support.
    if (!session.allowsAuth) throw Object.assign(new Error(), { code: "ENOAUTH" });
    const login =
      accessToken === null
        ? { user, pass: password ?? "" }
        : { user, oauth2: new OneToken({ user, accessToken }) };
    await runStep((done) => session.login(login, done));
  }
  return { session, step: runStep };
}

/**
 * Supplies the existing token. nodemailer would request a new token itself, bypassing the target
 * guard.
 * https://developers.google.com/workspace/gmail/imap/xoauth2-protocol
 */
class OneToken extends XOAuth2 {
  override getToken(_renew: unknown, done?: unknown) {
    (done as (error: null, token: string) => void)(null, String(this.accessToken));
  }
}

/** Connects to the first of these addresses that accepts a connection. */
function openConnection(
  host: string,
  addresses: readonly Address[],
  port: number,
  signal: AbortSignal,
) {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({
    host,
    port,
    // The addresses were resolved and checked before.
    lookup: (_name, _options, done) => done(null, [...addresses]),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptMs,
  });
  const stop = () => void socket.destroy();
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  socket.once("connect", () => resolve(socket));
  const { address = "" } = addresses.at(-1) ?? {};
  const startedAt = performance.now();
  socket.on("error", (error) => {
    void explainRefusal(error, address, port, startedAt, signal).then(reject);
  });
  return promise;
}
