import { mapYielding } from "../core/yielding.ts";
import { readableAccent } from "./accent.ts";
import { type PageFiles, pageFiles } from "./layout.tsx";
import type { StatusPagePreview } from "./schema.ts";
import type { StatusView } from "./view.ts";

const files: PageFiles = { ...pageFiles, js: null };

/** A page for a frame of the admin page, which takes neither scripts nor style attributes: the accent stands beside it. */
export async function previewDocument(
  view: StatusView,
  documentOf: (view: StatusView, files: PageFiles) => Iterable<string>,
): Promise<StatusPagePreview> {
  const { accentColor } = view.page;
  const plain = { ...view, page: { ...view.page, accentColor: null } };
  return {
    html: (await mapYielding(documentOf(plain, files), (piece) => piece)).join(""),
    accent: accentColor === null ? null : readableAccent(accentColor),
  };
}
