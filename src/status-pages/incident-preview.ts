import type { Store } from "../database/store.ts";
import type { IncidentRecord } from "../incidents/store.ts";
import { previewDocument } from "./preview-document.ts";
import { loaderOf } from "./load.ts";
import { incidentPage, statusPage } from "./page.tsx";
import type { StatusPagePreview } from "./schema.ts";
import { findPages, findPublicPageById } from "./store.ts";
import { viewOf } from "./view.ts";

/**
 * The organization's default page as the public would read it with this incident: the page itself
 * while it is open, its own one when it is resolved. Null where the page would not show it.
 */
export async function pageWithIncident(
  store: Store,
  organizationId: string,
  draft: IncidentRecord,
  now: number,
): Promise<StatusPagePreview | null> {
  const [own] = await findPages(store, organizationId);
  const page = own && (await findPublicPageById(store, organizationId, own.page.id));
  if (!page) return null;
  const loaded = await loaderOf(store)(page, now);
  const shown = loaded.asShown(draft);
  if (shown === null) return null;
  const others = loaded.incidents.filter(({ id }) => id !== shown.id);
  const view = viewOf({ ...loaded, incidents: [shown, ...others] }, now);
  const [incident] = view.all;
  const base = `/status/${page.slug}`;
  return previewDocument(view, (view, files) =>
    incident === undefined || incident.isOpen
      ? statusPage(view, files, base)
      : [incidentPage(view, incident, files, base)],
  );
}
