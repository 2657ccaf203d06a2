/** The button that restores a deleted record, and asks for another name or slug if its own is taken. */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import type { DeletableNoun } from "../../../../src/core/deletable-nouns.ts";
import { ApiError, unwrapData, v1 } from "../../../data/client.ts";
import { restoreRecord, type RestoreChoice } from "../../../data/restore.ts";
import { hold } from "../../../components/held-changes.tsx";
import { FormDialog, useForm } from "../../../components/forms/form.tsx";
import { notify, useAction } from "../../../components/toasts.tsx";
import { t } from "../../../language/text.ts";

type Deleted = { id: string; noun: DeletableNoun; name: string };

export function RestoreButton({
  record,
  isText: isInline = false,
}: {
  record: Deleted;
  /** Whether the button is part of a sentence. */
  isText?: boolean;
}) {
  const { noun, id, name } = record;
  const [taken, setTaken] = useState<keyof RestoreChoice | null>(null);
  const { isPending, run } = useAction(async () => {
    // Subscribers who were notified of its cancellation hear of it.
    if (noun === "maintenance")
      return void (await hold((query) =>
        v1["maintenance-windows"]({ id }).restore.post({}, { query }),
      ));
    try {
      await unwrapData(restoreRecord(noun, id));
      notify(
        noun === "incident"
          ? t("Restored {name}. No one is notified; its next update does that.", { name })
          : t("Restored {name}", { name }),
      );
    } catch (error) {
      const path = error instanceof ApiError ? error.details[0]?.path : undefined;
      if (path !== "name" && path !== "slug") throw error;
      setTaken(path);
    }
  });
  const label = t("Restore {name}", { name });
  return (
    <>
      {isInline ? (
        <button
          type="button"
          className="audit-more"
          disabled={isPending}
          onClick={run}
          aria-label={label}
        >
          {t("Restore")}
        </button>
      ) : (
        <Button size="xs" loading={isPending} onClick={run} aria-label={label}>
          {t("Restore")}
        </Button>
      )}
      {taken !== null && (
        <ChoiceDialog record={record} field={taken} onClose={() => setTaken(null)} />
      )}
    </>
  );
}

type ChoiceProps = { record: Deleted; field: keyof RestoreChoice; onClose: () => void };

/** Asks for another name or slug, because another record has the old one. */
function ChoiceDialog({ record, field, onClose }: ChoiceProps) {
  const form = useForm(
    { value: field === "name" ? record.name : "" },
    async ({ value }, _, idempotencyKey) => {
      const { name } = await unwrapData(
        restoreRecord(record.noun, record.id, { [field]: value }, idempotencyKey),
      );
      notify(t("Restored {name}", { name }));
      onClose();
    },
  );
  return (
    <FormDialog
      title={t("Restore {name}", { name: record.name })}
      onClose={onClose}
      form={form}
      submit={t("Restore")}
    >
      <TextInput
        label={field === "name" ? t("Name") : t("Slug")}
        description={
          field === "name"
            ? t("Another record has this name now. Choose another one, or keep it for both.")
            : t(
                "Another status page has the old address now. This is the end of the new one: /status/SLUG.",
              )
        }
        data-autofocus
        {...form.input("value")}
        error={form.errorOf(field as "value")}
      />
    </FormDialog>
  );
}
