import { ActionIcon, TextInput } from "@mantine/core";
import type { StatusPageSection } from "../../../src/status-pages/schema.ts";
import type { Overview, OverviewMonitor } from "../../data/overview.ts";
import { Icon } from "../../components/icons.tsx";
import { useReorder } from "../../components/reorder.tsx";

type Listed = StatusPageSection["monitors"];

/** The monitors of a list in their order, each under a public name if it has one. */
export function FreeList({
  monitors,
  overview,
  onChange,
}: {
  monitors: Listed;
  overview: Overview;
  onChange: (monitors: Listed) => void;
}) {
  const { list, itemOf, gripOf } = useReorder(monitors, onChange);
  const nameOf = new Map(overview.monitors.map(({ id, name }) => [id, name]));
  return (
    <ul ref={list}>
      {monitors.map(({ id, name }, index) => {
        const own = nameOf.get(id) ?? "Deleted monitor";
        return (
          <li key={id} className="section-monitor" {...itemOf(index)}>
            {gripOf(index, name ?? own)}
            <PublicName
              own={own}
              name={name}
              onChange={(next) => onChange(monitors.with(index, { id, name: next }))}
            />
            <ActionIcon
              aria-label={`Remove ${name ?? own} from the page`}
              size={26}
              onClick={() => onChange(monitors.toSpliced(index, 1))}
            >
              <Icon name="close" size={14} />
            </ActionIcon>
          </li>
        );
      })}
    </ul>
  );
}

/** The monitors of a group in its order; a section holds only the names that differ. */
export function GroupNames({
  members,
  monitors,
  onChange,
}: {
  members: readonly OverviewMonitor[];
  monitors: Listed;
  onChange: (monitors: Listed) => void;
}) {
  const publicNames = new Map(monitors.map(({ id, name }) => [id, name]));
  if (members.length === 0) return <p className="quiet">The group has no monitors yet.</p>;
  return (
    <ul>
      {members.map(({ id, name }) => (
        <li key={id} className="section-monitor">
          <PublicName
            own={name}
            name={publicNames.get(id) ?? null}
            onChange={(next) => {
              const others = monitors.filter((one) => one.id !== id);
              onChange(next === null ? others : [...others, { id, name: next }]);
            }}
          />
        </li>
      ))}
    </ul>
  );
}

function PublicName({
  own,
  name,
  onChange,
}: {
  own: string;
  name: string | null;
  onChange: (name: string | null) => void;
}) {
  return (
    <>
      <TextInput
        size="xs"
        className="section-name"
        aria-label={`Public name of ${own}`}
        placeholder={own}
        value={name ?? ""}
        onChange={({ currentTarget: { value } }) => onChange(value === "" ? null : value)}
      />
      {name !== null && <span className="section-own faint">{own}</span>}
    </>
  );
}
