import { NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import type { FieldLabels } from "../../../src/core/kinds.ts";
import { durationInWords } from "../../../src/core/text/words.ts";
import type { Assertion } from "../../../src/monitoring/monitors/assertions-schema.ts";
import { AssertionsField, scalarOf, scalarText } from "./assertions-field.tsx";
import { MarkdownField } from "./markdown-field.tsx";
import {
  emptyOf,
  type FieldKind,
  inWords,
  optionWords,
  type Own,
  untouched,
} from "./field-kinds.ts";
import { LinesField } from "./lines-field.tsx";
import { HeadersField, SecretField } from "./secret-fields.tsx";
import { noSecrets, type StoredSecrets } from "./stored-secrets.ts";

type Props = {
  name: string;
  kind: FieldKind;
  labels?: FieldLabels | undefined;
  value: unknown;
  onChange: (value: unknown) => void;
  error: string | undefined;
  /** Makes up a secret, where both sides may agree on any. */
  generate?: (() => string) | undefined;
  /** One begins to type here. */
  isFirst?: boolean;
  /** The secrets that are stored in it. */
  secrets?: StoredSecrets;
  /** What its parts are called, by path. */
  labelsFor?: (path: string) => FieldLabels | undefined;
  /** Whether one of its parts is asked for, by path and the line of a list in which it stands. */
  isShown?: (path: string, line?: Own) => boolean;
  /** Instead of a label in sight. */
  ariaLabel?: string;
};

/** The control that a field of a schema asks for. */
export function SchemaField({
  name,
  kind,
  labels,
  value,
  onChange,
  error,
  generate,
  isFirst = false,
  secrets = noSecrets,
  labelsFor = () => undefined,
  isShown = () => true,
  ariaLabel,
}: Props) {
  const { schema, nullable, secret } = kind;
  const hint = labels?.hint ?? schema.description;
  const common = { label: labels?.label ?? inWords(name), error };
  const input = ariaLabel === undefined ? common : { "aria-label": ariaLabel, error };
  const emptied = (text: string) => (text === "" && nullable ? null : text);
  switch (kind.control) {
    case "switch":
      return (
        <Switch
          label={common.label}
          description={hint}
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
          error={error}
        />
      );
    case "choice":
      return (
        <Select
          {...input}
          description={hint}
          data={[
            ...(nullable ? [{ value: "", label: labels?.none ?? "None" }] : []),
            ...(schema.enum ?? []).map((option) => ({
              value: option,
              label: labels?.options?.[option] ?? optionWords(option),
            })),
          ]}
          value={textOf(value)}
          onChange={(next) => onChange(emptied(next ?? ""))}
          allowDeselect={false}
        />
      );
    case "number":
      return (
        <NumberInput
          {...input}
          description={durationHint(value, labels) ?? hint}
          suffix={labels?.unit === undefined ? "" : ` ${labels.unit}`}
          hideControls
          allowDecimal={schema.type === "number"}
          value={typeof value === "number" || typeof value === "string" ? value : ""}
          onChange={(next) => onChange(next === "" ? (nullable ? null : undefined) : next)}
        />
      );
    case "list":
      return (
        <TagsInput
          {...common}
          description={hint}
          value={Array.isArray(value) ? (value as string[]) : []}
          onChange={onChange}
          // A comma may stand in code, and a step or an argument twice.
          {...(labels?.mono === true && {
            className: "code-list",
            splitChars: ["\n"],
            allowDuplicates: true,
          })}
        />
      );
    case "assertions":
      return (
        <AssertionsField
          {...common}
          name={name}
          hint={hint}
          sources={kind.sources}
          errorOf={(path) => secrets.errorOf(path)}
          value={(value ?? []) as Assertion[]}
          onChange={onChange}
        />
      );
    case "headers":
      return (
        <HeadersField
          {...common}
          name={name}
          hint={labels?.hint}
          item={labels?.item ?? "header"}
          isOpen={labels?.open === true}
          value={(value ?? {}) as Record<string, string | null>}
          onChange={onChange}
          secrets={secrets}
        />
      );
    case "object":
      return (
        <ObjectField
          {...common}
          name={name}
          hint={hint}
          parts={kind.parts ?? {}}
          value={value as Own | null}
          onChange={onChange}
          secrets={secrets}
          labelsFor={labelsFor}
          isShown={isShown}
        />
      );
    case "records":
      return (
        <RecordsField
          {...common}
          item={labels?.item ?? "entry"}
          name={name}
          hint={hint}
          parts={kind.parts ?? {}}
          value={(value ?? []) as Own[]}
          onChange={onChange}
          secrets={secrets}
          labelsFor={labelsFor}
          isShown={isShown}
        />
      );
    case "scalar":
      return (
        <TextInput
          {...common}
          description={hint}
          value={value == null ? "" : scalarText(value as Assertion["value"])}
          onChange={({ currentTarget }) =>
            onChange(currentTarget.value === "" ? null : (scalarOf(currentTarget.value) ?? "null"))
          }
        />
      );
    default:
      break;
  }
  const text = {
    ...input,
    description: hint,
    placeholder: labels?.placeholder,
    value: textOf(value),
    ...(isFirst && { "data-autofocus": true }),
    ...(labels?.mono === true && { styles: { input: { fontFamily: "var(--mono)" } } }),
  };
  if (secret)
    return (
      <SecretField
        label={common.label}
        hint={hint}
        placeholder={labels?.placeholder}
        error={secrets.errorOf(name) ?? error}
        value={value as string | null | undefined}
        onChange={onChange}
        isSet={secrets.isSet(name)}
        isAsked={secrets.isAsked(name)}
        mayBeNone={nullable}
        generate={generate}
      />
    );
  if (labels?.markdown === true)
    return (
      <MarkdownField
        {...text}
        onChange={({ currentTarget }) => onChange(emptied(currentTarget.value))}
      />
    );
  if (labels?.long === true)
    return (
      <Textarea
        {...text}
        autosize
        minRows={2}
        maxRows={12}
        onChange={({ currentTarget }) => onChange(emptied(currentTarget.value))}
      />
    );
  return (
    <TextInput
      {...text}
      autoComplete="off"
      onChange={({ currentTarget }) => onChange(emptied(currentTarget.value))}
    />
  );
}

const textOf = (value: unknown): string =>
  ["string", "number", "boolean"].includes(typeof value) ? `${value as string}` : "";

function durationHint(value: unknown, labels: FieldLabels | undefined): string | undefined {
  if (labels?.unit !== "s" || typeof value !== "number" || value < 60) return undefined;
  return [durationInWords(value), labels.hint].filter(Boolean).join(". ");
}

type ObjectProps<V> = {
  name: string;
  label: string;
  hint: string | undefined;
  error: string | undefined;
  parts: Record<string, FieldKind>;
  value: V;
  onChange: (value: V) => void;
  secrets: StoredSecrets;
  labelsFor: (path: string) => FieldLabels | undefined;
  isShown: (path: string, line?: Own) => boolean;
};

/** Fields that belong together; off is null. */
function ObjectField({
  name,
  label,
  error,
  parts,
  value,
  onChange,
  secrets,
  labelsFor,
  isShown,
}: ObjectProps<Own | null>) {
  const shown = Object.entries(parts).filter(([part]) => isShown(`${name}.${part}`));
  const issueOf = (part: string) => secrets.errorOf(`${name}.${part}`);
  const isPlaced = value !== null && Object.keys(parts).some(issueOf);
  return (
    <div className="object-field">
      <Switch
        label={label}
        checked={value !== null}
        error={isPlaced ? undefined : error}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? emptyOf(parts) : null)}
      />
      {value !== null && (
        <div className="field-row">
          {shown.map(([part, kind]) => (
            <SchemaField
              key={part}
              name={`${name}.${part}`}
              kind={kind}
              labels={labelsFor(`${name}.${part}`)}
              value={value[part]}
              onChange={(next) => onChange({ ...value, [part]: next })}
              error={issueOf(part)}
              secrets={secrets}
            />
          ))}
        </div>
      )}
    </div>
  );
}

/** A list of records, each a line of its fields. */
function RecordsField({
  name,
  label,
  hint,
  error,
  parts,
  value,
  onChange,
  secrets,
  labelsFor,
  isShown,
  item,
}: ObjectProps<Own[]> & {
  /** What one of them is called. */
  item: string;
}) {
  /** What is out of sight must not be sent. */
  const withoutHidden = (record: Own): Own =>
    Object.fromEntries(
      Object.entries(parts).map(([part, kind]) => [
        part,
        isShown(`${name}.${part}`, record) ? record[part] : untouched(kind),
      ]),
    );
  const pathOf = (index: number, part: string) => `${name}[${index}].${part}`;
  const isPlaced = value.some((_, index) =>
    Object.keys(parts).some((part) => secrets.errorOf(pathOf(index, part))),
  );
  return (
    <LinesField
      label={label}
      hint={hint}
      error={isPlaced ? undefined : error}
      item={item}
      lines={value}
      onAdd={() => onChange([...value, emptyOf(parts)])}
      onRemove={(index) => onChange(value.toSpliced(index, 1))}
    >
      {(record, index) =>
        Object.entries(parts)
          .filter(([part]) => isShown(`${name}.${part}`, record))
          .map(([part, kind]) => {
            const words = labelsFor(`${name}.${part}`);
            const called = words?.label ?? inWords(part);
            return (
              <SchemaField
                key={part}
                name={pathOf(index, part)}
                kind={kind}
                labels={{ placeholder: called, ...words, label: called }}
                ariaLabel={`${called} of ${item} ${index + 1}`}
                value={record[part]}
                onChange={(next) =>
                  onChange(value.with(index, withoutHidden({ ...record, [part]: next })))
                }
                error={secrets.errorOf(pathOf(index, part))}
                secrets={secrets}
              />
            );
          })
      }
    </LinesField>
  );
}
