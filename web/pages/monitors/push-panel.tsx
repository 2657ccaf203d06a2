import { Button } from "@mantine/core";
import type { Monitor } from "../../../src/monitoring/monitors/schema.ts";
import { copy } from "../../components/curl-button.tsx";
import { Panel } from "../../components/page.tsx";

/** Where the watched job reports, ready to be pasted into it. */
export function PushPanel({ monitor }: { monitor: Monitor }) {
  const url = monitor["pushUrl"];
  if (typeof url !== "string")
    return (
      <Panel title="Push URL">
        <p className="quiet panel-words">
          The job reports to a URL of its own. Anyone who knows it can report, so only people who
          can edit monitors see it.
        </p>
      </Panel>
    );
  const command = `curl "${url}?status=up"`;
  return (
    <Panel
      title="Push URL"
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
