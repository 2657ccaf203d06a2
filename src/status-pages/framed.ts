import type { Store } from "../database/store.ts";
import { readableAccent } from "./accent.ts";
import { type PageFiles, pageFiles } from "./frame.tsx";
import { pageLoader } from "./load.ts";
import type { StatusPagePreview } from "./schema.ts";
import type { StatusView } from "./view.ts";

const files: PageFiles = { ...pageFiles, js: null };

/** What days that are over were like stays known between two previews. */
const loaders = new WeakMap<Store, ReturnType<typeof pageLoader>>();

export function loaderOf(store: Store) {
  const loader = loaders.get(store) ?? pageLoader(store);
  loaders.set(store, loader);
  return loader;
}

/** A page for a frame of the admin page, which takes neither scripts nor style attributes: the accent stands beside it. */
export function framed(
  view: StatusView,
  documentOf: (view: StatusView, files: PageFiles) => string,
): StatusPagePreview {
  const { accentColor } = view.page;
  const plain = { ...view, page: { ...view.page, accentColor: null } };
  return {
    html: documentOf(plain, files),
    accent: accentColor === null ? null : readableAccent(accentColor),
  };
}
