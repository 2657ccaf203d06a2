/** The field for the steps of an HTTP check, which run after its first request. */
import { ActionIcon, Button, Input } from "@mantine/core";
import { useState } from "react";
import {
  createEmptyRecord,
  type FieldKind,
  type RecordValues,
} from "../../../components/forms/field-kinds.ts";
import { summarizeFields } from "../../../components/forms/field-summary.ts";
import { FoldedSection } from "../../../components/forms/form.tsx";
import { Icon } from "../../../components/display/icons.tsx";
import { useReorder } from "../../../components/forms/reorder.tsx";
import { SchemaField } from "../../../components/forms/schema-field.tsx";
import type { StoredSecrets } from "../../../components/forms/stored-secrets.ts";
import { maxSteps } from "../../../../src/monitoring/monitors/request-schema.ts";
import { isShown, labelsOf } from "./labels.ts";
import { stepSections } from "./sections.ts";
import { t } from "../../../language/text.ts";

type Props = {
  kind: FieldKind;
  value: readonly RecordValues[];
  onChange: (value: RecordValues[]) => void;
  secrets: StoredSecrets;
};

let keyCount = 0;
/** Creates a key that identifies a step while it is moved. */
const createKey = () => ++keyCount;

/** The steps after the first request. People can add, move and remove them. */
export function StepsField({ kind, value, onChange, secrets }: Props) {
  const { parts = {} } = kind;
  const [storedKeys, setStoredKeys] = useState<readonly number[]>([]);
  const keys = value.map((_, index) => storedKeys[index] ?? createKey());
  if (keys.length !== storedKeys.length) setStoredKeys(keys);
  const change = (items: readonly (readonly [key: number, step: RecordValues])[]) => {
    setStoredKeys(items.map(([key]) => key));
    onChange(items.map(([, step]) => step));
  };
  const items = value.map((step, index) => [keys[index] ?? 0, step] as const);
  const { list, itemOf, gripOf } = useReorder(items, change);
  const labels = labelsOf("http", "steps");
  const stepsError = secrets.errorOf("steps");
  const isPlaced = value.some((_, index) => secrets.errorOf(`steps[${index}]`));
  return (
    <Input.Wrapper
      label={labels?.label}
      description={labels?.hint}
      error={isPlaced ? undefined : stepsError}
      labelElement="div"
    >
      <div className="steps">
        <ul ref={list} aria-label={labels?.label}>
          {items.map(([key, step], index) => (
            <li key={key} className="step" {...itemOf(index)}>
              <StepCard
                number={index + 2}
                at={`steps[${index}]`}
                parts={parts}
                step={step}
                grip={gripOf(index, t("step {number}", { number: index + 2 }))}
                onChange={(next) => onChange(value.with(index, next))}
                onRemove={() => change(items.toSpliced(index, 1))}
                secrets={secrets}
              />
            </li>
          ))}
        </ul>
        {value.length < maxSteps && (
          <Button
            size="xs"
            onClick={() =>
              change([...items, [createKey(), { ...createEmptyRecord(parts), url: "/" }]])
            }
          >
            {t("Add step")}
          </Button>
        )}
      </div>
    </Input.Wrapper>
  );
}

type CardProps = {
  number: number;
  /** Path of the step in the monitor, such as `steps[0]`. */
  at: string;
  parts: Record<string, FieldKind>;
  step: RecordValues;
  grip: React.ReactNode;
  onChange: (step: RecordValues) => void;
  onRemove: () => void;
  secrets: StoredSecrets;
};

const nameStep = (number: number, name: unknown) =>
  typeof name === "string"
    ? t("Step {number}: {name}", { number, name })
    : t("Step {number}", { number });

function StepCard({ number, at, parts, step, grip, onChange, onRemove, secrets }: CardProps) {
  const removeStepPrefix = (path: string) => path.replace(/^steps\[\d+\]\./, "");
  const listLabels = (path: string) => labelsOf("steps", removeStepPrefix(path));
  const renderField = (name: string) => {
    const kind = parts[name];
    const path = `${at}.${name}`;
    if (kind === undefined || !isShown(name, step)) return null;
    return (
      <SchemaField
        key={name}
        name={path}
        kind={kind}
        labels={listLabels(path)}
        value={name in step ? step[name] : kind.initial}
        onChange={(next) => onChange({ ...step, [name]: next })}
        error={secrets.errorOf(path)}
        secrets={secrets}
        labelsFor={listLabels}
        isShown={(part, line) => isShown(removeStepPrefix(part), step, line)}
      />
    );
  };
  return (
    <>
      <div className="step-head flex items-center gap-6">
        {grip}
        <b>{nameStep(number, step["name"])}</b>
        <ActionIcon aria-label={t("Remove step {number}", { number })} onClick={onRemove}>
          <Icon name="close" />
        </ActionIcon>
      </div>
      <div className="step-request">
        {renderField("method")}
        {renderField("url")}
      </div>
      {renderField("name")}
      {stepSections.map(({ title, fields, key = [], none = "" }) => (
        <FoldedSection
          key={title}
          title={title}
          open={false}
          invalid={fields.some((name) => secrets.errorOf(`${at}.${name}`))}
          summary={
            summarizeFields(
              fields.flatMap((name) => {
                const kind = parts[name];
                const about = { name, labels: listLabels(`${at}.${name}`), value: step[name] };
                return kind === undefined ? [] : [{ ...about, kind, isKey: key.includes(name) }];
              }),
            ) || none
          }
        >
          <div className="form-section">{fields.map(renderField)}</div>
        </FoldedSection>
      ))}
    </>
  );
}
