import { Modal } from "@mantine/core";
import type { IncidentAudience } from "../../../src/dashboard/incident-schema.ts";
import { CustomerView, type Draft } from "./customer-view.tsx";
import { t } from "../../language/text.ts";

/** Previews the incident on its public pages. */
export const PreviewDialog = ({
  draft,
  audience,
  onClose,
}: {
  draft: Draft;
  audience: IncidentAudience | undefined;
  onClose: () => void;
}) => (
  <Modal opened onClose={onClose} title={t("Public page preview")} size={920}>
    <CustomerView draft={draft} pages={draft.public === false ? [] : (audience?.pages ?? [])} />
  </Modal>
);
