/** The monitor groups to which a person, an invitation or an API key is limited. */
import { useQuery } from "@tanstack/react-query";
import { accessBounds } from "../../../../src/core/limits.ts";
import { RecordsField } from "../../../components/forms/records-field.tsx";
import { overviewQuery } from "../../../data/overview.ts";
import { t } from "../../../language/text.ts";

/** Field for the groups. None means all monitors. Deleted groups stay, because they can be restored. */
export function GroupsField({
  value,
  onChange,
  error,
  who,
}: {
  value: string[];
  onChange: (groupIds: string[]) => void;
  error: string | undefined;
  /** Subject of the description, such as “This person”. */
  who: string;
}) {
  const groups = useGroups();
  return (
    <RecordsField
      label={t("Groups")}
      description={
        value.length === 0
          ? t("Empty: all monitors.")
          : t(
              "{who} sees only the monitors of these groups, and can change nothing that concerns others.",
              { who },
            )
      }
      records={addDeleted(groups, value)}
      nothingFound={groups.length === 0 ? t("There are no monitor groups") : t("No results")}
      openOnFocus={false}
      maxValues={accessBounds.groups.value}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}

type Group = { id: string; name: string };

function useGroups(): readonly Group[] {
  return useQuery(overviewQuery).data?.groups ?? [];
}

const addDeleted = (groups: readonly Group[], ids: readonly string[]) => [
  ...groups,
  ...ids
    .filter((id) => !groups.some((group) => group.id === id))
    .map((id) => ({ id, name: t("Deleted group") })),
];

/** The groups of a limit as a fact of an entry; none without a limit. */
export function useGroupFact(groupIds: readonly string[] | null): [label: string, names: string][] {
  const groups = useGroups();
  if (groupIds === null) return [];
  const names = groupIds.map((id) => groups.find((group) => group.id === id)?.name ?? t("deleted"));
  const [first, second, ...others] = names;
  const firstNames = [first, second].filter((name) => name !== undefined).join(", ");
  return [
    [
      t("Groups"),
      others.length === 0
        ? firstNames
        : t("{names} and {count} more", { names: firstNames, count: others.length }),
    ],
  ];
}

/** Converts the value of the field for a request: none means all monitors. */
export const toGroupLimit = (groupIds: string[]) => (groupIds.length === 0 ? null : groupIds);
