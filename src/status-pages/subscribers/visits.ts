/** Handles sign-ups on public pages, and the links to confirm and unsubscribe in e-mails. */
import { type Scope, buildScope, type ScopeServices } from "../../events/scope.ts";
import { AppError } from "../../core/errors.ts";
import type { PageLanguage } from "../../core/languages.ts";
import { EmailAddress } from "../../core/fields.ts";
import type { NetworkLimit } from "../../http/access/rate-limit.ts";
import type { Subscriptions } from "../site/public-pages.ts";
import { respondWithQuestion, respondWithStatement } from "../../http/responses/small-page.ts";
import type { Language } from "../languages/language.ts";
import { getLanguage, languageOfVisitor } from "../languages/catalog.ts";
import { readFormFields, formatRetryText } from "../site/small-page.ts";
import { takesChats } from "../rules.ts";
import { findPlainPage } from "../store.ts";
import { openToken, sealToken } from "./links.ts";
import type { LinkVerb } from "../site/public-paths.ts";
import type { SubscriberVisit } from "./choice-visits.ts";
import { type ChatType, findChatType } from "./chat-webhooks.ts";
import { askChat, askMailbox, confirmSubscriber, endSubscription } from "./service.ts";
import { emailKeyOf } from "../../accounts/people/rules.ts";
import { createSignUpBudget } from "./sign-up-budget.ts";
import { findSubscriber } from "./store.ts";

type Dependencies = {
  services: ScopeServices;
  /** Sign-ups per client network and minute. */
  signUps: NetworkLimit;
  addressOf: (request: Request) => string;
};

/** Creates the handlers through which visitors change their subscriptions. */
export function createSubscriptions({ services, signUps, addressOf }: Dependencies): Subscriptions {
  const { store, clock, vault } = services;
  const budget = createSignUpBudget(clock);

  const createVisitorScope = (organizationId: string): Scope => ({
    ...buildScope(services, organizationId, { type: "visitor", id: null, name: "visitor" }),
    mayWrite: false,
  });

  return {
    async signUp(request, page, chosen, { person, takesMail }) {
      const language = getLanguage(chosen);
      const address = addressOf(request);
      const sent = await readSubmission(request, address);
      const { medium, email } = sent;
      if (!(medium === "chat" ? takesChats(page) : takesMail)) return null;
      const respond = (error: string | null, status: number) => ({
        email,
        medium,
        error,
        status,
      });
      const refuse = (why: "tooManySignUps" | "tooManyPeopleSignUp", seconds: number) => ({
        ...respond(`${language.translate(why)} ${formatRetryText(language, seconds)}`, 429),
        retryAfter: seconds,
      });
      const pause = signUps.take(address);
      if (pause > 0) return refuse("tooManySignUps", pause);
      const error = findIssue(language, sent, person);
      if (error !== null) return respond(error, 422);
      // Checked before the lookup, so that responses don't reveal whether an address is known.
      const { wait, by } = budget.take(address, page.id);
      if (wait > 0)
        return refuse(by === "network" ? "tooManySignUps" : "tooManyPeopleSignUp", wait);
      const scope = createVisitorScope(page.organizationId);
      const asked = { ...sent, language: page.languages.length === 0 ? null : chosen };
      const isRequested = await requestConfirmation(scope, page.id, asked, budget.canAsk);
      return isRequested ? respond(null, 200) : respond(language.translate("invalidWebhook"), 422);
    },

    async respondToLink(request, verb, token) {
      const owner = openToken(vault, verb, token, clock());
      if (owner === null || !["GET", "HEAD", "POST"].includes(request.method)) return null;
      const { organizationId, id } = owner;
      const row = await findSubscriber({ store, organizationId }, id);
      const page = row && (await findPlainPage({ store, organizationId }, row.pageId));
      if (row === null || page === null) return respondWithEnd(verb, languageOfVisitor(request));
      return respondToSubscriber(
        {
          request,
          sender: addressOf(request),
          scope: createVisitorScope(organizationId),
          row,
          page,
        },
        verb,
      );
    },
  };
}

/** Responds to a link of an existing subscriber. */
async function respondToSubscriber(visit: SubscriberVisit, verb: LinkVerb): Promise<Response> {
  const { request, scope, row, page } = visit;
  const { id, address } = row;
  const { title } = page;
  const language = getLanguage(row.language ?? page.language);
  if (verb === "manage") {
    const { respondWithChoice: respondChoice } = await import("./choice-visits.ts");
    return respondChoice(visit, language);
  }
  if (request.method === "POST") {
    const manageLink = `../manage/${sealToken(scope.vault, "manage", row, scope.clock())}`;
    return changeSubscription(scope, verb, { id, title, address, language, manageLink });
  }
  // Mail scanners follow links, so only a POST changes anything.
  const text = verb === "confirm" ? "willBeSent" : "areSent";
  return respondWithQuestion(
    language.translate("updatesFrom", { title }),
    language.translate(text, { address }),
    language.translate(verb),
    language,
  );
}

/** A submitted form. The address of a chat is a secret, which no response contains. */
type Submission =
  | { medium: "email"; email: string }
  | { medium: "chat"; email: ""; type: ChatType | null; webhookUrl: string };

async function readSubmission(request: Request, sender: string): Promise<Submission> {
  const { email = "", webhookUrl } = await readFormFields(request, sender);
  if (webhookUrl === undefined) return { medium: "email", email: email.trim().slice(0, 320) };
  const address = webhookUrl.trim();
  return { medium: "chat", email: "", type: findChatType(address), webhookUrl: address };
}

/** Sends a confirmation link to the submitted address. Returns false if it is not a chat, or a blocked one. */
async function requestConfirmation(
  scope: Scope,
  pageId: string,
  sent: Submission & { language: PageLanguage | null },
  canAsk: (address: string) => boolean,
): Promise<boolean> {
  const { language } = sent;
  if (sent.medium === "email") {
    await askMailbox(scope, pageId, { email: sent.email, language }, canAsk);
    return true;
  }
  const { type, webhookUrl } = sent;
  if (type === null) return false;
  try {
    await askChat(scope, pageId, { type, webhookUrl, language }, canAsk);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "VALIDATION_ERROR") return false;
    throw error;
  }
}

/** Returns why the submitted address can't be subscribed, as a sentence; null if it can. */
function findIssue(
  language: Language,
  sent: Submission,
  person: { email: string | null } | null,
): string | null {
  if (sent.medium === "email") return findMailboxIssue(language, sent.email, person);
  return sent.type === null ? language.translate("invalidWebhook") : null;
}

/** Returns why the mailbox can't be subscribed, as a sentence; null if it can. */
function findMailboxIssue(
  language: Language,
  address: string,
  person: { email: string | null } | null,
): string | null {
  if (!EmailAddress.safeParse(address).success) return language.translate("invalidEmail");
  if (person === null) return null;
  if (person.email === null) return language.translate("noAccountAddress");
  return emailKeyOf(address) === emailKeyOf(person.email)
    ? null
    : language.translate("onlyOwnMailbox", { address: person.email });
}

type LinkedSubscriber = {
  id: string;
  title: string;
  address: string;
  language: Language;
  manageLink: string;
};

/** Confirms or ends a subscription. */
async function changeSubscription(
  scope: Scope,
  verb: LinkVerb,
  { id, title, address, language, manageLink }: LinkedSubscriber,
): Promise<Response> {
  const respondWith = (heading: string, text: string, status = 200) =>
    respondWithStatement(heading, text, status, language);
  if (verb === "unsubscribe") {
    await endSubscription(scope, id);
    const text = language.translate("unsubscribedText", { title, address });
    return respondWith(language.translate("unsubscribed"), text);
  }
  const confirmation = await confirmSubscriber(scope, id).catch(mapConflictToFull);
  if (confirmation === null) return respondWithEnd(verb, language);
  if (confirmation === "full")
    return respondWith(
      language.translate("notNow"),
      language.translate("subscribersFull", { title }),
      409,
    );
  return respondWithStatement(
    language.translate("subscribed"),
    language.translate("subscribedText", { title, address }),
    200,
    language,
    { label: language.translate("manage"), path: manageLink },
  );
}

function mapConflictToFull(error: unknown): "full" {
  if (error instanceof AppError && error.code === "CONFLICT") return "full";
  throw error;
}

/** Response to a link of a deleted subscriber. */
function respondWithEnd(verb: LinkVerb, language: Language): Response {
  const [heading, text] =
    verb === "confirm"
      ? (["linkExpired", "linkExpiredText"] as const)
      : (["notSubscribed", "notSubscribedText"] as const);
  return respondWithStatement(language.translate(heading), language.translate(text), 200, language);
}
