/** Renders parts, files and other documents of status pages, with the headers that their visitors need. */
import type { Clock } from "../../core/time/clock.ts";
import type { PageLanguage } from "../../core/languages.ts";
import { translatePage } from "../languages/page-translation.ts";
import type { Language } from "../languages/language.ts";
import { getLanguage, listOffered } from "../languages/catalog.ts";
import type { createPageReadings, Reading } from "../page-readings.ts";
import { type PageLocation, renderPart } from "../rendering/parts.ts";
import type { Audience } from "../access-rules.ts";
import { buildAddresses, filePaths, renderFontStyle, selectEffectiveHosts } from "../rules.ts";
import { findFile, findStylesheet, type PageHead, type PublicPage } from "../store.ts";
import type { Render, Rendered, Rendering } from "./cache.ts";
import { isNegotiated } from "./page-language.ts";
import { type FilePart, isFilePart, type Part } from "./public-paths.ts";
import type { PageSignInDependencies } from "./sign-in-service.ts";

/** Address of a page in a request: its slug, or its own host. */
export type PageAddress = {
  slug: string;
  host: string | null;
  /** Path of the page in links; empty at the root of its own host. */
  base: string;
};

export type ChosenLanguage = { language: PageLanguage; isOnlyOne: boolean };

/** The content of a page, in the language of a document. */
export type TranslatedReading = Reading & { language: Language };

export type PageRendererDependencies = Pick<
  PageSignInDependencies,
  "store" | "clock" | "origin" | "ownHosts"
> & {
  readings: ReturnType<typeof createPageReadings>;
  /** Monotonic clock in milliseconds, for the age of cached pages. */
  monotonic: Clock;
};

export class PageRenderer {
  readonly #dependencies: PageRendererDependencies;

  constructor(dependencies: PageRendererDependencies) {
    this.#dependencies = dependencies;
  }

  /** Creates the render of a part or file. The cache runs it if it has no response. */
  createRender(
    head: PageHead,
    address: PageAddress,
    part: Part,
    { audience, language, isOnlyOne }: ChosenLanguage & { audience: Audience },
  ): Render {
    return async () => {
      const rendering = isFilePart(part.name)
        ? await this.#renderFile(head, part.name, part.parameter)
        : await this.#renderReading(head, audience, ({ page, loaded }) =>
            renderPart(part, loaded, this.locate(address, page, language)),
          );
      if (rendering === null) return null;
      const isOfMany = !isOnlyOne && isNegotiated(part.name);
      return restrict(isOfMany ? markNegotiated(rendering, language) : rendering, head, audience);
    };
  }

  /** Creates the render of a document in the wanted language, or in the default language of the page. */
  createOpenRender(
    head: PageHead,
    audience: Audience,
    wanted: PageLanguage | undefined,
    render: (reading: TranslatedReading) => Promise<Rendered | null>,
  ): Render {
    return async () => {
      const rendering = await this.#renderReading(head, audience, (reading) =>
        render(translateReading(reading, head, wanted)),
      );
      return rendering && restrict(rendering, head, audience);
    };
  }

  /** Returns where, when and in which language the page is rendered. */
  locate({ host, base }: PageAddress, page: PublicPage, language: PageLanguage): PageLocation {
    const { clock, origin, ownHosts } = this.#dependencies;
    const url =
      host === null
        ? `${origin()}${base}`
        : buildAddresses({ slug: page.slug, hosts: selectEffectiveHosts(page, ownHosts) }, origin())
            .page;
    return { base, url, now: clock(), language: getLanguage(language) };
  }

  async #renderReading(
    head: PageHead,
    audience: Audience,
    render: (reading: Reading) => Promise<Rendered | null>,
  ): Promise<Rendering | null> {
    const reading = await this.#dependencies.readings.findReading(head, audience);
    if (reading === null) return null;
    const { page, readAt } = reading;
    const rendered = await render(reading);
    return {
      organizationId: page.organizationId,
      readAt,
      rendered: page.indexing
        ? rendered
        : rendered && addHeaders(rendered, { "X-Robots-Tag": "noindex" }),
      isPartial: page.concealed.length > 0,
    };
  }

  /** Finds a file of a page; null without one. */
  async findFile(head: PageHead, name: FilePart) {
    const { store } = this.#dependencies;
    if (name === "stylesheet") return findStylesheet(store, head);
    if (name !== "fontStyle") return findFile(store, head, name);
    const font = await findFile(store, head, "font");
    const { version = "" } = font ?? {};
    const bytes = renderFontStyle(`${filePaths.font}?v=${version}`);
    return font && { type: "text/css; charset=utf-8", bytes, version };
  }

  async #renderFile(head: PageHead, name: FilePart, version: string): Promise<Rendering> {
    const readAt = this.#dependencies.monotonic();
    const file = await this.findFile(head, name);
    const rendered = file && {
      status: 200,
      type: file.type,
      body: file.bytes,
      headers: {
        // A URL without a version returns the current file, which can change.
        "Cache-Control":
          version === file.version ? "public, max-age=31536000, immutable" : "no-cache",
        // An SVG that is opened directly is a document: it must not run or load anything.
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        "X-Content-Type-Options": "nosniff",
      },
    };
    return { organizationId: head.organizationId, readAt, rendered };
  }
}

/** Translates a page into the wanted language if the page offers it, else into its default. */
function translateReading(
  reading: Reading,
  head: PageHead,
  wanted: PageLanguage | undefined,
): TranslatedReading {
  const isOffered = wanted !== undefined && listOffered(head).includes(wanted);
  const language = getLanguage(isOffered ? wanted : head.language);
  return { ...reading, loaded: translatePage(reading.loaded, language), language };
}

/** Marks a response as one of several languages, so that shared caches store each. */
function markNegotiated(rendering: Rendering, language: PageLanguage): Rendering {
  const headers = { Vary: "Accept-Encoding, Accept-Language", "Content-Language": language };
  return { ...rendering, rendered: rendering.rendered && addHeaders(rendering.rendered, headers) };
}

/** Whether anyone gets the same response. */
export const isForAnyone = ({ visibility }: PageHead, audience: Audience) =>
  visibility === "public" && audience === "everyone";

/**
 * Marks a response as private if it is not for anyone, so that no shared cache and no search engine stores it, and no
 * website reads it in the browser of a visitor.
 */
const restrict = (rendering: Rendering, head: PageHead, audience: Audience): Rendering => ({
  ...rendering,
  rendered: rendering.rendered && restrictDocument(rendering.rendered, head, audience),
});

export function restrictDocument(document: Rendered, head: PageHead, audience: Audience): Rendered {
  if (isForAnyone(head, audience)) return document;
  const { [anyOrigin]: _open, ...headers } = document.headers ?? {};
  return addHeaders(
    { ...document, headers },
    { "Cache-Control": "private, no-cache", "X-Robots-Tag": "noindex" },
  );
}

export const anyOrigin = "Access-Control-Allow-Origin";

const addHeaders = (rendered: Rendered, headers: Record<string, string>): Rendered => ({
  ...rendered,
  headers: { ...rendered.headers, ...headers },
});
