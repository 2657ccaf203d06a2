import { MultiSelect } from "@mantine/core";
import { useState } from "react";

/**
 * Field for several records, chosen by name. While typing, the first match is active, and Enter
 * adds it. Afterwards no option is active, so that a second Enter adds no other record.
 */
export function RecordsField({
  records,
  nothingFound = "No results",
  ...field
}: {
  label: string;
  description?: string;
  records: readonly { id: string; name: string }[] | undefined;
  nothingFound?: string;
  maxValues?: number;
  value: string[];
  onChange: (ids: string[]) => void;
  error: string | undefined;
}) {
  const [text, setText] = useState("");
  return (
    <MultiSelect
      searchable
      clearable
      limit={100}
      nothingFoundMessage={nothingFound}
      searchValue={text}
      onSearchChange={setText}
      selectFirstOptionOnChange={text !== ""}
      data={(records ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      {...field}
    />
  );
}
