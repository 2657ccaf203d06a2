/** Serves the address to which providers send people back. */
import type { AdminLanguage } from "../../core/admin-languages.ts";
import { AppError } from "../../core/errors.ts";
import { selectLanguage } from "../../http/responses/admin-page.ts";
import { respondWithSmallPage, respondTooManyRequests } from "../../http/responses/small-page.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { passwordPath } from "../identity-providers/preset-rules.ts";
import { ProviderFailure, startAgain } from "./failures.ts";
import { finishAttempt, type Outcome, type SingleSignOnDependencies } from "./service.ts";

export { callbackPath } from "../identity-providers/preset-rules.ts";

/** Time that the requests to a provider can take together, in seconds. */
export const callbackSeconds = 60;

/**
 * Ends a sign-in at a provider. The response is a page instead of a redirect: the session cookie is `SameSite=Strict`,
 * and browsers don't send it after a redirect from another site. After signing out at a provider, people return here
 * without `state`.
 */
export async function serveCallback(
  request: Request,
  context: VisitorContext,
  dependencies: SingleSignOnDependencies,
): Promise<Response> {
  const parameters = new URLSearchParams(request.url.split("?", 2)[1]);
  if (!parameters.has("state")) return redirectTo(passwordPath);
  // HEAD must have no effect (RFC 9110 §9.2.1).
  if (request.method === "HEAD") return new Response(null, { status: 200 });
  return finishAttempt(context, dependencies, parameters).then(
    async (outcome) => respondWithOutcome(outcome, await loadTexts(request)),
    async (error: unknown) =>
      error instanceof ProviderFailure &&
      error.pageId !== null &&
      dependencies.respondVisitorFailure
        ? dependencies.respondVisitorFailure(context, error.pageId, error)
        : respondWithFailure(error, await loadTexts(request)),
  );
}

/** Texts of the page in the language of the admin page. */
type Texts = { language: AdminLanguage; translate: (english: string) => string };

async function loadTexts(request: Request): Promise<Texts> {
  const language = selectLanguage(request);
  const { createTextTranslator } = await import("../../core/text/server-texts.ts");
  return { language, translate: createTextTranslator(language) };
}

const redirectTo = (path: string) =>
  new Response(null, {
    status: 302,
    headers: { Location: path, "Cache-Control": "no-store" },
  });

function respondWithOutcome(outcome: Outcome, texts: Texts): Response {
  if (outcome.type === "done")
    return outcome.isVisitor
      ? redirectTo(outcome.returnTo)
      : respondWithConfirmation(outcome.returnTo, texts);
  const { provider, email } = outcome;
  return respondWithPage(
    "Enter your password once",
    [
      `An account with the address ${email} exists here. Sign in with its password now, in this browser. Then you can also sign in with ${provider}.`,
    ],
    texts,
  );
}

function respondWithConfirmation(returnTo: string, { language, translate }: Texts): Response {
  const path = Bun.escapeHTML(returnTo);
  const title = translate("Signed in");
  const content = `<div class="lock"><h1>${title}</h1><p><a href="${path}">${translate("Continue")}</a></p></div>`;
  const looks = { language: { tag: language, dir: "ltr" } } as const;
  return respondWithSmallPage(title, content, 200, undefined, looks, returnTo);
}

function respondWithFailure(error: unknown, texts: Texts): Response {
  if (error instanceof AppError && error.code === "RATE_LIMITED")
    return respondTooManyRequests(error.headers["Retry-After"] ?? "60");
  // The address is opened by people, so a rejected use case is a page, too.
  if (error instanceof AppError) {
    const status = error.code === "UNAVAILABLE" ? 503 : 409;
    return respondWithPage(error.message, [startAgain], texts, status);
  }
  if (!(error instanceof ProviderFailure)) throw error;
  const { message, providerMessage, advice, isUnreachable } = error;
  const quoted =
    providerMessage === null || providerMessage === ""
      ? []
      : [`The provider said: “${providerMessage}”`];
  return respondWithPage(message, [...quoted, advice], texts, isUnreachable ? 502 : 403);
}

/** Creates a page with paragraphs of text and a link to the sign-in page. */
function respondWithPage(
  heading: string,
  paragraphs: readonly string[],
  { language, translate }: Texts,
  status = 200,
): Response {
  const toHtml = (text: string) => Bun.escapeHTML(translate(text));
  const text = paragraphs.map((one) => `<p dir="auto">${toHtml(one)}</p>`).join("");
  const signIn = toHtml("Sign in");
  const content = `<div class="lock"><h1>${toHtml(heading)}</h1>${text}<p><a href="${passwordPath}">${signIn}</a></p></div>`;
  return respondWithSmallPage(signIn, content, status, undefined, {
    language: { tag: language, dir: "ltr" },
  });
}
