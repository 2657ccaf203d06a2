/** The dialog that creates an incident, with a preview of the public page and its recipients. */
import { Button, Switch, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Incident } from "../../../src/incidents/schema.ts";
import { unwrapData, withIdempotencyKey, v1 } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { queryClient } from "../../data/query.ts";
import { closeDialog } from "../../components/open-dialog.ts";
import { dot, pluralize } from "../../components/display/format.ts";
import { Fold, type Form, FormDialog, useForm } from "../../components/forms/form.tsx";
import { useAudience } from "./data.ts";
import { SeverityField } from "./labels.tsx";
import { MonitorsField } from "./monitors-field.tsx";
import { MarkdownField } from "../../components/forms/markdown-field.tsx";
import { PreviewDialog } from "./preview-dialog.tsx";
import { RecipientsLine } from "./recipients-line.tsx";
import { TemplatesMenu } from "./templates.tsx";

type Values = {
  title: string;
  severity: Incident["severity"];
  message: string;
  monitorIds: string[];
  public: boolean;
};

function useNewIncident() {
  const navigate = useNavigate();
  return useForm<Values>(
    { title: "", severity: "minor", message: "", monitorIds: [], public: true },
    async (values, _, once) => {
      const incident = await unwrapData(
        v1.incidents.post(buildIncidentBody(values), withIdempotencyKey(once)),
      );
      queryClient.setQueryData(recordKey("incident", incident.id), incident);
      closeDialog();
      await navigate({ href: `/incidents/${incident.id}` });
    },
    undefined,
    { key: "incident" },
  );
}

export default function CreateIncident() {
  const [previewing, setPreviewing] = useState(false);
  const form = useNewIncident();
  const { values } = form;
  const { data: audience } = useAudience({
    ...(values.monitorIds.length > 0 && { monitorIds: values.monitorIds.join(",") }),
  });
  return (
    <>
      <FormDialog
        title="Create incident"
        size={560}
        onClose={closeDialog}
        form={form}
        submit="Create incident"
        extra={<Button onClick={() => setPreviewing(true)}>Preview page</Button>}
        curl={() => ({ method: "POST", route: v1.incidents, body: buildIncidentBody(values) })}
      >
        <TextInput
          label="Title"
          placeholder="Checkout fails for some customers"
          autoComplete="off"
          data-autofocus
          {...form.input("title")}
        />
        <SeverityField {...form.field("severity")} />
        <MessageField form={form} />
        <MonitorsAndVisibility form={form} />
        <RecipientsLine audience={audience} isPublic={values.public} />
      </FormDialog>
      {previewing && <PreviewDialog draft={values} onClose={() => setPreviewing(false)} />}
    </>
  );
}

const MessageField = ({ form }: { form: Form<Values> }) => (
  <div className="with-tools relative">
    <MarkdownField
      label="Message"
      placeholder="What happened, who is affected, what happens next"
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

function MonitorsAndVisibility({ form }: { form: Form<Values> }) {
  const { monitorIds, public: isPublic } = form.values;
  const monitors = monitorIds.length === 0 ? "No monitor" : pluralize(monitorIds.length, "monitor");
  return (
    <Fold
      title="Monitors and visibility"
      summary={[monitors, isPublic ? "public" : "not public"].join(dot)}
      open={false}
      invalid={form.errorOf("monitorIds") !== undefined}
    >
      <div className="form-section">
        <MonitorsField form={form} />
        <Switch label="Public" description="Shown on status pages." {...form.toggle("public")} />
      </div>
    </Fold>
  );
}

/** Without a message, the API uses its default text. */
function buildIncidentBody({ message, ...values }: Values) {
  return message.trim() === "" ? values : { ...values, message };
}
