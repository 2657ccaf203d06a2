/** The toolbar that pauses, mutes, tags, moves or deletes the selected monitors. */
import { ActionIcon, Button, Menu, Popover, TagsInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useAlertChannels } from "../../../data/alert-channels.ts";
import { listKnownMonitors, type Overview } from "../../../data/overview.ts";
import { openDialog } from "../../../components/open-dialog.ts";
import { pluralize } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { MenuItem } from "../../../components/menus.tsx";
import { notifyError } from "../../../components/toasts.tsx";
import { changeMonitors, deleteMonitors } from "../actions.ts";
import { selection } from "./list-state.ts";
import type { BulkChange } from "../bulk-undo.ts";

/** The toolbar that changes all selected monitors in one write. */
export default function BulkBar({
  overview,
  found = overview,
}: {
  overview: Overview;
  /** Monitors that the server found, if the page is filtered. */
  found?: Overview | undefined;
}) {
  const selected = selection.use();
  if (selected.size === 0) return null;
  const known = new Map(
    [...listKnownMonitors(overview), ...listKnownMonitors(found)].map((one) => [one.id, one]),
  );
  const chosen = [...selected].flatMap((id) => known.get(id) ?? []);
  const change = (what: BulkChange) => void changeMonitors(selected, what).catch(notifyError);
  const remove = () => {
    deleteMonitors(chosen);
    selection.clear();
  };
  return (
    <div className="bulk" role="toolbar" aria-label="Change the selected monitors">
      <span className="bulk-count" aria-live="polite">
        {pluralize(selected.size, "monitor")} selected
      </span>
      <Drop label="Pause">
        <Menu.Item onClick={() => change({ paused: true })}>Pause</Menu.Item>
        <Menu.Item onClick={() => change({ paused: false })}>Resume</Menu.Item>
      </Drop>
      <Drop label="Mute">
        <Menu.Item onClick={() => change({ muted: true })}>Mute</Menu.Item>
        <Menu.Item onClick={() => change({ muted: false })}>Unmute</Menu.Item>
      </Drop>
      <MoveMenu groups={overview.groups} selected={selected} change={change} />
      <TagsPopover tags={[...new Set(chosen.flatMap(({ tags }) => tags))].sort()} change={change} />
      <ChannelsMenu change={change} />
      <Button size="xs" color="red" variant="subtle" onClick={remove}>
        Delete
      </Button>
      <ActionIcon aria-label="Clear selection" onClick={selection.clear}>
        <Icon name="close" />
      </ActionIcon>
    </div>
  );
}

type Change = (what: BulkChange) => void;

const MoveMenu = ({
  groups,
  selected,
  change,
}: {
  groups: Overview["groups"];
  selected: ReadonlySet<string>;
  change: Change;
}) => (
  <Drop label="Move">
    {groups.map(({ id, name, color }) => (
      <Menu.Item
        key={id}
        leftSection={<i className={`dot dot-${color}`} />}
        onClick={() => change({ groupId: id })}
      >
        {name}
      </Menu.Item>
    ))}
    <Menu.Item onClick={() => change({ groupId: null })}>No group</Menu.Item>
    <Menu.Divider />
    <MenuItem
      icon="plus"
      onClick={() => openDialog({ kind: "create-group", monitorIds: [...selected] })}
    >
      Create group from selection
    </MenuItem>
  </Drop>
);

const TagsPopover = ({ tags, change }: { tags: readonly string[]; change: Change }) => (
  <Popover position="top" floatingStrategy="fixed" trapFocus returnFocus>
    <Popover.Target>
      <Button size="xs" variant="subtle" color="gray">
        Tags
      </Button>
    </Popover.Target>
    <Popover.Dropdown className="menu-scroll bulk-tags" aria-label="Tags">
      <AddTags onAdd={(addTags) => change({ addTags })} />
      {tags.map((tag) => (
        <Button
          key={tag}
          size="xs"
          variant="subtle"
          color="gray"
          leftSection={<Icon name="close" size={14} />}
          onClick={() => change({ removeTags: [tag] })}
        >
          Remove {tag}
        </Button>
      ))}
    </Popover.Dropdown>
  </Popover>
);

function ChannelsMenu({ change }: { change: Change }) {
  const { data: channels = [] } = useAlertChannels();
  if (channels.length === 0) return null;
  return (
    <Drop label="Alerts to">
      <Menu.Label>Add</Menu.Label>
      {channels.map(({ id, name }) => (
        <Menu.Item key={id} onClick={() => change({ addAlertChannelIds: [id] })}>
          {name}
        </Menu.Item>
      ))}
      <Menu.Label>Remove</Menu.Label>
      {channels.map(({ id, name }) => (
        <Menu.Item key={id} onClick={() => change({ removeAlertChannelIds: [id] })}>
          {name}
        </Menu.Item>
      ))}
    </Drop>
  );
}

function Drop({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Menu position="top" floatingStrategy="fixed">
      <Menu.Target>
        <Button size="xs" variant="subtle" color="gray">
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className="menu-scroll">{children}</Menu.Dropdown>
    </Menu>
  );
}

function AddTags({ onAdd }: { onAdd: (tags: string[]) => void }) {
  const [tags, setTags] = useState<string[]>([]);
  return (
    <div className="bulk-add">
      <TagsInput
        aria-label="Tags to add"
        placeholder="Add tags"
        size="xs"
        value={tags}
        onChange={setTags}
      />
      <Button size="xs" disabled={tags.length === 0} onClick={() => onAdd(tags)}>
        Add
      </Button>
    </div>
  );
}
