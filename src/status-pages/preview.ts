import type { Scope } from "../audit/scope.ts";
import type { Store } from "../database/store.ts";
import { readableAccent } from "./accent.ts";
import { type PageFiles, pageFiles } from "./frame.tsx";
import { pageLoader } from "./load.ts";
import { statusPage } from "./page.tsx";
import type { StatusPagePatch, StatusPagePreview } from "./schema.ts";
import { getStored } from "./service.ts";
import { viewOf } from "./view.ts";

const files: PageFiles = { ...pageFiles, js: null };

/** What days that are over were like stays known between two previews. */
const loaders = new WeakMap<Store, ReturnType<typeof pageLoader>>();

function loaderOf(store: Store) {
  const loader = loaders.get(store) ?? pageLoader(store);
  loaders.set(store, loader);
  return loader;
}

/** The page as visitors would find it after this change, whoever may open it; stores nothing. Throws NOT_FOUND. */
export async function previewStatusPage(
  { store, organizationId, clock }: Scope,
  id: string,
  patch: StatusPagePatch,
): Promise<StatusPagePreview> {
  const { password: _, ...fields } = patch;
  const { page, sections } = await getStored({ store, organizationId }, id);
  const { logoType, logoData, slug } = page;
  const logoUrl = logoData === null ? null : `data:${logoType};base64,${logoData}`;
  const now = clock();
  const changed = { ...page, sections, ...(fields as object), logoUrl };
  const view = viewOf(await loaderOf(store)(changed, now), now);
  const { accentColor } = view.page;
  const plain = { ...view, page: { ...view.page, accentColor: null } };
  return {
    html: statusPage(plain, files, `/status/${slug}`),
    accent: accentColor === null ? null : readableAccent(accentColor),
  };
}
