/** The editor of a status page: its form and a live preview. */
import { useEffect, useMemo, useState } from "react";
import { unwrapData, addIfMatch } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";
import {
  cacheStatusPage,
  getPageRoutes,
  type StatusPage,
  createStatusPageQuery,
} from "../../data/status-pages.ts";
import { FormFrame, useForm } from "../../components/forms/form.tsx";
import { ManagedWarning } from "../../components/forms/managed-warning.tsx";
import { Panel } from "../../components/page.tsx";
import { notify } from "../../components/toasts.tsx";
import { BasicFields, type PageForm, type PageValues } from "./fields.tsx";
import { FoldedSections } from "./folded-sections.tsx";
import { LivePreview } from "./live-preview.tsx";
import { SectionsEditor } from "./sections-editor.tsx";
import { t } from "../../language/text.ts";

function toValues(page: StatusPage): PageValues {
  const { id: _, default: __, logoUrl, faviconUrl, fontUrl, secretsSet, ...rest } = page;
  const { createdAt, updatedAt, ...fields } = rest;
  void [logoUrl, faviconUrl, fontUrl, secretsSet, createdAt, updatedAt];
  return { ...fields, password: undefined };
}

/**
 * Form state. It follows the stored page until the person edits it. `base` is the page that it
 * started from.
 */
function usePageForm(page: StatusPage) {
  const { id } = page;
  const [base, setBase] = useState(page);
  const form: PageForm = useForm(
    toValues(page),
    async (values, force, idempotencyKey) => {
      const saved = await unwrapData(
        getPageRoutes(id).patch(values, addIfMatch(force ? undefined : base, idempotencyKey)),
      );
      startFrom(saved);
      cacheStatusPage(saved);
      notify(t("Saved"));
    },
    // The effect below applies the result unless something was typed meanwhile.
    () => void queryClient.fetchQuery({ ...createStatusPageQuery(id), staleTime: 0 }),
    { key: `status-page ${id}`, secrets: ["password"] },
  );
  const { isDirty, reset } = form;
  function startFrom(current: StatusPage) {
    setBase(current);
    reset(toValues(current));
  }
  useEffect(() => {
    if (!isDirty && page !== base) startFrom(page);
  }, [page, base, isDirty, reset]);
  return { form, base, setBase, startFrom };
}

/** The fields of a status page next to a preview of the unsaved page. */
export function PageEditor({ page }: { page: StatusPage }) {
  const { id } = page;
  const { form, base, setBase, startFrom } = usePageForm(page);
  const { values, isDirty } = form;
  const body = useMemo(() => ({ ...values, password: undefined }), [values]);
  return (
    <div className="page-editor">
      <div className="page-fields">
        <ManagedWarning record={{ section: "statusPages", id }} />
        <FormFrame
          form={form}
          submit={t("Save")}
          onCancel={isDirty ? () => startFrom(base) : undefined}
          cancel={t("Discard")}
          disabled={!isDirty}
          curl={() => ({ method: "PATCH", route: getPageRoutes(id), body: values })}
        >
          <Panel title={t("Page")}>
            <BasicFields form={form} />
          </Panel>
          <Panel title={t("Sections")}>
            <SectionsEditor
              sections={values.sections}
              onChange={(sections) => form.set("sections", sections)}
              errorOf={form.errorOf}
            />
          </Panel>
          <Panel className="page-folds">
            <FoldedSections
              form={form}
              page={page}
              isPasswordSet={base.secretsSet.includes("password")}
              onChanged={setBase}
            />
          </Panel>
        </FormFrame>
      </div>
      <LivePreview
        id={id}
        body={body}
        dirty={isDirty}
        isSplit={
          values.visibility !== "signed-in" &&
          values.sections.some(({ audience }) => audience === "signed-in")
        }
        stamp={[page.logoUrl, page.fontUrl].join()}
      />
    </div>
  );
}
