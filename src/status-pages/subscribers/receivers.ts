import {
  runAttempt,
  deliveryContext,
  mailServerOf,
  type SendingContext,
} from "../../alerting/sending/attempt.ts";
import { sendAsMail } from "../../alerting/providers/email.ts";
import { signed } from "../../alerting/providers/webhook.ts";
import { permanent, post, type Verdict } from "../../alerting/provider.ts";
import { type Attempt, bringForward, type Receivers } from "../../alerting/sending/queue.ts";
import type { OwnHosts } from "../../core/security/own-hosts.ts";
import { openAll } from "../../core/security/secrets.ts";
import { type Statement, updateOf } from "../../database/store.ts";
import { subscribers } from "../../database/tables/status-pages.ts";
import { addressesOf, hostsOf } from "../rules.ts";
import { findPages } from "../store.ts";
import { tokenOf } from "./links.ts";
import { type Notice, noticeMessage, noticePayload, type NoticeOrigin } from "./notice.ts";
import { receiverTypeOf } from "./rules.ts";
import { findSubscriber, noticeOfDelivery, type SubscriberRow } from "./store.ts";

/** So many are sent to at the same time: a mail server bears less than the rest of the world. */
const slots = { mailbox: { shared: 8, kept: 2 }, webhook: { shared: 50, kept: 10 } };

type PageLinks = NoticeOrigin & { root: string; slug: string };

/** Subscribers of status pages as receivers of notices. */
export function subscriberReceivers(context: SendingContext & { ownHosts: OwnHosts }) {
  const { store, vault, clock, origin, ownHosts } = context;

  async function mail(
    deliveryId: string,
    subscriber: SubscriberRow,
    notice: Notice,
    { root, slug, ...page }: PageLinks,
    cancelled: AbortSignal,
  ): Promise<Verdict> {
    const linkTo = (verb: "confirm" | "unsubscribe") =>
      `${root}/status/${slug}/${verb}/${tokenOf(vault, verb, subscriber, clock())}`;
    const isQuestion = notice.type === "subscription.question";
    const message = noticeMessage(deliveryId, notice, page, linkTo("confirm"));
    const unsubscribe = linkTo("unsubscribe");
    const outside = deliveryContext(context, cancelled, await mailServerOf(context, subscriber));
    return sendAsMail(message, [subscriber.address], outside, {
      link: isQuestion ? "Confirm" : "Open the status page",
      // https://www.rfc-editor.org/rfc/rfc8058
      headers: isQuestion
        ? {}
        : {
            "List-Unsubscribe": `<${unsubscribe}>`,
            // One click needs https there: a provider that finds less distrusts the mail.
            ...(unsubscribe.startsWith("https:") && {
              "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            }),
          },
      footer: isQuestion
        ? null
        : {
            text: `You asked for updates from ${page.pageTitle}.`,
            link: "Unsubscribe",
            url: unsubscribe,
          },
    });
  }

  async function sendWebhook(
    deliveryId: string,
    { organizationId, id, address, secrets }: SubscriberRow,
    notice: Notice,
    page: NoticeOrigin,
    cancelled: AbortSignal,
  ): Promise<Verdict> {
    const payload = noticePayload(notice, page);
    if (payload === null) return permanent("A webhook is not asked.");
    const { secret = null } = openAll(vault, secretLocationOf({ organizationId, id }), secrets);
    const outside = deliveryContext(context, cancelled, null);
    return post(signed({ url: address, secret }, deliveryId, payload, outside.now), outside);
  }

  const ofBoth: Omit<Receivers, "slots"> = {
    // Updates are told in their order, whatever they are about: the oldest goes first.
    looks: [2],
    subjectsOf: async (_organizationId, ids) => new Map(ids.map((id) => [id, ["updates"]])),
    async find({ organizationId, receiverId }) {
      const subscriber = await findSubscriber({ store, organizationId }, receiverId);
      if (subscriber === null) return null;
      const [page] = await findPages({ store, organizationId }, subscriber.pageId);
      if (page === undefined) return null;
      const { slug, title: pageTitle, timeZone, visibility } = page;
      const hosts = hostsOf(page, ownHosts);
      const { page: pageUrl, root } = addressesOf({ slug, hosts }, origin());
      const links = { pageTitle, pageUrl, timeZone, root, slug };
      return {
        type: subscriber.type,
        refusal: visibility === "hidden" ? "The status page was hidden." : null,
        async prepare(deliveryId) {
          const row = await noticeOfDelivery(store, organizationId, deliveryId);
          if (row === null) return { statements: [], nothing: "There is nothing left to send." };
          const { id, type, at, data } = row;
          const notice = { id, type, at, data: JSON.parse(data) as unknown } as Notice;
          if (notice.type === "subscription.question" && subscriber.confirmedAt !== null)
            return { statements: [], nothing: "It was confirmed meanwhile." };
          const deliver = subscriber.type === "email" ? mail : sendWebhook;
          return {
            statements: [],
            send: (cancelled) =>
              runAttempt(context, { subscriber: subscriber.id }, () =>
                deliver(deliveryId, subscriber, notice, links, cancelled),
              ),
          };
        },
        after: (attempt, { now }) => subscriberAfter(subscriber, attempt, now),
      };
    },
  };
  return {
    mailbox: { ...ofBoth, slots: slots.mailbox },
    webhook: { ...ofBoth, slots: slots.webhook },
  };
}

const setError = updateOf(subscribers, ["lastError"]);
const setDelivered = updateOf(subscribers, ["lastDeliveryAt", "lastError"]);

function subscriberAfter(
  { organizationId, id, type }: SubscriberRow,
  { delivered, message, at }: Attempt,
  now: number,
): Statement[] {
  if (!delivered) return [setError(organizationId, { id, lastError: message })];
  return [
    setDelivered(organizationId, { id, lastDeliveryAt: at, lastError: null }),
    bringForward({ organizationId, receiverType: receiverTypeOf(type), receiverId: id }, now),
  ];
}

/** Where a subscriber's secret is sealed for. */
export function secretLocationOf({ organizationId, id }: { organizationId: string; id: string }) {
  return `${organizationId}/subscriber/${id}`;
}
