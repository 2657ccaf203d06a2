/** The dialog that edits an incident without posting an update. */
import { Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Incident } from "../../../../src/incidents/schema.ts";
import { v1 } from "../../../data/client.ts";
import { recordKey } from "../../../data/keys.ts";
import { queryClient } from "../../../data/query.ts";
import { FormDialog, useForm } from "../../../components/forms/form.tsx";
import { changeIncident, holdUpdate } from "../actions.ts";
import { useAudience } from "../data.ts";
import { InternalNamesLine } from "../internal-names-line.tsx";
import { SeverityField } from "../labels.tsx";
import { dropUnaffected, ImpactsField } from "../impacts-field.tsx";
import { MonitorsField } from "../monitors-field.tsx";
import { t } from "../../../language/text.ts";

type Values = Pick<Incident, "title" | "severity" | "public" | "monitorIds" | "impacts">;

/**
 * Edits the title, severity, monitors, impacts and visibility of an incident. Notifies no one and posts
 * nothing.
 */
export function EditDialog({
  incident: latest,
  onClose,
}: {
  incident: Incident;
  onClose: () => void;
}) {
  // The incident as the person saw it. If others change it meanwhile, saving reports a conflict.
  const [incident] = useState(latest);
  const { data: audience } = useAudience({ incidentId: incident.id });
  const { title, severity, monitorIds, impacts } = incident;
  const form = useForm<Values>(
    { title, severity, public: incident.public, monitorIds, impacts },
    async (values, force, idempotencyKey) => {
      // Publishing notifies subscribers, so it is held.
      const change = values.public && !incident.public ? holdUpdate : changeIncident;
      await change(incident, dropUnaffected(values), force ? undefined : incident, idempotencyKey);
      onClose();
    },
    () => {
      void queryClient.invalidateQueries({ queryKey: recordKey("incident", incident.id) });
      onClose();
    },
    { key: `incident ${incident.id}` },
  );
  return (
    <FormDialog
      title={t("Edit incident")}
      size={520}
      onClose={onClose}
      form={form}
      submit={t("Save")}
      curl={() => ({
        method: "PATCH",
        route: v1.incidents({ id: incident.id }),
        body: dropUnaffected(form.values),
      })}
    >
      <TextInput label={t("Title")} data-autofocus {...form.input("title")} />
      <InternalNamesLine
        text={form.values.title}
        isPublic={form.values.public}
        audience={audience}
      />
      <SeverityField {...form.field("severity")} />
      <MonitorsField form={form} />
      <ImpactsField monitorIds={form.values.monitorIds} {...form.field("impacts")} />
      <Switch
        label={t("Public")}
        description={t("Shown on status pages.")}
        {...form.toggle("public")}
      />
    </FormDialog>
  );
}
