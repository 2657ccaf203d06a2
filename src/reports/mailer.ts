/** Sends reports by mail when their week or month is over, each once to each address. */
import { failFinally } from "../alerting/provider.ts";
import { sendAsMail } from "../alerting/providers/email.ts";
import type { MailStyle } from "../alerting/providers/mail-texts.ts";
import {
  createDeliveryContext,
  findMailServer,
  runAttempt,
  type SendingContext,
} from "../alerting/sending/attempt.ts";
import type { Receivers } from "../alerting/sending/queue.ts";
import { getOwnOrganization } from "../accounts/organizations/service.ts";
import { findSettings } from "../accounts/settings/service.ts";
import { findMemberAddresses } from "../accounts/people/store.ts";
import {
  getRecipientKey,
  type ReportMail,
  type ReportRecipient,
} from "../accounts/settings/schema.ts";
import type { Leases } from "../cluster/leases.ts";
import type { PageLanguage } from "../core/languages.ts";
import { AppError } from "../core/errors.ts";
import { deriveId } from "../core/ids.ts";
import { formatTimestamp, minuteMs } from "../core/time/clock.ts";
import type { Statement, Store } from "../database/store.ts";
import { buildScope, type Scope, type ScopeServices, system } from "../events/scope.ts";
import type { Tenant } from "../database/rows.ts";
import { getLanguage } from "../status-pages/languages/catalog.ts";
import type { Language } from "../status-pages/languages/language.ts";
import { findPlainPage } from "../status-pages/store.ts";
import { composeReportMail } from "./mail-message.ts";
import { type CompletedPeriod, findLastPeriod, nameReportFile } from "./rules.ts";
import type { composePdfDocument } from "./pdf-document.ts";
import type { ReportPrinter } from "./printer.ts";
import type { MailSubject, Report } from "./schema.ts";
import { findSentReport } from "./store.ts";

const tickMs = 60_000;
/** Wait after the end of a period, so that its last results are stored. */
const settleMs = 15 * minuteMs;

type Services = ScopeServices & SendingContext;
type MailServices = Services & { printer: ReportPrinter };
type StoredMail = ReportMail & { since: number };
type Period = CompletedPeriod & { timeZone: string };

/** Derives the delivery of a report: the same for each attempt to create it, even after a restart. */
const buildDeliveryId = (
  organizationId: string,
  { interval, groupId, statusPageId }: ReportMail,
  { key }: CompletedPeriod,
  recipient: ReportRecipient,
) =>
  deriveId(
    organizationId,
    `report ${interval} ${groupId ?? ""} ${statusPageId ?? ""} ${key} ${getRecipientKey(recipient)}`,
  );

export const buildReceiverId = (organizationId: string, recipient: ReportRecipient) =>
  deriveId(organizationId, `report mailbox ${getRecipientKey(recipient)}`);

export class ReportMailer {
  readonly #dependencies: Services & { leases: Leases };
  #timer: ReturnType<typeof setInterval> | null = null;
  #running: Promise<void> | null = null;

  constructor(dependencies: Services & { leases: Leases }) {
    this.#dependencies = dependencies;
  }

  start() {
    this.#timer = setInterval(() => {
      this.#running ??= this.runOnce()
        .catch((error: unknown) =>
          this.#dependencies.log.error("reports can't be sent", { cause: String(error) }),
        )
        .finally(() => (this.#running = null));
    }, tickMs);
  }

  async stop() {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#running;
  }

  /** Adds the due reports to the outbox. An organization that fails delays no other. Tests use it instead of `start`. */
  async runOnce() {
    const { store, leases } = this.#dependencies;
    if (leases.findNamed("subscribers") === null) return;
    const failures: unknown[] = [];
    for (const { organizationId, mails } of await listReportMails(store))
      await this.#addDeliveries(organizationId, mails).catch((error: unknown) =>
        failures.push(error),
      );
    if (failures.length > 0) throw failures[0];
  }

  async #addDeliveries(organizationId: string, mails: string) {
    const statements: Statement[] = [];
    for (const mail of JSON.parse(mails) as StoredMail[])
      statements.push(...(await this.#buildDeliveries(organizationId, mail)));
    if (statements.length > 0) await this.#dependencies.store.atomic(statements);
  }

  async #buildDeliveries(organizationId: string, mail: StoredMail): Promise<Statement[]> {
    const { store, clock } = this.#dependencies;
    const now = clock();
    const frame = await findFrame(this.#dependencies, organizationId, mail);
    if (frame === null) return [];
    const { timeZone } = frame;
    const period = findLastPeriod(mail.interval, now, timeZone);
    if (period.span.to <= mail.since || period.span.to + settleMs > now) return [];
    const recipients = await listMailboxes({ store, organizationId }, mail);
    const rows = recipients.map((recipient) => [
      buildDeliveryId(organizationId, mail, period, recipient),
      buildReceiverId(organizationId, recipient),
    ]);
    const known = await store.query<{ id: string }>(
      `select id from deliveries where organization_id = ?
         and id in (select value ->> 0 from json_each(?))`,
      [organizationId, JSON.stringify(rows)],
    );
    if (known.length === new Set(rows.map(([id]) => id)).size) return [];
    return [
      {
        text: `insert into deliveries (organization_id, id, receiver_type, receiver_id, status,
            attempts, scheduled_attempts, due_at, created_at)
          select ?, value ->> 0, 'mailbox', value ->> 1, 'sending', 0, 0, ?, ?
          from json_each(?) where true on conflict do nothing`,
        parameters: [organizationId, now, formatTimestamp(now), JSON.stringify(rows)],
      },
    ];
  }
}

const listReportMails = (store: Store) =>
  store.query<{ organizationId: string; mails: string }>(
    `select s.organization_id as organizationId, s.report_mails as mails
     from organization_settings s join organizations o on o.id = s.organization_id
     where s.report_mails <> '[]' and o.deleted_at is null`,
    [],
  );

/** Returns time zone and language of the page, or of the organization; null if the page was deleted. */
export async function findFrame(
  services: ScopeServices,
  organizationId: string,
  { statusPageId }: MailSubject,
): Promise<{ timeZone: string; language: PageLanguage } | null> {
  if (statusPageId !== null)
    return findPlainPage({ store: services.store, organizationId }, statusPageId);
  const { timeZone } = await getOwnOrganization(buildScope(services, organizationId, system));
  return { timeZone, language: "en" };
}

type Mailbox = ReportRecipient & { email: string };

/**
 * Returns the address of each recipient once. People who left the organization, or who are limited to monitor groups
 * without the group of the report, have none.
 */
export async function listMailboxes(
  tenant: Tenant,
  { to, groupId }: Pick<ReportMail, "to" | "groupId">,
): Promise<Mailbox[]> {
  const people = await findMemberAddresses(
    tenant,
    to.flatMap(({ personId }) => personId ?? []),
  );
  const mailboxes = new Map<string, Mailbox>();
  for (const recipient of to) {
    const person = people.get(recipient.personId ?? "");
    const mayRead = person?.groupIds == null || person.groupIds.includes(groupId ?? "");
    const email = recipient.email ?? (mayRead ? person?.email : undefined);
    if (email === undefined || mailboxes.has(email.toLowerCase())) continue;
    mailboxes.set(email.toLowerCase(), { ...recipient, email });
  }
  return [...mailboxes.values()];
}

/** Adds the addresses of reports to the mailboxes of the delivery queue. */
export function addReportMailboxes<T extends { mailbox: Receivers }>(
  receivers: T,
  services: MailServices,
): T {
  const { mailbox } = receivers;
  const find: Receivers["find"] = async (key) =>
    (await mailbox.find(key)) ?? findReportMailbox(services, key);
  return { ...receivers, mailbox: { ...mailbox, find } };
}

async function findReportMailbox(
  services: MailServices,
  { organizationId, receiverId }: Parameters<Receivers["find"]>[0],
): ReturnType<Receivers["find"]> {
  const { reportMails } = await findSettings(services.store, organizationId);
  const isReceiver = (one: ReportRecipient) => buildReceiverId(organizationId, one) === receiverId;
  const tenant = { store: services.store, organizationId };
  let mailbox: Mailbox | undefined;
  for (const { to, groupId } of reportMails)
    mailbox ??= (await listMailboxes(tenant, { to: to.filter(isReceiver), groupId }))[0];
  if (mailbox === undefined) return null;
  return {
    type: "email",
    refusal: null,
    prepare: (deliveryId) => prepareReport(services, { organizationId, mailbox, deliveryId }),
    recordAttempt(attempt, { isLost }) {
      if (isLost)
        services.log.warn("a report can't be sent", { organizationId, cause: attempt.message });
      return [];
    },
  };
}

type ReportDelivery = { organizationId: string; mailbox: Mailbox; deliveryId: string };
type FoundReport = { mail: ReportMail; period: Period; language: PageLanguage };

async function prepareReport(
  services: MailServices,
  delivery: ReportDelivery,
): ReturnType<NonNullable<Awaited<ReturnType<Receivers["find"]>>>["prepare"]> {
  const found = await findReportOfDelivery(services, delivery);
  if (found === null) return { statements: [], nothing: "The report is no longer sent there." };
  return {
    statements: [],
    send: (signal) =>
      runAttempt(services, { report: delivery.deliveryId }, () =>
        sendReport(services, delivery, found, signal),
      ),
  };
}

export const isSameReport = (one: MailSubject, other: MailSubject) =>
  (["interval", "groupId", "statusPageId"] as const).every((name) => one[name] === other[name]);

/**
 * Finds the report and the period of a delivery. The delivery names a report that a person sent; for all others, they
 * are only in its ID.
 */
async function findReportOfDelivery(
  services: MailServices,
  { organizationId, mailbox, deliveryId }: ReportDelivery,
): Promise<FoundReport | null> {
  const { store, clock } = services;
  const { reportMails } = await findSettings(store, organizationId);
  const sent = await findSentReport({ store, organizationId }, deliveryId);
  for (const mail of reportMails) {
    if (sent !== null && !isSameReport(mail, sent)) continue;
    const recipient = mail.to.find((one) => getRecipientKey(one) === getRecipientKey(mailbox));
    if (recipient === undefined) continue;
    const own = { to: [recipient], groupId: mail.groupId };
    if ((await listMailboxes({ store, organizationId }, own)).length === 0) continue;
    const frame = await findFrame(services, organizationId, mail);
    if (frame === null) continue;
    const { timeZone } = frame;
    const language = recipient.language ?? frame.language;
    const last = findLastPeriod(mail.interval, sent?.at ?? clock(), timeZone);
    if (sent !== null) return { mail, period: { ...last, timeZone }, language };
    // The next period can end while a mail is retried.
    const before = findLastPeriod(mail.interval, last.span.from, timeZone);
    for (const period of [last, before])
      if (buildDeliveryId(organizationId, mail, period, recipient) === deliveryId)
        return { mail, period: { ...period, timeZone }, language };
  }
  return null;
}

async function sendReport(
  services: MailServices,
  { organizationId, mailbox, deliveryId }: ReportDelivery,
  { mail, period, language: tag }: FoundReport,
  signal: AbortSignal,
) {
  const scope = buildScope(services, organizationId, system);
  const report = await getReportOfMail(scope, mail, period).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "NOT_FOUND") return null;
    throw error;
  });
  const smtp = await findMailServer(services, { organizationId });
  const context = createDeliveryContext(services, signal, smtp);
  if (report === null) return failFinally("The group or the page of the report was deleted.");
  const { message, mailStyle, frame } = await composeMail(scope, deliveryId, mail, report, {
    origin: services.origin(),
    language: getLanguage(tag),
  });
  const attachments = await printAttachments(services, organizationId, report, frame);
  return sendAsMail(message, [mailbox.email], context, { ...mailStyle, attachments });
}

/** Returns the report that a mail is about. Throws NOT_FOUND. */
export async function getReportOfMail(
  scope: Scope,
  { groupId, statusPageId, slaTarget, maintenance }: Omit<ReportMail, "to">,
  period: Period,
) {
  const { getReportOfPeriod } = await import("./service.ts");
  return getReportOfPeriod(
    scope,
    {
      ...(groupId !== null && { groupId }),
      ...(statusPageId !== null && { statusPageId }),
      ...(slaTarget !== null && { slaTarget }),
      maintenance,
    },
    period,
  );
}

/** Composes a mail without its attachment. */
export async function composeMail(
  scope: Scope,
  deliveryId: string,
  { interval, groupId, statusPageId }: MailSubject,
  report: Report,
  { origin, language }: { origin: string; language: Language },
) {
  const { name: organization } = await getOwnOrganization(scope);
  const search = new URLSearchParams({
    ...(interval === "monthly" && { month: report.month }),
    ...(groupId !== null && { groupId }),
    ...(statusPageId !== null && { statusPageId }),
    organization: scope.organizationId,
  });
  const frame = { interval, organization, language };
  const mailStyle: MailStyle = {
    language,
    link: language.translate("openReport"),
    headers: {},
    footer: { text: language.translate("whyReported", { organization }), links: [] },
  };
  const url = `${origin}/reports?${search}`;
  return { message: composeReportMail(deliveryId, report, { ...frame, url }), mailStyle, frame };
}

/** Waits at most this long for the PDF of a mail: other reports can be printed before it. */
const maxWaitMs = 45_000;

/** Returns the report as PDF to attach. Without Chromium, or if it fails, the mail has none. */
async function printAttachments(
  { printer, log }: MailServices,
  organizationId: string,
  report: Report,
  frame: Parameters<typeof composePdfDocument>[1],
) {
  const program = await printer.findProgram();
  if (program === null) return [];
  try {
    const { composePdfDocument: compose } = await import("./pdf-document.ts");
    const printing = printer.print(organizationId, program, compose(report, frame));
    const pdf = await Promise.race([printing, Bun.sleep(maxWaitMs).then(() => null)]);
    if (pdf === null) throw new Error("it took too long");
    const content = Buffer.from(pdf);
    const filename = nameReportFile(report, "pdf", frame.interval);
    return [{ filename, content, contentType: "application/pdf" }];
  } catch (error) {
    log.warn("a report is sent without its PDF", { organizationId, cause: String(error) });
    return [];
  }
}
