/** The postmortem of an incident: its panel, its publication and its deletion. */
import { Button, Checkbox, Modal } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Incident, PostmortemPatch } from "../../../../src/incidents/schema.ts";
import { unwrapData, addIfMatch, v1 } from "../../../data/client.ts";
import { recordKey } from "../../../data/keys.ts";
import { createProvisionalId } from "../../../data/record.ts";
import { queryClient } from "../../../data/query.ts";
import { useMayChange } from "../../../components/display/partial-record.tsx";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { Markdown } from "../../../components/display/markdown.tsx";
import { MenuItem, MoreActions, RecordItems } from "../../../components/menus.tsx";
import { Time } from "../../../components/display/time.tsx";
import { hold } from "../../../components/held-changes.tsx";
import { buildPostmortemKey, useDeleting } from "../../../components/deletion.ts";
import { notifyError } from "../../../components/toasts.tsx";
import { deletePostmortem } from "../actions.ts";
import { useAudience } from "../data.ts";
import { t, tCount, tNode } from "../../../language/text.ts";

/**
 * Saves the postmortem. `known` is the incident as loaded; undefined overwrites later changes by
 * others.
 */
export async function savePostmortem(
  id: string,
  patch: PostmortemPatch,
  known: Incident | undefined,
  idempotencyKey?: string,
) {
  const after = await unwrapData(
    v1.incidents({ id }).postmortem.patch(patch, addIfMatch(known, idempotencyKey)),
  );
  queryClient.setQueryData(recordKey("incident", id), after);
}

/** Whether the postmortem is a draft or published. */
export const PostmortemPill = ({ postmortem }: { postmortem: Incident["postmortem"] }) =>
  postmortem !== null && (
    <span className={`pill ${postmortem.publishedAt === null ? "" : "pill-accent"}`}>
      {postmortem.publishedAt === null ? t("Draft") : t("Published")}
    </span>
  );

/** The postmortem and the time of its publication or last change. */
export const PostmortemText = ({
  postmortem: { message, publishedAt, updatedAt },
}: {
  postmortem: NonNullable<Incident["postmortem"]>;
}) => (
  <>
    <Markdown text={message} />
    <p className="timeline-by">
      {publishedAt === null
        ? tNode("Draft saved {time}", { time: <Time at={updatedAt} as="short" /> })
        : tNode("Published {time}", { time: <Time at={publishedAt} as="short" /> })}
    </p>
  </>
);

/** The postmortem panel, for resolved incidents and for incidents that have a postmortem. */
export function Postmortem({ incident }: { incident: Incident }) {
  const { id, status, postmortem } = incident;
  const mayWrite = useMayChange(incident);
  const isDeleting = useDeleting().has(buildPostmortemKey(id));
  if (isDeleting || (postmortem === null && (status !== "resolved" || !mayWrite))) return null;
  return (
    <section className="panel postmortem" aria-label={t("Postmortem")}>
      <div className="panel-head">
        <h2>
          {t("Postmortem")} <PostmortemPill postmortem={postmortem} />
        </h2>
        <Button
          size="compact-sm"
          renderRoot={(props) => <Link to="/incidents/$id/postmortem" params={{ id }} {...props} />}
        >
          {postmortem === null ? t("Write postmortem") : t("Open postmortem")}
        </Button>
      </div>
      {postmortem === null ? (
        <p className="quiet">{t("Say what happened, why, and what you will change.")}</p>
      ) : (
        <PostmortemText postmortem={postmortem} />
      )}
    </section>
  );
}

/** Edit, Publish and the menu of the postmortem's page. */
export function PostmortemActions({
  incident,
  onWrite,
}: {
  incident: Incident;
  onWrite: () => void;
}) {
  const { id, status, postmortem } = incident;
  const [isPublishing, setPublishing] = useState(false);
  const navigate = useNavigate();
  if (postmortem === null) return null;
  const isPublished = postmortem.publishedAt !== null;
  const unpublishPostmortem = () =>
    void savePostmortem(id, { published: false }, incident).catch(notifyError);
  return (
    <>
      {!isPublished && (
        <Button
          variant="filled"
          disabled={status !== "resolved"}
          title={status === "resolved" ? undefined : t("Resolve the incident first")}
          onClick={() => setPublishing(true)}
        >
          {t("Publish")}
        </Button>
      )}
      <Button onClick={onWrite}>{t("Edit")}</Button>
      <MoreActions>
        {isPublished && (
          <MenuItem icon="lock" onClick={unpublishPostmortem}>
            {t("Unpublish")}
          </MenuItem>
        )}
        <RecordItems
          id={id}
          curl={() => ({ method: "GET", route: v1.incidents({ id }) })}
          onDelete={() => {
            deletePostmortem(incident);
            void navigate({ to: "/incidents/$id", params: { id } });
          }}
        />
      </MoreActions>
      {isPublishing && <PublishDialog incident={incident} onClose={() => setPublishing(false)} />}
    </>
  );
}

function PublishDialog({ incident, onClose }: { incident: Incident; onClose: () => void }) {
  const { data: audience } = useAudience({ incidentId: incident.id });
  const [notify, setNotify] = useState(false);
  const [idempotencyKey] = useState(createProvisionalId);
  const pages = incident.public ? (audience?.pages ?? []) : [];
  const subscribers = pages.reduce((sum, page) => sum + page.subscribers, 0);
  const { mutate, isPending } = useMutation({
    mutationFn: () =>
      hold((query) =>
        v1
          .incidents({ id: incident.id })
          .postmortem.patch(
            { published: true, notify },
            { query, ...addIfMatch(incident, `${idempotencyKey}-${notify}`) },
          ),
      ),
    onSuccess: onClose,
    onError: notifyError,
  });
  return (
    <Modal opened onClose={onClose} title={t("Publish the postmortem?")} size="sm" centered>
      <p className="mb-14 text-s quiet">
        {pages.length === 0
          ? t("No status page shows this incident.")
          : t("Shown on {pages}.", { pages: pages.map(({ title }) => title).join(", ") })}
      </p>
      {subscribers > 0 && (
        <Checkbox
          label={tCount(subscribers, "Notify {count} subscriber", "Notify {count} subscribers")}
          checked={notify}
          onChange={({ currentTarget }) => setNotify(currentTarget.checked)}
        />
      )}
      <div className="form-buttons">
        <div className="form-extra" />
        <Button onClick={onClose}>{t("Cancel")}</Button>
        <BusyButton variant="filled" loading={isPending} onClick={() => mutate()} data-autofocus>
          {t("Publish")}
        </BusyButton>
      </div>
    </Modal>
  );
}
