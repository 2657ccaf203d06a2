/** Handles sign-ups on public pages, and the links to confirm and unsubscribe in e-mails. */
import { type Scope, scopeOf, type ScopeServices } from "../../events/scope.ts";
import { AppError } from "../../core/errors.ts";
import { EmailAddress } from "../../core/fields.ts";
import type { NetworkLimit } from "../../http/access/rate-limit.ts";
import type { Subscriptions } from "../site/public-pages.ts";
import { fieldsOf, question, statement } from "../site/small-page.ts";
import { findPages } from "../store.ts";
import { ownerOf, type Verb } from "./links.ts";
import { askMailbox, confirmSubscriber, endSubscription } from "./service.ts";
import { signUpBudget } from "./sign-up-budget.ts";
import { findSubscriber } from "./store.ts";

type Dependencies = {
  services: ScopeServices;
  /** Sign-ups per client network and minute. */
  signUps: NetworkLimit;
  addressOf: (request: Request) => string;
};

/** Creates the handlers through which visitors change their subscriptions. */
export function subscriptionsOf({ services, signUps, addressOf }: Dependencies): Subscriptions {
  const { store, clock, vault } = services;
  const budget = signUpBudget(clock);

  const visitorScope = (organizationId: string): Scope => ({
    ...scopeOf(services, organizationId, { type: "visitor", id: null, name: "visitor" }),
    mayWrite: false,
  });

  return {
    async signUp(request, page) {
      const { email = "" } = await fieldsOf(request);
      const said = email.trim().slice(0, 320);
      const address = addressOf(request);
      const pause = signUps.take(address);
      if (pause > 0) return refused(said, tooManyHere, pause);
      const mailbox = EmailAddress.safeParse(said);
      if (!mailbox.success)
        return {
          email: said,
          trouble: "This must be an e-mail address, such as ann@team.example.",
          status: 422,
        };
      // Checked before the lookup, so that responses don't reveal whether a mailbox is known.
      const { wait, by } = budget.take(address, page.id);
      if (wait > 0) return refused(said, by === "network" ? tooManyHere : tooManyPeople, wait);
      await askMailbox(visitorScope(page.organizationId), page.id, mailbox.data, budget.mayAsk);
      return { email: said, trouble: null, status: 200 };
    },

    async answer(request, verb, token) {
      const owner = ownerOf(vault, verb, token, clock());
      if (owner === null || !["GET", "HEAD", "POST"].includes(request.method)) return null;
      const { organizationId, id } = owner;
      const row = await findSubscriber({ store, organizationId }, id);
      const [page] = row === null ? [] : await findPages({ store, organizationId }, row.pageId);
      if (row === null || page === undefined) return ended(verb);
      const { title } = page;
      const scope = visitorScope(organizationId);
      if (request.method === "POST") {
        if (verb === "confirm") {
          const taken = await confirmSubscriber(scope, id).catch(orFull);
          if (taken === null) return ended(verb);
          if (taken === "full")
            return statement("Not now", `${title} takes no more subscribers at the moment.`, 409);
          return statement(
            "You are subscribed",
            `Updates from ${title} are sent to ${row.address}.`,
          );
        }
        await endSubscription(scope, id);
        const text = `Updates from ${title} are no longer sent to ${row.address}.`;
        return statement("You are unsubscribed", text);
      }
      // Mail scanners follow links, so only a POST changes anything.
      return verb === "confirm"
        ? question(`Updates from ${title}`, `They will be sent to ${row.address}.`, "Confirm")
        : question(`Updates from ${title}`, `They are sent to ${row.address}.`, "Unsubscribe");
    },
  };
}

const tooManyHere = "Too many sign-ups from here.";
const tooManyPeople = "Too many people are signing up at the moment.";

function orFull(error: unknown): "full" {
  if (error instanceof AppError && error.code === "CONFLICT") return "full";
  throw error;
}

function refused(email: string, why: string, seconds: number) {
  const time = seconds <= 60 ? "a minute" : seconds <= 600 ? "ten minutes" : "an hour";
  return { email, trouble: `${why} Try again in ${time}.`, status: 429, retryAfter: seconds };
}

/** Response to a link of a deleted subscriber. */
function ended(verb: Verb): Response {
  return verb === "confirm"
    ? statement("This link has expired", "Sign up again on the status page to get a new one.")
    : statement("You are not subscribed", "No updates are sent to this address.");
}
