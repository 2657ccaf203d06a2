import type { Scope } from "../events/scope.ts";
import type { Services } from "../http/services.ts";
import { consume } from "../http/rate-limit.ts";
import { previewDocument } from "./preview-document.ts";
import { loaderOf } from "./load.ts";
import { statusPage } from "./page.tsx";
import type { StatusPagePatch, StatusPagePreview } from "./schema.ts";
import { getStored } from "./service.ts";
import { logoOf } from "./store.ts";
import { viewOf } from "./view.ts";

/** The page as visitors would find it after this change, whoever may open it; stores nothing. Throws NOT_FOUND. */
export async function previewStatusPage(
  { store, organizationId, clock }: Scope,
  id: string,
  patch: StatusPagePatch,
): Promise<StatusPagePreview> {
  const { password: _, ...fields } = patch;
  const { page, sections } = await getStored({ store, organizationId }, id);
  const { slug } = page;
  const logo = await logoOf(store, { organizationId, id });
  const logoUrl = logo === null ? null : `data:${logo.type};base64,${logo.bytes.toBase64()}`;
  const now = clock();
  const changed = { ...page, sections, ...(fields as object), logoUrl };
  const view = viewOf(await loaderOf(store)(changed, now), now);
  return previewDocument(view, (view, files) => statusPage(view, files, `/status/${slug}`));
}

/** Makes a preview in its organization's turn. Throws RATE_LIMITED for somebody who has had many. */
export function previewInTurn<T>(
  { pageQueue, previewLimit }: Pick<Services, "pageQueue" | "previewLimit">,
  { organizationId, actor }: Scope,
  preview: () => Promise<T>,
): Promise<T> {
  consume(previewLimit, actor.id ?? organizationId);
  return pageQueue.run(`previews of ${organizationId}`, preview);
}
