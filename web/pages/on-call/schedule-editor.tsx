/** The dialog that creates or edits a schedule, with a preview of the next 14 days. */
import { ActionIcon, Button, SegmentedControl, Select, Switch, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import {
  type RotationUnit,
  type Schedule,
  type ScheduleLayer,
} from "../../../src/alerting/schedules/schema.ts";
import { type ScheduleHours, weekdays } from "../../../src/alerting/hours/schema.ts";
import { scheduleBounds } from "../../../src/core/limits.ts";
import { getDay, startOfDay } from "../../../src/core/time/time-zones.ts";
import { Icon } from "../../components/display/icons.tsx";
import { listZones, useNow, useZone } from "../../components/display/time.tsx";
import { DateTimeField } from "../../components/forms/date-time-field.tsx";
import { parsePastTime, parseLocal } from "../../components/forms/date-time-rules.ts";
import { EditorDialog } from "../../components/forms/editor-dialog.tsx";
import { type Form, FormFrame, useForm } from "../../components/forms/form.tsx";
import { MarkdownField } from "../../components/forms/markdown-field.tsx";
import { NumberField } from "../../components/forms/number-field.tsx";
import { RecordsField } from "../../components/forms/records-field.tsx";
import { WeekHours } from "../../components/forms/week-hours.tsx";
import { closeDialog, type Dialog } from "../../components/open-dialog.ts";
import { unwrapData, v1, addIdempotencyKey, addIfMatch } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { queryClient } from "../../data/query.ts";
import { peopleQuery } from "../settings/data.ts";
import { usePreview } from "./data.ts";
import { DutyCalendar } from "./duty-calendar.tsx";
import { t } from "../../language/text.ts";

type EditedSchedule = Extract<Dialog, { kind: "create-schedule" | "edit-schedule" }>;

const { schedules } = v1;
const readSchedule = (id: string) => unwrapData(schedules({ id }).get());

type Values = Pick<Schedule, "name" | "description" | "timeZone" | "layers" | "noticeHours">;

export default function ScheduleDialog({ edited }: { edited: EditedSchedule }) {
  const isNew = edited.kind === "create-schedule";
  return (
    <EditorDialog
      title={isNew ? t("Create schedule") : t("Edit schedule")}
      size={720}
      id={(isNew ? edited.like : edited.id) ?? null}
      read={readSchedule}
      managed={isNew ? null : "schedules"}
      otherQueries={[useQuery(peopleQuery)]}
      onClose={closeDialog}
    >
      {(schedule, reload) => <Fields edited={edited} schedule={schedule} onReload={reload} />}
    </EditorDialog>
  );
}

const createLayer = (zone: string, count: number): ScheduleLayer => ({
  name: count === 0 ? t("Rotation") : t("Rotation {number}", { number: count + 1 }),
  personIds: [],
  every: 1,
  unit: "weeks",
  // A rotation from next Monday on would leave nobody on call until then.
  start: parsePastTime(t("Monday 09:00"), { now: Date.now(), zone }) ?? "",
  end: null,
  hours: [],
});

type FieldsProps = {
  edited: EditedSchedule;
  schedule: Schedule | undefined;
  onReload: () => void;
};

function useScheduleForm({ edited, schedule, onReload }: FieldsProps) {
  const zone = useZone();
  const navigate = useNavigate();
  const isNew = edited.kind === "create-schedule";
  const start: Values = {
    name: isNew ? "" : (schedule?.name ?? ""),
    description: schedule?.description ?? "",
    timeZone: schedule?.timeZone ?? zone,
    layers: schedule?.layers ?? [createLayer(zone, 0)],
    noticeHours: schedule?.noticeHours ?? null,
  };
  return useForm<Values>(
    start,
    async (values, force, idempotencyKey) => {
      const saved = isNew
        ? await unwrapData(schedules.post(values, addIdempotencyKey(idempotencyKey)))
        : await unwrapData(
            schedules({ id: edited.id }).patch(
              values,
              addIfMatch(force ? undefined : schedule, idempotencyKey),
            ),
          );
      queryClient.setQueryData(recordKey("schedule", saved.id), saved);
      closeDialog();
      if (isNew) await navigate({ to: "/on-call/$id", params: { id: saved.id } });
    },
    onReload,
    { key: `schedule ${isNew ? `like ${schedule?.id ?? ""}` : edited.id}` },
  );
}

function Fields(props: FieldsProps) {
  const { edited } = props;
  const zone = useZone();
  const isNew = edited.kind === "create-schedule";
  const form = useScheduleForm(props);
  return (
    <FormFrame
      form={form}
      submit={isNew ? t("Create schedule") : t("Save")}
      onCancel={closeDialog}
      curl={() => ({
        ...(isNew
          ? { method: "POST", route: schedules }
          : { method: "PATCH", route: schedules({ id: edited.id }) }),
        body: form.values,
      })}
    >
      <div className="field-row">
        <TextInput
          label={t("Name")}
          placeholder={t("Platform")}
          autoComplete="off"
          data-autofocus
          {...form.input("name")}
        />
        <Select
          label={t("Time zone")}
          searchable
          limit={100}
          allowDeselect={false}
          data={listZones(form.values.timeZone, zone)}
          {...form.field("timeZone")}
        />
      </div>
      <Layers form={form} />
      <Preview form={form} {...(!isNew && { id: edited.id })} />
      <Notice form={form} />
      <MarkdownField label={t("Description")} minRows={2} {...form.input("description")} />
    </FormFrame>
  );
}

const usualNoticeHours = 24;

/** Whether and when people are notified before their shifts. */
function Notice({ form }: { form: Form<Values> }) {
  const { noticeHours } = form.values;
  return (
    <div className="notice-fields">
      <Switch
        label={t("Notice before a shift")}
        description={t(
          "Each person gets one message through their contact methods before their shift starts.",
        )}
        checked={noticeHours !== null}
        onChange={({ currentTarget }) =>
          form.set("noticeHours", currentTarget.checked ? usualNoticeHours : null)
        }
      />
      {noticeHours !== null && (
        <NumberField
          label={t("Hours before")}
          min={1}
          max={scheduleBounds.noticeHours.value}
          allowDecimal={false}
          clampBehavior="strict"
          value={noticeHours}
          onChange={(hours) => form.set("noticeHours", hours || 1)}
          error={form.errorOf("noticeHours")}
        />
      )}
    </div>
  );
}

function Layers({ form }: { form: Form<Values> }) {
  const { layers, timeZone } = form.values;
  const put = (index: number, change: Partial<ScheduleLayer>) =>
    form.set("layers", layers.with(index, { ...(layers[index] as ScheduleLayer), ...change }));
  const move = (index: number, by: number) =>
    form.set(
      "layers",
      layers.toSpliced(index, 1).toSpliced(index + by, 0, layers[index] as ScheduleLayer),
    );
  return (
    <div className="flex flex-col gap-10">
      {layers.map((layer, index) => (
        <LayerFields
          key={index}
          layer={layer}
          zone={timeZone}
          put={(change) => put(index, change)}
          errorOf={(field) => form.errorOf(`layers[${index}].${field}`)}
          onRemove={() => form.set("layers", layers.toSpliced(index, 1))}
          onUp={index === 0 ? null : () => move(index, -1)}
          onDown={index === layers.length - 1 ? null : () => move(index, 1)}
        />
      ))}
      <div className="layer-add">
        <Button
          size="xs"
          leftSection={<Icon name="plus" size={13} />}
          onClick={() => form.set("layers", [...layers, createLayer(timeZone, layers.length)])}
        >
          {t("Add layer")}
        </Button>
        <span className="field-note">
          {layers.length > 1
            ? t("Where several layers have a person, the last one decides.")
            : t("Another layer can cover nights or weekends.")}
        </span>
      </div>
    </div>
  );
}

type LayerProps = {
  layer: ScheduleLayer;
  /** The time zone of the schedule. */
  zone: string;
  put: (change: Partial<ScheduleLayer>) => void;
  errorOf: (field: string) => string | undefined;
  onRemove: () => void;
  onUp: (() => void) | null;
  onDown: (() => void) | null;
};

function LayerFields({ layer, zone, put, errorOf, ...moves }: LayerProps) {
  const { data: people } = useQuery(peopleQuery);
  return (
    <fieldset className="layer">
      <legend className="visually-hidden">{layer.name}</legend>
      <div className="layer-head">
        <TextInput
          aria-label={t("Name of the layer")}
          value={layer.name}
          onChange={({ currentTarget }) => put({ name: currentTarget.value })}
          error={errorOf("name")}
        />
        <LayerMoves name={layer.name} {...moves} />
      </div>
      <RecordsField
        label={t("People")}
        description={t("In the order in which they take turns.")}
        records={people}
        value={layer.personIds}
        onChange={(personIds) => put({ personIds })}
        error={errorOf("personIds")}
      />
      <Rotation layer={layer} put={put} errorOf={errorOf} />
      <LayerSpan layer={layer} zone={zone} put={put} errorOf={errorOf} />
      <WeekHours
        hours={layer.hours}
        initial={newHours}
        verb={t("Restrict to some hours")}
        onChange={(hours) => put({ hours })}
        errorOf={errorOf}
      />
    </fieldset>
  );
}

function LayerMoves({
  name,
  onUp,
  onDown,
  onRemove,
}: { name: string } & Pick<LayerProps, "onUp" | "onDown" | "onRemove">) {
  return (
    <span className="layer-moves">
      <ActionIcon
        size={30}
        aria-label={t("Move {name} up", { name })}
        disabled={onUp === null}
        onClick={() => onUp?.()}
      >
        <span className="flex rotate-180">
          <Icon name="down" size={14} />
        </span>
      </ActionIcon>
      <ActionIcon
        size={30}
        aria-label={t("Move {name} down", { name })}
        disabled={onDown === null}
        onClick={() => onDown?.()}
      >
        <Icon name="down" size={14} />
      </ActionIcon>
      <ActionIcon size={30} aria-label={t("Remove {name}", { name })} onClick={onRemove}>
        <Icon name="trash" size={14} />
      </ActionIcon>
    </span>
  );
}

type Part = Pick<LayerProps, "layer" | "put" | "errorOf">;

const rotations: Record<string, Pick<ScheduleLayer, "every" | "unit">> = {
  daily: { every: 1, unit: "days" },
  weekly: { every: 1, unit: "weeks" },
  custom: { every: 2, unit: "weeks" },
};

const findRotation = ({ every, unit }: ScheduleLayer): string =>
  Object.entries(rotations).find(([, one]) => one.every === every && one.unit === unit)?.[0] ??
  "custom";

const units: { value: RotationUnit; label: string }[] = [
  { value: "hours", label: t("hours") },
  { value: "days", label: t("days") },
  { value: "weeks", label: t("weeks") },
];

function Rotation({ layer, put, errorOf }: Part) {
  const rotation = findRotation(layer);
  return (
    <div className="field-row">
      <div className="labeled flex flex-col items-start gap-4">
        <span>{t("Rotation")}</span>
        <SegmentedControl
          aria-label={t("Rotation")}
          value={rotation}
          onChange={(next) => put(rotations[next] ?? {})}
          data={[
            { value: "daily", label: t("Daily") },
            { value: "weekly", label: t("Weekly") },
            { value: "custom", label: t("Custom") },
          ]}
        />
      </div>
      {rotation === "custom" && (
        <div className="layer-every">
          <NumberField
            label={t("Every")}
            min={1}
            max={365}
            allowDecimal={false}
            clampBehavior="strict"
            value={layer.every}
            onChange={(every) => put({ every: every || 1 })}
            error={errorOf("every")}
          />
          <Select
            label={t("Unit")}
            allowDeselect={false}
            data={units}
            value={layer.unit}
            onChange={(unit) => put({ unit: unit as RotationUnit })}
          />
        </div>
      )}
    </div>
  );
}

/** Ends to choose for a layer. */
const layerEnds = [t("in 1 week"), t("in 4 weeks"), t("in 90 days")];

/** When the layer starts and ends. */
function LayerSpan({ layer, zone, put, errorOf }: Part & Pick<LayerProps, "zone">) {
  return (
    <div className="field-row">
      <DateTimeField
        label={t("First hand-over")}
        zone={zone}
        value={layer.start}
        onChange={(start) => put({ start })}
        error={errorOf("start")}
      />
      <DateTimeField
        label={t("Ends (optional)")}
        zone={zone}
        from={layer.start}
        choices={layerEnds}
        value={layer.end ?? ""}
        onChange={(end) => put({ end: end || null })}
        error={errorOf("end")}
      />
    </div>
  );
}

const newHours: ScheduleHours = { days: weekdays.slice(0, 5), from: "09:00", until: "17:00" };

const previewedDays = 14;

function Preview({ form: { values }, id }: { form: Form<Values>; id?: string }) {
  const zone = useZone();
  const first = getDay(useNow(), zone);
  const { timeZone, layers } = values;
  const current = useMemo(() => {
    const isComplete = layers.every(
      ({ personIds, start, hours }) =>
        personIds.length > 0 &&
        !Number.isNaN(parseLocal(start)) &&
        hours.every(({ from, until }) => from && until),
    );
    if (!isComplete) return null;
    return {
      ...(id !== undefined && { id }),
      timeZone,
      layers,
      from: startOfDay(first, zone),
      until: startOfDay(first + previewedDays, zone),
    };
  }, [id, timeZone, layers, first, zone]);
  const [draft] = useDebouncedValue(current, 200);
  const { data } = usePreview(draft);
  if (data === undefined)
    return (
      <p className="field-note">{t("Choose people to see who is on call in the next 14 days.")}</p>
    );
  return (
    <div>
      <p className="layer-preview">{t("Next 14 days")}</p>
      <DutyCalendar
        shifts={data}
        people={layers.flatMap(({ personIds }) => personIds)}
        firstDay={first}
        dayCount={previewedDays}
        label={t("Preview of the next 14 days")}
      />
    </div>
  );
}
