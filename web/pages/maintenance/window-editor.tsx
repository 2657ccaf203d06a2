/** The dialog that schedules or edits maintenance. */
import { NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import { unwrapData, withIfMatch, withIdempotencyKey, v1 } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { useOverview } from "../../data/overview.ts";
import { queryClient } from "../../data/query.ts";
import { dot, pluralize } from "../../components/display/format.ts";
import { hold } from "../../components/held-changes.tsx";
import { drafts } from "../../data/drafts.ts";
import { closeDialog, type Dialog, openDialog } from "../../components/open-dialog.ts";
import { EditorDialog } from "../../components/forms/editor-dialog.tsx";
import { Fold, type Form, FormFrame, useForm } from "../../components/forms/form.tsx";
import { MarkdownField } from "../../components/forms/markdown-field.tsx";
import { DateTimeField } from "../../components/forms/date-time-field.tsx";
import { RecordsField } from "../../components/forms/records-field.tsx";
import { useZone, listZones } from "../../components/display/time.tsx";
import { useOverlaps, usePreview } from "./data.ts";
import { useAudience } from "../incidents/data.ts";
import { InternalNamesLine } from "../incidents/internal-names-line.tsx";
import { describePages } from "../incidents/recipients-line.tsx";
import { NextTimes } from "./labels.tsx";
import { RecurrenceField } from "./recurrence-field.tsx";
import {
  buildWindowBody,
  createValues,
  buildTimes,
  type Values,
  toValues,
  moveStart,
} from "./values.ts";

type EditedWindow = Extract<Dialog, { kind: "plan-maintenance" | "edit-maintenance" }>;

const windows = v1["maintenance-windows"];
const readWindow = (id: string) => unwrapData(windows({ id }).get());

export default function MaintenanceDialog({ what }: { what: EditedWindow }) {
  const isNew = what.kind === "plan-maintenance";
  return (
    <EditorDialog
      title={isNew ? "Schedule maintenance" : "Edit maintenance"}
      size={600}
      id={(isNew ? what.like : what.id) ?? null}
      read={readWindow}
      managed={isNew ? null : "maintenanceWindows"}
      besides={[useOverview()]}
      onClose={closeDialog}
    >
      {(window, reload) => <Fields what={what} window={window} onTheirs={reload} />}
    </EditorDialog>
  );
}

type FieldsProps = {
  what: EditedWindow;
  window: MaintenanceWindow | undefined;
  onTheirs: () => void;
};

function Fields({ what, window, onTheirs }: FieldsProps) {
  const { data: overview } = useOverview();
  const form = useWindowForm(what, window, onTheirs);
  const isNew = what.kind === "plan-maintenance";
  const audience = useWindowAudience(form.values);
  return (
    <FormFrame
      form={form}
      submit={nameSubmit(audience, form.values, isNew)}
      question={askAbout(form.values)}
      onCancel={closeDialog}
      curl={() => ({
        ...(isNew
          ? { method: "POST", route: windows }
          : { method: "PATCH", route: windows({ id: what.id }) }),
        body: buildWindowBody(form.values),
      })}
    >
      <TextInput
        label="Title"
        placeholder="Router firmware"
        autoComplete="off"
        data-autofocus
        {...form.input("title")}
      />
      <MarkdownField
        label="Description"
        placeholder="What will be done, and what people will notice"
        {...form.input("description")}
      />
      <InternalNamesLine
        text={`${form.values.title}\n${form.values.description}`}
        isPublic={form.values.public}
        audience={audience}
      />
      <TimeFields form={form} id={isNew ? null : what.id} />
      <Members form={form} />
      <MoreSettings form={form} />
      {overview === undefined && <p className="field-note">The monitors are still loading.</p>}
    </FormFrame>
  );
}

/** Asks before a window without monitors, which affects nothing. */
function askAbout({ title, monitorIds, groupIds, public: isPublic }: Values) {
  if (monitorIds.length + groupIds.length > 0 || title.trim() === "") return null;
  return {
    title: "Schedule maintenance without monitors?",
    verb: "Schedule anyway",
    text: isPublic
      ? "Alerts and uptime do not change. Every status page announces it."
      : "Alerts and uptime do not change, and no status page announces it.",
  };
}

/** Maximum number of monitors in a request for the audience. */
const maxAudienceMonitors = 100;

/** The pages that show the window, if they can be requested. */
function useWindowAudience({ monitorIds, groupIds }: Values) {
  const { data: overview } = useOverview();
  const groups = new Set<string | null>(groupIds);
  const members = (overview?.monitors ?? []).filter(({ groupId }) => groups.has(groupId));
  const affected = [...new Set([...monitorIds, ...members.map(({ id }) => id)])];
  const isKnown = affected.length <= maxAudienceMonitors;
  const { data } = useAudience({
    ...(isKnown && affected.length > 0 && { monitorIds: affected.join(",") }),
  });
  return isKnown ? data : undefined;
}

/**
 * Label of the button: the pages that show a public window. Creating the window also mails their subscribers.
 */
function nameSubmit(
  audience: ReturnType<typeof useWindowAudience>,
  { public: isPublic, progressNotices }: Values,
  isNew: boolean,
) {
  const shownOn = isPublic ? (audience?.pages ?? []) : [];
  if (!isNew)
    return shownOn.length === 0
      ? "Save"
      : progressNotices
        ? `Save and announce to ${describePages(shownOn)}`
        : `Save and update ${pluralize(shownOn.length, "page")}`;
  const pages = describePages(shownOn);
  return pages === "" ? "Schedule maintenance" : `Schedule and announce to ${pages}`;
}

function useWindowForm(
  what: EditedWindow,
  window: MaintenanceWindow | undefined,
  onTheirs: () => void,
) {
  const zone = useZone();
  const navigate = useNavigate();
  const isNew = what.kind === "plan-maintenance";
  const start = window ? toValues(window) : createValues(Date.now(), zone, isNew ? what : {});
  const selected = isNew ? [what.isQuiet ? "quiet" : "", ...(what.monitorIds ?? [])].join(" ") : "";
  const draftKey = `maintenance ${isNew ? `like ${window?.id ?? selected}` : what.id}`;
  return useForm<Values>(
    start,
    async (values, force, once) => {
      const body = buildWindowBody(values);
      const reopen = () => {
        drafts.write(draftKey, values);
        openDialog(what);
      };
      if (isNew) {
        await hold((query) => windows.post(body, { query, ...withIdempotencyKey(once) }), reopen);
        closeDialog();
        // The page of the window opens from there when it is sent.
        return navigate({ to: "/maintenance" });
      }
      const route = windows({ id: what.id });
      const base = force ? undefined : window;
      if (values.public || window?.public === true)
        await hold((query) => route.patch(body, { query, ...withIfMatch(base, once) }), reopen);
      else {
        const saved = await unwrapData(route.patch(body, withIfMatch(base, once)));
        queryClient.setQueryData(recordKey("maintenance", saved.id), saved);
      }
      closeDialog();
    },
    onTheirs,
    { key: draftKey },
  );
}

const previewed = 4;

/** Start, end and recurrence, with the next times or the reason why they are invalid. */
function TimeFields({
  form: { values, set, errorOf },
  id,
}: {
  form: Form<Values>;
  /** The edited window; null for a new one. */
  id: string | null;
}) {
  const current = useMemo(() => buildTimes(values), [values]);
  const [times] = useDebouncedValue(current, 150);
  const { data } = usePreview(times, previewed);
  const issue = data?.issue;
  const overlaps = useOverlaps(id, data?.occurrences[0]);
  const errorOfTime = (name: string) =>
    errorOf(name) ??
    (issue?.path === name && (name !== "rrule" || values.plan.rule !== "")
      ? `It ${issue.message.replace("startsAt", "the start").replace("endsAt", "the end")}.`
      : undefined);
  return (
    <>
      <div className="field-row">
        <DateTimeField
          label="Starts"
          zone={values.timeZone}
          value={values.start}
          onChange={(start) => {
            for (const [name, value] of Object.entries(moveStart(values, start)))
              set(name as keyof Values, value);
          }}
          error={errorOf("startsAt")}
        />
        <DateTimeField
          label="Ends"
          zone={values.timeZone}
          from={values.start}
          value={values.end}
          onChange={(end) => set("end", end)}
          error={errorOfTime("endsAt")}
        />
      </div>
      {overlaps.length > 0 && (
        <p className="text-s degraded" role="status">
          At the same time: {new Intl.ListFormat("en-GB").format(overlaps)}.
        </p>
      )}
      <RecurrenceField
        plan={values.plan}
        onChange={(plan) => set("plan", plan)}
        error={errorOfTime("rrule")}
      />
      {values.plan.repeats !== "never" && !issue && (
        <NextTimes occurrences={data?.occurrences} count={previewed} />
      )}
    </>
  );
}

function MoreSettings({ form }: { form: Form<Values> }) {
  const { values, set, errorOf, toggle } = form;
  const zone = useZone();
  return (
    <Fold
      title="Time zone, uptime and visibility"
      summary={[
        values.timeZone,
        values.countsUptime ? "counted in uptime" : "not counted in uptime",
        values.public ? "public" : "not public",
      ].join(dot)}
      open={values.timeZone !== zone}
      invalid={["timeZone", "reminderHours"].some((name) => errorOf(name) !== undefined)}
    >
      <div className="form-section">
        <Select
          label="Time zone"
          description={`Start, end and recurrence are in this time zone. Your organization uses ${zone}.`}
          searchable
          limit={100}
          allowDeselect={false}
          data={listZones(values.timeZone, zone)}
          value={values.timeZone}
          onChange={(next) => set("timeZone", next ?? zone)}
          error={errorOf("timeZone")}
        />
        <Switch
          label="Count in uptime"
          description="Otherwise this time is left out of uptime."
          {...toggle("countsUptime")}
        />
        <Switch
          label="Public"
          description="Status pages announce it 30 days ahead."
          {...toggle("public")}
        />
        {values.public && <NoticeFields form={form} />}
      </div>
    </Fold>
  );
}

/** Notices to subscribers after the announcement. */
const NoticeFields = ({ form: { values, set, errorOf, toggle } }: { form: Form<Values> }) => (
  <>
    <Switch
      label="Notify subscribers of its progress"
      description="When the plan changes, when it starts and when it is completed."
      {...toggle("progressNotices")}
    />
    <NumberInput
      label="Reminder"
      description="Hours before it starts. Empty for no reminder."
      min={1}
      max={336}
      allowDecimal={false}
      value={values.reminderHours ?? ""}
      onChange={(hours) => set("reminderHours", hours === "" ? null : Number(hours))}
      error={errorOf("reminderHours")}
    />
  </>
);

function Members({ form }: { form: Form<Values> }) {
  const { data: overview } = useOverview();
  return (
    <>
      {(overview?.groups.length ?? 0) > 0 && (
        <RecordsField
          label="Groups"
          description="Every monitor that is in the group at that time."
          records={overview?.groups}
          {...form.field("groupIds")}
        />
      )}
      <RecordsField label="Monitors" records={overview?.monitors} {...form.field("monitorIds")} />
    </>
  );
}
