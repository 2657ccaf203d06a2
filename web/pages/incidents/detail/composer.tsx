/** The forms for updates and internal notes of an incident. */
import { Button, SegmentedControl } from "@mantine/core";
import { type Ref, useRef, useState } from "react";
import { incidentStatuses } from "../../../../src/core/statuses.ts";
import type { Incident, IncidentStatus } from "../../../../src/incidents/schema.ts";
import { recordKey } from "../../../data/keys.ts";
import { queryClient } from "../../../data/query.ts";
import { type Form, FormFrame, useForm } from "../../../components/forms/form.tsx";
import { HeldOfRecord } from "../../../components/held-changes.tsx";
import { TabRow, tabPanelOf } from "../../../components/tabs.tsx";
import { dot } from "../../../components/display/format.ts";
import { MarkdownField } from "../../../components/forms/markdown-field.tsx";
import { holdUpdate } from "../actions.ts";
import { useAudience } from "../data.ts";
import { NoteForm } from "./note-form.tsx";
import { InternalNamesLine } from "../internal-names-line.tsx";
import { PreviewDialog } from "../preview-dialog.tsx";
import { countRecipients, RecipientsLine } from "../recipients-line.tsx";
import { TemplatesMenu } from "../templates.tsx";
import {
  buildTranslations,
  type EnteredTranslations,
  listTargetLanguages,
  nameLanguages,
} from "../translations.ts";
import { TranslationsField } from "../translations-field.tsx";
import { incidentStatusLabels } from "../words.ts";
import { t } from "../../../language/text.ts";

type Values = {
  /** Null follows the incident until the person writes something. */
  status: IncidentStatus | null;
  message: string;
  /** Absent in drafts of older versions. */
  translations?: EnteredTranslations;
};

const emptyDraft: Values = { status: null, message: "", translations: {} };

export type ComposerMode = "update" | "note";

/** Posts updates and internal notes. Each form preserves its text while the other one is open. */
export function Composer({
  incident,
  draft,
  box,
  writing,
  onWriting,
}: {
  incident: Incident;
  draft: UpdateDraft;
  box: Ref<HTMLTextAreaElement>;
  writing: ComposerMode;
  onWriting: (writing: ComposerMode) => void;
}) {
  return (
    <section className="panel composer flex flex-col gap-10" aria-label={t("Post an update")}>
      <TabRow
        name="composer"
        label={t("Type of update")}
        value={writing}
        onChange={onWriting}
        tabs={[
          {
            value: "update",
            label: incident.public ? t("Public update") : t("Update"),
            icon: "page",
          },
          { value: "note", label: t("Internal note"), icon: "lock" },
        ]}
      />
      <HeldOfRecord subjectId={incident.id} />
      <div {...tabPanelOf("composer", "update", writing)}>
        <UpdateForm incident={incident} draft={draft} box={box} />
      </div>
      <div {...tabPanelOf("composer", "note", writing)}>
        <NoteForm incident={incident} />
      </div>
    </section>
  );
}

export type UpdateDraft = ReturnType<typeof useUpdateDraft>;

/** The draft of an update. Editing starts from the incident as the person last saw it. */
export function useUpdateDraft(incident: Incident) {
  const { id, status: current } = incident;
  const { data: audience } = useAudience({ incidentId: id });
  const languages = incident.public ? listTargetLanguages(audience?.pages ?? []) : [];
  const seen = useRef(incident);
  /** Status of the next submission, if another button than that of the form sends it. */
  const next = useRef<IncidentStatus | null>(null);
  const form = useForm<Values>(
    emptyDraft,
    async (values, force, idempotencyKey) => {
      const texts = buildTranslations(values.translations ?? {}, languages);
      const text =
        values.message.trim() === ""
          ? {}
          : {
              message: values.message,
              ...(Object.keys(texts).length > 0 && { translations: texts }),
            };
      const known = force ? undefined : seen.current;
      const status = next.current ?? values.status ?? current;
      await holdUpdate(incident, { status, ...text }, known, `${idempotencyKey}-${status}`);
      form.replace(emptyDraft);
    },
    () => {
      seen.current = incident;
      void queryClient.invalidateQueries({ queryKey: recordKey("incident", id) });
    },
    { key: `update ${id}`, staysOnConflict: true },
  );
  if (!form.isDirty) seen.current = incident;
  const status = form.values.status ?? current;
  const { message } = form.values;
  const hasText = message.trim() !== "";
  const translations = buildTranslations(form.values.translations ?? {}, languages);
  const isTranslated = Object.keys(translations).length > 0;
  const isEmpty = !hasText && (status === current || isTranslated);
  return {
    form,
    status,
    hasText,
    isEmpty,
    languages,
    translations,
    /** The incident with this draft, for previews. */
    preview: {
      incidentId: id,
      message,
      public: incident.public,
      ...(!isEmpty && { status }),
      ...(hasText && isTranslated && { translations }),
    },
    /** Posts the draft, with another status than the chosen one. */
    postAs: (other: IncidentStatus | null) => {
      next.current = other;
      return form.submit();
    },
  };
}

/** Builds the label of the button, such as `Post to 2 pages, 32 people`. */
function buildSubmitLabel(
  next: IncidentStatus,
  current: IncidentStatus,
  hasText: boolean,
  to: string,
) {
  const post = to === "" ? t("Post update") : t("Post to {recipients}", { recipients: to });
  const recipients = to === "" ? "" : `${dot}${to}`;
  if (next === "resolved" && current !== "resolved")
    return `${hasText ? t("Post and resolve") : t("Resolve")}${recipients}`;
  return next !== "resolved" && current === "resolved" ? `${t("Reopen")}${recipients}` : post;
}

/** Posts a status and a message to the timeline, the public page and subscribers. */
function UpdateForm({
  incident,
  draft,
  box,
}: {
  incident: Incident;
  draft: UpdateDraft;
  box: Ref<HTMLTextAreaElement>;
}) {
  const { id, status: current } = incident;
  const { data: audience } = useAudience({ incidentId: id });
  const [isPreviewing, setIsPreviewing] = useState(false);
  const { form, status, hasText, isEmpty } = draft;
  const { values } = form;
  const to = { isPublic: incident.public, resolves: status === "resolved" && current !== status };
  return (
    <>
      <FormFrame
        form={{ ...form, submit: (event) => (event?.preventDefault(), draft.postAs(null)) }}
        submit={nameLanguages(
          buildSubmitLabel(status, current, hasText, countRecipients(audience, to)),
          draft.translations,
        )}
        disabled={isEmpty}
        extra={<RecipientsLine audience={audience} {...to} />}
      >
        <StatusRow
          incident={incident}
          form={form}
          status={status}
          onPreview={() => setIsPreviewing(true)}
        />
        <MessageField draft={draft} box={box} />
        <DraftTranslations draft={draft} />
        <InternalNamesLine text={values.message} isPublic={incident.public} audience={audience} />
      </FormFrame>
      {isPreviewing && (
        <PreviewDialog
          draft={draft.preview}
          audience={audience}
          onClose={() => setIsPreviewing(false)}
        />
      )}
    </>
  );
}

function DraftTranslations({
  draft: { form, status, hasText, languages },
}: {
  draft: UpdateDraft;
}) {
  return (
    <TranslationsField
      languages={languages}
      value={form.values.translations}
      onChange={(translations) => {
        form.set("status", status);
        form.set("translations", translations);
      }}
      hasOriginal={hasText}
      errorOf={form.errorOf}
    />
  );
}

function MessageField({
  draft: { form, status, isEmpty, postAs },
  box,
}: {
  draft: UpdateDraft;
  box: Ref<HTMLTextAreaElement>;
}) {
  const { values, set, errorOf } = form;
  return (
    <MarkdownField
      ref={box}
      aria-label={t("Message")}
      minRows={5}
      placeholder={t("What happened, who is affected, what happens next")}
      value={values.message}
      onChange={({ currentTarget }) => {
        set("status", status);
        set("message", currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
        event.preventDefault();
        if (!isEmpty) void postAs(null);
      }}
      error={errorOf("message") ?? errorOf("status")}
    />
  );
}

const StatusRow = ({
  incident,
  form: { values, set },
  status,
  onPreview,
}: {
  incident: Incident;
  form: Form<Values>;
  status: IncidentStatus;
  onPreview: () => void;
}) => (
  <div className="composer-top flex items-center justify-between flex-wrap gap-6">
    <SegmentedControl
      aria-label={t("Status")}
      value={status}
      onChange={(next) => set("status", next as IncidentStatus)}
      data={incidentStatuses.map((value) => ({ value, label: incidentStatusLabels[value] }))}
    />
    <span className="composer-tools">
      <TemplatesMenu
        status={status}
        message={values.message}
        about={incident}
        onChoose={(chosen) => {
          set("status", chosen.status);
          set("message", chosen.message);
        }}
      />
      <Button size="compact-sm" variant="subtle" color="gray" onClick={onPreview}>
        {t("Preview page")}
      </Button>
    </span>
  </div>
);
