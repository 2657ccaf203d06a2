import { Button, Modal, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Role } from "../../../src/core/roles.ts";
import type { SentInvitation } from "../../../src/accounts/invitations/schema.ts";
import { dashboard, dataOf } from "../../data/client.ts";
import { FormFrame, useForm } from "../../components/form.tsx";
import { ShownOnce } from "../../components/shown-once.tsx";
import { roleWords, useRoles } from "./role-items.tsx";

export function Invite({ onClose }: { onClose: () => void }) {
  const [sent, setSent] = useState<SentInvitation | null>(null);
  const form = useForm({ email: "", role: "member" as Role }, async (values) => {
    setSent(await dataOf(dashboard.invitations.post(values)));
  });
  const { values, set, errorOf } = form;
  const roles = useRoles();
  if (sent !== null)
    return (
      <Modal
        opened
        onClose={onClose}
        title={`Invitation for ${sent.email}`}
        closeOnClickOutside={false}
        size={560}
      >
        <ShownOnce label="Invitation link" text={sent.link}>
          Send this link to {sent.email} yourself. Signalbox does not send it. It is shown only
          once, works once and expires after seven days.
        </ShownOnce>
        <div className="form-buttons">
          <div className="form-extra" />
          <Button onClick={onClose}>Done</Button>
        </div>
      </Modal>
    );
  return (
    <Modal opened onClose={onClose} title="Invite people" closeOnClickOutside={false}>
      <FormFrame form={form} submit="Create invitation" onCancel={onClose}>
        <TextInput label="E-mail" type="email" data-autofocus {...form.input("email")} />
        <Select
          label="Role"
          data={roles.map((role) => ({ value: role, label: `${role} – ${roleWords[role]}` }))}
          value={values.role}
          onChange={(role) => set("role", role ?? "member")}
          error={errorOf("role")}
          allowDeselect={false}
        />
      </FormFrame>
    </Modal>
  );
}
