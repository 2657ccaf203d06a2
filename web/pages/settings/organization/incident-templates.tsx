/** Settings: templates of incidents and updates. */
import { Select, SegmentedControl, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { formatPlaceholders } from "../../../../src/core/text/formatting.ts";
import { incidentStatuses, severities } from "../../../../src/core/statuses.ts";
import { templatePlaceholders } from "../../../../src/incidents/rules.ts";
import type { IncidentTemplate } from "../../../../src/incidents/templates/schema.ts";
import { unwrapData, addIfMatch, addIdempotencyKey, v1 } from "../../../data/client.ts";
import { listKey } from "../../../data/keys.ts";
import { queryClient } from "../../../data/query.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { FormDialog, useForm } from "../../../components/forms/form.tsx";
import { Icon } from "../../../components/display/icons.tsx";
import { MarkdownField } from "../../../components/forms/markdown-field.tsx";
import { DangerItem, HistoryItem, MenuItem, RowMenu } from "../../../components/menus.tsx";
import { CreateButton, EmptyState, Loaded, Panel } from "../../../components/page.tsx";
import { holdDeletion, useDeleting } from "../../../components/deletion.ts";
import { notifyError } from "../../../components/toasts.tsx";
import { templatesQuery } from "../../incidents/data.ts";
import { incidentStatusLabels, severityLabels } from "../../incidents/words.ts";
import { useCreateDialog } from "../create-dialog.ts";
import { parseMarkdown, renderText } from "../../../../src/core/text/markdown.ts";
import { Entry } from "../entry.tsx";
import { t } from "../../../language/text.ts";

/** The organization's templates for incidents and updates. */
export default function IncidentTemplates() {
  const query = useQuery(templatesQuery);
  const { mayWriteAll: mayWrite } = useSignedInPerson();
  const { asked, open, close } = useCreateDialog();
  const [editing, setEditing] = useState<IncidentTemplate | null>(null);
  const deleting = useDeleting();
  // Lists have no ETags, which the update needs.
  const edit = ({ id }: IncidentTemplate) =>
    void unwrapData(v1["incident-templates"]({ id }).get()).then(setEditing, notifyError);
  return (
    <>
      <div className="settings-head">
        <p className="quiet">
          {t("Choose them under “Templates” when you create an incident or post an update.")}
        </p>
        {mayWrite && <CreateButton onClick={open}>{t("Create template")}</CreateButton>}
      </div>
      <Loaded query={query} subject={t("The incident templates")}>
        {(templates) => {
          const visible = templates.filter(({ id }) => !deleting.has(id));
          if (visible.length === 0) return <NoTemplates />;
          return (
            <Panel isFlush>
              <ul className="entries">
                {visible.map((one) => (
                  <TemplateEntry key={one.id} template={one} onEdit={mayWrite ? edit : null} />
                ))}
              </ul>
            </Panel>
          );
        }}
      </Loaded>
      {asked && <TemplateDialog template={null} onClose={close} />}
      {editing !== null && <TemplateDialog template={editing} onClose={() => setEditing(null)} />}
    </>
  );
}

const NoTemplates = () => (
  <Panel>
    <EmptyState icon={<Icon name="warning" size={28} />} title={t("No templates yet")}>
      {t(
        "Texts prepared for when there is no time to write: a supplier outage, a failed deploy, everything back to normal.",
      )}
    </EmptyState>
  </Panel>
);

function TemplateEntry({
  template,
  onEdit,
}: {
  template: IncidentTemplate;
  /** Null without write access. */
  onEdit: ((template: IncidentTemplate) => void) | null;
}) {
  const { id, name, message, status, severity } = template;
  const remove = () =>
    holdDeletion((query) =>
      v1["incident-templates"]({ id }).delete(undefined, { query, ...addIfMatch(template) }),
    );
  return (
    <Entry
      icon="warning"
      title={name}
      note={renderText(parseMarkdown(message))}
      facts={[
        [t("Status"), incidentStatusLabels[status]],
        [t("Severity"), severity === null ? "–" : severityLabels[severity]],
      ]}
      menu={
        onEdit !== null && (
          <RowMenu label={t("Actions for {name}", { name })}>
            {() => (
              <>
                <MenuItem icon="edit" onClick={() => onEdit(template)}>
                  {t("Edit")}
                </MenuItem>
                <HistoryItem id={template.id} />
                <DangerItem icon="trash" onClick={remove}>
                  {t("Delete")}
                </DangerItem>
              </>
            )}
          </RowMenu>
        )
      }
    />
  );
}

type Values = Pick<IncidentTemplate, "name" | "status" | "severity" | "message"> & {
  title: string;
};

const defaultValues: Values = {
  name: "",
  status: "investigating",
  severity: null,
  message: "",
  title: "",
};
const placeholders = formatPlaceholders(templatePlaceholders).join(" ");

const buildTemplateBody = (values: Values) => ({ ...values, title: values.title.trim() || null });

function useTemplateForm(template: IncidentTemplate | null, onClose: () => void) {
  const route = v1["incident-templates"];
  const { name, status, severity, message, title } = template ?? defaultValues;
  const refresh = () => queryClient.invalidateQueries({ queryKey: listKey("incident-template") });
  return useForm<Values>(
    { name, status, severity, message, title: title ?? "" },
    async (values, force, idempotencyKey) => {
      const body = buildTemplateBody(values);
      await (template === null
        ? unwrapData(route.post(body, addIdempotencyKey(idempotencyKey)))
        : unwrapData(
            route({ id: template.id }).patch(
              body,
              addIfMatch(force ? undefined : template, idempotencyKey),
            ),
          ));
      await refresh();
      onClose();
    },
    () => {
      void refresh();
      onClose();
    },
    { key: `incident-template ${template?.id ?? "new"}` },
  );
}

function TemplateDialog({
  template,
  onClose,
}: {
  template: IncidentTemplate | null;
  onClose: () => void;
}) {
  const route = v1["incident-templates"];
  const form = useTemplateForm(template, onClose);
  return (
    <FormDialog
      title={template === null ? t("Create incident template") : t("Edit incident template")}
      size={560}
      onClose={onClose}
      form={form}
      submit={template === null ? t("Create template") : t("Save")}
      curl={() => ({
        method: template === null ? "POST" : "PATCH",
        route: template === null ? route : route({ id: template.id }),
        body: buildTemplateBody(form.values),
      })}
    >
      <TextInput label={t("Name")} autoComplete="off" data-autofocus {...form.input("name")} />
      <div>
        <SegmentedControl
          aria-label={t("Status")}
          fullWidth
          value={form.values.status}
          onChange={(next) => form.set("status", next as Values["status"])}
          data={incidentStatuses.map((value) => ({ value, label: incidentStatusLabels[value] }))}
        />
      </div>
      <MarkdownField
        label={t("Message")}
        description={t("Filled in when you choose it: {placeholders}", { placeholders })}
        minRows={4}
        {...form.input("message")}
      />
      <TextInput
        label={t("Title of a new incident")}
        placeholder={t("Optional")}
        autoComplete="off"
        {...form.input("title")}
      />
      <Select
        label={t("Severity of a new incident")}
        placeholder={t("As chosen")}
        clearable
        data={severities.map((value) => ({ value, label: severityLabels[value] }))}
        {...form.field("severity")}
      />
    </FormDialog>
  );
}
