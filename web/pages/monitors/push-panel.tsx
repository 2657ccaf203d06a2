import { Button } from "@mantine/core";
import type { Monitor } from "../../../src/monitoring/monitors/schema.ts";
import { copy } from "../../components/curl-button.tsx";
import { Panel } from "../../components/page.tsx";

/** Where the watched job reports, ready to be pasted into it. */
export function PushPanel({ monitor }: { monitor: Monitor }) {
  const url = monitor["pushUrl"];
  if (typeof url !== "string")
    return (
      <Panel title="Reports to">
        <p className="quiet panel-words">
          The watched job reports to an address of its own. Whoever knows it may report, so it is
          shown to those who may change monitors.
        </p>
      </Panel>
    );
  const command = `curl "${url}?status=up"`;
  return (
    <Panel
      title="Reports to"
      actions={
        <Button size="compact-xs" onClick={() => void copy(command, "Command")}>
          Copy
        </Button>
      }
    >
      <code className="push-command">{command}</code>
    </Panel>
  );
}
