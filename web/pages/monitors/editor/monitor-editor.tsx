/** The dialog that creates or edits a monitor, and tests it before saving. */
import { Select } from "@mantine/core";
import { useQuery, useMutation } from "@tanstack/react-query";
import { Fragment, useMemo } from "react";
import type { z } from "zod";
import type { TestCheck } from "../../../../src/monitoring/checks/schema.ts";
import {
  monitorKinds,
  type MonitorType,
} from "../../../../src/monitoring/monitors/kinds-schema.ts";
import {
  type Monitor,
  monitorFields,
  type NewMonitor,
} from "../../../../src/monitoring/monitors/schema.ts";
import { recordKey } from "../../../data/keys.ts";
import { queryClient } from "../../../data/query.ts";
import { isLimitedToGroups } from "../../../data/session.ts";
import { findDefaultGroupId } from "../actions.ts";
import { useAlertChannels } from "../../../data/alert-channels.ts";
import { useEscalationPolicies } from "../../../data/escalation-policies.ts";
import {
  ApiError,
  dashboard,
  unwrapData,
  addIfMatch,
  addIdempotencyKey,
  v1,
} from "../../../data/client.ts";
import { listKnownMonitors, overviewQuery } from "../../../data/overview.ts";
import { ManualEnd } from "./manual-end.tsx";
import { ScheduleZone } from "./schedule-preview.tsx";
import { useZone } from "../../../components/display/time.tsx";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { closeDialog, type Dialog } from "../../../components/open-dialog.ts";
import { EditorDialog } from "../../../components/forms/editor-dialog.tsx";
import {
  type Form,
  FormFrame,
  useForm,
  useInSight,
  FoldedSection,
} from "../../../components/forms/form.tsx";
import { summarizeFields } from "../../../components/forms/field-summary.ts";
import { describeField } from "../../../components/forms/field-kinds.ts";
import { RecordsField } from "../../../components/forms/records-field.tsx";
import { formatReason } from "../../../components/display/format.ts";
import { SchemaField } from "../../../components/forms/schema-field.tsx";
import { StateIcon, stateLabels } from "../../../components/display/state-icon.tsx";
import {
  listSecretFields,
  createStoredSecrets,
  type StoredSecrets,
} from "../../../components/forms/stored-secrets.ts";
import { isCounted, isShown, labelsOf } from "./labels.ts";
import { DependsOnField, PolicyField } from "./on-call-fields.tsx";
import {
  listCommonSections,
  listOwnSections,
  scheduleFieldsOf,
  type Section,
  selectInterval,
} from "./sections.ts";
import { DetailList } from "../details.tsx";
import { ReplayLine } from "./replay-line.tsx";
import { StepsField } from "./steps-field.tsx";
import { TypeField } from "./type-field.tsx";
import { t } from "../../../language/text.ts";

type EditedMonitor = Extract<Dialog, { kind: "create-monitor" | "edit-monitor" }>;
type Values = Record<string, unknown>;
type Body = z.input<typeof NewMonitor>;

/** Secret fields of all types. */
const secrets = Object.values(monitorKinds).flatMap(({ secrets }) => listSecretFields(secrets));

const readMonitor = (id: string) => unwrapData(v1.monitors({ id }).get());

export default function MonitorDialog({ edited }: { edited: EditedMonitor }) {
  const isNew = edited.kind === "create-monitor";
  return (
    <EditorDialog
      title={isNew ? t("Create monitor") : t("Edit monitor")}
      size={640}
      id={(isNew ? edited.like : edited.id) ?? null}
      read={readMonitor}
      managed={isNew ? null : "monitors"}
      otherQueries={[useAlertChannels(), useEscalationPolicies(), useQuery(overviewQuery)]}
      onClose={closeDialog}
    >
      {(monitor, reload) => (
        <Fields
          monitor={monitor}
          isNew={isNew}
          groupId={isNew ? (edited.groupId ?? findDefaultGroupId()) : null}
          onReload={reload}
        />
      )}
    </EditorDialog>
  );
}

/** The fields of a type by name, including the common ones, as their schemas describe them. */
const describeTypeFields = (type: MonitorType) =>
  Object.fromEntries(
    Object.entries({ ...monitorKinds[type].fields, ...monitorFields }).map(([name, field]) => [
      name,
      describeField(field),
    ]),
  );

/** The request body of a form. The server validates its values. */
function buildMonitorBody(values: Values): Body {
  const type = values["type"] as MonitorType;
  return { type, ...selectSentValues(describeTypeFields(type), values) } as Body;
}

function changeType({ values, set }: Form<Values>, next: MonitorType) {
  const interval = selectInterval(values["interval"], values["type"] as MonitorType, next);
  if (interval !== values["interval"]) set("interval", interval);
  set("type", next);
}

/** The pause of a copy. An edited monitor keeps its own, which has no field here and can end meanwhile. */
function startPause(monitor: Monitor, isNew: boolean): Values {
  const { paused, pausedUntil } = monitor;
  const isOver = pausedUntil !== null && Date.parse(pausedUntil) <= Date.now();
  return isNew && !isOver ? { paused, pausedUntil } : { paused: undefined, pausedUntil: undefined };
}

type Props = {
  monitor: Monitor | undefined;
  isNew: boolean;
  groupId: string | null;
  onReload: () => void;
};

/** A copy starts with the values of its original. */
function useMonitorForm({ monitor, isNew, groupId, onReload }: Props) {
  const edited = isNew ? undefined : monitor;
  const start: Values = monitor
    ? { ...monitor, ...startPause(monitor, isNew) }
    : { groupId, type: "http" };
  if (isNew && monitor) start["name"] = t("Copy of {name}", { name: monitor.name });
  return useForm(
    start,
    async (values, force, idempotencyKey) => {
      const body = buildMonitorBody(values);
      assertCombinesMonitors(body);
      if (edited === undefined)
        await unwrapData(v1.monitors.post(body, addIdempotencyKey(idempotencyKey)));
      else {
        const saved = await unwrapData(
          v1
            .monitors({ id: edited.id })
            .patch(body, addIfMatch(force ? undefined : edited, idempotencyKey)),
        );
        queryClient.setQueryData(recordKey("monitor", saved.id), saved);
      }
      closeDialog();
    },
    onReload,
    { key: `monitor ${isNew ? `like ${monitor?.id ?? ""}` : (monitor?.id ?? "")}`, secrets },
  );
}

/** A composite monitor without monitors would never be up. */
function assertCombinesMonitors({ type, dependsOn = [] }: Body) {
  if (type === "composite" && dependsOn.length === 0)
    throw new ApiError(422, {
      details: [{ path: "dependsOn", message: t("must have at least 1 entry") }],
    });
}

/** Runs one check with the values of the form. Nothing is stored. */
const useTestCheck = (edited: Monitor | undefined, form: Form<Values>) =>
  useMutation({
    mutationFn: (body: Body): Promise<TestCheck> =>
      unwrapData(
        edited === undefined
          ? dashboard.monitors.try.post(body)
          : dashboard.monitors({ id: edited.id }).try.post(body),
      ),
    onMutate: form.clearErrors,
    onError: form.fail,
  });

/** Whether Signalbox itself checks monitors of a type. */
const isChecked = (type: MonitorType) => type !== "push" && type !== "manual";

function Fields(props: Props) {
  const { monitor, isNew } = props;
  const edited = isNew ? undefined : monitor;
  const form = useMonitorForm(props);
  const test = useTestCheck(edited, form);
  const { values, errorOf } = form;
  const type = values["type"] as MonitorType;
  const fields = useMemo(() => describeTypeFields(type), [type]);
  const body = buildMonitorBody(values);
  const stored = createStoredSecrets(monitorKinds, type, edited ?? null, body, errorOf);
  const { data: overview } = useQuery(overviewQuery);
  const monitors = overview === undefined ? [] : listKnownMonitors(overview);
  const editor: Editor = { form, type, fields, secrets: stored, monitors, id: edited?.id ?? null };
  const ownSections = listOwnSections(type);
  const isFolded = ({ folded }: Section) => folded === true;
  return (
    <FormFrame
      form={form}
      submit={isNew ? t("Create monitor") : t("Save")}
      onCancel={closeDialog}
      extra={
        isChecked(type) && (
          <BusyButton loading={test.isPending} onClick={() => test.mutate(body)}>
            {t("Test now")}
          </BusyButton>
        )
      }
      curl={() => ({
        ...(edited === undefined
          ? { method: "POST", route: v1.monitors }
          : { method: "PATCH", route: v1.monitors({ id: edited.id }) }),
        body,
      })}
    >
      {isNew && monitor && hasSecrets(monitor) && (
        <p className="quiet">
          {t(
            "Secrets are not copied. Enter passwords, tokens and header values again if the copy needs them.",
          )}
        </p>
      )}
      {isNew && <TypeField value={type} onChange={(next) => changeType(form, next)} />}
      <EditorField editor={editor} name="name" />
      <Sections editor={editor} sections={ownSections.filter((section) => !isFolded(section))} />
      <div className="field-row">
        {scheduleFieldsOf(type).map((name) => (
          <EditorField key={name} editor={editor} name={name} />
        ))}
      </div>
      {edited !== undefined && isChecked(type) && <ReplayLine monitor={edited} values={values} />}
      <GroupAndChannels form={form} />
      <Sections
        editor={editor}
        sections={[...ownSections.filter(isFolded), ...listCommonSections(type)]}
      />
      <TestCheckResult type={type} data={test.data} />
    </FormFrame>
  );
}

type Editor = {
  form: Form<Values>;
  type: MonitorType;
  fields: ReturnType<typeof describeTypeFields>;
  secrets: StoredSecrets;
  monitors: ReturnType<typeof listKnownMonitors>;
  /** ID of the edited monitor; null for a new one. */
  id: string | null;
};

const valueOf = ({ form: { values }, fields }: Editor, name: string) =>
  name in values ? values[name] : fields[name]?.initial;

function EditorField({ editor, name }: { editor: Editor; name: string }) {
  const { form, type, fields, secrets: stored } = editor;
  const zone = useZone();
  const { values, set, errorOf } = form;
  const kind = fields[name];
  const labels = labelsOf(type, name);
  if (kind === undefined || !isShown(name, values)) return null;
  if (type === "http" && name === "steps")
    return (
      <StepsField
        kind={kind}
        value={valueOf(editor, name) as Values[]}
        onChange={(steps) => set(name, steps)}
        secrets={stored}
      />
    );
  const onChange = (next: unknown) => set(name, next);
  const common = { label: labels?.label ?? name, onChange, error: errorOf(name) };
  if (name === "dependsOn")
    return (
      <DependsOnField
        {...common}
        description={labels?.hint ?? ""}
        records={editor.monitors.filter(({ id }) => id !== editor.id)}
        value={valueOf(editor, name) as string[]}
      />
    );
  if (name === "manualUntil")
    return <ManualEnd {...common} value={valueOf(editor, name) as string | null} />;
  if (type === "push" && name === "timeZone")
    return (
      <ScheduleZone
        schedule={String(values["schedule"])}
        timeZone={String(valueOf(editor, name))}
        onChange={(zone) => set(name, zone)}
        error={errorOf(name)}
      />
    );
  return (
    <SchemaField
      // A field of another type starts with its own state.
      key={type}
      name={name}
      kind={kind}
      labels={labels}
      value={valueOf(editor, name)}
      isFirst={name === "name"}
      onChange={(value) => {
        set(name, value);
        // A hidden minimum must not be sent.
        if (type === "composite" && name === "mode" && !isCounted(value)) set("minimum", null);
        // A new schedule is in the zone in which its author sees times.
        if (name === "schedule" && values["timeZone"] === undefined) set("timeZone", zone);
      }}
      error={errorOf(name)}
      secrets={stored}
      labelsFor={(path) => labelsOf(type, path)}
      isShown={(path, line) => isShown(path, values, line)}
    />
  );
}

const Sections = ({ editor, sections }: { editor: Editor; sections: readonly Section[] }) =>
  sections.map((section) => {
    const { title, fields: names, folded = false } = section;
    const content = (
      <div className="form-section">
        {names.map((name) => (
          <EditorField key={name} editor={editor} name={name} />
        ))}
      </div>
    );
    if (title === "") return <Fragment key={names.join()}>{content}</Fragment>;
    return (
      <FoldedSection
        key={title}
        title={title}
        summary={summarizeSection(editor, section)}
        open={!folded}
        invalid={names.some((name) => editor.form.errorOf(name))}
      >
        {content}
      </FoldedSection>
    );
  });

function summarizeSection(
  editor: Editor,
  { fields, key = [], none = t("Defaults") }: Section,
): string {
  const changed = fields.flatMap((name) => {
    const kind = editor.fields[name];
    const labels = labelsOf(editor.type, name);
    const isKey = key.includes(name);
    const value = valueOf(editor, name);
    const shownValue = name === "dependsOn" ? listNames(editor.monitors, value as string[]) : value;
    return kind === undefined ? [] : [{ name, labels, value: shownValue, kind, isKey }];
  });
  return summarizeFields(changed) || none;
}

const listNames = (monitors: Editor["monitors"], ids: readonly string[]) =>
  ids.map((id) => monitors.find((one) => one.id === id)?.name ?? id);

function GroupAndChannels({ form: { values, set, errorOf } }: { form: Form<Values> }) {
  const { data: channels = [] } = useAlertChannels();
  const { data: overview } = useQuery(overviewQuery);
  return (
    <>
      <div className="field-row">
        <Select
          label={t("Group")}
          data={[
            ...(isLimitedToGroups() ? [] : [{ value: "", label: t("None") }]),
            ...(overview?.groups ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={(values["groupId"] as string | null) ?? ""}
          onChange={(next) => set("groupId", next || null)}
          allowDeselect={false}
          error={errorOf("groupId")}
        />
        {channels.length > 0 && (
          <RecordsField
            label={t("Alerts to")}
            records={channels}
            value={
              (values["alertChannelIds"] as string[] | undefined) ??
              channels.filter((channel) => channel.default).map(({ id }) => id)
            }
            onChange={(ids) => set("alertChannelIds", ids)}
            error={errorOf("alertChannelIds")}
          />
        )}
      </div>
      <PolicyField
        value={(values["escalationPolicyId"] as string | null | undefined) ?? null}
        onChange={(next) => set("escalationPolicyId", next)}
        error={errorOf("escalationPolicyId")}
      />
    </>
  );
}

const hasSecrets = ({ secretsSet, headers }: Monitor) =>
  secretsSet.length > 0 || Object.keys(headers ?? {}).length > 0;

/** Values of this type's fields. Omits empty secrets, which leaves the stored ones unchanged. */
function selectSentValues(fields: ReturnType<typeof describeTypeFields>, values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) =>
        name in fields && value !== undefined && !(fields[name]?.secret === true && value === ""),
    ),
  );
}

/** The result of a test check. */
function TestCheckResult({ type, data }: { type: MonitorType; data: TestCheck | undefined }) {
  const result = useInSight<HTMLDivElement>(data);
  return (
    <div aria-live="polite" ref={result}>
      {data !== undefined && (
        <>
          <p className="try">
            <StateIcon state={data.status} />
            <b>{stateLabels[data.status]}</b>
            <span className="quiet">{formatReason(data.message)}</span>
          </p>
          <DetailList type={type} details={data.details} />
        </>
      )}
    </div>
  );
}
