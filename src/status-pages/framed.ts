import type { Scope } from "../audit/scope.ts";
import { mapYielding } from "../base/yielding.ts";
import type { Appliance } from "../http/call.ts";
import { rateLimited } from "../http/gate.ts";
import { readableAccent } from "./accent.ts";
import { type PageFiles, pageFiles } from "./frame.tsx";
import type { StatusPagePreview } from "./schema.ts";
import type { StatusView } from "./view.ts";

const files: PageFiles = { ...pageFiles, js: null };

/** A page for a frame of the admin page, which takes neither scripts nor style attributes: the accent stands beside it. */
export async function framed(
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

/** Makes a preview in its organization's turn. Throws RATE_LIMITED for somebody who has had many. */
export function inTurn<T>(
  { pageQueue, previewLimit }: Pick<Appliance, "pageQueue" | "previewLimit">,
  { organizationId, actor }: Scope,
  preview: () => Promise<T>,
): Promise<T> {
  const wait = previewLimit.take(actor.id ?? organizationId);
  if (wait > 0) throw rateLimited(wait);
  return pageQueue.run(`previews of ${organizationId}`, preview);
}
