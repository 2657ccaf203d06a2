import { Select } from "@mantine/core";
import { monitorKinds, type MonitorType } from "../../../src/monitoring/monitors/kinds-schema.ts";
import { typeMarks } from "./type-marks.ts";
import { typeName } from "./type-names.ts";

const types = Object.keys(monitorKinds) as MonitorType[];
const data = types.map((type) => ({ value: type, label: typeName(type) }));
const plain = (text: string) => text.replaceAll("`", "");

function TypeMark({ type }: { type: MonitorType }) {
  return (
    <svg className="type-mark" viewBox="0 0 24 24" aria-hidden="true">
      <path d={typeMarks[type]} />
    </svg>
  );
}

/** Chooses among all types of monitors, found by their names and by what they watch. */
export function TypeField({
  value,
  onChange,
}: {
  value: MonitorType;
  onChange: (type: MonitorType) => void;
}) {
  return (
    <Select
      label="Type"
      searchable
      allowDeselect={false}
      maxDropdownHeight={360}
      nothingFoundMessage="No type of this name"
      data={data}
      value={value}
      onChange={(next) => next !== null && onChange(next as MonitorType)}
      filter={({ options, search }) => {
        const words = search.trim().toLowerCase();
        return options.filter((option) => {
          if (!("value" in option)) return false;
          const { upWhen } = monitorKinds[option.value as MonitorType];
          return `${option.value} ${option.label} ${upWhen}`.toLowerCase().includes(words);
        });
      }}
      leftSection={<TypeMark type={value} />}
      renderOption={({ option }) => {
        const type = option.value as MonitorType;
        return (
          <span className="type-option">
            <TypeMark type={type} />
            <span>
              <b>{option.label}</b>
              <small>Up when {plain(monitorKinds[type].upWhen)}</small>
            </span>
          </span>
        );
      }}
    />
  );
}
