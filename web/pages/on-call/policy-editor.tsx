/** The dialog that creates or edits an escalation policy. */
import { ActionIcon, Button, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import {
  type EscalationPolicy,
  type EscalationStep,
  type EscalationTarget,
} from "../../../src/alerting/policies/schema.ts";
import { escalationBounds } from "../../../src/core/limits.ts";
import { severities } from "../../../src/core/statuses.ts";
import { Icon } from "../../components/display/icons.tsx";
import { EditorDialog } from "../../components/forms/editor-dialog.tsx";
import { type Form, FormFrame, useForm } from "../../components/forms/form.tsx";
import { MarkdownField } from "../../components/forms/markdown-field.tsx";
import { NumberField } from "../../components/forms/number-field.tsx";
import { RecordsField } from "../../components/forms/records-field.tsx";
import { closeDialog, type Dialog } from "../../components/open-dialog.ts";
import { useAlertChannels } from "../../data/alert-channels.ts";
import { unwrapData, v1, addIdempotencyKey, addIfMatch } from "../../data/client.ts";
import { listKey } from "../../data/keys.ts";
import { queryClient } from "../../data/query.ts";
import { peopleQuery } from "../settings/data.ts";
import { useOnCall } from "./data.ts";
import { DrillFields } from "./monthly-drill.tsx";
import { findTargetName, keyOf, useTargets } from "./policies.tsx";
import { describePolicy } from "./policy-words.ts";
import { severityLabels } from "../incidents/words.ts";
import { t } from "../../language/text.ts";

type EditedPolicy = Extract<Dialog, { kind: "create-policy" | "edit-policy" }>;
type Values = Pick<
  EscalationPolicy,
  "name" | "description" | "steps" | "repeat" | "default" | "incidentSeverities" | "drill"
>;

const policies = v1["escalation-policies"];
const readPolicy = (id: string) => unwrapData(policies({ id }).get());

export default function PolicyDialog({ edited }: { edited: EditedPolicy }) {
  const isNew = edited.kind === "create-policy";
  return (
    <EditorDialog
      title={isNew ? t("Create escalation policy") : t("Edit escalation policy")}
      size={640}
      id={(isNew ? edited.like : edited.id) ?? null}
      read={readPolicy}
      managed={isNew ? null : "escalationPolicies"}
      otherQueries={[useQuery(peopleQuery), useOnCall(), useAlertChannels()]}
      onClose={closeDialog}
    >
      {(policy, reload) => <Fields edited={edited} policy={policy} onReload={reload} />}
    </EditorDialog>
  );
}

type FieldsProps = {
  edited: EditedPolicy;
  policy: EscalationPolicy | undefined;
  onReload: () => void;
};

/** A copy is not the default and has no severities, because only one policy can have them. */
function usePolicyForm({ edited, policy, onReload }: FieldsProps) {
  const isNew = edited.kind === "create-policy";
  const start: Values = {
    name: isNew ? "" : (policy?.name ?? ""),
    description: policy?.description ?? "",
    steps: policy?.steps ?? [{ afterMinutes: 0, targets: [] }],
    repeat: policy?.repeat ?? 0,
    default: !isNew && policy?.default === true,
    incidentSeverities: isNew ? [] : (policy?.incidentSeverities ?? []),
    drill: policy?.drill ?? null,
  };
  return useForm<Values>(
    start,
    async (values, force, idempotencyKey) => {
      if (isNew) await unwrapData(policies.post(values, addIdempotencyKey(idempotencyKey)));
      else
        await unwrapData(
          policies({ id: edited.id }).patch(
            values,
            addIfMatch(force ? undefined : policy, idempotencyKey),
          ),
        );
      await queryClient.invalidateQueries({ queryKey: listKey("escalation-policy") });
      closeDialog();
    },
    onReload,
    { key: `escalation-policy ${isNew ? `like ${policy?.id ?? ""}` : edited.id}` },
  );
}

function Fields(props: FieldsProps) {
  const { edited } = props;
  const isNew = edited.kind === "create-policy";
  const form = usePolicyForm(props);
  return (
    <FormFrame
      form={form}
      submit={isNew ? t("Create escalation policy") : t("Save")}
      onCancel={closeDialog}
      curl={() => ({
        ...(isNew
          ? { method: "POST", route: policies }
          : { method: "PATCH", route: policies({ id: edited.id }) }),
        body: form.values,
      })}
    >
      <TextInput
        label={t("Name")}
        placeholder={t("Shop")}
        autoComplete="off"
        data-autofocus
        {...form.input("name")}
      />
      <Steps form={form} />
      <Uses form={form} />
      <DrillFields
        form={form}
        description={t(
          "Pages everyone as a marked drill, at an unannounced time within these hours. If nobody acknowledges it, the appliance reports a problem.",
        )}
      />
      <MarkdownField label={t("Description")} minRows={2} {...form.input("description")} />
    </FormFrame>
  );
}

/** Minutes between a new step and the one before it. */
const usualMinutes = 10;

function Steps({ form }: { form: Form<Values> }) {
  const { steps, repeat } = form.values;
  const targets = useTargets();
  const isFull = steps.length >= escalationBounds.steps.value;
  const last = steps.at(-1);
  const afterMinutes = last === undefined ? 0 : last.afterMinutes + usualMinutes;
  return (
    <div className="flex flex-col gap-10">
      {steps.map((step, index) => (
        <StepFields
          key={index}
          number={index + 1}
          step={step}
          put={(change) => form.set("steps", steps.with(index, { ...step, ...change }))}
          errorOf={(field) => form.errorOf(`steps[${index}].${field}`)}
          onRemove={() => form.set("steps", steps.toSpliced(index, 1))}
        />
      ))}
      <div className="layer-add">
        <Button
          size="xs"
          leftSection={<Icon name="plus" size={13} />}
          disabled={isFull}
          onClick={() => form.set("steps", [...steps, { afterMinutes, targets: [] }])}
        >
          {t("Add step")}
        </Button>
        <span className="field-note">
          {steps.length === 0
            ? t("Without steps, monitors with this policy are exempt from the default one.")
            : t("A step that reaches nobody is followed by the next one at once.")}
        </span>
      </div>
      <NumberField
        label={t("Repetitions")}
        description={t(
          "Of all steps after the first run. At the end, the default channels hear that nobody acknowledged.",
        )}
        min={0}
        max={9}
        allowDecimal={false}
        clampBehavior="strict"
        value={repeat}
        onChange={(next) => form.set("repeat", next)}
        error={form.errorOf("repeat")}
      />
      <p className="policy-words" aria-live="polite">
        {describePolicy(
          { steps: steps.filter((step) => step.targets.length > 0), repeat },
          findTargetName(targets),
        )}
      </p>
    </div>
  );
}

type StepProps = {
  number: number;
  step: EscalationStep;
  put: (change: Partial<EscalationStep>) => void;
  errorOf: (field: string) => string | undefined;
  onRemove: () => void;
};

function StepFields({ number, step, put, errorOf, onRemove }: StepProps) {
  const targets = useTargets();
  return (
    <fieldset className="layer policy-step">
      <legend className="visually-hidden">{t("Step {number}", { number })}</legend>
      <NumberField
        label={t("After")}
        suffix=" min"
        min={0}
        max={escalationBounds.afterMinutes.value}
        allowDecimal={false}
        clampBehavior="strict"
        value={step.afterMinutes}
        onChange={(afterMinutes) => put({ afterMinutes })}
        error={errorOf("afterMinutes")}
      />
      <RecordsField
        label={t("Notify")}
        maxValues={escalationBounds.targets.value}
        records={targets.map(({ key, ...named }) => ({ id: key, ...named }))}
        value={step.targets.map(keyOf)}
        onChange={(keys) => put({ targets: keys.map(parseKey) })}
        error={errorOf("targets")}
      />
      <ActionIcon size={30} aria-label={t("Remove step {number}", { number })} onClick={onRemove}>
        <Icon name="trash" size={14} />
      </ActionIcon>
    </fieldset>
  );
}

function parseKey(key: string): EscalationTarget {
  const [type = "", id = ""] = key.split(" ");
  return { type: type as EscalationTarget["type"], id };
}

/** When the policy applies. */
const Uses = ({ form }: { form: Form<Values> }) => (
  <>
    <Switch
      label={t("Default policy")}
      description={t("For monitors without a policy of their own.")}
      {...form.toggle("default")}
    />
    <RecordsField
      label={t("Incidents")}
      description={t(
        "Severities of incidents that people open. An incident of a monitor follows the monitor's policy.",
      )}
      records={severities.map((one) => ({ id: one, name: severityLabels[one] }))}
      {...form.field("incidentSeverities")}
      onChange={(chosen) => form.set("incidentSeverities", chosen as Values["incidentSeverities"])}
    />
  </>
);
