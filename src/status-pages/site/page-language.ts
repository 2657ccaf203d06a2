/** Chooses the language of a response: by `?lang=`, by the header of the browser, or the default of the page. */
import type { PageLanguage } from "../../core/languages.ts";
import { negotiateLanguage } from "../../core/text/negotiate-language.ts";
import { readQueryParameter } from "../../http/query-parameter.ts";
import { type LanguageChoice, listOffered } from "../languages/catalog.ts";
import type { PartName } from "./public-paths.ts";

/** Parts that people open in a browser. Programs get the others in the default language. */
const partsForPeople: readonly PartName[] = ["page", "history", "incident", "subscribe", "embed"];

/** Whether the part follows the header `Accept-Language`. */
export const isNegotiated = (name: PartName) => partsForPeople.includes(name);

/** Maximum remembered headers of a page. */
const maxHeaders = 100;
const maxHeaderLength = 200;

/** The languages of a page that offers several. */
export class OfferedLanguages {
  readonly #offered: readonly [PageLanguage, ...PageLanguage[]];
  /** Chosen languages by header, because parsing it takes longer than the rest of a cached response. */
  readonly #byHeader = new Map<string, PageLanguage>();

  private constructor(offered: readonly [PageLanguage, ...PageLanguage[]]) {
    this.#offered = offered;
  }

  /** Returns the choice of a page; null if it offers only one language. */
  static of(page: LanguageChoice): OfferedLanguages | null {
    const [first, ...others] = listOffered(page);
    return first === undefined || others.length === 0
      ? null
      : new OfferedLanguages([first, ...others]);
  }

  /** Whether the choice is the same. */
  equals(other: OfferedLanguages): boolean {
    return this.#offered.join() === other.#offered.join();
  }

  choose(
    request: Request,
    name: PartName,
    requestedLanguage = readLanguage(request),
  ): PageLanguage {
    if (requestedLanguage !== null)
      for (const language of this.#offered) if (language === requestedLanguage) return language;
    return isNegotiated(name) ? this.#negotiate(request) : this.#offered[0];
  }

  #negotiate(request: Request): PageLanguage {
    const header = request.headers.get("accept-language");
    if (header === null) return this.#offered[0];
    const known = this.#byHeader.get(header);
    if (known !== undefined) return known;
    const language = negotiateLanguage(header, this.#offered);
    if (this.#byHeader.size >= maxHeaders) this.#byHeader.clear();
    if (header.length <= maxHeaderLength) this.#byHeader.set(header, language);
    return language;
  }
}

/** Returns the language in the query of a request; null without one. */
export const readLanguage = (request: Request): string | null =>
  readQueryParameter(request, "lang");
