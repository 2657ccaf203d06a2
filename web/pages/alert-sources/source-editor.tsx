/** The dialog that creates or edits an alert source, and previews a sample of its requests. */
import { Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { z } from "zod";
import { MailRules } from "../../../src/alerting/sources/mail-schema.ts";
import {
  type AlertSource,
  type NewAlertSource,
  SourceMapping,
  type SourceType,
  sourceTypes,
} from "../../../src/alerting/sources/schema.ts";
import type { FieldLabels } from "../../../src/core/kinds.ts";
import { priorities, severities } from "../../../src/core/statuses.ts";
import { dot } from "../../components/display/format.ts";
import { StateIcon } from "../../components/display/state-icon.tsx";
import { BusyButton } from "../../components/forms/busy-button.tsx";
import { EditorDialog } from "../../components/forms/editor-dialog.tsx";
import { describeField, type FieldKind } from "../../components/forms/field-kinds.ts";
import { type Form, FormFrame, useForm } from "../../components/forms/form.tsx";
import { NumberField } from "../../components/forms/number-field.tsx";
import { RecordsField } from "../../components/forms/records-field.tsx";
import { SchemaField } from "../../components/forms/schema-field.tsx";
import { closeDialog, type Dialog } from "../../components/open-dialog.ts";
import { notify } from "../../components/toasts.tsx";
import { useAlertChannels } from "../../data/alert-channels.ts";
import { getSourceRoutes } from "../../data/alert-sources.ts";
import { unwrapData, v1, addIdempotencyKey, addIfMatch } from "../../data/client.ts";
import { useEscalationPolicies } from "../../data/escalation-policies.ts";
import { listKey, recordKey } from "../../data/keys.ts";
import { queryClient } from "../../data/query.ts";
import { PolicyField } from "../monitors/editor/on-call-fields.tsx";
import { sourceTypeInfos } from "./source-types.ts";
import { severityLabels } from "../incidents/words.ts";
import { priorityLabels, priorityWords, statusWords } from "./words.ts";
import { t } from "../../language/text.ts";

type EditedSource = Extract<Dialog, { kind: "create-source" | "edit-source" }>;
type Values = NewAlertSource & Record<string, unknown>;

const sources = v1["alert-sources"];
const readSource = (id: string) => unwrapData(getSourceRoutes(id).get());

export default function SourceDialog({ edited }: { edited: EditedSource }) {
  const isNew = edited.kind === "create-source";
  return (
    <EditorDialog
      title={isNew ? t("Create alert source") : t("Edit alert source")}
      size={600}
      id={isNew ? null : edited.id}
      read={readSource}
      managed={isNew ? null : "alertSources"}
      otherQueries={[useAlertChannels(), useEscalationPolicies()]}
      onClose={closeDialog}
    >
      {(source, reload) => <Fields source={source} onReload={reload} />}
    </EditorDialog>
  );
}

const createEmptyMapping = (): SourceMapping =>
  SourceMapping.parse({ key: "$.id", title: "$.title" });

type FieldsProps = { source: AlertSource | undefined; onReload: () => void };

function useSourceForm({ source, onReload }: FieldsProps) {
  const navigate = useNavigate();
  const { data: channels = [] } = useAlertChannels();
  const start: Values = {
    name: source?.name ?? "",
    type: source?.type ?? "alertmanager",
    enabled: source?.enabled ?? true,
    alertChannelIds:
      source?.alertChannelIds ?? channels.filter((one) => one.default).map(({ id }) => id),
    escalationPolicyId: source?.escalationPolicyId ?? null,
    priority: source?.priority ?? null,
    incidentSeverity: source?.incidentSeverity ?? null,
    resolveAfterMinutes: source?.resolveAfterMinutes ?? null,
    mapping: source?.mapping ?? null,
    mailRules: source?.mailRules ?? null,
  };
  return useForm<Values>(
    start,
    async (values, force, idempotencyKey) => {
      const saved = await unwrapData(
        source === undefined
          ? sources.post(values, addIdempotencyKey(idempotencyKey))
          : getSourceRoutes(source.id).patch(
              values,
              addIfMatch(force ? undefined : source, idempotencyKey),
            ),
      );
      queryClient.setQueryData(recordKey("alert-source", saved.id), saved);
      void queryClient.invalidateQueries({ queryKey: listKey("alert-source") });
      closeDialog();
      if (source !== undefined) return notify(t("Saved {name}", { name: saved.name }));
      // The source's page shows its address.
      void navigate({ to: "/on-call/alert-sources/$id", params: { id: saved.id } });
    },
    onReload,
    { key: `alert-source ${source?.id ?? ""}` },
  );
}

function Fields(props: FieldsProps) {
  const { source } = props;
  const form = useSourceForm(props);
  const { values, set } = form;
  /** A name that the person has not changed follows the type. */
  const choose = (type: SourceType) => {
    const isUsual = values.name === "" || values.name === sourceTypeInfos[values.type].name;
    if (source === undefined && isUsual) set("name", sourceTypeInfos[type].name);
    set("type", type);
    set("mapping", type === "json" ? (values.mapping ?? createEmptyMapping()) : null);
    set("mailRules", type === "email" ? (values.mailRules ?? MailRules.parse({})) : null);
  };
  return (
    <FormFrame
      form={form}
      submit={source === undefined ? t("Create alert source") : t("Save")}
      onCancel={closeDialog}
      curl={() => ({
        ...(source === undefined
          ? { method: "POST", route: sources }
          : { method: "PATCH", route: getSourceRoutes(source.id) }),
        body: values,
      })}
    >
      <Select
        label={t("Tool")}
        description={
          source === undefined
            ? t("What to enter in it is on the next page.")
            : t("Format of its requests.")
        }
        allowDeselect={false}
        data-autofocus
        data={sourceTypes.map((type) => ({ value: type, label: sourceTypeInfos[type].name }))}
        value={values.type}
        onChange={(type) => choose(type as SourceType)}
        error={form.errorOf("type")}
      />
      <TextInput
        label={t("Name")}
        placeholder="Prometheus"
        autoComplete="off"
        {...form.input("name")}
      />
      <FormatFields form={form} />
      <RecipientFields form={form} />
      <AlertFields form={form} />
      {source !== undefined && (
        <Switch
          label={t("Enabled")}
          description={t("A disabled source ignores requests, and its open alerts end.")}
          {...form.toggle("enabled")}
        />
      )}
      <Sample type={values.type} mapping={values.mapping} mailRules={values.mailRules} />
    </FormFrame>
  );
}

/** How its requests are read, for formats that need it. */
function FormatFields({ form }: { form: Form<Values> }) {
  const { values, set } = form;
  return (
    <>
      {values.mapping !== null && (
        <PartFields
          legend={t("Paths in a request, such as $.alert.title")}
          kinds={mappingKinds}
          labels={mappingLabels}
          names={fieldNames.filter(
            (name) => values.mapping?.status != null || !statusFields.has(name),
          )}
          value={values.mapping}
          onChange={(mapping) => set("mapping", mapping)}
          errorOf={(name) => form.errorOf(`mapping.${name}`)}
        />
      )}
      {values.type === "email" && (
        <PartFields
          legend={t("What a mail reports: words, or expressions such as /^disk .* full/")}
          kinds={mailKinds}
          labels={mailLabels}
          names={Object.keys(mailLabels) as (keyof MailRules)[]}
          value={values.mailRules ?? usualMailRules}
          onChange={(mailRules) => set("mailRules", mailRules)}
          errorOf={(name) => form.errorOf(`mailRules.${name}`)}
        />
      )}
    </>
  );
}

/** Recipients of its alerts. */
function RecipientFields({ form }: { form: Form<Values> }) {
  const { values, set } = form;
  const { data: channels } = useAlertChannels();
  return (
    <>
      <RecordsField
        label={t("Alert channels")}
        description={t("Notified of each alert and of its end.")}
        records={channels}
        nothingFound={t("No alert channels found")}
        {...form.field("alertChannelIds")}
        onChange={(ids) => set("alertChannelIds", ids)}
      />
      <PolicyField
        none={t("None")}
        description={t("Notifies people step by step until someone acknowledges the alert.")}
        value={values.escalationPolicyId}
        onChange={(id) => set("escalationPolicyId", id)}
        error={form.errorOf("escalationPolicyId")}
      />
    </>
  );
}

const toOptions = <T extends string>(
  values: readonly T[],
  labels: Record<T, string>,
  none: string,
) => [
  { value: "", label: none },
  ...values.map((value) => ({ value: value as string, label: labels[value] })),
];

/** Priority, incidents and the end of its alerts. */
function AlertFields({ form }: { form: Form<Values> }) {
  const { values, set } = form;
  const minutes = values.resolveAfterMinutes;
  return (
    <>
      <Select
        label={t("Priority")}
        allowDeselect={false}
        data={toOptions(priorities, priorityLabels, t("As the tool names it"))}
        value={values.priority ?? ""}
        onChange={(next) => set("priority", (next || null) as Values["priority"])}
        error={form.errorOf("priority")}
      />
      <Select
        label={t("Incidents")}
        description={t("Each alert opens an internal incident, and resolves it at its end.")}
        allowDeselect={false}
        data={toOptions(severities, severityLabels, t("None"))}
        value={values.incidentSeverity ?? ""}
        onChange={(next) => set("incidentSeverity", (next || null) as Values["incidentSeverity"])}
        error={form.errorOf("incidentSeverity")}
      />
      <Switch
        label={t("End alerts that are no longer reported")}
        description={t("For tools that never report the end of a problem.")}
        checked={minutes !== null}
        onChange={({ currentTarget }) =>
          set("resolveAfterMinutes", currentTarget.checked ? 60 : null)
        }
      />
      {minutes !== null && (
        <NumberField
          label={t("After the last report")}
          suffix=" min"
          min={1}
          allowDecimal={false}
          value={minutes}
          onChange={(next) => set("resolveAfterMinutes", next)}
          error={form.errorOf("resolveAfterMinutes")}
        />
      )}
    </>
  );
}

const monospaced = { mono: true } as const;
const mappingLabels: Readonly<Record<keyof SourceMapping, FieldLabels>> = {
  alerts: {
    label: t("List of alerts"),
    hint: t("Path of the list, if a request has several."),
    ...monospaced,
  },
  key: { label: t("Key"), hint: t("Path of what identifies the problem."), ...monospaced },
  title: { label: t("Title"), hint: t("Path of the message."), ...monospaced },
  status: {
    label: t("Status"),
    hint: t("Path. Without it, every request is a problem."),
    ...monospaced,
  },
  resolvedValues: { label: t("Statuses of an end"), hint: t("Any other one is a problem.") },
  acknowledgedValues: { label: t("Statuses of an acknowledgment") },
  openValues: {
    label: t("Statuses of a problem"),
    hint: t("Only these, if you list some. Others are rejected."),
  },
  text: { label: t("Text"), hint: t("Path of further text."), ...monospaced },
  priority: {
    label: t("Severity"),
    hint: t("Path of a word such as critical or warning."),
    ...monospaced,
  },
  link: { label: t("Link"), hint: t("Path of an address with details."), ...monospaced },
};
const describeFields = (shape: Readonly<Record<string, z.ZodType>>) =>
  Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, describeField(field)]));
const mappingKinds = describeFields(SourceMapping.shape);
const fieldNames = Object.keys(mappingLabels) as (keyof SourceMapping)[];
/** Fields that only matter with a path of the status. */
const statusFields: ReadonlySet<string> = new Set([
  "resolvedValues",
  "acknowledgedValues",
  "openValues",
]);

const mailLabels: Readonly<Record<keyof MailRules, FieldLabels>> = {
  searchIn: {
    label: t("Search in"),
    hint: "",
    options: { subject: t("Subject"), all: t("Subject and text") },
  },
  ignoredWhen: { label: t("Ignored with"), hint: t("Searched first.") },
  resolvedWhen: { label: t("End of a problem with"), hint: t("Searched next.") },
  openWhen: { label: t("Problem with"), hint: t("Any other mail, if you list none.") },
  key: {
    label: t("Key"),
    hint: t(
      "Expression that finds the problem’s identity, such as host=(\\S+). Without it, the subject without words such as failed.",
    ),
    ...monospaced,
  },
};
const mailKinds = describeFields(MailRules.shape);
const usualMailRules = MailRules.parse({});

type PartProps<T> = {
  legend: string;
  kinds: Readonly<Record<string, FieldKind>>;
  labels: Readonly<Record<keyof T, FieldLabels>>;
  names: readonly (keyof T & string)[];
  value: T;
  onChange: (value: T) => void;
  errorOf: (name: string) => string | undefined;
};

/** The fields of an object, in a frame. */
function PartFields<T extends object>(props: PartProps<T>) {
  const { legend, kinds, labels, names, value, onChange, errorOf } = props;
  return (
    <fieldset className="source-mapping">
      <legend>{legend}</legend>
      {names.map((name) => {
        const kind = kinds[name];
        return (
          kind && (
            <SchemaField
              key={name}
              name={name}
              kind={kind}
              labels={labels[name]}
              value={value[name]}
              onChange={(next) => onChange({ ...value, [name]: next })}
              error={errorOf(name)}
            />
          )
        );
      })}
    </fieldset>
  );
}

/** Shows which alerts a pasted request would report. */
function Sample({
  type,
  mapping,
  mailRules,
}: Pick<NewAlertSource, "type" | "mapping" | "mailRules">) {
  const [body, setBody] = useState("");
  const preview = useMutation({
    mutationFn: () => unwrapData(sources.preview.post({ type, mapping, mailRules, body })),
  });
  const error = preview.error instanceof Error ? preview.error.message : undefined;
  return (
    <div className="flex flex-col gap-10">
      <Textarea
        label={t("Try a sample")}
        description={
          type === "email"
            ? t("Paste a mail with its headers. Nothing is sent.")
            : t("Paste the body of a request. Nothing is sent.")
        }
        autosize
        minRows={2}
        maxRows={10}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mono)" } }}
        value={body}
        error={error}
        onChange={({ currentTarget }) => {
          setBody(currentTarget.value);
          preview.reset();
        }}
      />
      {body.trim() !== "" && (
        <BusyButton loading={preview.isPending} onClick={() => preview.mutate()}>
          {t("Preview")}
        </BusyButton>
      )}
      <div role="status">
        {preview.data?.alerts.length === 0 && (
          <p className="field-note">{t("This request reports no alert.")}</p>
        )}
        <ul className="source-preview">
          {preview.data?.alerts.map(({ key, status, title, priority }) => (
            <li key={key}>
              <StateIcon state={status === "resolved" ? "up" : "down"} size={15} />
              <span>
                <b>{title === "" ? key : title}</b> {statusWords[status]}
                {priority !== null && dot + priorityWords[priority]}
                {dot}
                <span className="faint">{t("key {key}", { key })}</span>
              </span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
