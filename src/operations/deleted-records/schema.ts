/** Wire format of deleted records and their restoration. */
import { z } from "zod";
import { deletableNouns } from "../../core/deletable-nouns.ts";
import { Id, line, searchText, Origin, Timestamp } from "../../core/fields.ts";
import { pageFields } from "../../core/paging.ts";
import { slug } from "../../status-pages/schema.ts";

const Noun = z.enum(deletableNouns).meta({ id: "DeletableNoun" });

export const DeletedRecordQuery = z.strictObject({
  ...pageFields,
  noun: Noun.optional(),
  q: searchText().optional().meta({ description: "Part of the name." }),
});
export type DeletedRecordQuery = z.output<typeof DeletedRecordQuery>;

export const DeletedRecord = z
  .object({
    id: Id,
    noun: Noun,
    name: z.string().meta({ description: "Name or title at the time of the deletion." }),
    origin: Origin.nullable().meta({
      description: "Who opened a deleted incident; null for other records.",
    }),
    deletedAt: Timestamp,
    deletedBy: z.string().meta({ description: "Name of the person or API key." }),
    restorableUntil: Timestamp,
  })
  .meta({
    id: "DeletedRecord",
    description: "A deleted record that can be restored.",
    example: {
      id: "01a1fb99-5a10-7f42-8d21-6b0c9e8f7a65",
      noun: "monitor",
      name: "Checkout",
      origin: null,
      deletedAt: "2026-11-20T23:02:00.000Z",
      deletedBy: "Mia",
      restorableUntil: "2026-12-20T23:02:00.000Z",
    },
  });
export type DeletedRecord = z.infer<typeof DeletedRecord>;

const name = line(255).optional().meta({
  description: "A new name. Needed if another record has the old one; the old one can be repeated.",
});

export const Restoration = z
  .strictObject({ name })
  .default({})
  .meta({ id: "Restoration", example: { name: "Checkout (old)" } });
export type Restoration = z.output<typeof Restoration>;

export const PageRestoration = z
  .strictObject({
    slug: slug.optional().meta({
      description: "A new slug. Needed if another status page has the old one.",
    }),
  })
  .default({})
  .meta({ id: "PageRestoration", example: { slug: "shop-old" } });

export const WindowRestoration = z
  .strictObject({
    notify: z.boolean().default(true).meta({
      description:
        "Whether subscribers who were notified of its cancellation hear that it is planned again.",
    }),
  })
  .default({ notify: true })
  .meta({ id: "MaintenanceWindowRestoration", example: { notify: false } });

export const Restored = z.object({ id: Id, noun: Noun, name: z.string() }).meta({
  id: "Restored",
  description: "The record, which has its old ID again.",
  example: { id: "01a1fb99-5a10-7f42-8d21-6b0c9e8f7a65", noun: "monitor", name: "Checkout" },
});
export type Restored = z.infer<typeof Restored>;
