/** Dialogs that edit an update or show its earlier versions. */
import { Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Incident, IncidentUpdate } from "../../../../src/incidents/schema.ts";
import { unwrapData, addIfMatch, v1 } from "../../../data/client.ts";
import { listKey, recordKey } from "../../../data/keys.ts";
import { createDataQuery, queryClient } from "../../../data/query.ts";
import { FormDialog, useForm } from "../../../components/forms/form.tsx";
import { Markdown } from "../../../components/display/markdown.tsx";
import { MarkdownField } from "../../../components/forms/markdown-field.tsx";
import { useAudience } from "../data.ts";
import { InternalNamesLine } from "../internal-names-line.tsx";
import { Time } from "../../../components/display/time.tsx";
import { t, tNode } from "../../../language/text.ts";

/** Corrects the text of an update, without a new notification. */
export function EditUpdateDialog({
  incident: latest,
  update,
  onClose,
}: {
  incident: Incident;
  update: IncidentUpdate;
  onClose: () => void;
}) {
  const [incident] = useState(latest);
  const { data: audience } = useAudience({ incidentId: incident.id });
  const route = v1.incidents({ id: incident.id }).updates({ updateId: update.id });
  const form = useForm<{ message: string }>(
    { message: update.message },
    async (body, force, idempotencyKey) => {
      const after = await unwrapData(
        route.patch(body, addIfMatch(force ? undefined : incident, idempotencyKey)),
      );
      queryClient.setQueryData(recordKey("incident", incident.id), after);
      onClose();
    },
    () => {
      void queryClient.invalidateQueries({ queryKey: recordKey("incident", incident.id) });
      onClose();
    },
    { key: `edit ${update.id}` },
  );
  return (
    <FormDialog
      title={t("Edit update")}
      size={560}
      onClose={onClose}
      form={form}
      submit={t("Save")}
      disabled={form.values.message === update.message}
      extra={<span className="audience">{t("No one is notified again.")}</span>}
      curl={() => ({ method: "PATCH", route, body: form.values })}
    >
      <MarkdownField label={t("Message")} minRows={4} data-autofocus {...form.input("message")} />
      <InternalNamesLine
        text={form.values.message}
        isPublic={incident.public}
        audience={audience}
      />
    </FormDialog>
  );
}

/** Shows earlier versions of an update, newest first. */
export function RevisionsDialog({
  incidentId,
  update,
  onClose,
}: {
  incidentId: string;
  update: IncidentUpdate;
  onClose: () => void;
}) {
  const { id, editedAt } = update;
  const { data } = useQuery(
    createDataQuery([...listKey("incident"), "revisions", id, editedAt], (options) =>
      v1.incidents({ id: incidentId }).updates({ updateId: id }).revisions.get(options),
    ),
  );
  return (
    <Modal opened onClose={onClose} title={t("Earlier versions")} size={560}>
      <ol className="revisions">
        {data?.toReversed().map(({ id, message, editedAt, author }) => (
          <li key={id}>
            <Markdown text={message} />
            <p className="timeline-by">
              {tNode("Until {time}, edited by {name}", {
                time: <Time at={editedAt} as="short" />,
                name: author.name,
              })}
            </p>
          </li>
        ))}
      </ol>
    </Modal>
  );
}
