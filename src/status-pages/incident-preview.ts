import type { Store } from "../database/store.ts";
import { readableAccent } from "./accent.ts";
import { pageFiles } from "./frame.tsx";
import type { IncidentDraft } from "./incidents.ts";
import { pageLoader } from "./load.ts";
import { incidentPage, statusPage } from "./page.tsx";
import { findPages, findPublicPageById } from "./store.ts";
import { viewOf } from "./view.ts";

const files = { ...pageFiles, js: null };

/** What days that are over were like stays known between two previews. */
const loaders = new WeakMap<Store, ReturnType<typeof pageLoader>>();

function loaderOf(store: Store) {
  const loader = loaders.get(store) ?? pageLoader(store);
  loaders.set(store, loader);
  return loader;
}

/**
 * The organization's default page as the public would read it with this incident: the page itself
 * while it is open, its own one when it is resolved. Null where the page would not show it.
 */
export async function pageWithIncident(
  store: Store,
  organizationId: string,
  draft: IncidentDraft,
  now: number,
): Promise<{ html: string; accent: string | null } | null> {
  const [own] = await findPages(store, organizationId);
  const page = own && (await findPublicPageById(store, organizationId, own.page.id));
  if (!page) return null;
  const loaded = await loaderOf(store)(page, now);
  const shown = loaded.asShown(draft);
  if (shown === null) return null;
  const others = loaded.incidents.filter(({ id }) => id !== shown.id);
  const view = viewOf({ ...loaded, incidents: [shown, ...others] }, now);
  // A frame of the admin page takes no style attributes.
  const plain = { ...view, page: { ...view.page, accentColor: null } };
  const [incident] = view.all;
  const base = `/status/${page.slug}`;
  return {
    html:
      incident === undefined || incident.isOpen
        ? statusPage(plain, files, base)
        : incidentPage(plain, incident, files, base),
    accent: page.accentColor === null ? null : readableAccent(page.accentColor),
  };
}
