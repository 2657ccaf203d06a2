/**
 * The dialog that creates or edits a group of monitors, with its name, color, tags and channels.
 */
import { TagsInput, Textarea, TextInput } from "@mantine/core";
import type { z } from "zod";
import { Color, type MonitorGroup } from "../../../../src/monitoring/groups/schema.ts";
import { useAlertChannels } from "../../../data/alert-channels.ts";
import { useEscalationPolicies } from "../../../data/escalation-policies.ts";
import { listKnownMonitors, useOverview } from "../../../data/overview.ts";
import { unwrapData, addIfMatch, addIdempotencyKey, v1 } from "../../../data/client.ts";
import { closeDialog, type Dialog } from "../../../components/open-dialog.ts";
import { EditorDialog } from "../../../components/forms/editor-dialog.tsx";
import { FormFrame, useForm } from "../../../components/forms/form.tsx";
import { RecordsField } from "../../../components/forms/records-field.tsx";
import { SlaTargetField } from "../../../components/forms/sla-target-field.tsx";
import { DependsOnField, PolicyField } from "./on-call-fields.tsx";
import { selection } from "../list/list-state.ts";
import { t } from "../../../language/text.ts";

type EditedGroup = Extract<Dialog, { kind: "create-group" | "edit-group" }>;
type Values = {
  name: string;
  description: string;
  color: z.infer<typeof Color>;
  tags: string[];
  alertChannelIds: string[];
  escalationPolicyId: string | null;
  dependsOn: string[];
  slaTarget: number | null;
};

const defaultValues: Values = {
  name: "",
  description: "",
  color: "blue",
  tags: [],
  alertChannelIds: [],
  escalationPolicyId: null,
  dependsOn: [],
  slaTarget: null,
};

const readGroup = (id: string) => unwrapData(v1["monitor-groups"]({ id }).get());

export default function GroupDialog({ edited }: { edited: EditedGroup }) {
  return (
    <EditorDialog
      title={edited.kind === "create-group" ? t("Create group") : t("Edit group")}
      size={480}
      id={edited.kind === "edit-group" ? edited.id : null}
      read={readGroup}
      managed="groups"
      otherQueries={[useAlertChannels(), useEscalationPolicies(), useOverview()]}
      onClose={closeDialog}
    >
      {(group, reload) => (
        <Fields
          group={group}
          monitorIds={edited.kind === "create-group" ? edited.monitorIds : undefined}
          onReload={reload}
        />
      )}
    </EditorDialog>
  );
}

type Props = {
  group: MonitorGroup | undefined;
  monitorIds: readonly string[] | undefined;
  onReload: () => void;
};

function useGroupForm({ group, monitorIds, onReload }: Props) {
  const groups = v1["monitor-groups"];
  return useForm(
    group ? pickValues(group) : defaultValues,
    async (values, force, idempotencyKey) => {
      if (group === undefined) {
        const body = { ...values, ...(monitorIds && { monitorIds: [...monitorIds] }) };
        await unwrapData(groups.post(body, addIdempotencyKey(idempotencyKey)));
      } else
        await unwrapData(
          groups({ id: group.id }).patch(
            values,
            addIfMatch(force ? undefined : group, idempotencyKey),
          ),
        );
      if (monitorIds) selection.clear();
      closeDialog();
    },
    onReload,
    { key: `group ${group?.id ?? ""}` },
  );
}

function Fields(props: Props) {
  const { group } = props;
  const { data: channels = [] } = useAlertChannels();
  const { data: overview } = useOverview();
  const monitors = overview === undefined ? [] : listKnownMonitors(overview);
  const groups = v1["monitor-groups"];
  const form = useGroupForm(props);
  return (
    <FormFrame
      form={form}
      submit={group === undefined ? t("Create group") : t("Save")}
      onCancel={closeDialog}
      curl={() => ({
        ...(group
          ? { method: "PATCH", route: groups({ id: group.id }) }
          : { method: "POST", route: groups }),
        body: form.values,
      })}
    >
      <TextInput label={t("Name")} data-autofocus {...form.input("name")} />
      <ColorField value={form.values.color} onChange={(color) => form.set("color", color)} />
      <Textarea
        label={t("Description")}
        description={t("Shown next to the name.")}
        autosize
        minRows={1}
        maxRows={5}
        {...form.input("description")}
      />
      <TagsInput label={t("Tags")} {...form.field("tags")} />
      {channels.length > 0 && (
        <RecordsField
          label={t("Alert channels")}
          description={t(
            "Added to every monitor that joins this group from now on. Monitors already in it do not change.",
          )}
          records={channels}
          {...form.field("alertChannelIds")}
        />
      )}
      <PolicyField
        description={t("Set for every monitor without a policy that joins this group from now on.")}
        none={t("None")}
        {...form.field("escalationPolicyId")}
      />
      {monitors.length > 0 && (
        <DependsOnField
          label={t("Depends on")}
          description={t(
            "While one of these monitors is down, outages of the group cause no alerts of their own.",
          )}
          records={monitors}
          {...form.field("dependsOn")}
        />
      )}
      <SlaTargetField {...form.field("slaTarget")} />
    </FormFrame>
  );
}

const colorNames: Record<Values["color"], string> = {
  gray: t("gray"),
  red: t("red"),
  orange: t("orange"),
  amber: t("amber"),
  yellow: t("yellow"),
  lime: t("lime"),
  green: t("green"),
  teal: t("teal"),
  cyan: t("cyan"),
  blue: t("blue"),
  indigo: t("indigo"),
  violet: t("violet"),
  purple: t("purple"),
  pink: t("pink"),
};

const ColorField = ({
  value,
  onChange,
}: {
  value: Values["color"];
  onChange: (color: Values["color"]) => void;
}) => (
  <fieldset className="palette-colors">
    <legend>{t("Color")}</legend>
    {Color.options.map((color) => (
      <label key={color} title={colorNames[color]}>
        <input
          type="radio"
          name="color"
          aria-label={colorNames[color]}
          checked={value === color}
          onChange={() => onChange(color)}
        />
        <i className={`dot dot-${color}`} />
      </label>
    ))}
  </fieldset>
);

function pickValues(group: MonitorGroup): Values {
  const { name, description, color, tags, alertChannelIds, escalationPolicyId } = group;
  const { dependsOn, slaTarget } = group;
  return {
    name,
    description,
    color,
    tags,
    alertChannelIds,
    escalationPolicyId,
    dependsOn,
    slaTarget,
  };
}
