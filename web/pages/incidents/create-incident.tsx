/** The dialog that creates an incident, with a preview of the public page and its recipients. */
import { Button, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { IncidentAudience } from "../../../src/dashboard/incident-schema.ts";
import type { Incident } from "../../../src/incidents/schema.ts";
import { addIdempotencyKey, v1 } from "../../data/client.ts";
import { listKnownMonitors, useOverview } from "../../data/overview.ts";
import { hold } from "../../components/held-changes.tsx";
import { closeDialog, type Dialog } from "../../components/open-dialog.ts";
import { EditorDialog } from "../../components/forms/editor-dialog.tsx";
import { type Form, FormFrame, useForm } from "../../components/forms/form.tsx";
import { useAudience } from "./data.ts";
import { SeverityField, VisibilityField } from "./labels.tsx";
import { dropUnaffected, ImpactsField } from "./impacts-field.tsx";
import { MonitorsField } from "./monitors-field.tsx";
import { MarkdownField } from "../../components/forms/markdown-field.tsx";
import { InternalNamesLine } from "./internal-names-line.tsx";
import { PreviewDialog } from "./preview-dialog.tsx";
import { describePosting, RecipientsLine } from "./recipients-line.tsx";
import { TemplatesMenu } from "./templates.tsx";
import { pageLanguages } from "../../../src/core/languages.ts";
import {
  buildTranslations,
  type EnteredTranslations,
  listTargetLanguages,
  nameLanguages,
} from "./translations.ts";
import { TranslationsField } from "./translations-field.tsx";
import { t } from "../../language/text.ts";

type Values = {
  title: string;
  severity: Incident["severity"];
  message: string;
  monitorIds: string[];
  impacts: Incident["impacts"];
  public: boolean;
  /** Absent in drafts of older versions. */
  translations?: EnteredTranslations;
};

/** Maximum number of monitors of an incident. */
const maxMonitors = 100;

function useNewIncident(selected: readonly string[] | undefined) {
  const navigate = useNavigate();
  const { data: overview } = useOverview();
  const down = (overview === undefined ? [] : listKnownMonitors(overview)).flatMap(
    ({ id, status }) => (status === "down" ? [id] : []),
  );
  const monitorIds = [...(selected ?? down)].slice(0, maxMonitors);
  return useForm<Values>(
    {
      title: "",
      severity: "minor",
      message: "",
      monitorIds,
      impacts: [],
      public: true,
      translations: {},
    },
    async (values, _, idempotencyKey) => {
      await hold((query) =>
        v1.incidents.post(buildIncidentBody(values), {
          query,
          ...addIdempotencyKey(idempotencyKey),
        }),
      );
      closeDialog();
      // The page of the incident opens from there when it is sent.
      await navigate({ href: "/incidents" });
    },
    undefined,
    { key: ["incident", ...(selected ?? [])].join(" ") },
  );
}

type NewIncident = Extract<Dialog, { kind: "create-incident" }>;

export default function CreateIncident({ initial: { monitorIds } }: { initial: NewIncident }) {
  return (
    <EditorDialog
      title={t("Create incident")}
      size={560}
      id={null}
      read={readNothing}
      otherQueries={[useOverview()]}
      onClose={closeDialog}
    >
      {() => <Fields selected={monitorIds} />}
    </EditorDialog>
  );
}

/** A new incident copies no record. */
const readNothing = () => Promise.reject(new Error("A new incident has no record."));

function Fields({ selected }: { selected: readonly string[] | undefined }) {
  const [isPreviewing, setIsPreviewing] = useState(false);
  const form = useNewIncident(selected);
  const { values } = form;
  const { data: audience } = useAudience({
    ...(values.monitorIds.length > 0 && { monitorIds: values.monitorIds.join(",") }),
  });
  const texts = readTexts(values, audience);
  const { translations, hasText } = texts;
  const isUntold = !hasText && Object.keys(translations).length > 0;
  return (
    <>
      <FormFrame
        form={form}
        onCancel={closeDialog}
        disabled={isUntold}
        submit={nameLanguages(describePosting(audience, values.public), translations)}
        question={askAbout(values)}
        extra={<Button onClick={() => setIsPreviewing(true)}>{t("Preview page")}</Button>}
        curl={() => ({ method: "POST", route: v1.incidents, body: buildIncidentBody(values) })}
      >
        <IncidentFields form={form} audience={audience} texts={texts} />
      </FormFrame>
      {isPreviewing && (
        <PreviewDialog
          draft={{ ...dropUnaffected(values), translations: hasText ? translations : {} }}
          audience={audience}
          onClose={() => setIsPreviewing(false)}
        />
      )}
    </>
  );
}

type Texts = ReturnType<typeof readTexts>;

/** The translations of a message that would be sent. */
function readTexts(values: Values, audience: IncidentAudience | undefined) {
  const languages = values.public ? listTargetLanguages(audience?.pages ?? []) : [];
  const translations = buildTranslations(values.translations ?? {}, languages);
  return { languages, translations, hasText: values.message.trim() !== "" };
}

function IncidentFields({
  form,
  audience,
  texts,
}: {
  form: Form<Values>;
  audience: IncidentAudience | undefined;
  texts: Texts;
}) {
  const { values } = form;
  return (
    <>
      <TextInput
        label={t("Title")}
        placeholder={t("Checkout fails for some customers")}
        autoComplete="off"
        data-autofocus
        {...form.input("title")}
      />
      <MonitorsField form={form} />
      <ImpactsField monitorIds={values.monitorIds} {...form.field("impacts")} />
      <SeverityField {...form.field("severity")} />
      <MessageField form={form} />
      <TranslationsField
        languages={texts.languages}
        hasOriginal={texts.hasText}
        {...form.field("translations")}
        errorOf={form.errorOf}
      />
      <InternalNamesLine
        text={`${values.title}\n${values.message}`}
        isPublic={values.public}
        audience={audience}
      />
      <VisibilityField
        value={values.public}
        onChange={(isPublic) => form.set("public", isPublic)}
      />
      <RecipientsLine audience={audience} isPublic={values.public} />
    </>
  );
}

const MessageField = ({ form }: { form: Form<Values> }) => (
  <div className="with-tools relative">
    <MarkdownField
      label={t("Message")}
      placeholder={t("What happened, who is affected, what happens next")}
      {...form.input("message")}
    />
    <TemplatesMenu
      status="investigating"
      message={form.values.message}
      about={form.values}
      onChoose={({ message, title, severity }) => {
        form.set("message", message);
        if (title && form.values.title.trim() === "") form.set("title", title);
        if (severity) form.set("severity", severity);
      }}
    />
  </div>
);

/** Asks before an incident without a message that is public or names no monitor. */
function askAbout({ title, message, monitorIds, public: isPublic }: Values) {
  const isEmpty = message.trim() === "" && (isPublic || monitorIds.length === 0);
  if (!isEmpty || title.trim() === "") return null;
  return {
    title:
      monitorIds.length === 0 ? t("Create an incident without details?") : t("Post no message?"),
    verb: isPublic ? t("Post anyway") : t("Create anyway"),
    text: [
      ...(monitorIds.length === 0 ? [t("It names no monitor.")] : []),
      isPublic ? t("Customers read only “Incident opened.”") : t("It has no message."),
    ].join(" "),
  };
}

/** Without a message, the API uses its default text. */
function buildIncidentBody(all: Values) {
  const { message, translations = {}, ...values } = dropUnaffected(all);
  if (message.trim() === "") return values;
  const texts = buildTranslations(translations, pageLanguages);
  return { ...values, message, ...(Object.keys(texts).length > 0 && { translations: texts }) };
}
