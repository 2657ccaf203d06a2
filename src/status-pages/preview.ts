import type { Scope } from "../audit/scope.ts";
import { framed } from "./framed.ts";
import { loaderOf } from "./load.ts";
import { isServable } from "./logo.ts";
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
  const logoUrl =
    logo !== null && isServable(logo) ? `data:${logo.type};base64,${logo.bytes.toBase64()}` : null;
  const now = clock();
  const changed = { ...page, sections, ...(fields as object), logoUrl };
  const view = viewOf(await loaderOf(store)(changed, now), now);
  return framed(view, (view, files) => statusPage(view, files, `/status/${slug}`));
}
