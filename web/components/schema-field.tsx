import { NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { z } from "zod";
import type { FieldLabels } from "../../src/core/kinds.ts";
import { durationInWords } from "../../src/core/text.ts";
import type {
  Assertion,
  AssertionSource,
} from "../../src/monitoring/monitors/assertions-schema.ts";
import { AssertionsField, scalarOf, scalarText } from "./assertions-field.tsx";
import { MarkdownField } from "./markdown-field.tsx";
import { HeadersField, LoginField, SecretField } from "./secret-fields.tsx";
import { noSecrets, type StoredSecrets } from "./stored-secrets.ts";

type Json = {
  type?: string;
  enum?: string[];
  anyOf?: Json[];
  items?: Json;
  properties?: Record<string, Json>;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  writeOnly?: boolean;
  description?: string;
  /** A schema with a name of its own stands among the definitions. */
  $ref?: string;
  $defs?: Record<string, Json>;
};

type FieldKind = {
  control:
    | "text"
    | "number"
    | "switch"
    | "choice"
    | "list"
    | "assertions"
    | "headers"
    | "login"
    | "scalar";
  nullable: boolean;
  secret: boolean;
  schema: Json;
  /** What the assertions of a type may be about. */
  sources?: AssertionSource[];
  initial: unknown;
};

/** What a field of a zod schema asks for, by its JSON schema. */
export function kindOf(field: z.ZodType): FieldKind {
  const root = z.toJSONSchema(field, { io: "input", unrepresentable: "any" }) as Json;
  const named = ({ $ref, ...own }: Json): Json => ({
    ...root.$defs?.[$ref?.split("/").pop() ?? ""],
    ...own,
  });
  const options = (root.anyOf?.filter(({ type }) => type !== "null") ?? [root]).map(named);
  const nullable = root.anyOf?.some(({ type }) => type === "null") ?? false;
  const [first = {}] = options;
  const nested = first.anyOf ?? options;
  const schema = { ...first };
  const base = { nullable, secret: root.writeOnly === true || schema.writeOnly === true, schema };
  const initial = root.default ?? (nullable ? null : undefined);
  if (nested.length > 1) return { ...base, control: "scalar", initial };
  if (schema.enum) return { ...base, control: "choice", initial };
  if (schema.type === "boolean") return { ...base, control: "switch", initial };
  if (schema.type === "integer" || schema.type === "number")
    return { ...base, control: "number", initial };
  if (schema.type === "array") {
    const parts = schema.items === undefined ? undefined : named(schema.items).properties;
    if (parts === undefined) return { ...base, control: "list", initial };
    const sources = parts["source"]?.enum as AssertionSource[];
    return { ...base, control: "assertions", sources, initial };
  }
  if (schema.properties) return { ...base, control: "login", initial };
  if (schema.type === "object" || schema.type === undefined)
    return { ...base, control: "headers", initial: initial ?? {} };
  return { ...base, control: "text", initial: initial ?? "" };
}

/** `retryInterval` as `Retry interval`, for a field without words of its own. */
export const inWords = (name: string) =>
  name.charAt(0).toUpperCase() +
  name.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

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
}: Props) {
  const { schema, nullable, secret } = kind;
  const hint = labels?.hint ?? schema.description;
  const common = { label: labels?.label ?? inWords(name), error };
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
          {...common}
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
          {...common}
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
          value={(value ?? {}) as Record<string, string | null>}
          onChange={onChange}
          secrets={secrets}
        />
      );
    case "login":
      return (
        <LoginField
          {...common}
          name={name}
          value={value as { username: string; password?: string | null } | null}
          onChange={onChange}
          secrets={secrets}
        />
      );
    case "scalar":
      return (
        <TextInput
          {...common}
          description={hint}
          value={value === null ? "" : scalarText(value as Assertion["value"])}
          onChange={({ currentTarget }) =>
            onChange(currentTarget.value === "" ? null : (scalarOf(currentTarget.value) ?? "null"))
          }
        />
      );
    default:
      break;
  }
  const text = {
    ...common,
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

export const optionWords = (option: string) =>
  /^[A-Z]+$/.test(option) ? option : option.charAt(0).toUpperCase() + option.slice(1);
