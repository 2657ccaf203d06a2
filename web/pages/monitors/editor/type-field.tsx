/** The field that chooses the type of a monitor, with icons and search. */
import { Select } from "@mantine/core";
import {
  monitorKinds,
  type MonitorType,
} from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { families, familyOf, orderedTypes } from "../type-families.ts";
import { getTypeName } from "../type-names.ts";
import { markOf } from "./type-marks.ts";
import { upWhen } from "./up-when.ts";
import { t } from "../../../language/text.ts";

const data = families.map((family) => ({
  group: family,
  items: orderedTypes
    .filter((type) => familyOf(type) === family)
    .map((type) => ({ value: type, label: getTypeName(type) })),
}));

function TypeMark({ type }: { type: MonitorType }) {
  return (
    <svg className="type-mark" viewBox="0 0 24 24" aria-hidden="true">
      <path d={markOf(type)} />
    </svg>
  );
}

/** Types whose name, family or description contains the text. */
function filterTypes(search: string) {
  const words = search.trim().toLowerCase();
  return data
    .map(({ group, items }) => ({
      group,
      items: items.filter(({ value, label }) =>
        [value, label, group, upWhen[value], monitorKinds[value].upWhen]
          .join(" ")
          .toLowerCase()
          .includes(words),
      ),
    }))
    .filter(({ items }) => items.length > 0);
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
      label={t("Type")}
      searchable
      allowDeselect={false}
      classNames={{ options: "type-options" }}
      nothingFoundMessage={t("No type of this name")}
      data={data}
      value={value}
      onChange={(next) => next !== null && onChange(next as MonitorType)}
      filter={({ search }) => filterTypes(search)}
      leftSection={<TypeMark type={value} />}
      renderOption={({ option }) => {
        const type = option.value as MonitorType;
        return (
          <span className="type-option flex items-center gap-10">
            <TypeMark type={type} />
            <span>
              <b>{option.label}</b>
              <small>{upWhen[type]}</small>
            </span>
          </span>
        );
      }}
    />
  );
}
