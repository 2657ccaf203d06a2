/** The dialog that schedules or edits maintenance. */
import { NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import { unwrapData, addIfMatch, addIdempotencyKey, v1 } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { useOverview } from "../../data/overview.ts";
import { queryClient } from "../../data/query.ts";
import { dot } from "../../components/display/format.ts";
import { hold } from "../../components/held-changes.tsx";
import { drafts } from "../../data/drafts.ts";
import { closeDialog, type Dialog, openDialog } from "../../components/open-dialog.ts";
import { EditorDialog } from "../../components/forms/editor-dialog.tsx";
import { FoldedSection, type Form, FormFrame, useForm } from "../../components/forms/form.tsx";
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
import { getLocale } from "../../../src/core/text/locale.ts";
import { t, tCount } from "../../language/text.ts";

type EditedWindow = Extract<Dialog, { kind: "plan-maintenance" | "edit-maintenance" }>;

const windows = v1["maintenance-windows"];
const readWindow = (id: string) => unwrapData(windows({ id }).get());

export default function MaintenanceDialog({ edited }: { edited: EditedWindow }) {
  const isNew = edited.kind === "plan-maintenance";
  return (
    <EditorDialog
      title={isNew ? t("Schedule maintenance") : t("Edit maintenance")}
      size={600}
      id={(isNew ? edited.like : edited.id) ?? null}
      read={readWindow}
      managed={isNew ? null : "maintenanceWindows"}
      otherQueries={[useOverview()]}
      onClose={closeDialog}
    >
      {(window, reload) => <Fields edited={edited} window={window} onReload={reload} />}
    </EditorDialog>
  );
}

type FieldsProps = {
  edited: EditedWindow;
  window: MaintenanceWindow | undefined;
  onReload: () => void;
};

function Fields({ edited, window, onReload }: FieldsProps) {
  const { data: overview } = useOverview();
  const form = useWindowForm(edited, window, onReload);
  const isNew = edited.kind === "plan-maintenance";
  const audience = useWindowAudience(form.values);
  return (
    <FormFrame
      form={form}
      submit={buildSubmitLabel(audience, form.values, isNew)}
      question={askAbout(form.values)}
      onCancel={closeDialog}
      curl={() => ({
        ...(isNew
          ? { method: "POST", route: windows }
          : { method: "PATCH", route: windows({ id: edited.id }) }),
        body: buildWindowBody(form.values),
      })}
    >
      <TextInput
        label={t("Title")}
        placeholder={t("Router firmware")}
        autoComplete="off"
        data-autofocus
        {...form.input("title")}
      />
      <MarkdownField
        label={t("Description")}
        placeholder={t("What will be done, and what people will notice")}
        {...form.input("description")}
      />
      <InternalNamesLine
        text={`${form.values.title}\n${form.values.description}`}
        isPublic={form.values.public}
        audience={audience}
      />
      <TimeFields form={form} id={isNew ? null : edited.id} />
      <Members form={form} />
      <MoreSettings form={form} />
      {overview === undefined && (
        <p className="field-note">{t("The monitors are still loading.")}</p>
      )}
    </FormFrame>
  );
}

/** Asks before a window without monitors, which affects nothing. */
function askAbout({ title, monitorIds, groupIds, public: isPublic }: Values) {
  if (monitorIds.length + groupIds.length > 0 || title.trim() === "") return null;
  return {
    title: t("Schedule maintenance without monitors?"),
    verb: t("Schedule anyway"),
    text: isPublic
      ? t("Alerts and uptime do not change. Every status page announces it.")
      : t("Alerts and uptime do not change, and no status page announces it."),
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
function buildSubmitLabel(
  audience: ReturnType<typeof useWindowAudience>,
  { public: isPublic, progressNotices }: Values,
  isNew: boolean,
) {
  const shownOn = isPublic ? (audience?.pages ?? []) : [];
  if (!isNew)
    return shownOn.length === 0
      ? t("Save")
      : progressNotices
        ? t("Save and announce to {pages}", { pages: describePages(shownOn) })
        : tCount(shownOn.length, "Save and update {count} page", "Save and update {count} pages");
  const pages = describePages(shownOn);
  return pages === ""
    ? t("Schedule maintenance")
    : t("Schedule and announce to {pages}", { pages });
}

function useWindowForm(
  edited: EditedWindow,
  window: MaintenanceWindow | undefined,
  onReload: () => void,
) {
  const zone = useZone();
  const navigate = useNavigate();
  const isNew = edited.kind === "plan-maintenance";
  const start = window ? toValues(window) : createValues(Date.now(), zone, isNew ? edited : {});
  const selected = isNew
    ? [edited.isQuiet ? "quiet" : "", ...(edited.monitorIds ?? [])].join(" ")
    : "";
  const draftKey = `maintenance ${isNew ? `like ${window?.id ?? selected}` : edited.id}`;
  return useForm<Values>(
    start,
    async (values, force, idempotencyKey) => {
      const body = buildWindowBody(values);
      const reopen = () => {
        drafts.write(draftKey, values);
        openDialog(edited);
      };
      if (isNew) {
        await hold(
          (query) => windows.post(body, { query, ...addIdempotencyKey(idempotencyKey) }),
          reopen,
        );
        closeDialog();
        // The page of the window opens from there when it is sent.
        return navigate({ to: "/maintenance" });
      }
      const route = windows({ id: edited.id });
      const base = force ? undefined : window;
      if (values.public || window?.public === true)
        await hold(
          (query) => route.patch(body, { query, ...addIfMatch(base, idempotencyKey) }),
          reopen,
        );
      else {
        const saved = await unwrapData(route.patch(body, addIfMatch(base, idempotencyKey)));
        queryClient.setQueryData(recordKey("maintenance", saved.id), saved);
      }
      closeDialog();
    },
    onReload,
    { key: draftKey },
  );
}

const previewedOccurrences = 4;

/** Texts for messages of the server. Other messages are about parts of a custom rule. */
const issueTexts: Record<string, string> = {
  "must be after startsAt": t("It must be after the start."),
  "must be at most 31 days after startsAt": t("It must be at most 31 days after the start."),
  "must not repeat before endsAt": t("It must not repeat before the end."),
  "must not repeat more often than every hour": t("It must not repeat more often than every hour."),
  "must have a time after startsAt and within 50 years": t(
    "It must have a time after the start and within 50 years.",
  ),
};

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
  const { data } = usePreview(times, previewedOccurrences);
  const issue = data?.issue;
  const overlaps = useOverlaps(id, data?.occurrences[0]);
  const findTimeError = (name: string) =>
    errorOf(name) ??
    (issue?.path === name && (name !== "rrule" || values.plan.rule !== "")
      ? (issueTexts[issue.message] ?? `It ${issue.message}.`)
      : undefined);
  return (
    <>
      <div className="field-row">
        <DateTimeField
          label={t("Starts")}
          zone={values.timeZone}
          value={values.start}
          onChange={(start) => {
            for (const [name, value] of Object.entries(moveStart(values, start)))
              set(name as keyof Values, value);
          }}
          error={errorOf("startsAt")}
        />
        <DateTimeField
          label={t("Ends")}
          zone={values.timeZone}
          from={values.start}
          value={values.end}
          onChange={(end) => set("end", end)}
          error={findTimeError("endsAt")}
        />
      </div>
      {overlaps.length > 0 && (
        <p className="text-s degraded" role="status">
          {t("At the same time: {titles}.", {
            titles: new Intl.ListFormat(getLocale()).format(overlaps),
          })}
        </p>
      )}
      <RecurrenceField
        plan={values.plan}
        onChange={(plan) => set("plan", plan)}
        error={findTimeError("rrule")}
      />
      {values.plan.repeats !== "never" && !issue && (
        <NextTimes occurrences={data?.occurrences} count={previewedOccurrences} />
      )}
    </>
  );
}

function MoreSettings({ form }: { form: Form<Values> }) {
  const { values, set, errorOf, toggle } = form;
  const zone = useZone();
  return (
    <FoldedSection
      title={t("Time zone, uptime and visibility")}
      summary={[
        values.timeZone,
        values.countsUptime ? t("counted in uptime") : t("not counted in uptime"),
        values.public ? t("public") : t("not public"),
      ].join(dot)}
      open={values.timeZone !== zone}
      invalid={["timeZone", "reminderHours"].some((name) => errorOf(name) !== undefined)}
    >
      <div className="form-section">
        <Select
          label={t("Time zone")}
          description={t(
            "Start, end and recurrence are in this time zone. Your organization uses {zone}.",
            { zone },
          )}
          searchable
          limit={100}
          allowDeselect={false}
          data={listZones(values.timeZone, zone)}
          value={values.timeZone}
          onChange={(next) => set("timeZone", next ?? zone)}
          error={errorOf("timeZone")}
        />
        <Switch
          label={t("Count in uptime")}
          description={t("Otherwise this time is left out of uptime.")}
          {...toggle("countsUptime")}
        />
        <Switch
          label={t("Public")}
          description={t("Status pages announce it 30 days ahead.")}
          {...toggle("public")}
        />
        {values.public && <NoticeFields form={form} />}
      </div>
    </FoldedSection>
  );
}

/** Notices to subscribers after the announcement. */
const NoticeFields = ({ form: { values, set, errorOf, toggle } }: { form: Form<Values> }) => (
  <>
    <Switch
      label={t("Notify subscribers of its progress")}
      description={t("When the plan changes, when it starts and when it is completed.")}
      {...toggle("progressNotices")}
    />
    <NumberInput
      label={t("Reminder")}
      description={t("Hours before it starts. Empty for no reminder.")}
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
          label={t("Groups")}
          description={t("Every monitor that is in the group at that time.")}
          records={overview?.groups}
          {...form.field("groupIds")}
        />
      )}
      <RecordsField
        label={t("Monitors")}
        records={overview?.monitors}
        {...form.field("monitorIds")}
      />
    </>
  );
}
