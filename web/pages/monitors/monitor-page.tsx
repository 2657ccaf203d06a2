import { ActionIcon, Button, Menu } from "@mantine/core";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Monitor } from "../../../src/monitoring/monitors/schema.ts";
import { v1 } from "../../data/client.ts";
import { useOverview } from "../../data/overview.ts";
import { useSignedIn } from "../../data/session.ts";
import { CurlItem } from "../../components/curl-button.tsx";
import { Icon } from "../../components/icons.tsx";
import { EmptyState, PageHeader } from "../../components/page.tsx";
import { useShortcuts } from "../../components/shortcuts.ts";
import { StateIcon, stateWords } from "../../components/state-icon.tsx";
import { durationInWords, Time } from "../../components/time.tsx";
import { notifyError } from "../../components/toasts.tsx";
import { checkNow, deleteMonitors, muteMonitor, pauseMonitor } from "./actions.ts";
import { editing } from "./editing.ts";
import { typeWords } from "./type-words.ts";
import { useMonitor, useAlertRecipients } from "./data.ts";
import { Figures } from "./figures.tsx";
import { LatencyPanel } from "./latency-panel.tsx";
import { PushPanel } from "./push-panel.tsx";
import { RecentChecks } from "./recent-checks.tsx";
import { Activity } from "./activity.tsx";
import { Incidents, AlertRecipients } from "./alert-recipients.tsx";
import { BusyButton } from "../../components/busy-button.tsx";

export function MonitorPage() {
  const { id = "" } = useParams({ strict: false });
  const { data: monitor, error } = useMonitor(id);
  if (monitor === undefined && error !== null)
    return (
      <EmptyState
        icon={<Icon name="warning" size={28} />}
        title="Monitor not found"
        action={
          <Button component={Link} to="/monitors">
            All monitors
          </Button>
        }
      >
        {error.message}
      </EmptyState>
    );
  return monitor === undefined ? null : <Loaded key={id} monitor={monitor} />;
}

function Loaded({ monitor }: { monitor: Monitor }) {
  const { id, name, status } = monitor;
  const { data: overview } = useOverview();
  const group = overview?.groups.find((one) => one.id === monitor.groupId);
  return (
    <>
      <PageHeader
        title={name}
        icon={<StateIcon state={status} size={22} label />}
        crumbs={[
          { to: "/monitors", label: "Monitors" },
          ...(group
            ? [{ to: `/monitors?q=${encodeURIComponent(group.name)}`, label: group.name }]
            : []),
        ]}
        below={<Facts monitor={monitor} />}
      >
        <Actions monitor={monitor} />
      </PageHeader>
      <Figures monitor={monitor} />
      {monitor.type === "push" && <PushPanel monitor={monitor} />}
      <LatencyPanel id={id} />
      <div className="columns">
        <Activity id={id} />
        <RecentChecks id={id} />
        <Incidents id={id} />
        <AlertRecipients id={id} />
      </div>
    </>
  );
}

/** What is checked and how it is, in one line. */
function Facts({ monitor }: { monitor: Monitor }) {
  const { data: told } = useAlertRecipients(monitor.id);
  const target = monitor["url"] ?? monitor["host"];
  const method = typeof monitor["method"] === "string" ? ` ${monitor["method"]}` : "";
  const port = typeof monitor["port"] === "number" ? `:${monitor["port"]}` : "";
  const trouble = monitor.status === "down" || monitor.status === "degraded";
  return (
    <p>
      {typeWords[monitor.type] ?? monitor.type}
      {method} {typeof target === "string" && <code>{target + port}</code>} every{" "}
      {durationInWords(monitor.interval)} · {stateWords[monitor.status].toLowerCase()} for{" "}
      <Time at={monitor.statusSince} as="for" />
      {monitor.lastCheckedAt !== null && (
        <>
          {" "}
          · checked <Time at={monitor.lastCheckedAt} />
        </>
      )}
      {told !== undefined && told.told.length > 0 && (
        <>
          {" "}
          · alerts to <b>{told.told.map(({ name }) => name).join(", ")}</b>
        </>
      )}
      {monitor.muted && " · muted"}
      {trouble && monitor.lastMessage !== null && (
        <span className={`fact-trouble ${monitor.status}`}>{monitor.lastMessage}</span>
      )}
    </p>
  );
}

function Actions({ monitor }: { monitor: Monitor }) {
  const { id, name, type, paused, muted } = monitor;
  const { mayWrite } = useSignedIn();
  const navigate = useNavigate();
  const [checking, setChecking] = useState(false);
  const actions = useMemo(() => {
    return {
      check: () => {
        setChecking(true);
        checkNow(id)
          .catch(notifyError)
          .finally(() => setChecking(false));
      },
      pause: () => void pauseMonitor({ id, paused }),
      mute: () => void muteMonitor({ id, muted }),
      edit: () => editing.set({ kind: "edit-monitor", id }),
    };
  }, [id, paused, muted]);
  useShortcuts(
    useMemo(
      () => (mayWrite ? { c: actions.check, p: actions.pause, e: actions.edit } : {}),
      [actions, mayWrite],
    ),
  );
  const curl = <CurlItem action={() => ({ method: "GET", route: v1.monitors({ id }) })} />;
  return (
    <>
      {mayWrite && (
        <>
          <BusyButton
            onClick={actions.check}
            loading={checking}
            disabled={paused || type === "push"}
          >
            Check now
          </BusyButton>
          <Button onClick={actions.pause}>{paused ? "Resume" : "Pause"}</Button>
          <Button onClick={actions.edit}>Edit</Button>
        </>
      )}
      <Menu position="bottom-end" width={190}>
        <Menu.Target>
          <ActionIcon variant="default" size={34} aria-label="More actions">
            <Icon name="dots" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {mayWrite && (
            <>
              <Menu.Item
                leftSection={<Icon name={muted ? "sound" : "mute"} />}
                onClick={actions.mute}
              >
                {muted ? "Unmute" : "Mute"}
              </Menu.Item>
              <Menu.Item
                leftSection={<Icon name="copy" />}
                onClick={() => editing.set({ kind: "new-monitor", like: id })}
              >
                Duplicate
              </Menu.Item>
            </>
          )}
          {curl}
          {mayWrite && (
            <>
              <Menu.Divider />
              <Menu.Item
                color="red"
                leftSection={<Icon name="trash" />}
                onClick={() => {
                  deleteMonitors([{ id, name }]);
                  void navigate({ to: "/monitors" });
                }}
              >
                Delete
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
