/** The forms for updates and internal notes of an incident. */
import { Button, SegmentedControl } from "@mantine/core";
import { type Ref, useRef, useState } from "react";
import { incidentStatuses } from "../../../../src/core/statuses.ts";
import type { Incident, IncidentStatus } from "../../../../src/incidents/schema.ts";
import { recordKey } from "../../../data/keys.ts";
import { queryClient } from "../../../data/query.ts";
import { type Form, FormFrame, useForm } from "../../../components/forms/form.tsx";
import { MarkdownField } from "../../../components/forms/markdown-field.tsx";
import { changeIncident } from "../actions.ts";
import { useAudience } from "../data.ts";
import { NoteForm } from "./note-form.tsx";
import { PreviewDialog } from "../preview-dialog.tsx";
import { RecipientsLine } from "../recipients-line.tsx";
import { TemplatesMenu } from "../templates.tsx";
import { capitalize } from "../../../../src/core/text/formatting.ts";

type Values = { status: IncidentStatus; message: string };

export type ComposerMode = "update" | "note";

/** Posts updates and internal notes. Each form preserves its text while the other one is open. */
export function Composer({
  incident,
  box,
  writing,
  onWriting,
}: {
  incident: Incident;
  box: Ref<HTMLTextAreaElement>;
  writing: ComposerMode;
  onWriting: (writing: ComposerMode) => void;
}) {
  return (
    <section className="panel composer flex flex-col gap-10" aria-label="Post an update">
      <SegmentedControl
        className="composer-kind"
        size="xs"
        aria-label="Type of update"
        value={writing}
        onChange={(next) => onWriting(next as ComposerMode)}
        data={[
          { value: "update", label: incident.public ? "Public update" : "Update" },
          { value: "note", label: "Internal note" },
        ]}
      />
      <div hidden={writing !== "update"}>
        <UpdateForm incident={incident} box={box} />
      </div>
      <div hidden={writing !== "note"}>
        <NoteForm incident={incident} />
      </div>
    </section>
  );
}

/** The form of an update. Editing starts from the incident as the person last saw it. */
function useUpdateForm(incident: Incident) {
  const { id, status } = incident;
  const seen = useRef(incident);
  const form = useForm<Values>(
    { status, message: "" },
    async (values, force, once) => {
      const text = values.message.trim() === "" ? {} : { message: values.message };
      const known = force ? undefined : seen.current;
      await changeIncident(incident, { status: values.status, ...text }, known, once);
      form.replace({ status: values.status, message: "" });
    },
    () => {
      seen.current = incident;
      void queryClient.invalidateQueries({ queryKey: recordKey("incident", id) });
    },
    { key: `update ${id}`, staysOnConflict: true },
  );
  if (!form.dirty) seen.current = incident;
  // Until the person chooses a status, it follows the incident.
  return { form, status: form.dirty ? form.values.status : status };
}

function pickVerb(next: IncidentStatus, current: IncidentStatus) {
  if (next === "resolved" && current !== "resolved") return "Resolve";
  return next !== "resolved" && current === "resolved" ? "Reopen" : "Post update";
}

/** Posts a status and a message to the timeline, the public page and subscribers. */
function UpdateForm({ incident, box }: { incident: Incident; box: Ref<HTMLTextAreaElement> }) {
  const { id, status: current } = incident;
  const { data: audience } = useAudience({ incidentId: id });
  const [previewing, setPreviewing] = useState(false);
  const { form, status } = useUpdateForm(incident);
  const { values, set, errorOf } = form;
  const verb = pickVerb(status, current);
  return (
    <>
      <FormFrame
        form={form}
        submit={verb}
        extra={
          <RecipientsLine
            audience={audience}
            isPublic={incident.public}
            resolves={verb === "Resolve"}
          />
        }
      >
        <StatusRow
          incident={incident}
          form={form}
          status={status}
          onPreview={() => setPreviewing(true)}
        />
        <MarkdownField
          ref={box}
          aria-label="Message"
          placeholder="What happened, who is affected, what happens next"
          value={values.message}
          onChange={({ currentTarget }) => {
            set("status", status);
            set("message", currentTarget.value);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void form.submit(event);
          }}
          error={errorOf("message") ?? errorOf("status")}
        />
      </FormFrame>
      {previewing && (
        <PreviewDialog
          draft={{
            incidentId: id,
            message: values.message,
            public: incident.public,
            ...((status !== current || values.message.trim() !== "") && { status }),
          }}
          onClose={() => setPreviewing(false)}
        />
      )}
    </>
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
      aria-label="Status"
      value={status}
      onChange={(next) => set("status", next as IncidentStatus)}
      data={incidentStatuses.map((value) => ({ value, label: capitalize(value) }))}
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
        Preview page
      </Button>
    </span>
  </div>
);
