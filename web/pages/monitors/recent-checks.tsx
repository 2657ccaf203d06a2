import { Tooltip } from "@mantine/core";
import { useState } from "react";
import { inMs } from "../../components/figures.ts";
import { Panel } from "../../components/page.tsx";
import { StateIcon } from "../../components/state-icon.tsx";
import { Time } from "../../components/time.tsx";
import { useHeartbeats } from "./data.ts";

const few = 8;

export function RecentChecks({ id }: { id: string }) {
  const [all, setAll] = useState(false);
  const { data: checks = [] } = useHeartbeats(id, 100);
  const shown = all ? checks : checks.slice(0, few);
  return (
    <Panel
      title="Recent checks"
      actions={
        checks.length > few && (
          <button type="button" className="plain-button link" onClick={() => setAll(!all)}>
            {all ? "Show less" : "Show all"}
          </button>
        )
      }
    >
      {checks.length === 0 && <p className="quiet panel-none">No checks yet.</p>}
      <ul className={`lines checks ${all ? "checks-all" : ""}`}>
        {shown.map(({ at, status, message, latencyMs }) => (
          <li key={at}>
            <StateIcon state={status} size={13} label />
            <Time at={at} as="seconds" />
            <Tooltip label={message} disabled={message === null}>
              <span className="line-words">{message}</span>
            </Tooltip>
            <span className="num">{inMs(latencyMs)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
