/** The page of a postmortem: its text, with action items and the incident's timeline next to it. */
import { Button, Checkbox, TextInput } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { Incident } from "../../../../src/incidents/schema.ts";
import { v1 } from "../../../data/client.ts";
import { recordKey } from "../../../data/keys.ts";
import { queryClient } from "../../../data/query.ts";
import { useMayChange } from "../../../components/display/partial-record.tsx";
import { FormFrame, useForm } from "../../../components/forms/form.tsx";
import { MarkdownField } from "../../../components/forms/markdown-field.tsx";
import { Loaded, PageHeader, Panel } from "../../../components/page.tsx";
import { notifyError } from "../../../components/toasts.tsx";
import { useAudience, useIncident, useTraces } from "../data.ts";
import { InternalNamesLine } from "../internal-names-line.tsx";
import { addActionItem, listActionItems, toggleActionItem } from "./action-items.ts";
import {
  PostmortemActions,
  PostmortemPill,
  PostmortemText,
  savePostmortem,
} from "./postmortem.tsx";
import { Timeline } from "./timeline.tsx";
import { nameIncident } from "../../../language/server-text.ts";
import { t } from "../../../language/text.ts";

const outline = t("**Impact**\n\n\n**Root cause**\n\n\n**Action items**\n\n- [ ] ");

export default function PostmortemPage() {
  const { id = "" } = useParams({ strict: false });
  return (
    <Loaded
      query={useIncident(id)}
      otherQueries={[useTraces(id)]}
      subject={t("The postmortem")}
      crumbs={[{ to: "/incidents", label: t("Incidents") }]}
    >
      {(incident) => <Postmortem key={id} incident={incident} />}
    </Loaded>
  );
}

function Postmortem({ incident }: { incident: Incident }) {
  const { id, postmortem } = incident;
  const title = nameIncident(incident);
  const mayWrite = useMayChange(incident);
  const [isEditing, setEditing] = useState(false);
  const isWriting = mayWrite && (isEditing || postmortem === null);
  return (
    <>
      <PageHeader
        title={t("Postmortem: {title}", { title })}
        crumbs={[
          { to: "/incidents", label: t("Incidents") },
          { to: `/incidents/${id}`, label: title },
        ]}
        facts={<PostmortemPill postmortem={postmortem} />}
      >
        {mayWrite && !isWriting && (
          <PostmortemActions incident={incident} onWrite={() => setEditing(true)} />
        )}
      </PageHeader>
      <div className="postmortem-columns">
        {isWriting ? (
          <Writing incident={incident} onClose={() => setEditing(false)} />
        ) : (
          <Reading incident={incident} />
        )}
        <Timeline incident={incident} />
      </div>
    </>
  );
}

function Reading({ incident }: { incident: Incident }) {
  const { id, postmortem } = incident;
  const mayWrite = useMayChange(incident);
  if (postmortem === null)
    return (
      <Panel title={t("Text")}>
        <p className="quiet">{t("There is no postmortem yet.")}</p>
      </Panel>
    );
  const save = (message: string) =>
    void savePostmortem(id, { message }, incident).catch(notifyError);
  return (
    <div>
      <section className="panel postmortem" aria-label={t("Postmortem")}>
        <PostmortemText postmortem={postmortem} />
      </section>
      <ActionItems message={postmortem.message} onChange={mayWrite ? save : null} />
    </div>
  );
}

function Writing({ incident: latest, onClose }: { incident: Incident; onClose: () => void }) {
  const [incident] = useState(latest);
  const { id, postmortem } = incident;
  const { data: audience } = useAudience({ incidentId: id });
  const navigate = useNavigate();
  const form = useForm<{ message: string }>(
    { message: postmortem?.message ?? outline },
    async ({ message }, force, idempotencyKey) => {
      await savePostmortem(id, { message }, force ? undefined : incident, idempotencyKey);
      onClose();
    },
    () => {
      void queryClient.invalidateQueries({ queryKey: recordKey("incident", id) });
      onClose();
    },
    { key: `postmortem ${id}` },
  );
  const isPublic = postmortem !== null && postmortem.publishedAt !== null;
  const cancel = () =>
    postmortem === null ? void navigate({ to: "/incidents/$id", params: { id } }) : onClose();
  return (
    <div>
      <section className="panel postmortem" aria-label={t("Postmortem")}>
        <FormFrame
          form={form}
          onCancel={cancel}
          submit={isPublic ? t("Save") : t("Save draft")}
          extra={
            <span className="audience">
              {isPublic ? t("Public at once · no one is notified") : t("The draft is not public")}
            </span>
          }
          curl={() => ({
            method: "PATCH",
            route: v1.incidents({ id }).postmortem,
            body: form.values,
          })}
        >
          <MarkdownField
            label={t("Impact, root cause and action items")}
            minRows={14}
            maxRows={40}
            {...form.input("message")}
          />
          <InternalNamesLine
            text={form.values.message}
            isPublic={incident.public}
            audience={audience}
          />
        </FormFrame>
      </section>
      <ActionItems
        message={form.values.message}
        onChange={(message) => form.set("message", message)}
      />
    </div>
  );
}

/** The tasks in the text. Without `onChange` they cannot be changed. */
function ActionItems({
  message,
  onChange,
}: {
  message: string;
  onChange: ((message: string) => void) | null;
}) {
  const [words, setWords] = useState("");
  const items = listActionItems(message);
  const open = items.filter(({ isDone }) => !isDone).length;
  function add(event: FormEvent) {
    event.preventDefault();
    if (words.trim() === "") return;
    onChange?.(addActionItem(message, words));
    setWords("");
  }
  return (
    <Panel
      title={t("Action items")}
      actions={
        items.length > 0 && (
          <span className="quiet text-s">{t("{count} open", { count: open })}</span>
        )
      }
    >
      {items.length === 0 && <p className="quiet text-s">{t("No action items yet.")}</p>}
      <ul className="action-items">
        {items.map((item) => (
          <li key={item.line}>
            <Checkbox
              label={item.text}
              checked={item.isDone}
              disabled={onChange === null}
              onChange={() => onChange?.(toggleActionItem(message, item))}
            />
          </li>
        ))}
      </ul>
      {onChange !== null && (
        <form className="action-item-add" onSubmit={add}>
          <TextInput
            aria-label={t("New action item")}
            placeholder={t("What will change, and who does it")}
            value={words}
            maxLength={500}
            onChange={({ currentTarget }) => setWords(currentTarget.value)}
          />
          <Button type="submit" disabled={words.trim() === ""}>
            {t("Add")}
          </Button>
        </form>
      )}
    </Panel>
  );
}
