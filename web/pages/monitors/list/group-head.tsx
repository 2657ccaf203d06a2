/** The header row of a group in the list of monitors, with its summary and actions. */
import { useNavigate } from "@tanstack/react-router";
import { memo } from "react";
import { useSignedInPerson } from "../../../data/session.ts";
import { v1 } from "../../../data/client.ts";
import { formatCount } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { ActionItem, MenuItem, RecordItems, RowMenu } from "../../../components/menus.tsx";
import {
  type State,
  StateIcon,
  worstFirst,
  stateWords,
} from "../../../components/display/state-icon.tsx";
import { deleteGroup } from "../actions.ts";
import { getGroupActions } from "../record-actions.ts";
import { endDrag, startDrag } from "./drag-and-drop.ts";
import { foldedGroups } from "./list-state.ts";
import type { Head } from "./rows.ts";
import { t } from "../../../language/text.ts";

type Group = NonNullable<Head["group"]>;

type Props = {
  head: Head;
  isActive: boolean;
  mayWrite: boolean;
  mayMove: boolean;
};

/** The header row of a group. Its name collapses the group, and a summary shows its state. */
export const GroupHead = memo(function GroupHead({ head, isActive, mayWrite, mayMove }: Props) {
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
          tabIndex={isActive ? 0 : -1}
          onClick={() => foldedGroups.toggle(group?.id ?? "ungrouped")}
        >
          <Icon name={open ? "down" : "right"} size={14} />
          {group !== null && <i className={`dot dot-${group.color}`} />}
          <b title={group?.name}>{group?.name ?? t("Ungrouped")}</b>
          <span className="faint num">{formatCount(count)}</span>
        </button>
      </h2>
      {group?.tags.map((tag) => (
        <span key={tag} className="tag">
          {tag}
        </span>
      ))}
      {group?.paused === true && <span className="tag">{t("group paused")}</span>}
      {group?.muted === true && <span className="tag">{t("group muted")}</span>}
      {group !== null && group.description !== "" && (
        <span className="head-words ellipsis faint min-w-0">{group.description}</span>
      )}
      <Summary states={states} />
      {group !== null && <GroupActions group={group} mayWrite={mayWrite} isActive={isActive} />}
    </div>
  );
});

const words: Record<State, string> = {
  ...stateWords,
  maintenance: t("in maintenance"),
};

function Summary({ states }: { states: Head["states"] }) {
  const presentStates = worstFirst.filter((state) => (states[state] ?? 0) > 0);
  const [worst] = presentStates;
  if (worst === undefined) return <span className="head-state" />;
  const watched = presentStates.filter((state) => state !== "paused");
  const all = watched.length === 1 && watched[0] === worst;
  const showsCounts = worst === "down" || worst === "degraded" || !all;
  return (
    <span className={`head-state ${worst}`}>
      <StateIcon state={worst} size={13} />
      {worst === "paused"
        ? words.paused
        : showsCounts
          ? `${states[worst] ?? 0} ${words[worst]}`
          : t("all {state}", { state: words[worst] })}
    </span>
  );
}

const listSwitches = (group: Group) => {
  const { pause, mute } = getGroupActions(group);
  return [pause, mute];
};

const GroupActions = ({
  group,
  mayWrite,
  isActive,
}: {
  group: Group;
  mayWrite: boolean;
  isActive: boolean;
}) => (
  <span className="head-actions">
    {mayWrite &&
      listSwitches(group).map(({ phrase, icon, run }, index) => (
        <button
          // Keyed by index, so that the button keeps the focus when its action changes to the opposite.
          key={index}
          type="button"
          className="dots not-phone"
          title={phrase(t("the group"))}
          tabIndex={isActive ? 0 : -1}
          aria-label={phrase(group.name)}
          onClick={run}
        >
          <Icon name={icon} size={15} />
        </button>
      ))}
    <RowMenu label={t("Actions for {name}", { name: group.name })} tabbed={isActive}>
      {() => <GroupItems group={group} mayWrite={mayWrite} />}
    </RowMenu>
  </span>
);

function GroupItems({ group, mayWrite }: { group: Group; mayWrite: boolean }) {
  const { id } = group;
  const { create, edit } = getGroupActions(group);
  const navigate = useNavigate();
  const { mayWriteAll } = useSignedInPerson();
  return (
    <>
      {mayWrite && (
        <>
          <MenuItem icon="plus" onClick={create.run}>
            {t("Create monitor in group")}
          </MenuItem>
          {mayWriteAll && (
            <MenuItem icon="edit" onClick={edit.run}>
              {t("Edit group")}
            </MenuItem>
          )}
          {listSwitches(group).map((action, index) => (
            <ActionItem key={index} className="only-phone" action={action} />
          ))}
        </>
      )}
      <MenuItem
        icon="chart"
        onClick={() => void navigate({ to: "/reports", search: { groupId: id } })}
      >
        {t("Report")}
      </MenuItem>
      <RecordItems
        id={id}
        curl={() => ({ method: "GET", route: v1["monitor-groups"]({ id }) })}
        onDelete={mayWriteAll && mayWrite && (() => deleteGroup(group))}
      >
        {t("Delete group")}
      </RecordItems>
    </>
  );
}
