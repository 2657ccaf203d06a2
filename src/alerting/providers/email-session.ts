import { connect, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import XOAuth2 from "nodemailer/lib/xoauth2";
import { asciiName } from "../../core/security/destinations.ts";
import { serverIdentityError } from "../../core/outgoing/certificates/judgement.ts";
import type { Address, OutgoingContext } from "../../core/outgoing/context.ts";
import { explainedRefusal } from "../../core/outgoing/reachability.ts";
import type { SmtpSettings } from "../../accounts/settings/schema.ts";
import type { Mail } from "./email-mail.ts";

/** What nodemailer says of a failure; its message holds what the server said, and is for nobody. */
export type SessionError = Error & {
  /** nodemailer's, or the socket's where no connection came about. */
  code?: string;
  /** The socket's, where `code` is nodemailer's. */
  originalCode?: string;
  /** What the server was asked. */
  command?: string;
  /** What it replied. */
  responseCode?: number;
  permanent?: boolean;
  /** Who was refused. */
  recipient?: string;
  /** Each refusal, where nobody was left. */
  rejectedErrors?: SessionError[];
};

/** An address that takes no connection has so much time before the next one is tried. */
const attemptMs = 2_000;

/** Longer than any delivery may take: the context ends it. */
const neverMs = 3_600_000;

/** Hands the mail to the server, and tells of the receivers that were refused; never all. Throws SessionError. */
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

/** Does everything before the first mail; returns when the server's certificate ends, null without one. Throws SessionError. */
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

/** A session in which mails may be sent, encrypted and signed in as the settings say. */
async function openSession(
  { host: given, port, user, password, tls }: SmtpSettings,
  context: OutgoingContext,
  /** Lets the user in instead of a password. */
  accessToken: string | null,
) {
  const host = asciiName(given);
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  context.step = "connecting";
  const connection = await opened(host, addresses, port, context.signal);
  const session = new SMTPConnection({
    connection,
    host,
    secure: tls === "tls",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    tls: {
      rejectUnauthorized: true,
      checkServerIdentity: (_name, certificate) => serverIdentityError(host, certificate),
    },
    connectionTimeout: neverMs,
    greetingTimeout: neverMs,
    socketTimeout: neverMs,
  });

  function step<T>(begin: (done: (error?: Error | null, result?: T) => void) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    // A broken connection is told here, and to no callback.
    session.once("error", reject);
    begin((error, result) => (error ? reject(error) : resolve(result as T)));
    return promise;
  }

  context.step = "waiting for the answer";
  await step((done) => session.connect(done));
  if (user !== null) {
    // What nodemailer would try all the same.
    if (!session.allowsAuth) throw Object.assign(new Error(), { code: "ENOAUTH" });
    const login =
      accessToken === null
        ? { user, pass: password ?? "" }
        : { user, oauth2: new OneToken({ user, accessToken }) };
    await step((done) => session.login(login, done));
  }
  return { session, step };
}

/**
 * The token that is there, also where nodemailer would have another one: it would ask for that around the
 * target guard. https://developers.google.com/workspace/gmail/imap/xoauth2-protocol
 */
class OneToken extends XOAuth2 {
  override getToken(_renew: unknown, done?: unknown) {
    (done as (error: null, token: string) => void)(null, String(this.accessToken));
  }
}

/** A connection to the first of these addresses that takes it. */
function opened(host: string, addresses: readonly Address[], port: number, signal: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({
    host,
    port,
    // An address is what it stands for itself; a name stands for what was judged.
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
    void explainedRefusal(error, address, port, startedAt, signal).then(reject);
  });
  return promise;
}
