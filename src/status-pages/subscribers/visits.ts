/** Handles sign-ups on public pages, and the links to confirm and unsubscribe in e-mails. */
import { type Scope, buildScope, type ScopeServices } from "../../events/scope.ts";
import { AppError } from "../../core/errors.ts";
import { EmailAddress } from "../../core/fields.ts";
import type { NetworkLimit } from "../../http/access/rate-limit.ts";
import type { Subscriptions } from "../site/public-pages.ts";
import { respondQuestion, respondStatement } from "../../http/responses/small-page.ts";
import { readFormFields } from "../site/small-page.ts";
import { findPages } from "../store.ts";
import { openToken, type Verb } from "./links.ts";
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
    async signUp(request, page, person) {
      const { email = "" } = await readFormFields(request);
      const sentAddress = email.trim().slice(0, 320);
      const address = addressOf(request);
      const pause = signUps.take(address);
      if (pause > 0) return createSignUpRefusal(sentAddress, networkLimitMessage, pause);
      const trouble = findMailboxIssue(sentAddress, person);
      if (trouble !== null) return { email: sentAddress, trouble, status: 422 };
      // Checked before the lookup, so that responses don't reveal whether a mailbox is known.
      const { wait, by } = budget.take(address, page.id);
      if (wait > 0)
        return createSignUpRefusal(
          sentAddress,
          by === "network" ? networkLimitMessage : totalLimitMessage,
          wait,
        );
      const scope = createVisitorScope(page.organizationId);
      await askMailbox(scope, page.id, sentAddress, budget.canAsk);
      return { email: sentAddress, trouble: null, status: 200 };
    },

    async respondToLink(request, verb, token) {
      const owner = openToken(vault, verb, token, clock());
      if (owner === null || !["GET", "HEAD", "POST"].includes(request.method)) return null;
      const { organizationId, id } = owner;
      const row = await findSubscriber({ store, organizationId }, id);
      const [page] = row === null ? [] : await findPages({ store, organizationId }, row.pageId);
      if (row === null || page === undefined) return respondEnded(verb);
      const { title } = page;
      if (request.method === "POST") {
        const subscriber = { id, title, address: row.address };
        return changeSubscription(createVisitorScope(organizationId), verb, subscriber);
      }
      // Mail scanners follow links, so only a POST changes anything.
      return verb === "confirm"
        ? respondQuestion(
            `Updates from ${title}`,
            `They will be sent to ${row.address}.`,
            "Confirm",
          )
        : respondQuestion(
            `Updates from ${title}`,
            `They are sent to ${row.address}.`,
            "Unsubscribe",
          );
    },
  };
}

/** Returns why the mailbox can't be subscribed, as a sentence; null if it can. */
function findMailboxIssue(address: string, person: { email: string | null } | null): string | null {
  if (!EmailAddress.safeParse(address).success)
    return "This must be an e-mail address, such as ann@team.example.";
  if (person === null) return null;
  if (person.email === null) return "Your account has no address to which updates can be sent.";
  return emailKeyOf(address) === emailKeyOf(person.email)
    ? null
    : `This page is only for signed-in people: use the address of your account, ${person.email}.`;
}

/** Confirms or ends a subscription. */
async function changeSubscription(
  scope: Scope,
  verb: Verb,
  { id, title, address }: { id: string; title: string; address: string },
): Promise<Response> {
  if (verb === "unsubscribe") {
    await endSubscription(scope, id);
    const text = `Updates from ${title} are no longer sent to ${address}.`;
    return respondStatement("You are unsubscribed", text);
  }
  const confirmation = await confirmSubscriber(scope, id).catch(mapConflictToFull);
  if (confirmation === null) return respondEnded(verb);
  if (confirmation === "full")
    return respondStatement("Not now", `${title} accepts no more subscribers at the moment.`, 409);
  return respondStatement("You are subscribed", `Updates from ${title} are sent to ${address}.`);
}

const networkLimitMessage = "Too many sign-ups from here.";
const totalLimitMessage = "Too many people are signing up at the moment.";

function mapConflictToFull(error: unknown): "full" {
  if (error instanceof AppError && error.code === "CONFLICT") return "full";
  throw error;
}

function createSignUpRefusal(email: string, why: string, seconds: number) {
  const time = seconds <= 60 ? "a minute" : seconds <= 600 ? "ten minutes" : "an hour";
  return { email, trouble: `${why} Try again in ${time}.`, status: 429, retryAfter: seconds };
}

/** Response to a link of a deleted subscriber. */
function respondEnded(verb: Verb): Response {
  return verb === "confirm"
    ? respondStatement(
        "This link has expired",
        "Sign up again on the status page to get a new one.",
      )
    : respondStatement("You are not subscribed", "No updates are sent to this address.");
}
