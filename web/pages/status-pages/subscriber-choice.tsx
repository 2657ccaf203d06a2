/** The choice of a subscriber: the fields of a form, its dialog, and a summary. */
import { Select, Switch } from "@mantine/core";
import { useCallback } from "react";
import type { Severity } from "../../../src/core/fields.ts";
import { severities } from "../../../src/core/statuses.ts";
import { capitalize } from "../../../src/core/text/formatting.ts";
import { unwrapData, addIfMatch } from "../../data/client.ts";
import { useOverview } from "../../data/overview.ts";
import { getPageRoutes, type Subscriber } from "../../data/status-pages.ts";
import { dot } from "../../components/display/format.ts";
import { EditorDialog } from "../../components/forms/editor-dialog.tsx";
import { type Form, FormFrame, useForm } from "../../components/forms/form.tsx";
import { RecordsField } from "../../components/forms/records-field.tsx";
import { notify } from "../../components/toasts.tsx";
import { nameSeverity } from "../../components/display/severity.ts";
import { t } from "../../language/text.ts";

export type ChoiceValues = {
  incidents: boolean;
  minimumSeverity: Severity;
  maintenance: boolean;
  isWholePage: boolean;
  isWeekly: boolean;
  monitorIds: string[];
  groupIds: string[];
};

export const defaultChoice: ChoiceValues = {
  incidents: true,
  minimumSeverity: "minor",
  maintenance: true,
  isWholePage: true,
  isWeekly: false,
  monitorIds: [],
  groupIds: [],
};

const toValues = ({ components, ...choice }: Subscriber): ChoiceValues => ({
  incidents: choice.incidents,
  minimumSeverity: choice.minimumSeverity,
  maintenance: choice.maintenance,
  isWholePage: components === null,
  isWeekly: choice.frequency === "weekly",
  monitorIds: components?.monitorIds ?? [],
  groupIds: components?.groupIds ?? [],
});

export const buildChoice = (values: ChoiceValues) => ({
  incidents: values.incidents,
  minimumSeverity: values.minimumSeverity,
  maintenance: values.maintenance,
  frequency: values.isWeekly ? ("weekly" as const) : ("immediately" as const),
  components: values.isWholePage
    ? null
    : { monitorIds: values.monitorIds, groupIds: values.groupIds },
});

/** Describes a choice; empty for everything. */
export const describeChoice = (subscriber: Subscriber): string =>
  describeValues(toValues(subscriber));

function describeValues(values: ChoiceValues) {
  const { incidents, minimumSeverity, maintenance, isWholePage, isWeekly } = values;
  return [
    ...(isWeekly ? [t("weekly")] : []),
    ...(incidents ? [] : [t("no incidents")]),
    ...(incidents && minimumSeverity !== "minor"
      ? [t("from {severity}", { severity: nameSeverity(minimumSeverity) })]
      : []),
    ...(maintenance ? [] : [t("no maintenance")]),
    ...(isWholePage ? [] : [t("some components")]),
  ].join(dot);
}

export const summarizeChoice = (values: ChoiceValues) => describeValues(values) || t("everything");

export function ChoiceFields<V extends ChoiceValues>({
  form: own,
  isMailbox,
}: {
  form: Form<V>;
  isMailbox: boolean;
}) {
  const form = own as unknown as Form<ChoiceValues>;
  const { data: overview } = useOverview();
  const { values } = form;
  return (
    <>
      <Switch label={t("Incidents")} {...form.toggle("incidents")} />
      {values.incidents && (
        <Select
          label={t("Lowest severity")}
          allowDeselect={false}
          data={severities.map((value) => ({ value, label: capitalize(value) }))}
          value={values.minimumSeverity}
          onChange={(next) =>
            form.set("minimumSeverity", severities.find((one) => one === next) ?? "minor")
          }
        />
      )}
      <Switch label={t("Maintenance")} {...form.toggle("maintenance")} />
      {isMailbox && (
        <Switch
          label={t("A summary once a week")}
          description={t("On Monday at 8:00 in the time zone of the page, instead of each update.")}
          {...form.toggle("isWeekly")}
        />
      )}
      <Switch
        label={t("The whole page")}
        description={t(
          "Otherwise only updates about some monitors and groups, and about the page as a whole.",
        )}
        {...form.toggle("isWholePage")}
      />
      {!values.isWholePage && (
        <>
          <RecordsField
            label={t("Groups")}
            records={overview?.groups}
            value={values.groupIds}
            onChange={(ids) => form.set("groupIds", ids)}
            error={form.errorOf("components.groupIds")}
          />
          <RecordsField
            label={t("Monitors")}
            records={overview?.monitors}
            value={values.monitorIds}
            onChange={(ids) => form.set("monitorIds", ids)}
            error={form.errorOf("components.monitorIds") ?? form.errorOf("components")}
          />
        </>
      )}
    </>
  );
}

type EditorProps = { pageId: string; subscriber: Subscriber; onClose: () => void };

/** Dialog that changes the choice of a subscriber. */
export function EditSubscriber({ pageId, subscriber, onClose }: EditorProps) {
  const read = useCallback(
    (id: string) => unwrapData(getPageRoutes(pageId).subscribers({ subscriberId: id }).get()),
    [pageId],
  );
  return (
    <EditorDialog
      title={t("What {email} gets", { email: subscriber.email ?? subscriber.url ?? "" })}
      size={480}
      id={subscriber.id}
      read={read}
      onClose={onClose}
    >
      {(opened, reload) => (
        <EditorFields
          pageId={pageId}
          subscriber={opened ?? subscriber}
          onClose={onClose}
          onReload={reload}
        />
      )}
    </EditorDialog>
  );
}

function EditorFields({
  pageId,
  subscriber,
  onClose,
  onReload,
}: EditorProps & { onReload: () => void }) {
  const route = getPageRoutes(pageId).subscribers({ subscriberId: subscriber.id });
  const form = useForm(
    toValues(subscriber),
    async (values, force, idempotencyKey) => {
      const base = force ? undefined : subscriber;
      await unwrapData(route.patch(buildChoice(values), addIfMatch(base, idempotencyKey)));
      notify(t("Saved"));
      onClose();
    },
    onReload,
    { key: `subscriber ${subscriber.id}` },
  );
  return (
    <FormFrame
      form={form}
      submit={t("Save")}
      onCancel={onClose}
      curl={() => ({ method: "PATCH", route, body: buildChoice(form.values) })}
    >
      <ChoiceFields form={form} isMailbox={subscriber.type === "email"} />
    </FormFrame>
  );
}
