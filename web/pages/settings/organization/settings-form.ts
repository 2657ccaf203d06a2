import type { Settings, SettingsPatch } from "../../../../src/accounts/settings/schema.ts";
import { type Draft, useForm, type Values } from "../../../components/forms/use-form.ts";
import { notify } from "../../../components/toasts.tsx";
import { unwrapData, v1, addIfMatch } from "../../../data/client.ts";
import { queryClient } from "../../../data/query.ts";
import { t } from "../../../language/text.ts";
import { createSettingsQuery } from "../data.ts";

export type SettingsFormProps = {
  organizationId: string;
  settings: Settings;
  onReload: () => void;
};

/** Manages a form over some settings of an organization. Saving conflicts if they are newer than `settings`. */
export function useSettingsForm<V extends Values>(
  { organizationId, settings, onReload }: SettingsFormProps,
  initial: V,
  buildBody: (values: V) => SettingsPatch,
  draft: Draft,
  onSaved?: (saved: Settings) => void,
) {
  return useForm(
    initial,
    async (values, force, idempotencyKey) => {
      const saved = await unwrapData(
        v1.settings.patch(
          buildBody(values),
          addIfMatch(force ? undefined : settings, idempotencyKey),
        ),
      );
      onSaved?.(saved);
      queryClient.setQueryData(createSettingsQuery(organizationId).queryKey, saved);
      notify(t("Saved"));
    },
    onReload,
    draft,
  );
}
