import type { Incident } from "../../../../src/incidents/schema.ts";
import { unwrapData, addIdempotencyKey, v1 } from "../../../data/client.ts";
import { recordKey } from "../../../data/keys.ts";
import { queryClient } from "../../../data/query.ts";
import { FormFrame, useForm } from "../../../components/forms/form.tsx";
import { MarkdownField } from "../../../components/forms/markdown-field.tsx";
import { t } from "../../../language/text.ts";

/** Posts an internal note, visible only to members of the organization. */
export function NoteForm({ incident: { id } }: { incident: Incident }) {
  const form = useForm<{ message: string }>(
    { message: "" },
    async (body, _, idempotencyKey) => {
      const note = await unwrapData(
        v1.incidents({ id }).notes.post(body, addIdempotencyKey(idempotencyKey)),
      );
      queryClient.setQueryData<Incident>(
        recordKey("incident", id),
        (now) => now && { ...now, notes: [...now.notes.filter((one) => one.id !== note.id), note] },
      );
      form.replace({ message: "" });
    },
    undefined,
    { key: `note ${id}` },
  );
  return (
    <FormFrame
      form={form}
      submit={t("Add note")}
      disabled={form.values.message.trim() === ""}
      extra={<span className="audience">{t("Never public · no one is notified")}</span>}
    >
      <MarkdownField
        aria-label={t("Note")}
        placeholder={t("For your team only")}
        {...form.input("message")}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void form.submit(event);
        }}
      />
    </FormFrame>
  );
}
