import { Button, Modal, SegmentedControl, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ApiKey, MadeApiKey } from "../../../src/accounts/api-keys/schema.ts";
import { dashboard, dataOf, pathOf, v1 } from "../../data/client.ts";
import { copy } from "../../components/curl-button.tsx";
import { FormFrame, useForm } from "../../components/form.tsx";
import { Icon } from "../../components/icons.tsx";
import { ShownOnce } from "../../components/shown-once.tsx";

const lives = [
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
  { value: "never", label: "Never" },
];

export function NewApiKey({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<MadeApiKey | null>(null);
  const initial = { name: "", scope: "write" as ApiKey["scope"], life: "365" };
  const form = useForm(initial, async ({ name, scope, life }) => {
    const expiresInDays = life === "never" ? null : Number(life);
    setMade(await dataOf(dashboard["api-keys"].post({ name, scope, expiresInDays })));
  });
  const { values, set, errorOf } = form;
  if (made !== null) return <CreatedKey made={made} onClose={onClose} />;
  return (
    <Modal opened onClose={onClose} title="Create API key" closeOnClickOutside={false}>
      <FormFrame form={form} submit="Create API key" onCancel={onClose}>
        <TextInput
          label="Name"
          placeholder="Deploy job"
          description="What uses the key, so that you know what stops working when you revoke it."
          data-autofocus
          {...form.input("name")}
        />
        <div className="labelled">
          <span id="key-scope">Access</span>
          <SegmentedControl
            aria-labelledby="key-scope"
            data={[
              { value: "write", label: "Read and write" },
              { value: "read", label: "Read only" },
            ]}
            value={values.scope}
            onChange={(scope) => set("scope", scope)}
          />
        </div>
        <Select
          label="Expires"
          data={lives}
          value={values.life}
          onChange={(life) => set("life", life ?? "never")}
          error={errorOf("expiresInDays")}
          allowDeselect={false}
        />
      </FormFrame>
    </Modal>
  );
}

function CreatedKey({ made: { name, key }, onClose }: { made: MadeApiKey; onClose: () => void }) {
  const example = `curl ${location.origin}${pathOf(v1.monitors)} -H "Authorization: Bearer ${key}"`;
  return (
    <Modal
      opened
      onClose={onClose}
      title={`API key ${name}`}
      closeOnClickOutside={false}
      size={560}
    >
      <ShownOnce label="API key" text={key}>
        Copy the key now: it is shown only once. Anyone who has it can act for this organization.
      </ShownOnce>
      <div className="form-buttons">
        <div className="form-extra">
          <Button
            variant="subtle"
            color="gray"
            leftSection={<Icon name="terminal" size={15} />}
            onClick={() => void copy(example, "Example")}
          >
            Copy example command
          </Button>
        </div>
        <Button onClick={onClose}>Done</Button>
      </div>
    </Modal>
  );
}
