/** Previews the mails of reports, and sends them on request, before their week or month is over. */
import type { ReportMail } from "../accounts/settings/schema.ts";
import { findSettings } from "../accounts/settings/service.ts";
import { getOwnOrganization } from "../accounts/organizations/service.ts";
import { AppError } from "../core/errors.ts";
import { formatTimestamp } from "../core/time/clock.ts";
import { notFoundError } from "../database/rows.ts";
import { commit } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { consumeLimit, type RateLimit } from "../http/access/rate-limit.ts";
import { getGroup } from "../monitoring/groups/service.ts";
import { getLanguage } from "../status-pages/languages/catalog.ts";
import { getStatusPage } from "../status-pages/service.ts";
import { composeReportTitle } from "./mail-message.ts";
import {
  composeMail,
  findFrame,
  getReportOfMail,
  isSameReport,
  listMailboxes,
  buildReceiverId,
} from "./mailer.ts";
import type { ReportPrinter } from "./printer.ts";
import { findLastPeriod, nameReportFile } from "./rules.ts";
import type {
  MailSubject,
  Report,
  ReportMailPreview,
  ReportMailQuery,
  ReportToSend,
  SentReportMail,
} from "./schema.ts";
import { printReport } from "./service.ts";
import { guardNotSending, insertSentReport } from "./store.ts";

const findMail = async ({ store, organizationId }: Scope, subject: MailSubject) =>
  (await findSettings(store, organizationId)).reportMails.find((one) => isSameReport(one, subject));

/** Returns the last week or month that is over, and the language. Throws NOT_FOUND for an unknown page. */
async function findMailPeriod(scope: Scope, subject: MailSubject) {
  const frame = await findFrame(scope, scope.organizationId, subject);
  if (frame === null) throw notFoundError("status page");
  const { timeZone, language } = frame;
  const last = findLastPeriod(subject.interval, scope.clock(), timeZone);
  return { period: { ...last, timeZone }, language };
}

/** Composes a mail as it would be sent now. Throws NOT_FOUND. */
async function composeCurrentMail(scope: Scope, query: ReportMailQuery) {
  const { interval, groupId = null, statusPageId = null } = query;
  const subject = { interval, groupId, statusPageId };
  const stored = await findMail(scope, subject);
  const { period, language } = await findMailPeriod(scope, subject);
  const mail: Omit<ReportMail, "to"> = {
    ...subject,
    slaTarget: query.slaTarget ?? stored?.slaTarget ?? null,
    maintenance: query.maintenance ?? stored?.maintenance ?? "excluded",
  };
  const report = await getReportOfMail(scope, mail, period);
  const tag = query.language ?? language;
  const around = { origin: scope.origin, language: getLanguage(tag) };
  return { report, tag, ...(await composeMail(scope, "", mail, report, around)) };
}

/** Returns the mail of a report as it would be sent now. Throws NOT_FOUND. */
export async function previewReportMail(
  scope: Scope,
  query: ReportMailQuery,
  printer: ReportPrinter,
): Promise<ReportMailPreview> {
  const { report, tag, message, mailStyle } = await composeCurrentMail(scope, query);
  const { renderMail } = await import("../alerting/providers/mail-texts.ts");
  const { from, to, timeZone } = report;
  const isPrinted = (await printer.findProgram()) !== null;
  return {
    from,
    to,
    timeZone,
    language: tag,
    subject: message.title,
    ...renderMail(message, mailStyle),
    attachment: isPrinted ? nameReportFile(report, "pdf", query.interval) : null,
  };
}

/** Returns the PDF that would be attached to the mail. Throws NOT_FOUND, and CONFLICT without Chromium. */
export async function downloadMailPdf(
  scope: Scope,
  query: ReportMailQuery,
  printer: ReportPrinter,
): Promise<File> {
  const { report, frame } = await composeCurrentMail(scope, query);
  return printReport(scope, report, frame, printer);
}

/** Returns the subject of a mail in English. Throws NOT_FOUND for a deleted group or page. */
async function composeTitle(
  scope: Scope,
  { interval, groupId, statusPageId }: MailSubject,
  span: Pick<Report, "from" | "to" | "timeZone">,
): Promise<string> {
  const { id, name: organization } = await getOwnOrganization(scope);
  const subject: Report["subject"] =
    groupId !== null
      ? { type: "group", id: groupId, name: (await getGroup(scope, groupId)).name }
      : statusPageId !== null
        ? {
            type: "status-page",
            id: statusPageId,
            name: (await getStatusPage(scope, statusPageId)).title,
          }
        : { type: "organization", id, name: organization };
  return composeReportTitle(
    { ...span, subject },
    { interval, organization, language: getLanguage("en") },
  );
}

/**
 * Sends the report of the last week or month to its recipients, even if they already have it. Throws NOT_FOUND if it is not set
 * up, CONFLICT without a mail server, and while the same report is being sent, RATE_LIMITED.
 */
export async function sendReportMail(
  scope: Scope,
  subject: ReportToSend,
  limit: RateLimit,
): Promise<SentReportMail> {
  const mail = await findMail(scope, subject);
  if (mail === undefined) throw notFoundError("report by mail");
  if ((await findSettings(scope.store, scope.organizationId)).smtp === null)
    throw new AppError("CONFLICT", "No mail server is set up to send the report; see Settings.");
  const { period } = await findMailPeriod(scope, subject);
  const mailboxes = await listMailboxes(scope, mail);
  if (mailboxes.length === 0)
    throw new AppError(
      "CONFLICT",
      "No recipient belongs to the organization and can see the report.",
    );
  const receiverIds = mailboxes.map((one) => buildReceiverId(scope.organizationId, one));
  const [from, to] = [formatTimestamp(period.span.from), formatTimestamp(period.span.to)];
  const sent = {
    title: await composeTitle(scope, subject, { from, to, timeZone: period.timeZone }),
    recipients: mailboxes.length,
    from,
    to,
  };
  consumeLimit(limit, scope.organizationId);
  const statements = [
    guardNotSending(scope, subject, receiverIds),
    insertSentReport(scope, { ...subject, at: scope.clock() }, receiverIds),
  ];
  const entry = { action: "settings.report-sent", subjectId: scope.organizationId } as const;
  return commit(scope, statements, entry, sent).catch((error: unknown) => {
    limit.refund(scope.organizationId);
    throw error;
  });
}
