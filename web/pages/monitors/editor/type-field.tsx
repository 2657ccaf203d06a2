/** The field that chooses the type of a monitor, with icons and search. */
import { Select } from "@mantine/core";
import {
  monitorKinds,
  type MonitorType,
} from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { markOf } from "./type-marks.ts";

const types = Object.keys(monitorKinds) as MonitorType[];
const data = types.map((type) => ({ value: type, label: monitorKinds[type].name }));

/** The first sentence of the type's description of “up”. */
const shortenUpWhen = (type: MonitorType) =>
  (/^.*?\.(?= |$)/.exec(monitorKinds[type].upWhen)?.[0] ?? "").replaceAll("`", "");

function TypeMark({ type }: { type: MonitorType }) {
  return (
    <svg className="type-mark" viewBox="0 0 24 24" aria-hidden="true">
      <path d={markOf(type)} />
    </svg>
  );
}

/** Chooses a monitor type. Search matches its name and description. */
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
      classNames={{ options: "type-options" }}
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
          <span className="type-option flex items-center gap-10">
            <TypeMark type={type} />
            <span>
              <b>{option.label}</b>
              <small>Up when {shortenUpWhen(type)}</small>
            </span>
          </span>
        );
      }}
    />
  );
}
