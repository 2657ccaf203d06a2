/** Renders the form control for a field of a zod schema. */
import type { ChangeEvent } from "react";
import { NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import type { FieldLabels } from "../../../src/core/kinds.ts";
import { formatDuration } from "../../../src/core/text/formatting.ts";
import type { Assertion } from "../../../src/monitoring/monitors/assertions-schema.ts";
import { AssertionsField, parseScalar, formatScalar } from "./assertions-field.tsx";
import { MarkdownField } from "./markdown-field.tsx";
import {
  createEmptyRecord,
  type FieldKind,
  labelFromName,
  formatOption,
  type RecordValues,
  untouchedValueOf,
} from "./field-kinds.ts";
import { LinesField } from "./lines-field.tsx";
import { HeadersField, SecretField } from "./secret-fields.tsx";
import { noSecrets, type StoredSecrets } from "./stored-secrets.ts";
import { t } from "../../language/text.ts";

type Props = {
  name: string;
  kind: FieldKind;
  labels?: FieldLabels | undefined;
  value: unknown;
  onChange: (value: unknown) => void;
  error: string | undefined;
  /** Generates a secret, for services that accept any. */
  generate?: (() => string) | undefined;
  /** Gets the focus when the form opens. */
  isFirst?: boolean;
  /** The secrets that are stored in the record. */
  secrets?: StoredSecrets;
  /** Labels of its parts, by path. */
  labelsFor?: (path: string) => FieldLabels | undefined;
  /** Whether a part is visible, by its path and its record in a list. */
  isShown?: (path: string, line?: RecordValues) => boolean;
  /** Replaces the visible label. */
  ariaLabel?: string;
};

/** The form control for a field of a zod schema. */
export function SchemaField(props: Props) {
  const field = completeProps(props);
  switch (props.kind.control) {
    case "switch":
      return <SwitchControl {...field} />;
    case "choice":
      return <ChoiceControl {...field} />;
    case "number":
      return <NumberControl {...field} />;
    case "list":
      return <ListControl {...field} />;
    case "assertions":
      return <AssertionsControl {...field} />;
    case "headers":
      return <HeadersControl {...field} />;
    case "object":
      return <ObjectControl {...field} />;
    case "records":
      return <RecordsControl {...field} />;
    case "scalar":
      return <ScalarControl {...field} />;
    default:
      return props.kind.secret ? <SecretControl {...field} /> : <TextControl {...field} />;
  }
}

/** The props of a field with their defaults, its label and its hint. */
const completeProps = ({ labelsFor, isShown, secrets = noSecrets, ...props }: Props) => ({
  ...props,
  secrets,
  labelsFor: labelsFor ?? (() => undefined),
  isShown: isShown ?? (() => true),
  label: props.labels?.label ?? labelFromName(props.name),
  // Descriptions of the schema are for readers of the API, and only in English.
  hint: props.labels?.hint,
});

type Field = ReturnType<typeof completeProps>;

/** A visible label, or a label only for screen readers. */
const labelProps = ({ label, ariaLabel }: Field) =>
  ariaLabel === undefined ? { label } : { "aria-label": ariaLabel };

/** The value to store for a text: an empty nullable field is null. */
const toStoredValue = ({ kind }: Field, text: string) =>
  text === "" && kind.nullable ? null : text;

const toText = (value: unknown): string =>
  ["string", "number", "boolean"].includes(typeof value) ? `${value as string}` : "";

const SwitchControl = ({ label, hint, value, onChange, error }: Field) => (
  <Switch
    label={label}
    description={hint}
    checked={value === true}
    onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    error={error}
  />
);

function ChoiceControl(field: Field) {
  const { kind, labels, hint, value, onChange, error } = field;
  return (
    <Select
      {...labelProps(field)}
      error={error}
      description={hint}
      {...(labels?.placeholder !== undefined && { placeholder: labels.placeholder })}
      data={[
        ...(kind.nullable ? [{ value: "", label: labels?.none ?? t("None") }] : []),
        ...(kind.schema.enum ?? []).map((option) => ({
          value: option,
          label: labels?.options?.[option] ?? formatOption(option),
        })),
      ]}
      value={toText(value)}
      onChange={(next) => onChange(toStoredValue(field, next ?? ""))}
      allowDeselect={false}
    />
  );
}

function NumberControl(field: Field) {
  const { kind, labels, hint, value, onChange, error } = field;
  return (
    <NumberInput
      {...labelProps(field)}
      error={error}
      description={describeDuration(value, labels) ?? hint}
      suffix={labels?.unit === undefined ? "" : ` ${labels.unit}`}
      hideControls
      allowDecimal={kind.schema.type === "number"}
      value={typeof value === "number" || typeof value === "string" ? value : ""}
      onChange={(next) => onChange(next === "" ? (kind.nullable ? null : undefined) : next)}
    />
  );
}

function describeDuration(value: unknown, labels: FieldLabels | undefined): string | undefined {
  if (labels?.unit !== "s" || typeof value !== "number" || value < 60) return undefined;
  return [formatDuration(value), labels.hint].filter(Boolean).join(". ");
}

const ListControl = ({ label, labels, hint, value, onChange, error }: Field) => (
  <TagsInput
    label={label}
    error={error}
    description={hint}
    value={Array.isArray(value) ? (value as string[]) : []}
    onChange={onChange}
    // Code can contain commas, and can repeat a step or an argument.
    {...(labels?.mono === true && {
      className: "code-list",
      splitChars: ["\n"],
      allowDuplicates: true,
    })}
  />
);

const AssertionsControl = ({ name, kind, label, hint, value, onChange, error, secrets }: Field) => (
  <AssertionsField
    label={label}
    error={error}
    name={name}
    hint={hint}
    sources={kind.sources}
    errorOf={(path) => secrets.errorOf(path)}
    value={(value ?? []) as Assertion[]}
    onChange={onChange}
  />
);

const HeadersControl = ({ name, label, labels, value, onChange, error, secrets }: Field) => (
  <HeadersField
    label={label}
    error={error}
    name={name}
    hint={labels?.hint}
    item={labels?.item ?? t("header")}
    isOpen={labels?.open === true}
    value={(value ?? {}) as Record<string, string | null>}
    onChange={onChange}
    secrets={secrets}
  />
);

const ScalarControl = ({ label, hint, value, onChange, error }: Field) => (
  <TextInput
    label={label}
    error={error}
    description={hint}
    value={value == null ? "" : formatScalar(value as Assertion["value"])}
    onChange={({ currentTarget }) =>
      onChange(currentTarget.value === "" ? null : (parseScalar(currentTarget.value) ?? "null"))
    }
  />
);

const SecretControl = ({ name, kind, label, labels, hint, secrets, ...field }: Field) => (
  <SecretField
    label={label}
    hint={hint}
    placeholder={labels?.placeholder}
    error={secrets.errorOf(name) ?? field.error}
    value={field.value as string | null | undefined}
    onChange={field.onChange}
    isSet={secrets.isSet(name)}
    needsReentry={secrets.needsReentry(name)}
    mayBeNone={kind.nullable}
    generate={field.generate}
  />
);

function TextControl(field: Field) {
  const { labels, hint, value, error, isFirst } = field;
  const text = {
    ...labelProps(field),
    error,
    description: hint,
    placeholder: labels?.placeholder,
    value: toText(value),
    onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      field.onChange(toStoredValue(field, currentTarget.value)),
    ...(isFirst && { "data-autofocus": true }),
    ...(labels?.mono === true && { styles: { input: { fontFamily: "var(--mono)" } } }),
  };
  if (labels?.markdown === true) return <MarkdownField {...text} />;
  if (labels?.long === true) return <Textarea {...text} autosize minRows={2} maxRows={12} />;
  return <TextInput {...text} autoComplete="off" />;
}

/** Fields that belong together, behind a switch. The value is null while the switch is off. */
function ObjectControl({ name, kind, label, error, value, onChange, secrets, ...field }: Field) {
  const parts = kind.parts ?? {};
  const values = value as RecordValues | null;
  const visible = Object.entries(parts).filter(([part]) => field.isShown(`${name}.${part}`));
  const findPartError = (part: string) => secrets.errorOf(`${name}.${part}`);
  const hasPartError = values !== null && Object.keys(parts).some(findPartError);
  return (
    <div className="flex flex-col gap-10">
      <Switch
        label={label}
        checked={values !== null}
        error={hasPartError ? undefined : error}
        onChange={({ currentTarget }) =>
          onChange(currentTarget.checked ? createEmptyRecord(parts) : null)
        }
      />
      {values !== null && (
        <div className="field-row">
          {visible.map(([part, partKind]) => (
            <SchemaField
              key={part}
              name={`${name}.${part}`}
              kind={partKind}
              labels={field.labelsFor(`${name}.${part}`)}
              value={values[part]}
              onChange={(next) => onChange({ ...values, [part]: next })}
              error={findPartError(part)}
              secrets={secrets}
            />
          ))}
        </div>
      )}
    </div>
  );
}

/** A list of records, one line of fields per record. */
function RecordsControl(field: Field) {
  const { name, kind, label, labels, hint, error, onChange, secrets, isShown } = field;
  const parts = kind.parts ?? {};
  const records = (field.value ?? []) as RecordValues[];
  const item = labels?.item ?? "entry";
  /** Resets hidden fields, which must not be sent. */
  const resetHidden = (record: RecordValues): RecordValues =>
    Object.fromEntries(
      Object.entries(parts).map(([part, partKind]) => [
        part,
        isShown(`${name}.${part}`, record) ? record[part] : untouchedValueOf(partKind),
      ]),
    );
  const findRecordPartError = (index: number, part: string) =>
    secrets.errorOf(`${name}[${index}].${part}`);
  const hasPartError = records.some((_, index) =>
    Object.keys(parts).some((part) => findRecordPartError(index, part)),
  );
  return (
    <LinesField
      label={label}
      hint={hint}
      error={hasPartError ? undefined : error}
      item={item}
      lines={records}
      onAdd={() => onChange([...records, createEmptyRecord(parts)])}
      onRemove={(index) => onChange(records.toSpliced(index, 1))}
    >
      {(record, index) => (
        <RecordFields
          field={field}
          record={record}
          index={index}
          item={item}
          onChange={(next) => onChange(records.with(index, resetHidden(next)))}
        />
      )}
    </LinesField>
  );
}

function RecordFields({
  field: { name, kind, secrets, labelsFor, isShown },
  record,
  index,
  item,
  onChange,
}: {
  field: Field;
  record: RecordValues;
  index: number;
  item: string;
  onChange: (record: RecordValues) => void;
}) {
  return Object.entries(kind.parts ?? {})
    .filter(([part]) => isShown(`${name}.${part}`, record))
    .map(([part, partKind]) => {
      const path = `${name}[${index}].${part}`;
      const labels = labelsFor(`${name}.${part}`);
      const label = labels?.label ?? labelFromName(part);
      return (
        <SchemaField
          key={part}
          name={path}
          kind={partKind}
          labels={{ placeholder: label, ...labels, label }}
          ariaLabel={t("{label} of {item} {index}", { label, item, index: index + 1 })}
          value={record[part]}
          onChange={(next) => onChange({ ...record, [part]: next })}
          error={secrets.errorOf(path)}
          secrets={secrets}
        />
      );
    });
}
