/** Receives mails at the addresses of alert sources and jobs, and stores what they report. */
import { createFairQueue } from "../../../core/collections/fair-queue.ts";
import { AppError, rateLimitError } from "../../../core/errors.ts";
import { sha256 } from "../../../core/ids.ts";
import { jobBounds } from "../../../core/limits.ts";
import type { Store } from "../../../database/store.ts";
import type { RateLimit } from "../../../http/access/rate-limit.ts";
import { findByPushToken } from "../../../monitoring/checks/engine/watched-monitors.ts";
import { createReport, type PushReport } from "../../../monitoring/jobs/report-rules.ts";
import { hasReportFrom } from "../../../monitoring/jobs/store.ts";
import { decodeOutput } from "../../../monitoring/pings/ping-rules.ts";
import type { PingTarget } from "../../../monitoring/pings/ping.ts";
import type { SourceContext } from "../receive.ts";
import { findSourceByToken, hasStoredMail, type SourceRow } from "../store.ts";
import { type MailMessage, parseMail } from "./message.ts";
import { readMailReports } from "./reports.ts";

/** Decodes one mail per turn of the event loop, because the parser does not yield. Senders take turns. */
const decoding = createFairQueue({ atOnce: 1 });

export type MailContext = Pick<SourceContext, "writer" | "wrongTokens"> & {
  store: Store;
  /** Limit of mails per source or job, and minute. */
  mails: RateLimit;
  /** Stores a report of a job. */
  reportRun: (job: PingTarget, report: PushReport) => Promise<void>;
};

/**
 * Returns the credential in an address: the part of its local part after the last +, or the whole local part. It can be
 * quoted (RFC 5321, section 4.1.2).
 */
const readMailToken = (address: string): string =>
  address
    .slice(0, address.lastIndexOf("@"))
    .replace(/^"(.*)"$/, "$1")
    .split("+")
    .at(-1) ?? "";

/** The recipient of a mail: an alert source, or a job, whose address contains the token of its push monitor. */
export type MailRecipient = { source: SourceRow } | { job: PingTarget };

export const idOf = (recipient: MailRecipient): string =>
  "source" in recipient ? recipient.source.id : recipient.job.id;

/** Finds the recipient of an address. Throws NOT_FOUND for any other address, and RATE_LIMITED. */
export async function findRecipient(
  address: string,
  client: string,
  { store, wrongTokens }: MailContext,
): Promise<MailRecipient> {
  const hash = sha256(readMailToken(address));
  const source = await findSourceByToken(store, hash);
  if (source?.type === "email") return { source };
  const job = source === null ? await findByPushToken(store, hash) : null;
  if (job !== null) return { job };
  const waitSeconds = wrongTokens.take(client);
  if (waitSeconds > 0)
    throw rateLimitError(waitSeconds, "Too many wrong addresses from this network.");
  throw new AppError("NOT_FOUND", "This address belongs to no alert source and no job.");
}

/**
 * Stores a mail to these recipients. Resolves when it is durable for all that can read it, so that the sender can forget
 * it. A recipient without a report in it has it in its log. Throws an error that the sender can repeat, or else
 * VALIDATION_ERROR if no recipient can read it. A repeated mail changes nothing at the other recipients.
 */
export async function receiveMail(
  start: Uint8Array,
  recipients: readonly MailRecipient[],
  client: string,
  context: MailContext,
): Promise<void> {
  const mail = await decoding.run(client, () => parseMail(start));
  const errors: unknown[] = [];
  for (const recipient of recipients)
    await (
      "source" in recipient
        ? storeMail(mail, recipient.source, context)
        : reportMail(mail, recipient.job, client, context)
    ).catch((error: unknown) => errors.push(error));
  const temporary = errors.find((error) => !isInvalid(error));
  if (temporary !== undefined) throw temporary;
  if (errors.length > 0 && errors.length === recipients.length) throw errors[0];
}

const isInvalid = (error: unknown) =>
  error instanceof AppError && error.code === "VALIDATION_ERROR";

/** Reports a successful run, as in Healthchecks. The keywords of the monitor can make it a failure. */
async function reportMail(
  mail: MailMessage,
  job: PingTarget,
  address: string,
  { store, mails, reportRun }: MailContext,
) {
  const userAgent = mail.hasId ? `mail ${nameMail(mail)}` : "mail";
  await storeInTurn(`${job.id} ${userAgent}`, async () => {
    if (mail.hasId && (await hasReportFrom(store, job, userAgent))) return;
    countMail(mails, job.id);
    const output = Buffer.from(`${mail.subject}\n\n${mail.text}`);
    const body = decodeOutput(output.subarray(0, jobBounds.body.value));
    const report = { isFinal: true, body, address, userAgent };
    await reportRun(job, createReport("success", report));
  });
}

function countMail(mails: RateLimit, id: string) {
  const waitSeconds = mails.take(id);
  if (waitSeconds > 0) throw rateLimitError(waitSeconds, "Too many mails to this address.");
}

/** Mails that are being stored, because the same mail can arrive on two connections at once. */
const mailsInProgress = new Map<string, Promise<void>>();

async function storeInTurn(name: string, store: () => Promise<void>) {
  for (
    let other = mailsInProgress.get(name);
    other !== undefined;
    other = mailsInProgress.get(name)
  )
    await other.catch(() => {});
  const stored = store().finally(() => mailsInProgress.delete(name));
  mailsInProgress.set(name, stored);
  await stored;
}

const nameMail = ({ id }: MailMessage) => (id.length <= 900 ? id : `sha256 ${sha256(id)}`);

function storeMail(mail: MailMessage, source: SourceRow, context: MailContext) {
  const path = `mail ${nameMail(mail)}`;
  return storeInTurn(`${source.id} ${path}`, () => storeNewMail(mail, source, path, context));
}

async function storeNewMail(
  mail: MailMessage,
  source: SourceRow,
  path: string,
  { store, writer, mails }: MailContext,
) {
  if (await hasStoredMail(store, source, path)) return;
  countMail(mails, source.id);
  const body = JSON.stringify(mail);
  const request = { path, headers: {}, body, bytes: Buffer.byteLength(body) };
  try {
    await writer.add({
      source,
      request,
      reports: await readMailReports(source.organizationId, mail, source.mailRules),
    });
  } catch (error) {
    // The writer has logged its own errors.
    if (error instanceof AppError && isInvalid(error))
      await writer.add({ source, request, reports: [], error });
    throw error;
  }
}
