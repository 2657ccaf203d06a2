import { MultiSelect, Select } from "@mantine/core";
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
import { useAlertChannels } from "../../../data/alert-channels.ts";
import { dashboard, dataOf, ifMatch, onceUnder, v1 } from "../../../data/client.ts";
import { overviewQuery } from "../../../data/overview.ts";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { closeDialog, type Dialog } from "../../../components/open-dialog.ts";
import { EditorDialog } from "../../../components/forms/editor-dialog.tsx";
import { FormFrame, useForm, useInSight, Fold } from "../../../components/forms/form.tsx";
import { summaryOf } from "../../../components/forms/field-summary.ts";
import { kindOf } from "../../../components/forms/field-kinds.ts";
import { reasonInWords } from "../../../components/display/format.ts";
import { SchemaField } from "../../../components/forms/schema-field.tsx";
import { StateIcon, stateLabels } from "../../../components/display/state-icon.tsx";
import { fieldsWith, storedSecrets } from "../../../components/forms/stored-secrets.ts";
import { isShown, labelsOf } from "./labels.ts";
import { commonSectionsOf, ownSections, scheduleOf, type Section } from "./sections.ts";
import { DetailList } from "../details.tsx";
import { StepsField } from "./steps-field.tsx";
import { TypeField } from "./type-field.tsx";

type What = Extract<Dialog, { kind: "create-monitor" | "edit-monitor" }>;
type Values = Record<string, unknown>;
type Body = z.input<typeof NewMonitor>;

/** Fields that hold a secret, of any type. */
const secrets = Object.values(monitorKinds).flatMap(({ secrets }) => fieldsWith(secrets));

const readMonitor = (id: string) => dataOf(v1.monitors({ id }).get());

export default function MonitorDialog({ what }: { what: What }) {
  const isNew = what.kind === "create-monitor";
  return (
    <EditorDialog
      title={isNew ? "Create monitor" : "Edit monitor"}
      size={640}
      id={(isNew ? what.like : what.id) ?? null}
      read={readMonitor}
      managed={isNew ? null : "monitors"}
      besides={[useAlertChannels(), useQuery(overviewQuery)]}
      onClose={closeDialog}
    >
      {(monitor, reload) => (
        <Fields
          monitor={monitor}
          isNew={isNew}
          groupId={isNew ? (what.groupId ?? null) : null}
          onTheirs={reload}
        />
      )}
    </EditorDialog>
  );
}

/** The fields of a type by name, common ones included, as their schemas describe them. */
const fieldsOf = (type: MonitorType) =>
  Object.fromEntries(
    Object.entries({ ...monitorKinds[type].fields, ...monitorFields }).map(([name, field]) => [
      name,
      kindOf(field),
    ]),
  );

function Fields({
  monitor,
  isNew,
  groupId,
  onTheirs,
}: {
  monitor: Monitor | undefined;
  isNew: boolean;
  groupId: string | null;
  onTheirs: () => void;
}) {
  const { data: channels = [] } = useAlertChannels();
  const { data: overview } = useQuery(overviewQuery);
  const edited = isNew ? undefined : monitor;
  const start: Values = monitor ? { ...monitor } : { groupId, type: "http" };
  if (isNew && monitor) start["name"] = `Copy of ${monitor.name}`;
  // The form is made of the schema's fields, and the server judges what stands in them.
  const bodyOf = (values: Values) => {
    const type = values["type"] as MonitorType;
    return { type, ...sent(fieldsOf(type), values) } as Body;
  };
  const form = useForm(
    start,
    async (values, force, once) => {
      const body = bodyOf(values);
      if (edited === undefined) await dataOf(v1.monitors.post(body, onceUnder(once)));
      else
        await dataOf(
          v1.monitors({ id: edited.id }).patch(body, ifMatch(force ? undefined : edited, once)),
        );
      closeDialog();
    },
    onTheirs,
    { key: `monitor ${isNew ? `like ${monitor?.id ?? ""}` : (monitor?.id ?? "")}`, secrets },
  );
  const type = form.values["type"] as MonitorType;
  const fields = useMemo(() => fieldsOf(type), [type]);
  const trying = useMutation({
    mutationFn: (body: Body): Promise<TestCheck> =>
      dataOf(
        edited === undefined
          ? dashboard.monitors.try.post(body)
          : dashboard.monitors({ id: edited.id }).try.post(body),
      ),
    onMutate: form.clearErrors,
    onError: form.fail,
  });
  const { values, set, errorOf } = form;
  const stored = storedSecrets(monitorKinds, type, edited ?? null, bodyOf(values), errorOf);
  const valueOf = (name: string) => (name in values ? values[name] : fields[name]?.initial);
  const field = (name: string) => {
    const kind = fields[name];
    if (kind === undefined || !isShown(name, values)) return null;
    if (type === "http" && name === "steps")
      return (
        <StepsField
          key={name}
          kind={kind}
          value={valueOf(name) as Values[]}
          onChange={(steps) => set(name, steps)}
          secrets={stored}
        />
      );
    return (
      <SchemaField
        key={`${type} ${name}`}
        name={name}
        kind={kind}
        labels={labelsOf(type, name)}
        value={valueOf(name)}
        isFirst={name === "name"}
        onChange={(value) => set(name, value)}
        error={errorOf(name)}
        secrets={stored}
        labelsFor={(path) => labelsOf(type, path)}
        isShown={(path, line) => isShown(path, values, line)}
      />
    );
  };
  const summary = ({ fields: names, key = [], none = "Defaults" }: Section) =>
    summaryOf(
      names.flatMap((name) => {
        const kind = fields[name];
        const about = { name, labels: labelsOf(type, name), value: valueOf(name) };
        return kind === undefined ? [] : [{ ...about, kind, isKey: key.includes(name) }];
      }),
    ) || none;
  const section = (one: Section) => {
    const { title, fields: names, folded = false } = one;
    const all = <div className="form-section">{names.map(field)}</div>;
    if (title === "") return <Fragment key={names.join()}>{all}</Fragment>;
    const invalid = names.some((name) => errorOf(name));
    return (
      <Fold key={title} title={title} summary={summary(one)} open={!folded} invalid={invalid}>
        {all}
      </Fold>
    );
  };
  const own = ownSections(type);
  return (
    <FormFrame
      form={form}
      submit={isNew ? "Create monitor" : "Save"}
      onCancel={closeDialog}
      extra={
        type !== "push" && (
          <BusyButton loading={trying.isPending} onClick={() => trying.mutate(bodyOf(values))}>
            Test now
          </BusyButton>
        )
      }
      curl={() => ({
        ...(edited === undefined
          ? { method: "POST", route: v1.monitors }
          : { method: "PATCH", route: v1.monitors({ id: edited.id }) }),
        body: bodyOf(values),
      })}
    >
      {isNew && monitor && hasSecrets(monitor) && (
        <p className="quiet">
          Secrets are not copied. Enter passwords, tokens and header values again if the copy needs
          them.
        </p>
      )}
      {isNew && <TypeField value={type} onChange={(next) => set("type", next)} />}
      {field("name")}
      {own.filter(({ folded }) => folded !== true).map(section)}
      <div className="field-row">{scheduleOf(type).map(field)}</div>
      <div className="field-row">
        <Select
          label="Group"
          data={[
            { value: "", label: "None" },
            ...(overview?.groups ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={(values["groupId"] as string | null) ?? ""}
          onChange={(next) => set("groupId", next || null)}
          allowDeselect={false}
          error={errorOf("groupId")}
        />
        {channels.length > 0 && (
          <MultiSelect
            label="Alerts to"
            data={channels.map(({ id, name }) => ({ value: id, label: name }))}
            value={
              (values["alertChannelIds"] as string[] | undefined) ??
              channels.filter((channel) => channel.default).map(({ id }) => id)
            }
            onChange={(ids) => set("alertChannelIds", ids)}
            error={errorOf("alertChannelIds")}
          />
        )}
      </div>
      {[...own.filter(({ folded }) => folded === true), ...commonSectionsOf(type)].map(section)}
      <TestCheckResult type={type} data={trying.data} />
    </FormFrame>
  );
}

const hasSecrets = ({ secretsSet, headers }: Monitor) =>
  secretsSet.length > 0 || Object.keys(headers ?? {}).length > 0;

/** What was set of the fields that this type takes; a secret that was left empty keeps its value. */
function sent(fields: ReturnType<typeof fieldsOf>, values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) =>
        name in fields && value !== undefined && !(fields[name]?.secret === true && value === ""),
    ),
  );
}

/** What one check of what stands in the editor has found; nothing of it is stored. */
function TestCheckResult({ type, data }: { type: MonitorType; data: TestCheck | undefined }) {
  const result = useInSight<HTMLDivElement>(data);
  return (
    <div aria-live="polite" ref={result}>
      {data !== undefined && (
        <>
          <p className="try">
            <StateIcon state={data.status} />
            <b>{stateLabels[data.status]}</b>
            <span className="quiet">{reasonInWords(data.message)}</span>
          </p>
          <DetailList type={type} details={data.details} />
        </>
      )}
    </div>
  );
}
