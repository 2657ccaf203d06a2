import { MultiSelect, TagsInput, Textarea, TextInput } from "@mantine/core";
import type { z } from "zod";
import { Color, type MonitorGroup } from "../../../src/monitoring/groups/schema.ts";
import { useAlertChannels } from "../../data/alert-channels.ts";
import { dataOf, ifMatch, v1 } from "../../data/client.ts";
import { useRecordToEdit } from "../../data/record-to-edit.ts";
import { CurlButton } from "../../components/curl-button.tsx";
import { FormFrame, useForm } from "../../components/form.tsx";
import type { Editing } from "./editing.ts";
import { selection } from "./selection.ts";

type What = Extract<Editing, { kind: "new-group" | "edit-group" }>;
type Values = {
  name: string;
  description: string;
  color: z.infer<typeof Color>;
  tags: string[];
  alertChannelIds: string[];
};

const nothing: Values = {
  name: "",
  description: "",
  color: "blue",
  tags: [],
  alertChannelIds: [],
};

const readGroup = (id: string) => dataOf(v1["monitor-groups"]({ id }).get());

export function GroupEditor({ what, onDone }: { what: What; onDone: () => void }) {
  const id = what.kind === "edit-group" ? what.id : null;
  const opened = useRecordToEdit(id, readGroup);
  if (opened.error !== null) return <p className="down">{opened.error.message}</p>;
  if (!opened.ready) return null;
  return (
    <Fields
      key={opened.generation}
      group={opened.record}
      monitorIds={what.kind === "new-group" ? what.monitorIds : undefined}
      onDone={onDone}
      onTheirs={opened.reload}
    />
  );
}

function Fields({
  group,
  monitorIds,
  onDone,
  onTheirs,
}: {
  group: MonitorGroup | undefined;
  monitorIds: readonly string[] | undefined;
  onDone: () => void;
  onTheirs: () => void;
}) {
  const { data: channels = [] } = useAlertChannels();
  const groups = v1["monitor-groups"];
  const start: Values = group ? pick(group) : nothing;
  const form = useForm(
    start,
    async (values, force) => {
      if (group === undefined)
        await dataOf(
          groups.post({ ...values, ...(monitorIds && { monitorIds: [...monitorIds] }) }),
        );
      else await dataOf(groups({ id: group.id }).patch(values, ifMatch(force ? undefined : group)));
      if (monitorIds) selection.clear();
      onDone();
    },
    onTheirs,
  );
  const { values, set } = form;
  return (
    <FormFrame
      form={form}
      submit={group === undefined ? "Create group" : "Save"}
      onCancel={onDone}
      extra={
        <CurlButton
          action={() =>
            group
              ? { method: "PATCH", route: groups({ id: group.id }), body: values }
              : { method: "POST", route: groups, body: values }
          }
        />
      }
    >
      <TextInput label="Name" data-autofocus {...form.input("name")} />
      <fieldset className="palette-colors">
        <legend>Color</legend>
        {Color.options.map((color) => (
          <label key={color} title={color}>
            <input
              type="radio"
              name="color"
              aria-label={color}
              checked={values.color === color}
              onChange={() => set("color", color)}
            />
            <i className={`dot dot-${color}`} />
          </label>
        ))}
      </fieldset>
      <Textarea
        label="Description"
        description="Shown beside the name."
        autosize
        minRows={1}
        maxRows={5}
        {...form.input("description")}
      />
      <TagsInput label="Tags" {...form.field("tags")} />
      {channels.length > 0 && (
        <MultiSelect
          label="Alert channels"
          description="Added to every monitor that joins this group from now on. Monitors already in it do not change."
          data={channels.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.field("alertChannelIds")}
        />
      )}
    </FormFrame>
  );
}

function pick({ name, description, color, tags, alertChannelIds }: MonitorGroup): Values {
  return { name, description, color, tags, alertChannelIds };
}
