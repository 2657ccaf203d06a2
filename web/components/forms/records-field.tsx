import { MultiSelect } from "@mantine/core";
import { useState } from "react";
import { t } from "../../language/text.ts";

type NamedRecord = { id: string; name: string; group?: string };

/**
 * Field for several records, chosen by name. While typing, the first match is active, and Enter
 * adds it. Afterwards no option is active, so that a second Enter adds no other record, and the list
 * is closed, so that it covers no button.
 */
export function RecordsField({
  records,
  nothingFound = t("No results"),
  ...field
}: {
  label: string;
  description?: string;
  records: readonly NamedRecord[] | undefined;
  nothingFound?: string;
  maxValues?: number;
  /** False if the field is the only one of a dialog, whose buttons the options would cover. */
  openOnFocus?: boolean;
  value: string[];
  onChange: (ids: string[]) => void;
  error: string | undefined;
}) {
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  return (
    <MultiSelect
      searchable
      clearable
      limit={100}
      nothingFoundMessage={nothingFound}
      searchValue={text}
      onSearchChange={setText}
      selectFirstOptionOnChange={text !== ""}
      dropdownOpened={isOpen}
      onDropdownOpen={() => setOpen(true)}
      onDropdownClose={() => setOpen(false)}
      onOptionSubmit={() => text !== "" && setOpen(false)}
      data={listOptions(records ?? [])}
      {...field}
    />
  );
}

/** Options, under the headings of their groups if they have any. */
function listOptions(records: readonly NamedRecord[]) {
  const toItems = (all: readonly NamedRecord[]) =>
    all.map(({ id, name }) => ({ value: id, label: name }));
  if (records.every(({ group }) => group === undefined)) return toItems(records);
  return [...Map.groupBy(records, ({ group = "" }) => group)].map(([group, members]) => ({
    group,
    items: toItems(members),
  }));
}
