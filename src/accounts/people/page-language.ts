/** Stores a person's language in the browser, because the admin page is sent before the person is known. */
import { type AdminLanguage, languageCookie } from "../../core/admin-languages.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";

const yearSeconds = 365 * 86_400;

/** Stores the language; null removes it, so that the browser's language applies. Returns false if it was stored already. */
export function storeLanguage(
  { cookies }: Pick<VisitorContext, "cookies">,
  language: AdminLanguage | null,
): boolean {
  if (cookies.read(languageCookie) === language) return false;
  const lifetime = language === null ? 0 : yearSeconds;
  cookies.set({
    name: languageCookie,
    value: language ?? "",
    maxAgeSeconds: lifetime,
    sameSite: "Lax",
  });
  return true;
}
