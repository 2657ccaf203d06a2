/** The dialog that imports subscribers from a CSV file. */
import { Checkbox, FileInput } from "@mantine/core";
import { unwrapData, addIdempotencyKey } from "../../data/client.ts";
import { getPageRoutes } from "../../data/status-pages.ts";
import { FormDialog, useForm } from "../../components/forms/form.tsx";
import { notify } from "../../components/toasts.tsx";
import { t, tCount } from "../../language/text.ts";

type Values = { file: File | null; hasAgreed: boolean };

/** Lines per request, so that a request stays within its size limit. */
const linesPerRequest = 1_000;

/** Divides a CSV text without line breaks in values into texts with the same head. */
function splitCsv(csv: string): string[] {
  const [head = "", ...lines] = csv.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (csv.includes('"') || lines.length <= linesPerRequest) return [csv];
  return Array.from({ length: Math.ceil(lines.length / linesPerRequest) }, (_, part) =>
    [head, ...lines.slice(part * linesPerRequest, (part + 1) * linesPerRequest)].join("\n"),
  );
}

export function ImportSubscribers({ pageId, onClose }: { pageId: string; onClose: () => void }) {
  const route = getPageRoutes(pageId)["subscribers-import"];
  const form = useForm<Values>(
    { file: null, hasAgreed: false },
    async ({ file, hasAgreed }, _, idempotencyKey) => {
      const total = { added: 0, existing: 0, skipped: 0 };
      for (const [part, csv] of splitCsv((await file?.text()) ?? "").entries()) {
        const body = { csv, confirmed: hasAgreed as true };
        const done = await unwrapData(
          route.post(body, addIdempotencyKey(`${idempotencyKey} ${part}`)),
        );
        for (const name of ["added", "existing", "skipped"] as const) total[name] += done[name];
      }
      const { added, existing, skipped } = total;
      notify(
        t("Added {subscribers}. {existing} were subscribed before, {skipped} were skipped.", {
          subscribers: tCount(added, "{count} subscriber", "{count} subscribers"),
          existing,
          skipped,
        }),
      );
      onClose();
    },
  );
  const { values } = form;
  return (
    <FormDialog
      title={t("Import subscribers")}
      size={480}
      onClose={onClose}
      form={form}
      submit={t("Import")}
    >
      <FileInput
        label={t("CSV file")}
        placeholder={t("Choose a file")}
        description={t(
          "With a column email, or an export of this page. Columns for the choice are optional.",
        )}
        accept=".csv,text/csv"
        value={values.file}
        onChange={(file) => form.set("file", file)}
        error={form.errorOf("csv")}
      />
      <Checkbox
        label={t("The owners of all addresses have agreed")}
        description={t("No confirmation link is sent.")}
        checked={values.hasAgreed}
        onChange={({ currentTarget }) => form.set("hasAgreed", currentTarget.checked)}
        error={form.errorOf("confirmed")}
      />
    </FormDialog>
  );
}
