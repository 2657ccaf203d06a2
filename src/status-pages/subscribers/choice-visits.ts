/** Shows subscribers their choice of notices, and stores changes of it. */
import { readForm } from "../../http/body.ts";
import { subscriberBounds } from "../../core/limits.ts";
import type { Scope } from "../../events/scope.ts";
import {
  respondWithQuestion,
  respondWithSmallPage,
  respondWithStatement,
} from "../../http/responses/small-page.ts";
import { getLanguage, listOffered } from "../languages/catalog.ts";
import type { Language } from "../languages/language.ts";
import { loaderOf } from "../load.ts";
import { findPublicPageById, type PlainPage } from "../store.ts";
import { type ChoiceForm, readChoice, renderChoiceForm } from "./choice-form.ts";
import { findRefusal } from "./receivers.ts";
import { endSubscription, updateSubscriber } from "./service.ts";
import type { SubscriberRow } from "./store.ts";

/** Maximum size of the form: 5,000 components. */
const maxFormBytes = 256 * 1024;

/** A visit of a subscriber through a link of an e-mail. */
export type SubscriberVisit = {
  request: Request;
  /** Address of the client. */
  sender: string;
  scope: Scope;
  row: SubscriberRow;
  page: PlainPage;
};

/** Responds to the link with which a subscriber changes the choice or unsubscribes. */
export async function respondWithChoice(
  { request, sender, scope, row, page }: SubscriberVisit,
  language: Language,
): Promise<Response> {
  const { title } = page;
  const { id, address } = row;
  const fields = request.method === "POST" ? await readForm(request, sender, maxFormBytes) : null;
  const isHidden = (await findRefusal(scope.store, page, row)) !== null;
  const isSaving = fields?.get("do") === "save";
  if (fields?.get("do") === "unsubscribe" || (isHidden && fields !== null && !isSaving)) {
    await endSubscription(scope, id);
    const text = language.translate("unsubscribedText", { title, address });
    return respondWithStatement(language.translate("unsubscribed"), text, 200, language);
  }
  const publicPage = isHidden ? null : await findPublicPageById(scope, page.id);
  // Subscribers who can no longer open the page must not see what it shows.
  if (publicPage === null)
    return respondWithQuestion(
      language.translate("updatesFrom", { title }),
      language.translate("areSent", { address }),
      language.translate("unsubscribe"),
      language,
    );
  const sections = (await loaderOf(scope.store)(publicPage, scope.clock())).components;
  const takesDigests = row.type === "email";
  // A subscriber can have a language that the page no longer offers.
  const ownLanguage = row.language === null ? [] : [row.language];
  const offered = [...new Set([...listOffered(page), ...ownLanguage])];
  const offer = { sections, offered, takesDigests };
  const respond = (
    choice: ChoiceForm["choice"],
    result: ChoiceForm["result"],
    { status = 200, language: shown = language } = {},
  ) => {
    const look = { title, theme: page.theme, language: shown };
    const form = renderChoiceForm({ ...offer, title, address, language: shown, choice, result });
    const name = shown.translate("updatesFrom", { title });
    return respondWithSmallPage(name, form, status, undefined, look);
  };
  if (fields === null) return respond(row, null);
  const { choice, error } = readChoice(fields, { ...offer, choice: row });
  if (error !== null) {
    const count = subscriberBounds.monitors.value;
    const text =
      error === "chooseFewer" ? language.translate(error, { count }) : language.translate(error);
    return respond(choice, { text, isError: true }, { status: 422 });
  }
  await updateSubscriber(scope, page.id, id, choice);
  const chosen = getLanguage(choice.language ?? page.language);
  return respond(choice, { text: chosen.translate("saved"), isError: false }, { language: chosen });
}
