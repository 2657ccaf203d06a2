/** Receives mails at the addresses of alert sources: finds the source of a recipient, and stores what a mail reports. */
import { AppError, rateLimitError } from "../../../core/errors.ts";
import { sha256 } from "../../../core/ids.ts";
import type { Store } from "../../../database/store.ts";
import type { RateLimit } from "../../../http/access/rate-limit.ts";
import type { SourceContext } from "../receive.ts";
import { findSourceByToken, hasStoredMail, type SourceRow } from "../store.ts";
import { type MailMessage, parseMail } from "./message.ts";
import { readMailReports } from "./reports.ts";

export type MailContext = Pick<SourceContext, "writer" | "wrongTokens"> & {
  store: Store;
  /** Limit of mails per source and minute. */
  mails: RateLimit;
};

/** Returns the credential in an address: what follows the last + of its local part, or the whole local part. */
export const readMailToken = (address: string): string =>
  address.slice(0, address.lastIndexOf("@")).split("+").at(-1) ?? "";

/** Finds the source of a recipient. Throws NOT_FOUND for any other address, and RATE_LIMITED. */
export async function findMailSource(
  recipient: string,
  client: string,
  { store, wrongTokens }: MailContext,
): Promise<SourceRow> {
  const source = await findSourceByToken(store, sha256(readMailToken(recipient)));
  if (source?.type === "email") return source;
  const waitSeconds = wrongTokens.take(client);
  if (waitSeconds > 0)
    throw rateLimitError(waitSeconds, "Too many wrong addresses from this network.");
  throw new AppError("NOT_FOUND", "This address belongs to no alert source.");
}

/**
 * Stores a mail to these sources. Resolves when it is durable for all of them, so that the sender can forget it. Throws
 * the first error. A sender that then repeats the mail changes nothing at the other sources.
 */
export async function receiveMail(
  start: Uint8Array,
  sources: readonly SourceRow[],
  context: MailContext,
): Promise<void> {
  const mail = await parseMail(start);
  for (const source of sources) await storeMail(mail, source, context);
}

async function storeMail(
  mail: MailMessage,
  source: SourceRow,
  { store, writer, mails }: MailContext,
) {
  const path = `mail ${mail.id.length <= 900 ? mail.id : `sha256 ${sha256(mail.id)}`}`;
  if (await hasStoredMail(store, source, path)) return;
  const waitSeconds = mails.take(source.id);
  if (waitSeconds > 0) throw rateLimitError(waitSeconds, "Too many mails to this source.");
  const body = JSON.stringify(mail);
  const request = { path, headers: {}, body, bytes: Buffer.byteLength(body) };
  try {
    await writer.add({ source, request, reports: await readMailReports(mail, source.mailRules) });
  } catch (error) {
    // The writer has logged its own errors.
    if (error instanceof AppError && error.code === "VALIDATION_ERROR")
      await writer.add({ source, request, reports: [], error });
    throw error;
  }
}
