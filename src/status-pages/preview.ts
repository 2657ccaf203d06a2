import type { Store } from "../database/store.ts";
import type { IncidentDraft } from "./incidents.ts";
import { type Loaded, pageLoader } from "./load.ts";
import { incidentPage, statusPage } from "./page.tsx";
import { files } from "./site.ts";
import { findPages, findPublicPageById } from "./store.ts";
import { viewOf } from "./view.ts";

const loaders = new WeakMap<Store, ReturnType<typeof pageLoader>>();

/** What a loader knows of past days is worth keeping. */
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
): Promise<string | null> {
  const [own] = await findPages(store, organizationId);
  const page = own && (await findPublicPageById(store, organizationId, own.page.id));
  if (!page) return null;
  const loaded = await loaderOf(store)(page, now);
  const shown = loaded.asShown(draft);
  if (shown === null) return null;
  const others = loaded.incidents.filter(({ id }) => id !== shown.id);
  const view = viewOf({ ...loaded, incidents: [shown, ...others] } satisfies Loaded, now);
  const [incident] = view.all;
  const base = `/status/${page.slug}`;
  const still = { ...files, js: null };
  return incident === undefined || incident.isOpen
    ? statusPage(view, still, base)
    : incidentPage(view, incident, still, base);
}
