import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type AlertChannel, useUsersOfChannel } from "../../data/alert-channels.ts";
import { useOverview } from "../../data/overview.ts";
import { Panel } from "../../components/page.tsx";
import { StateIcon } from "../../components/state-icon.tsx";

const few = 12;

/** Whose alerts come here: monitors, and groups whose new monitors will. */
export function UsersOfChannel({ channel }: { channel: AlertChannel }) {
  const { data: users } = useUsersOfChannel(channel.id);
  const { data: overview } = useOverview();
  const [all, setAll] = useState(false);
  const ids = new Set(users?.monitorIds);
  const monitors = overview?.monitors.filter(({ id }) => ids.has(id)) ?? [];
  const groups = overview?.groups.filter(({ id }) => users?.groupIds.includes(id)) ?? [];
  const shown = all ? monitors : monitors.slice(0, few);
  return (
    <Panel
      title={`Used by${monitors.length > 0 ? ` ${monitors.length.toLocaleString("en")}` : ""}`}
      actions={
        monitors.length > few && (
          <button type="button" className="plain-button link" onClick={() => setAll(!all)}>
            {all ? "Show less" : "Show all"}
          </button>
        )
      }
    >
      {users !== undefined && monitors.length === 0 && (
        <p className="quiet panel-none">
          No monitor uses this channel yet. Add it in the editor of a monitor, or for several
          monitors at once on the Monitors page.
        </p>
      )}
      <ul className="lines">
        {shown.map(({ id, name, status, target }) => (
          <li key={id}>
            <StateIcon state={status} size={15} label />
            <Link to="/monitors/$id" params={{ id }} className="line-words line-link">
              <b>{name}</b> {target}
            </Link>
          </li>
        ))}
        {groups.map(({ id, name, color }) => (
          <li key={id}>
            <i className={`dot dot-${color}`} />
            <span className="line-words">
              <b>{name}</b> group: its new monitors
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
