import type { FieldChange } from "../../../../src/core/field-changes.ts";
import type { RestorableNoun } from "./audit-values.ts";
import { dashboard, unwrapData, v1, addIfMatch } from "../../../data/client.ts";
import { notify, notifyDone } from "../../../components/toasts.tsx";
import { nameField } from "./field-labels.ts";
import { t } from "../../../language/text.ts";

/** Routes that read and patch a record of any kind. */
const routesOf = (id: string) => ({
  monitor: v1.monitors({ id }),
  group: v1["monitor-groups"]({ id }),
  "alert-channel": v1["alert-channels"]({ id }),
  "alert-source": v1["alert-sources"]({ id }),
  maintenance: v1["maintenance-windows"]({ id }),
  "status-page": v1["status-pages"]({ id }),
  "incident-template": v1["incident-templates"]({ id }),
  settings: v1.settings,
  organization: dashboard.organization,
});

type Fields = Record<string, unknown>;
type Response = Parameters<typeof unwrapData<Fields>>[0];
type Editable = { get(): Response; patch(body: Fields, options: object): Response };

/** Sets a field to its value before a change, unless the record changes at the same time. Offers to undo it. */
export async function restoreField(
  noun: RestorableNoun,
  { id, name }: { id: string; name: string | null },
  { field, before }: Pick<FieldChange, "field" | "before">,
) {
  const routes = routesOf(id)[noun] as unknown as Editable;
  const record = await unwrapData(routes.get());
  const words = nameField(field);
  if (JSON.stringify(record[field] ?? null) === JSON.stringify(before))
    return notify(
      name === null
        ? t("The {field} has this value already", { field: words })
        : t("The {field} of {name} has this value already", { field: words, name }),
    );
  const restored = await unwrapData(routes.patch({ [field]: before }, addIfMatch(record)));
  notifyDone(
    name === null
      ? t("Restored the {field}", { field: words })
      : t("Restored the {field} of {name}", { field: words, name }),
    () => unwrapData(routes.patch({ [field]: record[field] ?? null }, addIfMatch(restored))),
  );
}
