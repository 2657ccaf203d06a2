import { Button, SegmentedControl } from "@mantine/core";
import { type Ref, useRef, useState } from "react";
import { incidentStatuses } from "../../../../src/core/statuses.ts";
import type { Incident, IncidentStatus } from "../../../../src/incidents/schema.ts";
import { recordKey } from "../../../data/keys.ts";
import { queryClient } from "../../../data/query.ts";
import { FormFrame, useForm } from "../../../components/forms/form.tsx";
import { MarkdownField } from "../../../components/forms/markdown-field.tsx";
import { changeIncident } from "../actions.ts";
import { useAudience } from "../data.ts";
import { NoteForm } from "./note-form.tsx";
import { PreviewDialog } from "../preview-dialog.tsx";
import { RecipientsLine } from "../recipients-line.tsx";
import { TemplatesMenu } from "../templates.tsx";
import { capitalized } from "../../../../src/core/text/words.ts";

type Values = { status: IncidentStatus; message: string };

/** What is being written: for everybody, or for the inside alone. */
export type Writing = "update" | "note";

/** What is typed into one of them stays there while the other is open. */
export function Composer({
  incident,
  box,
  writing,
  onWriting,
}: {
  incident: Incident;
  box: Ref<HTMLTextAreaElement>;
  writing: Writing;
  onWriting: (writing: Writing) => void;
}) {
  return (
    <section className="panel composer flex flex-col gap-10" aria-label="Post an update">
      <SegmentedControl
        className="composer-kind"
        size="xs"
        aria-label="Type of update"
        value={writing}
        onChange={(next) => onWriting(next as Writing)}
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

/** Status and message in one: what is posted here goes to the timeline, the public page and whoever listens. */
function UpdateForm({ incident, box }: { incident: Incident; box: Ref<HTMLTextAreaElement> }) {
  const { id, status: now } = incident;
  const { data: audience } = useAudience({ incidentId: id });
  const [previewing, setPreviewing] = useState(false);
  const seen = useRef(incident);
  const form = useForm<Values>(
    { status: now, message: "" },
    async ({ status, message }, force, once) => {
      const text = message.trim() === "" ? {} : { message };
      const known = force ? undefined : seen.current;
      await changeIncident(incident, { status, ...text }, known, once);
      form.replace({ status, message: "" });
    },
    () => {
      seen.current = incident;
      void queryClient.invalidateQueries({ queryKey: recordKey("incident", id) });
    },
    { key: `update ${id}`, staysOnConflict: true },
  );
  // Whoever writes decides on what they saw when they began.
  if (!form.dirty) seen.current = incident;
  const { values, set, errorOf } = form;
  // Until somebody chooses one, the status follows what others make of it.
  const status = form.dirty ? values.status : now;
  const choose = (next: IncidentStatus) => form.set("status", next);
  const verb =
    status === "resolved" && now !== "resolved"
      ? "Resolve"
      : status !== "resolved" && now === "resolved"
        ? "Reopen"
        : "Post update";
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
        <div className="composer-top flex items-center justify-between flex-wrap gap-6">
          <SegmentedControl
            aria-label="Status"
            value={status}
            onChange={(next) => choose(next as IncidentStatus)}
            data={incidentStatuses.map((value) => ({ value, label: capitalized(value) }))}
          />
          <span className="composer-tools">
            <TemplatesMenu
              status={status}
              message={values.message}
              about={incident}
              onChoose={(chosen) => {
                choose(chosen.status);
                set("message", chosen.message);
              }}
            />
            <Button
              size="compact-sm"
              variant="subtle"
              color="gray"
              onClick={() => setPreviewing(true)}
            >
              Preview page
            </Button>
          </span>
        </div>
        <MarkdownField
          ref={box}
          aria-label="Message"
          placeholder="What happened, who is affected, what happens next"
          value={values.message}
          onChange={({ currentTarget }) => {
            choose(status);
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
            ...((status !== now || values.message.trim() !== "") && { status }),
          }}
          onClose={() => setPreviewing(false)}
        />
      )}
    </>
  );
}
