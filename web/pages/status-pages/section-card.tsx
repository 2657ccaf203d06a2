import { ActionIcon, Select, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { StatusPageSection as Section } from "../../../src/status-pages/schema.ts";
import type { Overview } from "../../data/overview.ts";
import { plural } from "../../components/figures.ts";
import { Icon } from "../../components/icons.tsx";
import { FreeList, GroupNames } from "./section-monitors.tsx";

type Props = {
  section: Section;
  overview: Overview;
  /** Monitors that stand in some list of the page already. */
  listed: ReadonlySet<string>;
  error: string | undefined;
  nameError: string | undefined;
  grip: (name: string) => ReactNode;
  onChange: (section: Section) => void;
  onRemove: () => void;
};

/** One section: its name, and on demand its monitors. */
export function SectionCard({
  section,
  overview,
  listed,
  error,
  nameError,
  grip,
  onChange,
  onRemove,
}: Props) {
  const { name, groupId, monitors } = section;
  const [open, setOpen] = useState(groupId === null && monitors.length === 0);
  const group = overview.groups.find(({ id }) => id === groupId);
  const members = overview.monitors.filter((monitor) => monitor.groupId === groupId);
  const title = name ?? group?.name ?? "the section";
  const count = groupId === null ? monitors.length : members.length;
  const free = overview.monitors.filter(({ id }) => !listed.has(id));
  return (
    <>
      <div className="section-head">
        {grip(title)}
        {group ? (
          <i className={`dot dot-${group.color}`} title="A group" />
        ) : (
          <Icon name="list" size={14} />
        )}
        <TextInput
          size="xs"
          className="section-name"
          aria-label={group ? `Name of ${group.name} on the page` : "Name of the section"}
          placeholder={group?.name ?? "Name"}
          value={name ?? ""}
          error={nameError !== undefined}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...section, name: value === "" ? null : value })
          }
        />
        <button
          type="button"
          className="plain-button section-count num"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {plural(count, "monitor")} <span className="visually-hidden">of {title}</span>
          <Icon name={open ? "down" : "right"} size={12} />
        </button>
        <ActionIcon aria-label={`Remove ${title}`} size={26} onClick={onRemove}>
          <Icon name="close" size={14} />
        </ActionIcon>
      </div>
      {error !== undefined && <p className="section-flaw down">{error}</p>}
      {open && (
        <div className="section-monitors">
          {groupId === null ? (
            <FreeList
              monitors={monitors}
              overview={overview}
              onChange={(next) => onChange({ ...section, monitors: next })}
            />
          ) : (
            <GroupNames
              members={members}
              monitors={monitors}
              onChange={(next) => onChange({ ...section, monitors: next })}
            />
          )}
          {groupId === null && (
            <Select
              size="xs"
              aria-label={`Add a monitor to ${title}`}
              placeholder={free.length === 0 ? "All monitors are on the page" : "Add a monitor…"}
              disabled={free.length === 0}
              searchable
              value={null}
              data={free.slice(0, 500).map(({ id, name }) => ({ value: id, label: name }))}
              onChange={(id) =>
                id !== null && onChange({ ...section, monitors: [...monitors, { id, name: null }] })
              }
            />
          )}
        </div>
      )}
    </>
  );
}
