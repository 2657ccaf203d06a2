/** The dialog that changes the selected monitors: fields that are empty unless changed, and a preview. */
import { NumberInput, SegmentedControl, Select, TagsInput, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { capitalize } from "../../../../src/core/text/formatting.ts";
import { severities } from "../../../../src/core/statuses.ts";
import type { BulkPreview } from "../../../../src/monitoring/monitors/bulk-schema.ts";
import { useAlertChannels } from "../../../data/alert-channels.ts";
import { ApiError, v1 } from "../../../data/client.ts";
import { listKnownMonitors, overviewQuery } from "../../../data/overview.ts";
import { listZones, useZone } from "../../../components/display/time.tsx";
import { DateTimeField } from "../../../components/forms/date-time-field.tsx";
import { toClock, toInstantText } from "../../../components/forms/date-time-rules.ts";
import { FormDialog, type Form, useForm } from "../../../components/forms/form.tsx";
import { RecordsField } from "../../../components/forms/records-field.tsx";
import { closeDialog, type Dialog } from "../../../components/open-dialog.ts";
import { deleteMonitors, findKnownMonitors } from "../actions.ts";
import { changeMonitors, type BulkChangeInput, useBulkPreview } from "../bulk.ts";
import type { BulkChange } from "../bulk-rules.ts";
import { selection } from "../list/list-state.ts";
import { BulkEffects } from "./bulk-effects.tsx";
import { severityLabels } from "../../incidents/words.ts";
import { t, tCount } from "../../../language/text.ts";

type ListMode = "add" | "remove" | "replace";

/** Fields of the dialog. An empty one stays unchanged. */
type Values = {
  pause: "" | "off" | "on" | "until";
  /** End of the pause in the person's zone, such as `2026-11-22T02:00`; empty for none. */
  pausedUntil: string;
  interval: number | "";
  timeout: number | "";
  retries: number | "";
  slow: "" | "off" | "after";
  degradedAfterMs: number | "";
  severity: string;
  due: "" | "interval" | "schedule";
  schedule: string;
  timeZone: string;
  grace: number | "";
  maximumRunTime: number | "";
  groupId: string;
  tagMode: ListMode;
  tags: string[];
  channelMode: ListMode;
  alertChannelIds: string[];
};

const unchanged: Values = {
  pause: "",
  pausedUntil: "",
  interval: "",
  timeout: "",
  retries: "",
  slow: "",
  degradedAfterMs: "",
  severity: "",
  due: "",
  schedule: "",
  timeZone: "",
  grace: "",
  maximumRunTime: "",
  groupId: "",
  tagMode: "add",
  tags: [],
  channelMode: "add",
  alertChannelIds: [],
};

/** The choice that sets a field to null. */
const noneValue = "none";

/** Returns the request field of a list: the whole list, or entries to add or remove. */
function buildList(name: "tags" | "alertChannelIds", mode: ListMode, entries: string[]) {
  if (mode === "replace") return { [name]: entries };
  return entries.length === 0 ? {} : { [`${mode}${capitalize(name)}`]: entries };
}

/** Returns the request field of a pause's end. The server rejects a text that is not understood. */
const buildEnd = (local: string, zone: string) =>
  local === "" ? {} : { pausedUntil: toInstantText(local, zone) ?? local };

/** Returns the request fields of push monitors. */
function buildJob({ due, schedule, timeZone, grace, maximumRunTime }: Values): BulkChange {
  return {
    ...(due === "interval" && { schedule: null }),
    ...(due === "schedule" && schedule.trim() !== "" && { schedule: schedule.trim() }),
    ...(timeZone !== "" && { timeZone }),
    ...(grace !== "" && { grace }),
    ...(maximumRunTime !== "" && { maximumRunTime }),
  };
}

const pauses = { "": {}, off: { paused: false }, on: { paused: true }, until: {} };

function buildChange(values: Values, zone: string): BulkChange {
  const { interval, timeout, retries, slow, degradedAfterMs, severity, groupId } = values;
  return {
    ...pauses[values.pause],
    ...(values.pause === "until" && buildEnd(values.pausedUntil, zone)),
    ...(interval !== "" && { interval }),
    ...(timeout !== "" && { timeout }),
    ...(retries !== "" && { retries }),
    ...(slow === "off" && { degradedAfterMs: null }),
    ...(slow === "after" && degradedAfterMs !== "" && { degradedAfterMs }),
    ...(severity !== "" && {
      autoIncidentSeverity: severities.find((one) => one === severity) ?? null,
    }),
    ...buildJob(values),
    ...(groupId !== "" && { groupId: groupId === noneValue ? null : groupId }),
    ...buildList("tags", values.tagMode, values.tags),
    ...buildList("alertChannelIds", values.channelMode, values.alertChannelIds),
  };
}

type BulkEdit = Extract<Dialog, { kind: "change-monitors" }>;

/** A verb alone, and with the monitors that it changes. */
type Verb = { label: string; phrase: (name: string) => string };

const verbs = {
  change: { label: t("Change"), phrase: (name) => t("Change {name}", { name }) },
  delete: { label: t("Delete"), phrase: (name) => t("Delete {name}", { name }) },
  pause: { label: t("Pause"), phrase: (name) => t("Pause {name}", { name }) },
  resume: { label: t("Resume"), phrase: (name) => t("Resume {name}", { name }) },
  mute: { label: t("Mute"), phrase: (name) => t("Mute {name}", { name }) },
  unmute: { label: t("Unmute"), phrase: (name) => t("Unmute {name}", { name }) },
} satisfies Record<string, Verb>;

/** The verb of the change that was chosen before the dialog opened. */
function verbOf({ change }: BulkEdit): Verb {
  if (change === undefined) return verbs.change;
  if (change === "delete") return verbs.delete;
  if (change.paused !== undefined) return change.paused ? verbs.pause : verbs.resume;
  return change.muted === true ? verbs.mute : verbs.unmute;
}

function buildBody(
  { monitorIds, change: chosen }: BulkEdit,
  values: Values,
  zone: string,
): BulkChangeInput | null {
  if (chosen === "delete") return { monitorIds: [...monitorIds], delete: true };
  const change: BulkChange =
    chosen === undefined
      ? buildChange(values, zone)
      : chosen.paused === true
        ? { paused: true, ...buildEnd(values.pausedUntil, zone) }
        : chosen;
  return Object.keys(change).length === 0 ? null : { monitorIds: [...monitorIds], change };
}

/** The effects of the current values, a moment after the last change. */
function useCurrentPreview(body: BulkChangeInput | null) {
  const [asked] = useDebouncedValue(body, 150);
  const preview = useBulkPreview(asked);
  const { error } = preview;
  return {
    data: asked === null || error !== null ? undefined : preview.data,
    isCurrent: asked === body && !preview.isFetching && !preview.isPlaceholderData,
    refetch: () => void preview.refetch(),
    /** The error of a field of the change. */
    errorOf: (name: string) =>
      asked !== null && error instanceof ApiError
        ? error.details.find(({ path }) => path === `change.${name}`)?.message
        : undefined,
    rest: asked === null || (error instanceof ApiError && error.details.length > 0) ? null : error,
  };
}

const hasJobs = ({ monitorIds }: BulkEdit) =>
  findKnownMonitors(new Set(monitorIds)).some(({ type }) => type === "push");

const isPause = ({ change }: BulkEdit) => typeof change === "object" && change.paused === true;

/** The suggested end of a pause, for the field. */
function suggestEnd({ change }: BulkEdit, zone: string): string {
  const end = typeof change === "object" ? change.pausedUntil : null;
  return end == null ? "" : toClock(Date.parse(end), zone);
}

/** The name of a single monitor, or the number of monitors. */
function nameSubject({ monitorIds }: BulkEdit): string {
  const [only] = monitorIds.length === 1 ? findKnownMonitors(new Set(monitorIds)) : [];
  return only?.name ?? tCount(monitorIds.length, "{count} monitor", "{count} monitors");
}

export default function BulkDialog({ edit }: { edit: BulkEdit }) {
  const zone = useZone();
  const form = useForm<Values>({ ...unchanged, pausedUntil: suggestEnd(edit, zone) }, save);
  const text = JSON.stringify(buildBody(edit, form.values, zone));
  const body = useMemo(() => JSON.parse(text) as BulkChangeInput | null, [text]);
  const preview = useCurrentPreview(body);
  async function save(_values: Values, _force: boolean, idempotencyKey: string) {
    if (body === null || preview.data === undefined) return;
    if (body.delete === true) deleteMonitors(findDeletable(edit, preview.data));
    else
      await changeMonitors({ ...body, skip: true, etag: preview.data.etag }, idempotencyKey).catch(
        (error: unknown) => {
          if (!(error instanceof ApiError && error.status === 412)) throw error;
          preview.refetch();
          throw new Error(error.message);
        },
      );
    if (edit.monitorIds.every((id) => selection.get().has(id))) selection.clear();
    closeDialog();
  }
  const count = preview.data?.changed ?? 0;
  const verb = verbOf(edit);
  return (
    <FormDialog
      form={form}
      title={verb.phrase(nameSubject(edit))}
      size={620}
      submit={
        count === 0 ? verb.label : verb.phrase(tCount(count, "{count} monitor", "{count} monitors"))
      }
      disabled={!preview.isCurrent || count === 0}
      onClose={closeDialog}
      curl={() => ({ method: "POST", route: v1.monitors.bulk, body: body ?? {} })}
    >
      {edit.change === undefined && (
        <Fields form={form} errorOf={preview.errorOf} hasJobs={hasJobs(edit)} />
      )}
      {isPause(edit) && (
        <PauseEnd form={form} errorOf={preview.errorOf} placeholder={t("No end")} />
      )}
      <div aria-live="polite" className="bulk-preview">
        {preview.rest !== null && <p className="down">{preview.rest.message}</p>}
        {preview.data !== undefined && <BulkEffects preview={preview.data} />}
        {body === null && <p className="quiet">{t("Empty fields stay unchanged.")}</p>}
        {edit.change === "delete" && (
          <p className="quiet">
            {t("You can undo it for 10 s, and restore them later in Settings.")}
          </p>
        )}
      </div>
    </FormDialog>
  );
}

/** Finds the monitors that can be deleted: all except the ones that the preview names. */
function findDeletable({ monitorIds }: BulkEdit, { unchanged }: BulkPreview) {
  const refused = new Set(unchanged.flatMap(({ monitors }) => monitors.map(({ id }) => id)));
  return findKnownMonitors(new Set(monitorIds)).filter(({ id }) => !refused.has(id));
}

type FieldsProps = { form: Form<Values>; errorOf: (name: string) => string | undefined };

const Fields = ({ hasJobs, ...props }: FieldsProps & { hasJobs: boolean }) => (
  <>
    <div className="field-row">
      <NumberOrUnchanged {...props} name="interval" label={t("Interval")} unit="s" first />
      <NumberOrUnchanged {...props} name="timeout" label={t("Timeout")} unit="s" />
    </div>
    <div className="field-row">
      <NumberOrUnchanged {...props} name="retries" label={t("Retries")} />
      <SlowFields {...props} />
    </div>
    <div className="field-row">
      <SeverityChoice {...props} />
      <GroupChoice {...props} />
    </div>
    <div className="field-row">
      <Choice {...props} name="pause" label={t("Checks")} options={pauseOptions} />
      {props.form.values.pause === "until" ? <PauseEnd {...props} /> : <span />}
    </div>
    {hasJobs && <JobFields {...props} />}
    <Lists {...props} />
  </>
);

/** Fields of push monitors. */
function JobFields(props: FieldsProps) {
  const { form, errorOf } = props;
  const zone = useZone();
  const { due, schedule, timeZone } = form.values;
  return (
    <>
      <div className="field-row">
        <Choice {...props} name="due" label={t("Job is due")} options={dueOptions} />
        {due === "schedule" ? (
          <TextInput
            label={t("Schedule")}
            placeholder="30 2 * * *"
            value={schedule}
            onChange={({ currentTarget }) => form.set("schedule", currentTarget.value)}
            error={errorOf("schedule")}
          />
        ) : (
          <span />
        )}
      </div>
      <div className="field-row">
        <NumberOrUnchanged {...props} name="grace" label={t("Grace")} unit="s" />
        <NumberOrUnchanged
          {...props}
          name="maximumRunTime"
          label={t("Maximum run time")}
          unit="s"
        />
      </div>
      <Select
        label={t("Time zone of the schedule")}
        placeholder={t("Unchanged")}
        data={listZones(zone)}
        value={timeZone === "" ? null : timeZone}
        onChange={(chosen) => form.set("timeZone", chosen ?? "")}
        searchable
        clearable
        error={errorOf("timeZone")}
      />
    </>
  );
}

const dueOptions = { interval: t("After each interval"), schedule: t("By a schedule…") };

function NumberOrUnchanged({
  form,
  errorOf,
  name,
  label,
  unit,
  first = false,
}: FieldsProps & {
  name: "interval" | "timeout" | "retries" | "degradedAfterMs" | "grace" | "maximumRunTime";
  label: string;
  unit?: string;
  first?: boolean;
}) {
  return (
    <NumberInput
      label={label}
      placeholder={t("Unchanged")}
      allowDecimal={false}
      allowNegative={false}
      {...(unit !== undefined && { suffix: ` ${unit}` })}
      {...(first && { "data-autofocus": true })}
      value={form.values[name]}
      onChange={(value) => form.set(name, value === "" ? "" : Number(value))}
      error={errorOf(name)}
    />
  );
}

function Choice({
  form,
  name,
  label,
  options,
}: FieldsProps & {
  name: "severity" | "groupId" | "slow" | "pause" | "due";
  label: string;
  options: Readonly<Record<string, string>>;
}) {
  return (
    <Select
      label={label}
      allowDeselect={false}
      data={[
        { value: "", label: t("Unchanged") },
        ...Object.entries(options).map(([value, label]) => ({ value, label })),
      ]}
      value={form.values[name]}
      onChange={(value) => form.set(name, (value ?? "") as never)}
    />
  );
}

const SlowFields = (props: FieldsProps) => (
  <div className="bulk-slow">
    <Choice
      {...props}
      name="slow"
      label={t("Degraded")}
      options={{ off: t("Never when slow"), after: t("When slower than…") }}
    />
    {props.form.values.slow === "after" && (
      <NumberOrUnchanged {...props} name="degradedAfterMs" label={t("Degraded after")} unit="ms" />
    )}
  </div>
);

const pauseOptions = { off: t("Running"), on: t("Paused"), until: t("Paused until…") };
const pauseEnds = [t("in 1 h"), t("in 8 h"), t("tomorrow 09:00"), t("in 7 d")];

function PauseEnd({ form, errorOf, placeholder }: FieldsProps & { placeholder?: string }) {
  const zone = useZone();
  return (
    <DateTimeField
      label={t("Paused until")}
      zone={zone}
      choices={pauseEnds}
      value={form.values.pausedUntil}
      onChange={(local) => form.set("pausedUntil", local)}
      error={errorOf("pausedUntil")}
      {...(placeholder !== undefined && { placeholder, openOnFocus: false })}
    />
  );
}

const severityOptions = {
  [noneValue]: t("None"),
  ...severityLabels,
};

const SeverityChoice = (props: FieldsProps) => (
  <Choice {...props} name="severity" label={t("Automatic incidents")} options={severityOptions} />
);

function GroupChoice(props: FieldsProps) {
  const { data: overview } = useQuery(overviewQuery);
  const groups = (overview?.groups ?? []).map(({ id, name }) => [id, name]);
  return (
    <Choice
      {...props}
      name="groupId"
      label={t("Group")}
      options={{
        [noneValue]: t("No group"),
        ...(Object.fromEntries(groups) as Record<string, string>),
      }}
    />
  );
}

function Lists({ form }: FieldsProps) {
  const { data: channels = [] } = useAlertChannels();
  const { data: overview } = useQuery(overviewQuery);
  const known = overview === undefined ? [] : listKnownMonitors(overview);
  return (
    <>
      {channels.length > 0 && (
        <ListField form={form} mode="channelMode" label={t("Alerts to")}>
          <RecordsField
            label={t("Alerts to")}
            records={channels}
            {...form.field("alertChannelIds")}
          />
        </ListField>
      )}
      <ListField form={form} mode="tagMode" label={t("Tags")}>
        <TagsInput
          label={t("Tags")}
          data={[...new Set(known.flatMap(({ tags }) => tags))].sort()}
          {...form.field("tags")}
        />
      </ListField>
    </>
  );
}

/** A list with the choice whether its entries are added, removed, or replace the list. */
const ListField = ({
  form,
  mode,
  label,
  children,
}: {
  form: Form<Values>;
  mode: "tagMode" | "channelMode";
  label: string;
  children: ReactNode;
}) => (
  <div className="bulk-list">
    {children}
    <SegmentedControl
      size="xs"
      aria-label={t("{label}: add, remove or replace", { label })}
      data={[
        { value: "add", label: t("Add") },
        { value: "remove", label: t("Remove") },
        { value: "replace", label: t("Replace") },
      ]}
      value={form.values[mode]}
      onChange={(next) => form.set(mode, next as ListMode)}
    />
  </div>
);
