/** Handles sign-ups on public pages, and the links to confirm and unsubscribe in e-mails. */
import { type Scope, buildScope, type ScopeServices } from "../../events/scope.ts";
import { AppError } from "../../core/errors.ts";
import { EmailAddress } from "../../core/fields.ts";
import type { NetworkLimit } from "../../http/access/rate-limit.ts";
import type { Subscriptions } from "../site/public-pages.ts";
import { respondQuestion, respondStatement } from "../../http/responses/small-page.ts";
import type { Language } from "../languages/language.ts";
import { getLanguage, languageOfVisitor } from "../languages/catalogue.ts";
import { readFormFields, sayTryAgain } from "../site/small-page.ts";
import { findPlainPage } from "../store.ts";
import { openToken, sealToken } from "./links.ts";
import type { LinkVerb } from "../site/public-paths.ts";
import type { Visit } from "./choice-visits.ts";
import { askMailbox, confirmSubscriber, endSubscription } from "./service.ts";
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
    async signUp(request, page, chosen, person) {
      const language = getLanguage(chosen);
      const refuse = (email: string, why: "tooManySignUps" | "tooManyPeopleSignUp", wait: number) =>
        createSignUpRefusal(language, email, why, wait);
      const { email = "" } = await readFormFields(request);
      const sentAddress = email.trim().slice(0, 320);
      const address = addressOf(request);
      const pause = signUps.take(address);
      if (pause > 0) return refuse(sentAddress, "tooManySignUps", pause);
      const trouble = findMailboxIssue(language, sentAddress, person);
      if (trouble !== null) return { email: sentAddress, trouble, status: 422 };
      // Checked before the lookup, so that responses don't reveal whether a mailbox is known.
      const { wait, by } = budget.take(address, page.id);
      if (wait > 0)
        return refuse(
          sentAddress,
          by === "network" ? "tooManySignUps" : "tooManyPeopleSignUp",
          wait,
        );
      const scope = createVisitorScope(page.organizationId);
      const mailLanguage = page.languages.length === 0 ? null : chosen;
      await askMailbox(
        scope,
        page.id,
        { email: sentAddress, language: mailLanguage },
        budget.canAsk,
      );
      return { email: sentAddress, trouble: null, status: 200 };
    },

    async respondToLink(request, verb, token) {
      const owner = openToken(vault, verb, token, clock());
      if (owner === null || !["GET", "HEAD", "POST"].includes(request.method)) return null;
      const { organizationId, id } = owner;
      const row = await findSubscriber({ store, organizationId }, id);
      const page = row && (await findPlainPage({ store, organizationId }, row.pageId));
      if (row === null || page === null) return respondEnded(verb, languageOfVisitor(request));
      return respondToSubscriber(
        { request, scope: createVisitorScope(organizationId), row, page },
        verb,
      );
    },
  };
}

/** Responds to a link of an existing subscriber. */
async function respondToSubscriber(visit: Visit, verb: LinkVerb): Promise<Response> {
  const { request, scope, row, page } = visit;
  const { id, address } = row;
  const { title } = page;
  const language = getLanguage(row.language ?? page.language);
  if (verb === "manage") {
    const { respondChoice } = await import("./choice-visits.ts");
    return respondChoice(visit, language);
  }
  if (request.method === "POST") {
    const manageLink = `../manage/${sealToken(scope.vault, "manage", row, scope.clock())}`;
    return changeSubscription(scope, verb, { id, title, address, language, manageLink });
  }
  // Mail scanners follow links, so only a POST changes anything.
  const text = verb === "confirm" ? "willBeSent" : "areSent";
  return respondQuestion(
    language.say("updatesFrom", { title }),
    language.say(text, { address }),
    language.say(verb),
    language,
  );
}

/** Returns why the mailbox can't be subscribed, as a sentence; null if it can. */
function findMailboxIssue(
  language: Language,
  address: string,
  person: { email: string | null } | null,
): string | null {
  if (!EmailAddress.safeParse(address).success) return language.say("invalidEmail");
  if (person === null) return null;
  if (person.email === null) return language.say("noAccountAddress");
  return emailKeyOf(address) === emailKeyOf(person.email)
    ? null
    : language.say("onlyOwnMailbox", { address: person.email });
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
  const state = (heading: string, text: string, status?: number) =>
    respondStatement(heading, text, status, language);
  if (verb === "unsubscribe") {
    await endSubscription(scope, id);
    const text = language.say("unsubscribedText", { title, address });
    return state(language.say("unsubscribed"), text);
  }
  const confirmation = await confirmSubscriber(scope, id).catch(mapConflictToFull);
  if (confirmation === null) return respondEnded(verb, language);
  if (confirmation === "full")
    return state(language.say("notNow"), language.say("subscribersFull", { title }), 409);
  return respondStatement(
    language.say("subscribed"),
    language.say("subscribedText", { title, address }),
    200,
    language,
    { label: language.say("manage"), path: manageLink },
  );
}

function mapConflictToFull(error: unknown): "full" {
  if (error instanceof AppError && error.code === "CONFLICT") return "full";
  throw error;
}

function createSignUpRefusal(
  language: Language,
  email: string,
  why: "tooManySignUps" | "tooManyPeopleSignUp",
  seconds: number,
) {
  const trouble = `${language.say(why)} ${sayTryAgain(language, seconds)}`;
  return { email, trouble, status: 429, retryAfter: seconds };
}

/** Response to a link of a deleted subscriber. */
function respondEnded(verb: LinkVerb, language: Language): Response {
  const [heading, text] =
    verb === "confirm"
      ? (["linkExpired", "linkExpiredText"] as const)
      : (["notSubscribed", "notSubscribedText"] as const);
  return respondStatement(language.say(heading), language.say(text), 200, language);
}
