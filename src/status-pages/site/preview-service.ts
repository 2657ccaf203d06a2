/** Renders previews for the admin page: a status page with unsaved changes, or with a draft incident. */
import { mapYielding } from "../../core/time/event-loop.ts";
import type { PageLanguage } from "../../core/languages.ts";
import type { Scope } from "../../events/scope.ts";
import type { FairQueue } from "../../core/collections/fair-queue.ts";
import { consumeLimit, type RateLimit } from "../../http/access/rate-limit.ts";
import { unknownReferenceError } from "../../database/references.ts";
import type { ShownIncident } from "../../incidents/store.ts";
import { buildLookStyle } from "../rendering/look.ts";
import { translatePage } from "../languages/page-translation.ts";
import { getLanguage, listOffered } from "../languages/catalog.ts";
import type { PageDocument } from "../layout.tsx";
import { createLinks } from "../links.ts";
import { loaderOf } from "../load.ts";
import type { StatusPagePatch, StatusPagePreview } from "../schema.ts";
import type { Audience } from "../access-rules.ts";
import { selectSections } from "../rules.ts";
import { compileCss } from "../custom-css.ts";
import { changeLook, getStored } from "../service.ts";
import { findPages, findPublicPageById, listFiles } from "../store.ts";
import { buildView } from "../rendering/view.ts";
import { renderWords, collectTexts } from "../rendering/words.ts";

export type PreviewDependencies = {
  /** Queue of everything that reads and renders pages. */
  pageQueue: FairQueue;
  /** Previews per person and minute. */
  previewLimit: RateLimit;
};

/** Renders the page with an unsaved change for this audience, even if the page is hidden. Throws NOT_FOUND. */
export async function previewStatusPage(
  scope: Scope,
  id: string,
  patch: StatusPagePatch,
  audience: Audience,
) {
  const { password: _, ...fields } = patch;
  const page = await getStored(scope, id);
  const { slug, logoType, logoData } = page;
  const logoUrl = logoData === null ? null : `data:${logoType};base64,${logoData}`;
  const now = scope.clock();
  const { sections } = patch.sections === undefined ? page : (patch as typeof page);
  const visibleSections = selectSections(sections, audience);
  const look = changeLook(page.look, patch.look);
  const changed = {
    ...page,
    ...(fields as object),
    ...visibleSections,
    look,
    logoUrl,
    files: listFiles(page),
  };
  const language = getLanguage(changed.language);
  const loaded = translatePage(await loaderOf(scope.store)(changed, now), language);
  const view = buildView(loaded, now, language);
  const words = await renderWords(collectTexts(loaded));
  const { renderStatusPage } = await import("../page.tsx");
  const css = patch.look?.css as string | undefined;
  return {
    ...(await renderPreview(
      { view, words, language, to: createLinks(`/status/${slug}`, null) },
      renderStatusPage,
    )),
    stylesheet: css === undefined ? page.stylesheet : await compileCss(css),
  };
}

/**
 * Renders a status page with a draft of an open incident, or the page of a resolved incident. Without a page ID, it is
 * the organization's default page. Null if the page would not show the incident. Throws NOT_FOUND.
 */
export async function previewIncidentPage(
  scope: Scope,
  draft: ShownIncident,
  now: number,
  wanted: { statusPageId?: string | undefined; language?: PageLanguage | undefined },
) {
  const { statusPageId } = wanted;
  const [own] = await findPages(scope, statusPageId);
  if (own === undefined && statusPageId !== undefined)
    throw unknownReferenceError("statusPageId", "status page");
  const page = own && (await findPublicPageById(scope, own.id, "signed-in"));
  if (!page) return null;
  const offered = listOffered(page).find((tag) => tag === wanted.language);
  const language = getLanguage(offered ?? page.language);
  const loaded = translatePage(await loaderOf(scope.store)(page, now), language);
  const publishedIncident = loaded.publishDraft(draft);
  if (publishedIncident === null) return null;
  const others = loaded.incidents.filter(({ id }) => id !== publishedIncident.id);
  const incidents = [publishedIncident, ...others];
  const all = { ...loaded, sections: loaded.sectionsDuring(incidents), incidents };
  const view = buildView(all, now, language);
  const words = await renderWords(collectTexts(all));
  const [incident] = view.all;
  const [{ renderIncidentPage }, { renderStatusPage }] = [
    await import("../incident.tsx"),
    await import("../page.tsx"),
  ];
  const to = createLinks(`/status/${page.slug}`, null);
  return renderPreview({ view, words, language, to }, (document) =>
    incident === undefined || incident.isOpen
      ? renderStatusPage(document)
      : [renderIncidentPage(document, incident)],
  );
}

/** Renders a page for a frame of the admin page. The frame blocks style attributes, so the look is separate. */
async function renderPreview(
  { view, ...document }: PageDocument,
  render: (document: PageDocument) => Iterable<string>,
): Promise<Omit<StatusPagePreview, "stylesheet">> {
  const pieces = render({ ...document, view, isPreview: true });
  return {
    html: (await mapYielding(pieces, (piece) => piece)).join(""),
    style: buildLookStyle(view.page),
  };
}

/** Renders a preview in its organization's lane of the queue. Throws RATE_LIMITED for a person with too many. */
export function previewInTurn<T>(
  { pageQueue, previewLimit }: PreviewDependencies,
  { organizationId, actor }: Scope,
  preview: () => Promise<T>,
): Promise<T> {
  consumeLimit(previewLimit, actor.id ?? organizationId);
  return pageQueue.run(`previews of ${organizationId}`, preview);
}
