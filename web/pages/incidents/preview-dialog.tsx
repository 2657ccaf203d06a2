import { Alert, Modal, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { z } from "zod";
import type { IncidentDraft } from "../../../src/dashboard/incident-schema.ts";
import { dashboard, unwrapData } from "../../data/client.ts";
import { PublicPreview } from "../../components/display/public-preview.tsx";

type Draft = z.input<typeof IncidentDraft>;

/** Previews the incident on the public page. Blank texts are omitted, as if not entered. */
export function PreviewDialog({ draft, onClose }: { draft: Draft; onClose: () => void }) {
  const draftFields = Object.entries(draft).filter(
    ([, value]) => typeof value !== "string" || value.trim() !== "",
  );
  const body: Draft = Object.fromEntries(draftFields);
  const { data, error } = useQuery({
    queryKey: ["incident-preview", body],
    queryFn: () => unwrapData(dashboard["incident-preview"].post(body)),
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Modal opened onClose={onClose} title="Public page preview" size={920}>
      {error !== null && (
        <Alert color="red" variant="light" role="alert">
          {error.message}
        </Alert>
      )}
      {data?.html === null && (
        <Text size="sm" className="quiet">
          The public would not see this.{" "}
          {draft.public === false
            ? "The incident is not public."
            : "The default status page is hidden, or does not show the monitor that opened this incident."}
        </Text>
      )}
      {data?.html != null && (
        <PublicPreview html={data.html} accent={data.accent} title="Preview of the status page" />
      )}
      {data === undefined && error === null && <div className="public-preview" />}
    </Modal>
  );
}
