import { useNavigate } from "@tanstack/react-router";
import { memo } from "react";
import { v1 } from "../../../data/client.ts";
import { countInWords } from "../../../components/display/format.ts";
import { openDialog } from "../../../components/open-dialog.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { MenuItem, RecordItems, RowMenu } from "../../../components/menus.tsx";
import { type State, StateIcon, worstFirst } from "../../../components/display/state-icon.tsx";
import { actOnGroup, deleteGroup } from "../actions.ts";
import { endDrag, startDrag } from "./dragging.ts";
import { folds } from "./list-state.ts";
import type { Head } from "./rows.ts";

type Props = {
  head: Head;
  active: boolean;
  mayWrite: boolean;
  mayMove: boolean;
};

/** A folder: its name folds it, the right says how it is. */
export const GroupHead = memo(function GroupHead({ head, active, mayWrite, mayMove }: Props) {
  const { group, key, count, open, states } = head;
  return (
    <div className="head" data-item>
      {mayMove && group !== null && (
        <span
          className="grip"
          draggable
          aria-hidden="true"
          onDragStart={(event) => startDrag(event, { kind: "group", id: group.id })}
          onDragEnd={endDrag}
        >
          <Icon name="grip" size={14} />
        </span>
      )}
      <h2>
        <button
          type="button"
          aria-expanded={open}
          data-item-focus={key}
          tabIndex={active ? 0 : -1}
          onClick={() => folds.toggle(group?.id ?? "ungrouped")}
        >
          <Icon name={open ? "down" : "right"} size={14} />
          {group !== null && <i className={`dot dot-${group.color}`} />}
          <b title={group?.name}>{group?.name ?? "Ungrouped"}</b>
          <span className="faint num">{countInWords(count)}</span>
        </button>
      </h2>
      {group?.tags.map((tag) => (
        <span key={tag} className="tag">
          {tag}
        </span>
      ))}
      {group?.paused === true && <span className="tag">group paused</span>}
      {group?.muted === true && <span className="tag">group muted</span>}
      {group !== null && group.description !== "" && (
        <span className="head-words ellipsis faint min-w-0">{group.description}</span>
      )}
      <Summary states={states} />
      {group !== null && <GroupActions head={head} mayWrite={mayWrite} active={active} />}
    </div>
  );
});

const words: Record<State, string> = {
  down: "down",
  degraded: "degraded",
  maintenance: "in maintenance",
  pending: "pending",
  up: "up",
  paused: "paused",
  unknown: "not judged",
};

function Summary({ states }: { states: Head["states"] }) {
  const present = worstFirst.filter((state) => (states[state] ?? 0) > 0);
  const [worst] = present;
  if (worst === undefined) return <span className="head-state" />;
  const watched = present.filter((state) => state !== "paused");
  const all = watched.length === 1 && watched[0] === worst;
  const few = worst === "down" || worst === "degraded" || !all;
  return (
    <span className={`head-state ${worst}`}>
      <StateIcon state={worst} size={13} />
      {few && worst !== "paused" ? `${states[worst] ?? 0} ` : worst === "paused" ? "" : "all "}
      {words[worst]}
    </span>
  );
}

function GroupActions({
  head,
  mayWrite,
  active,
}: {
  head: Head;
  mayWrite: boolean;
  active: boolean;
}) {
  const { group } = head;
  const navigate = useNavigate();
  if (group === null) return null;
  const acts = [
    group.paused
      ? ({ verb: "resume", label: "Resume", icon: "play" } as const)
      : ({ verb: "pause", label: "Pause", icon: "pause" } as const),
    group.muted
      ? ({ verb: "unmute", label: "Unmute", icon: "sound" } as const)
      : ({ verb: "mute", label: "Mute", icon: "mute" } as const),
  ];
  return (
    <span className="head-actions">
      {mayWrite &&
        acts.map(({ verb, label, icon }, index) => (
          <button
            // The same button does the opposite then, and keeps the focus.
            key={index}
            type="button"
            className="dots not-phone"
            title={`${label} the group`}
            tabIndex={active ? 0 : -1}
            aria-label={`${label} ${group.name}`}
            onClick={() => void actOnGroup(group, verb)}
          >
            <Icon name={icon} size={15} />
          </button>
        ))}
      <RowMenu label={`Actions for ${group.name}`} tabbed={active}>
        {() => (
          <>
            {mayWrite && (
              <>
                <MenuItem
                  icon="plus"
                  onClick={() => openDialog({ kind: "create-monitor", groupId: group.id })}
                >
                  Create monitor in group
                </MenuItem>
                <MenuItem
                  icon="edit"
                  onClick={() => openDialog({ kind: "edit-group", id: group.id })}
                >
                  Edit group
                </MenuItem>
                {acts.map(({ verb, label, icon }, index) => (
                  <MenuItem
                    key={index}
                    className="only-phone"
                    icon={icon}
                    onClick={() => void actOnGroup(group, verb)}
                  >
                    {label}
                  </MenuItem>
                ))}
              </>
            )}
            <MenuItem
              icon="chart"
              onClick={() => void navigate({ to: "/reports", search: { groupId: group.id } })}
            >
              Report
            </MenuItem>
            <RecordItems
              curl={() => ({ method: "GET", route: v1["monitor-groups"]({ id: group.id }) })}
              onDelete={mayWrite && (() => deleteGroup(group))}
            >
              Delete group
            </RecordItems>
          </>
        )}
      </RowMenu>
    </span>
  );
}
