import { recordKey } from "../../data/keys.ts";
import { useState } from "react";
import { Modal, SegmentedControl, Switch, TextInput } from "@mantine/core";
import type { Incident } from "../../../src/incidents/schema.ts";
import { v1 } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";
import { CurlButton } from "../../components/copy.tsx";
import { FormFrame, useForm } from "../../components/form.tsx";
import { capitalized, severityHints } from "./labels.tsx";
import { changeIncident } from "./actions.ts";
import { severities } from "../../../src/core/statuses.ts";

type Values = Pick<Incident, "title" | "severity" | "public">;

/** Title, severity and visibility of an incident; nobody is notified, and nothing is posted. */
export function EditDialog({
  incident: shown,
  onClose,
}: {
  incident: Incident;
  onClose: () => void;
}) {
  // What others do meanwhile is no reason to overwrite it.
  const [incident] = useState(shown);
  const { title, severity } = incident;
  const form = useForm<Values>(
    { title, severity, public: incident.public },
    async (values, force) => {
      await changeIncident(incident, values, force ? undefined : incident);
      onClose();
    },
    () => {
      void queryClient.invalidateQueries({ queryKey: recordKey("incident", incident.id) });
      onClose();
    },
  );
  const { values, set } = form;
  return (
    <Modal opened onClose={onClose} title="Edit incident" size={520} closeOnClickOutside={false}>
      <FormFrame
        form={form}
        submit="Save"
        onCancel={onClose}
        extra={
          <CurlButton
            action={() => ({
              method: "PATCH",
              route: v1.incidents({ id: incident.id }),
              body: values,
            })}
          />
        }
      >
        <TextInput label="Title" data-autofocus {...form.input("title")} />
        <div>
          <SegmentedControl
            aria-label="Severity"
            fullWidth
            value={values.severity}
            onChange={(next) => set("severity", next as Values["severity"])}
            data={severities.map((value) => ({ value, label: capitalized(value) }))}
          />
          <p className="field-note">{severityHints[values.severity]}</p>
        </div>
        <Switch label="Public" description="Shown on status pages." {...form.toggle("public")} />
      </FormFrame>
    </Modal>
  );
}
