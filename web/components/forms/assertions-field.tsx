/** The assertions field of the monitor editor: one line per condition on a response. */
import { NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  type Assertion,
  type AssertionOp,
  assertionSources,
  type AssertionSource,
  parseExactNumber,
  isOrdered,
  maxAssertions,
} from "../../../src/monitoring/monitors/assertions-schema.ts";
import { LinesField } from "./lines-field.tsx";
import { t } from "../../language/text.ts";

const sourceWords: Record<AssertionSource, string> = {
  status: t("Status"),
  header: t("Header"),
  body: t("Body"),
  json: t("JSON value"),
  latency: t("Latency (ms)"),
  certificateDays: t("Certificate days"),
  redirectCount: t("Redirects"),
};

const opWords: Record<AssertionOp, string> = {
  equals: t("is"),
  notEquals: t("is not"),
  lessThan: t("is less than"),
  lessThanOrEqual: t("is at most"),
  greaterThan: t("is greater than"),
  greaterThanOrEqual: t("is at least"),
  contains: t("contains"),
  notContains: t("does not contain"),
  matches: t("matches"),
  notMatches: t("does not match"),
  exists: t("exists"),
  notExists: t("does not exist"),
};

const pathWords: Partial<Record<AssertionSource, { label: string; placeholder: string }>> = {
  header: { label: t("Header name"), placeholder: "Content-Type" },
  json: { label: t("JSON path"), placeholder: "$.status" },
};

const buildWordOptions = <T extends string>(values: readonly T[], words: Record<T, string>) =>
  values.map((value) => ({ value, label: words[value] }));

const allSources = Object.keys(assertionSources) as AssertionSource[];

/**
 * How the value of an assertion is entered. `any` is a JSON value whose type follows from the text.
 */
type InputKind = "text" | "number" | "any" | "none";

function inputKindOf({ source, op }: Pick<Assertion, "source" | "op">): InputKind {
  if (op === "exists" || op === "notExists") return "none";
  if (isOrdered(op) || assertionSources[source].is === "number") return "number";
  return op === "matches" || op === "notMatches" ? "text" : assertionSources[source].is;
}

const emptyValues = { text: "", any: "", number: null, none: null };

/** Applies a change of source or comparison, and resets the parts that it makes invalid. */
function changeAssertion(before: Assertion, change: Partial<Assertion>): Assertion {
  const next = { ...before, ...change };
  const { ops, path } = assertionSources[next.source];
  if (!(ops as readonly AssertionOp[]).includes(next.op)) next.op = ops[0];
  if (next.source !== before.source) next.path = path === null ? null : "";
  if (inputKindOf(next) !== inputKindOf(before)) next.value = emptyValues[inputKindOf(next)];
  return next;
}

type Props = {
  name: string;
  label: string;
  hint?: string | undefined;
  /** Sources that the monitor type supports. Default: all. */
  sources?: readonly AssertionSource[] | undefined;
  error: string | undefined;
  errorOf: (path: string) => string | undefined;
  value: readonly Assertion[];
  onChange: (value: Assertion[]) => void;
};

/** A list of assertions. Each line has a source, a comparison and a value. */
export function AssertionsField({
  name,
  label,
  hint,
  sources = allSources,
  error,
  errorOf,
  value,
  onChange,
}: Props) {
  const issues = value.map((_, index) => {
    const at = `${name}[${index}]`;
    const fieldError = (field: string) => errorOf(`${at}.${field}`);
    return {
      source: fieldError("source"),
      path: fieldError("path"),
      op: fieldError("op"),
      value: fieldError("value"),
    };
  });
  const isPlaced = issues.some((issue) => Object.values(issue).some(Boolean));
  return (
    <LinesField
      label={label}
      hint={hint}
      error={isPlaced ? undefined : error}
      item={t("assertion")}
      lines={value}
      onAdd={
        value.length < maxAssertions ? () => onChange([...value, createAssertion(sources)]) : null
      }
      onRemove={(index) => onChange(value.toSpliced(index, 1))}
    >
      {(assertion, index) => (
        <AssertionControls
          number={index + 1}
          sources={sources}
          assertion={assertion}
          issues={issues[index] ?? {}}
          onChange={(change) => onChange(value.with(index, changeAssertion(assertion, change)))}
        />
      )}
    </LinesField>
  );
}

const createAssertion = (sources: readonly AssertionSource[]): Assertion =>
  sources.includes("body")
    ? { source: "body", path: null, op: "contains", value: "" }
    : { source: sources[0] ?? "latency", path: "", op: "equals", value: "" };

type ControlsProps = {
  number: number;
  sources: readonly AssertionSource[];
  assertion: Assertion;
  issues: Partial<Record<keyof Assertion, string | undefined>>;
  onChange: (change: Partial<Assertion>) => void;
};

function AssertionControls({ number, sources, assertion, issues, onChange }: ControlsProps) {
  const { source, path, op } = assertion;
  const inputKind = inputKindOf(assertion);
  const pathLabels = pathWords[source];
  const labelPart = (part: string) => t("{part} of assertion {number}", { part, number });
  return (
    <>
      <Select
        aria-label={labelPart(t("Source"))}
        data={buildWordOptions(sources, sourceWords)}
        value={source}
        onChange={(next) => onChange({ source: next as AssertionSource })}
        allowDeselect={false}
        error={issues.source}
      />
      {pathLabels !== undefined && (
        <TextInput
          aria-label={labelPart(pathLabels.label)}
          placeholder={pathLabels.placeholder}
          autoComplete="off"
          styles={{ input: { fontFamily: "var(--mono)" } }}
          value={path ?? ""}
          onChange={({ currentTarget }) => onChange({ path: currentTarget.value })}
          error={issues.path}
        />
      )}
      <Select
        aria-label={labelPart(t("Comparison"))}
        data={buildWordOptions(assertionSources[source].ops, opWords)}
        value={op}
        onChange={(next) => onChange({ op: next as AssertionOp })}
        allowDeselect={false}
        error={issues.op}
      />
      {inputKind !== "none" && (
        <ValueInput
          key={inputKind}
          label={labelPart(t("Value"))}
          inputKind={inputKind}
          placeholder={op === "matches" ? t("Regular expression (RE2)") : ""}
          value={assertion.value}
          onChange={(value) => onChange({ value })}
          error={issues.value}
        />
      )}
    </>
  );
}

type Value = Assertion["value"];

type ValueProps = {
  label: string;
  inputKind: Exclude<InputKind, "none">;
  placeholder: string;
  value: Value;
  onChange: (value: Value) => void;
  error: string | undefined;
};

function ValueInput({ label, inputKind, placeholder, value, onChange, error }: ValueProps) {
  const [text, setText] = useState(() =>
    inputKind === "any" ? formatScalar(value) : `${value ?? ""}`,
  );
  if (inputKind === "number")
    return (
      <NumberInput
        aria-label={label}
        hideControls
        value={typeof value === "boolean" ? "" : (value ?? "")}
        onChange={(next) => onChange(next === "" ? null : parseExactNumber(String(next)))}
        error={error}
      />
    );
  return (
    <TextInput
      aria-label={label}
      autoComplete="off"
      placeholder={placeholder}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        onChange(inputKind === "any" ? parseScalar(currentTarget.value) : currentTarget.value);
      }}
      error={error}
    />
  );
}

/** Parses a JSON scalar. Quotes force text: `"12"` is a string, `12` is a number. */
export function parseScalar(text: string): Value {
  if (text === "null") return null;
  if (text === "true" || text === "false") return text === "true";
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)
    ? parseExactNumber(text)
    : text.replace(/^"(.*)"$/s, "$1");
}

/**
 * Formats a JSON scalar, the reverse of `parseScalar`. Quotes text that would parse as another type.
 */
export function formatScalar(value: Value): string {
  if (typeof value !== "string") return String(value);
  return parseScalar(value) === value ? value : `"${value}"`;
}
