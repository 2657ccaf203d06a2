/** The postmortem of an incident: writing, draft, preview and publication. */
import { Button, Checkbox, Modal } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Incident, PostmortemPatch } from "../../../../src/incidents/schema.ts";
import { unwrapData, withIfMatch, v1 } from "../../../data/client.ts";
import { recordKey } from "../../../data/keys.ts";
import { createProvisionalId } from "../../../data/record.ts";
import { queryClient } from "../../../data/query.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { FormDialog, useForm } from "../../../components/forms/form.tsx";
import { pluralize } from "../../../components/display/format.ts";
import { Markdown } from "../../../components/display/markdown.tsx";
import { MarkdownField } from "../../../components/forms/markdown-field.tsx";
import { DangerItem, MenuItem, RowMenu } from "../../../components/menus.tsx";
import { Time } from "../../../components/display/time.tsx";
import { hold } from "../../../components/held-changes.tsx";
import { postmortemKeyOf, useDeleting } from "../../../components/deletion.ts";
import { notifyError } from "../../../components/toasts.tsx";
import { deletePostmortem } from "../actions.ts";
import { useAudience } from "../data.ts";

const outline = "**Impact**\n\n\n**Root cause**\n\n\n**What we change**\n\n";

/**
 * Saves the postmortem. `known` is the incident as loaded; undefined overwrites later changes by
 * others.
 */
async function savePostmortem(
  id: string,
  patch: PostmortemPatch,
  known: Incident | undefined,
  once?: string,
) {
  const after = await unwrapData(
    v1.incidents({ id }).postmortem.patch(patch, withIfMatch(known, once)),
  );
  queryClient.setQueryData(recordKey("incident", id), after);
}

/** The postmortem panel, for resolved incidents and for incidents that have a postmortem. */
export function Postmortem({ incident }: { incident: Incident }) {
  const { status, postmortem } = incident;
  const { mayWrite } = useSignedInPerson();
  const [dialog, setDialog] = useState<"write" | "publish" | null>(null);
  const close = () => setDialog(null);
  const isPublished = postmortem !== null && postmortem.publishedAt !== null;
  const isDeleting = useDeleting().has(postmortemKeyOf(incident.id));
  if (isDeleting || (postmortem === null && (status !== "resolved" || !mayWrite))) return null;
  return (
    <section className="panel" aria-label="Postmortem">
      <div className="panel-head">
        <h2>
          Postmortem{" "}
          {postmortem !== null && (
            <span className={`pill ${isPublished ? "pill-accent" : ""}`}>
              {isPublished ? "Published" : "Draft"}
            </span>
          )}
        </h2>
        {mayWrite && <PostmortemActions incident={incident} onOpen={setDialog} />}
      </div>
      {postmortem === null ? (
        <p className="quiet">Say what happened, why, and what you will change.</p>
      ) : (
        <>
          <Markdown text={postmortem.message} />
          {postmortem.publishedAt !== null && (
            <p className="timeline-by">
              Published <Time at={postmortem.publishedAt} as="short" />
            </p>
          )}
        </>
      )}
      {dialog === "write" && <WriteDialog incident={incident} onClose={close} />}
      {dialog === "publish" && <PublishDialog incident={incident} onClose={close} />}
    </section>
  );
}

function PostmortemActions({
  incident,
  onOpen,
}: {
  incident: Incident;
  onOpen: (dialog: "write" | "publish") => void;
}) {
  const { id, status, postmortem } = incident;
  const isPublished = postmortem !== null && postmortem.publishedAt !== null;
  const unpublishPostmortem = () =>
    void savePostmortem(id, { published: false }, incident).catch(notifyError);
  return (
    <>
      <Button size="compact-sm" onClick={() => onOpen("write")}>
        {postmortem === null ? "Write postmortem" : "Edit"}
      </Button>
      {postmortem !== null && !isPublished && (
        <Button
          size="compact-sm"
          disabled={status !== "resolved"}
          title={status === "resolved" ? undefined : "Resolve the incident first"}
          onClick={() => onOpen("publish")}
        >
          Publish
        </Button>
      )}
      {postmortem !== null && (
        <RowMenu label="Actions for the postmortem">
          {() => (
            <>
              {isPublished && (
                <MenuItem icon="lock" onClick={unpublishPostmortem}>
                  Unpublish
                </MenuItem>
              )}
              <DangerItem icon="trash" onClick={() => deletePostmortem(incident)}>
                Delete
              </DangerItem>
            </>
          )}
        </RowMenu>
      )}
    </>
  );
}

function WriteDialog({ incident: shown, onClose }: { incident: Incident; onClose: () => void }) {
  const [incident] = useState(shown);
  const { id, postmortem } = incident;
  const form = useForm<{ message: string }>(
    { message: postmortem?.message ?? outline },
    async ({ message }, force, once) => {
      await savePostmortem(id, { message }, force ? undefined : incident, once);
      onClose();
    },
    () => {
      void queryClient.invalidateQueries({ queryKey: recordKey("incident", id) });
      onClose();
    },
    { key: `postmortem ${id}` },
  );
  const isPublic = postmortem !== null && postmortem.publishedAt !== null;
  return (
    <FormDialog
      title="Postmortem"
      size={760}
      onClose={onClose}
      form={form}
      submit={isPublic ? "Save" : "Save draft"}
      extra={
        <span className="audience">
          {isPublic ? "Public at once · no one is notified" : "The draft is not public"}
        </span>
      }
      curl={() => ({ method: "PATCH", route: v1.incidents({ id }).postmortem, body: form.values })}
    >
      <MarkdownField
        label="Text"
        minRows={10}
        maxRows={24}
        data-autofocus
        {...form.input("message")}
      />
    </FormDialog>
  );
}

function PublishDialog({ incident, onClose }: { incident: Incident; onClose: () => void }) {
  const { data: audience } = useAudience({ incidentId: incident.id });
  const [notify, setNotify] = useState(false);
  const [once] = useState(createProvisionalId);
  const pages = incident.public ? (audience?.pages ?? []) : [];
  const subscribers = pages.reduce((sum, page) => sum + page.subscribers, 0);
  const { mutate, isPending } = useMutation({
    mutationFn: () =>
      hold((query) =>
        v1
          .incidents({ id: incident.id })
          .postmortem.patch(
            { published: true, notify },
            { query, ...withIfMatch(incident, `${once}-${notify}`) },
          ),
      ),
    onSuccess: onClose,
    onError: notifyError,
  });
  return (
    <Modal opened onClose={onClose} title="Publish the postmortem?" size="sm" centered>
      <p className="mb-14 text-s quiet">
        {pages.length === 0
          ? "No status page shows this incident."
          : `Shown on ${pages.map(({ title }) => title).join(", ")}.`}
      </p>
      {subscribers > 0 && (
        <Checkbox
          label={`Notify ${pluralize(subscribers, "subscriber")}`}
          checked={notify}
          onChange={({ currentTarget }) => setNotify(currentTarget.checked)}
        />
      )}
      <div className="form-buttons">
        <div className="form-extra" />
        <Button onClick={onClose}>Cancel</Button>
        <BusyButton variant="filled" loading={isPending} onClick={() => mutate()} data-autofocus>
          Publish
        </BusyButton>
      </div>
    </Modal>
  );
}
