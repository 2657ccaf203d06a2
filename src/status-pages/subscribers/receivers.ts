/** Sends notices to subscribers by e-mail and webhook. */
import {
  runAttempt,
  createDeliveryContext,
  findMailServer,
  type SendingContext,
} from "../../alerting/sending/attempt.ts";
import { sendAsMail } from "../../alerting/providers/email.ts";
import { signRequest } from "../../alerting/providers/webhook.ts";
import { failPermanently, sendProviderRequest, type Verdict } from "../../alerting/provider.ts";
import { type Attempt, makeDeliveriesDue, type Receivers } from "../../alerting/sending/queue.ts";
import type { OwnHosts } from "../../core/security/own-hosts.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { appendEvent } from "../../events/log.ts";
import { openAll } from "../../core/security/secrets.ts";
import { type Statement, createUpdate } from "../../database/store.ts";
import { subscribers } from "../../database/tables/status-pages.ts";
import { emailKeyOf } from "../../accounts/people/rules.ts";
import { findMemberByEmail, findMembership } from "../../accounts/people/store.ts";
import type { Store } from "../../database/store.ts";
import { isAllowedMember, isAllowedVisitor } from "../access-rules.ts";
import { getLanguage } from "../languages/catalog.ts";
import { buildAddresses, selectEffectiveHosts } from "../rules.ts";
import { findPlainPage, findVisitorProviders, type PlainPage } from "../store.ts";
import { sealToken } from "./links.ts";
import type { LinkVerb } from "../site/public-paths.ts";
import {
  type Notice,
  buildNoticeMessage,
  buildNoticePayload,
  type NoticeOrigin,
} from "./notice.ts";
import { findDigestItems } from "./digests.ts";
import { isListening, receiverTypeOf } from "./rules.ts";
import { findSubscriber, findNoticeOfDelivery, type SubscriberRow } from "./store.ts";

/** Maximum parallel deliveries. One mail server accepts fewer connections than many webhooks together. */
const slots = { mailbox: { shared: 8, reserved: 2 }, webhook: { shared: 50, reserved: 10 } };

type Context = SendingContext & { ownHosts: OwnHosts };
type PageLinks = NoticeOrigin & { root: string; slug: string };
/** One delivery of a notice to a subscriber. */
type Delivery = {
  id: string;
  subscriber: SubscriberRow;
  notice: Notice;
  /** Content of a digest; null for any other notice. */
  items: readonly Notice[] | null;
  page: PageLinks;
};

/** Creates the receivers of notices for the delivery queue: mailboxes and webhooks. */
export function createSubscriberReceivers(context: Context) {
  const receivers: Omit<Receivers, "slots"> = {
    // Updates are sent in order, even about different incidents: the oldest first.
    looks: [2],
    subjectsOf: async (_organizationId, ids) => new Map(ids.map((id) => [id, ["updates"]])),
    find: ({ organizationId, receiverId }) => findReceiver(context, organizationId, receiverId),
  };
  return {
    mailbox: { ...receivers, slots: slots.mailbox },
    webhook: { ...receivers, slots: slots.webhook },
  };
}

async function findReceiver(
  context: Context,
  organizationId: string,
  id: string,
): ReturnType<Receivers["find"]> {
  const { store, origin, ownHosts } = context;
  const subscriber = await findSubscriber({ store, organizationId }, id);
  if (subscriber === null) return null;
  const page = await findPlainPage({ store, organizationId }, subscriber.pageId);
  if (page === null) return null;
  const { slug, title: pageTitle, timeZone, language: pageLanguage } = page;
  const language = getLanguage(subscriber.language ?? pageLanguage);
  const hosts = selectEffectiveHosts(page, ownHosts);
  const { page: pageUrl, root } = buildAddresses({ slug, hosts }, origin());
  const links = { pageTitle, pageUrl, timeZone, pageLanguage, language, root, slug };
  let hasBounced = false;
  const recordBounce = (verdict: Verdict) =>
    void (hasBounced = verdict.outcome === "failed" && verdict.isBounce === true);
  return {
    type: subscriber.type,
    refusal: await findRefusal(context.store, page, subscriber),
    prepare: (deliveryId) => prepareDelivery(context, subscriber, links, deliveryId, recordBounce),
    recordAttempt: (attempt, { now }) => [
      ...recordAttempt(subscriber, attempt, now),
      ...(hasBounced && isListening(subscriber) ? quarantineAddress(subscriber, now) : []),
    ],
  };
}

/**
 * Returns why the subscriber gets no messages at the moment; null if they do. A visitor who subscribed themselves must
 * still be able to open the page. Other subscribers were added by the organization.
 */
export async function findRefusal(
  store: Store,
  { organizationId, visibility, allowedRoles, visitorProviders }: PlainPage,
  { byVisitor, address }: SubscriberRow,
): Promise<string | null> {
  if (visibility === "hidden") return "The status page was hidden.";
  if (!byVisitor) return null;
  if (visibility === "addresses") return "The status page was restricted to addresses.";
  if (visibility !== "signed-in") return null;
  const tenant = { store, organizationId };
  const person = await findMemberByEmail(tenant, emailKeyOf(address));
  const membership = person && (await findMembership(tenant, person.id));
  if (membership && isAllowedMember(allowedRoles, membership)) return null;
  const providers = await findVisitorProviders(store, { organizationId, visitorProviders });
  // Without domains, only the provider knows whether the account still exists.
  return providers.some(({ domains }) => domains.length > 0 && isAllowedVisitor(domains, address))
    ? null
    : "The subscriber can no longer open the status page.";
}

async function prepareDelivery(
  context: Context,
  subscriber: SubscriberRow,
  page: PageLinks,
  deliveryId: string,
  onVerdict: (verdict: Verdict) => void,
) {
  const row = await findNoticeOfDelivery(context.store, subscriber.organizationId, deliveryId);
  if (row === null) return { statements: [], nothing: "There is nothing left to send." };
  const { id, type, at, data } = row;
  const notice = { id, type, at, data: JSON.parse(data) as unknown } as Notice;
  const isQuestion = notice.type === "subscription.question";
  if (isQuestion && isListening(subscriber))
    return { statements: [], nothing: "It was confirmed meanwhile." };
  if (!isQuestion && subscriber.quarantinedAt !== null)
    return { statements: [], nothing: "Its mail server rejected the address before." };
  const items = notice.type === "digest" ? await readItems(context, subscriber, notice.data) : null;
  if (items?.length === 0)
    return { statements: [], nothing: "Nothing that the subscriber chose happened in this week." };
  const send = selectSender(subscriber.type);
  const delivery = { id: deliveryId, subscriber, notice, items, page };
  return {
    statements: [],
    async send(signal: AbortSignal) {
      const attempt = () => send(context, delivery, signal);
      const completed = await runAttempt(context, { subscriber: subscriber.id }, attempt);
      onVerdict(completed.verdict);
      return completed;
    },
  };
}

async function readItems(
  { store }: Context,
  subscriber: SubscriberRow,
  span: { from: string; to: string },
): Promise<Notice[]> {
  const items = await findDigestItems(store, subscriber, span);
  return items.map(
    ({ type, at, data }) => ({ id: "", type, at, data: JSON.parse(data) as unknown }) as Notice,
  );
}

const buildSubscriberLink = (
  { vault, clock }: Context,
  subscriber: SubscriberRow,
  { root, slug }: PageLinks,
  verb: LinkVerb,
) => `${root}/status/${slug}/${verb}/${sealToken(vault, verb, subscriber, clock())}`;

async function sendMail(
  context: Context,
  { id, subscriber, notice, items, page }: Delivery,
  signal: AbortSignal,
): Promise<Verdict> {
  const { language } = page;
  const buildLink = (verb: LinkVerb) => buildSubscriberLink(context, subscriber, page, verb);
  const isQuestion = notice.type === "subscription.question";
  const message = buildNoticeMessage(id, notice, page, buildLink("confirm"), items);
  const unsubscribe = buildLink("unsubscribe");
  const outside = createDeliveryContext(context, signal, await findMailServer(context, subscriber));
  return sendAsMail(message, [subscriber.address], outside, {
    language,
    link: language.translate(isQuestion ? "confirm" : "openStatusPage"),
    headers: isQuestion ? {} : buildUnsubscribeHeaders(unsubscribe),
    footer: isQuestion
      ? null
      : {
          text: language.translate("whyMailed", { title: page.pageTitle }),
          links: [
            { label: language.translate("manage"), url: buildLink("manage") },
            { label: language.translate("unsubscribe"), url: unsubscribe },
          ],
        },
  });
}

const chats = ["slack", "teams", "discord"] as const;

function selectSender(type: SubscriberRow["type"]) {
  if (type === "email") return sendMail;
  return type === "webhook" ? sendWebhook : sendToChat;
}

async function sendToChat(
  context: Context,
  { id, subscriber, notice, page }: Delivery,
  signal: AbortSignal,
): Promise<Verdict> {
  const { providers } = await import("../../alerting/providers.ts");
  const { secrets } = subscriber;
  const { webhookUrl = "" } = openAll(context.vault, buildSecretLocation(subscriber), secrets);
  const type = chats.find((one) => one === subscriber.type) ?? "slack";
  const { language } = page;
  const buildLink = (verb: LinkVerb) => buildSubscriberLink(context, subscriber, page, verb);
  const isQuestion = notice.type === "subscription.question";
  const message = buildNoticeMessage(id, notice, { ...page, isChat: true }, buildLink("confirm"));
  const linkLabel = language.translate(isQuestion ? "confirm" : "openStatusPage");
  const furtherLink = isQuestion
    ? null
    : { label: language.translate("manage"), url: buildLink("manage") };
  const outside = createDeliveryContext(context, signal, null);
  return providers[type].deliver(
    { webhookUrl, template: null },
    { ...message, linkLabel, ...(furtherLink && { furtherLink }) },
    outside,
  );
}

/** Headers for one-click unsubscription: https://www.rfc-editor.org/rfc/rfc8058 */
function buildUnsubscribeHeaders(url: string): Record<string, string> {
  return {
    "List-Unsubscribe": `<${url}>`,
    // One-click unsubscription requires HTTPS. With an HTTP link, mail providers distrust the message.
    ...(url.startsWith("https:") && { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
  };
}

async function sendWebhook(
  context: Context,
  { id, subscriber, notice, page }: Delivery,
  signal: AbortSignal,
): Promise<Verdict> {
  const payload = buildNoticePayload(notice, page);
  if (payload === null) return failPermanently("Webhooks get no confirmation question.");
  const { address, secrets } = subscriber;
  const { secret = null } = openAll(context.vault, buildSecretLocation(subscriber), secrets);
  const outside = createDeliveryContext(context, signal, null);
  return sendProviderRequest(
    signRequest({ url: address, secret }, id, payload, outside.now),
    outside,
  );
}

const setError = createUpdate(subscribers, ["lastError"]);
const setDelivered = createUpdate(subscribers, ["lastDeliveryAt", "lastError"]);

function recordAttempt(
  { organizationId, id, type }: SubscriberRow,
  { delivered, message, at }: Attempt,
  now: number,
): Statement[] {
  if (!delivered) return [setError(organizationId, { id, lastError: message })];
  return [
    setDelivered(organizationId, { id, lastDeliveryAt: at, lastError: null }),
    makeDeliveriesDue({ organizationId, receiverType: receiverTypeOf(type), receiverId: id }, now),
  ];
}

const setQuarantine = createUpdate(subscribers, ["quarantinedAt", "version"]);

/** Sends nothing more to an address that its mail server rejected, until it is released or signs up again. */
function quarantineAddress(
  { organizationId, id, version }: SubscriberRow,
  now: number,
): Statement[] {
  const at = formatTimestamp(now);
  return [
    setQuarantine(organizationId, { id, quarantinedAt: at, version: version + 1 }),
    appendEvent({ organizationId, at, type: "subscriber.quarantined", subjectId: id }),
  ];
}

/** Returns the vault location of a subscriber's secret. */
export function buildSecretLocation({
  organizationId,
  id,
}: {
  organizationId: string;
  id: string;
}) {
  return `${organizationId}/subscriber/${id}`;
}
