/** The page of a monitor: description, figures, latency chart, panels and actions. */
import { Button, Menu } from "@mantine/core";
import { useQuery, useMutation } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { Monitor as MonitorRecord } from "../../../../src/monitoring/monitors/schema.ts";
import { formatFullTarget } from "../../../../src/monitoring/monitors/target-rules.ts";
import type { Uptime } from "../../../../src/monitoring/uptime/schema.ts";
import { v1 } from "../../../data/client.ts";
import { useManagedRecords } from "../../../data/managed.ts";
import { overviewQuery } from "../../../data/overview.ts";
import { isTroubled, useAttention } from "../../../data/problems.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { dot, formatReason, getReasonTone } from "../../../components/display/format.ts";
import { ActionItem, MoreActions, RecordItems } from "../../../components/menus.tsx";
import { Loaded, PageHeader } from "../../../components/page.tsx";
import { useShortcuts } from "../../../components/shortcuts.ts";
import { StateIcon, stateLabels } from "../../../components/display/state-icon.tsx";
import { Time, useZone } from "../../../components/display/time.tsx";
import { notifyError } from "../../../components/toasts.tsx";
import { acknowledgeAlert } from "../../alerts/data.ts";
import { checkNow, deleteMonitors } from "../actions.ts";
import { getMonitorActions, listPauses } from "../record-actions.ts";
import { useMonitor, useAlertRecipients, useUptime } from "../data.ts";
import { CausesPanel, useCauses } from "./causes-panel.tsx";
import { Figures } from "./figures.tsx";
import { getTypeName, typesWithoutLatency } from "../type-names.ts";
import { JobPanels } from "./job-panel.tsx";
import { LatencyPanel } from "./latency-panel.tsx";
import { NumberPanel } from "./number-panel.tsx";
import { describePace } from "./pace.ts";
import { ScreenshotPanel } from "./screenshot-panel.tsx";
import { choosePageSpan, type SpanSearch } from "./spans.ts";
import {
  About,
  Activity,
  AlertRecipients,
  Checks,
  DetailsPanel,
  Incidents,
  Target,
} from "./monitor-panels.tsx";
import { t, tNode } from "../../../language/text.ts";

const crumbs = [{ to: "/monitors", label: t("Monitors") }];

export default function MonitorPage() {
  const { id = "" } = useParams({ strict: false });
  const monitor = useMonitor(id);
  return (
    <Loaded
      query={monitor}
      otherQueries={[
        useManagedRecords("monitors"),
        useAlertRecipients(id),
        useQuery(overviewQuery),
        useCauses(id, monitor.data),
      ]}
      subject={t("The monitor")}
      crumbs={crumbs}
    >
      {(monitor) => <Monitor key={id} monitor={monitor} />}
    </Loaded>
  );
}

function Monitor({ monitor }: { monitor: MonitorRecord }) {
  const { id, name, status } = monitor;
  const { data: overview } = useQuery(overviewQuery);
  const uptime = useUptime(id);
  const group = overview?.groups.find((one) => one.id === monitor.groupId);
  return (
    <>
      <PageHeader
        title={name}
        icon={<StateIcon state={status} size={22} />}
        state={{ tone: status, word: stateLabels[status], reason: describeTrouble(monitor) }}
        crumbs={[
          ...crumbs,
          ...(group
            ? [{ to: `/monitors?q=${encodeURIComponent(group.name)}`, label: group.name }]
            : []),
        ]}
        facts={<MonitorFacts monitor={monitor} isGroupPaused={group?.paused === true} />}
        managed={{ section: "monitors", id }}
      >
        <Actions monitor={monitor} />
      </PageHeader>
      <Loaded query={uptime} subject={t("The monitor's figures")}>
        {(uptime) => <Panels monitor={monitor} uptime={uptime} />}
      </Loaded>
    </>
  );
}

/** Why the monitor is down or degraded; null if it is neither. */
function describeTrouble({ status, lastMessage }: MonitorRecord) {
  if ((status !== "down" && status !== "degraded") || lastMessage === null) return null;
  return { tone: getReasonTone(status, lastMessage), text: formatReason(lastMessage) };
}

function Panels({ monitor, uptime }: { monitor: MonitorRecord; uptime: Uptime }) {
  const { id, interval } = monitor;
  const span = choosePageSpan(uptime, useSearch({ strict: false }) as SpanSearch);
  return (
    <>
      <Figures monitor={monitor} uptime={uptime} span={span} />
      {monitor.type === "push" && <JobPanels monitor={monitor} />}
      <ScreenshotPanel monitor={monitor} />
      <DetailsPanel monitor={monitor} />
      <NumberPanel monitor={monitor} span={span} />
      {!typesWithoutLatency.has(monitor.type) && (
        <LatencyPanel id={id} interval={interval} span={span} />
      )}
      <div className="columns">
        <div>
          <CausesPanel monitor={monitor} />
          <Activity id={id} span={span} />
          <Incidents id={id} />
        </div>
        <div>
          <About monitor={monitor} />
          <AlertRecipients monitor={monitor} />
          <Checks
            key={span.to === null ? span.name : `${span.from} ${span.to}`}
            id={id}
            span={span}
          />
        </div>
      </div>
    </>
  );
}

/** Type, target, interval and state in one line, which is cut where the page is too narrow. */
function MonitorFacts({
  monitor,
  isGroupPaused,
}: {
  monitor: MonitorRecord;
  isGroupPaused: boolean;
}) {
  const { muted, status, pausedUntil, statusSince, type, lastCheckedAt } = monitor;
  const target = formatFullTarget(monitor);
  const method = typeof monitor["method"] === "string" ? ` ${monitor["method"]}` : "";
  return (
    <p>
      {pausedUntil === null || isGroupPaused ? (
        <>
          {tNode("{state} for {time}", {
            state: stateLabels[status],
            time: <Time at={statusSince} as="for" />,
          })}
        </>
      ) : (
        <>{tNode("Paused until {time}", { time: <Time at={pausedUntil} as="short" /> })}</>
      )}
      {isTroubled(monitor) && <Owners monitor={monitor} />}
      {lastCheckedAt !== null && (
        <>
          {dot}
          {tNode("checked {time}", { time: <Time at={lastCheckedAt} /> })}
        </>
      )}
      {muted && `${dot}${t("muted")}`}
      {dot}
      {describePace(monitor)}
      {dot}
      {getTypeName(type)}
      {method} {target !== null && <Target address={target} />}
    </p>
  );
}

/** How long to pause: for one of the usual times, until another one, or without an end. */
function PauseMenu({ monitor }: { monitor: MonitorRecord }) {
  const zone = useZone();
  const { pause, pauseUntil } = getMonitorActions(monitor);
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <Button>{pause.label}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {listPauses(monitor, zone).map(({ label, run }) => (
          <Menu.Item key={label} onClick={run}>
            {label}
          </Menu.Item>
        ))}
        <Menu.Item onClick={pauseUntil.run}>{t("until…")}</Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={pause.run}>{t("without an end")}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Acknowledges the alert of a monitor that is down or degraded, until someone has done so. */
function AcknowledgeButton({ monitor: { id, name } }: { monitor: MonitorRecord }) {
  const attention = useAttention().data?.get(id);
  const alertId = attention?.acknowledgedBy.length === 0 ? attention.alertId : null;
  const { mutate, isPending } = useMutation({
    mutationFn: (alertId: string) => acknowledgeAlert({ id: alertId, title: name }),
  });
  if (alertId === null) return null;
  return (
    <BusyButton
      variant="filled"
      className="monitor-acknowledge"
      onClick={() => mutate(alertId)}
      loading={isPending}
    >
      {t("Acknowledge")}
    </BusyButton>
  );
}

/** The people who acknowledged the alert of a monitor that is down or degraded. */
function Owners({ monitor: { id } }: { monitor: MonitorRecord }) {
  const owners = useAttention().data?.get(id)?.acknowledgedBy ?? [];
  return owners.length === 0
    ? null
    : `${dot}${t("acknowledged by {names}", { names: owners.join(", ") })}`;
}

function Actions({ monitor }: { monitor: MonitorRecord }) {
  const { id, type, paused } = monitor;
  const { pause, pauseUntil, mute, edit, duplicate } = getMonitorActions(monitor);
  const { mayWrite } = useSignedInPerson();
  const navigate = useNavigate();
  const { mutate, isPending } = useMutation({
    mutationFn: () => checkNow(id),
    onError: notifyError,
  });
  const check = () => mutate();
  useShortcuts(mayWrite ? { c: check, p: pause.run, e: edit.run } : {});
  return (
    <>
      {mayWrite && (
        <>
          {isTroubled(monitor) && <AcknowledgeButton monitor={monitor} />}
          <BusyButton onClick={check} loading={isPending} disabled={paused || type === "push"}>
            {t("Check now")}
          </BusyButton>
          {paused ? (
            <Button onClick={pause.run}>{pause.label}</Button>
          ) : (
            <PauseMenu monitor={monitor} />
          )}
          <Button onClick={edit.run}>{edit.label}</Button>
        </>
      )}
      <MoreActions>
        {mayWrite && (
          <>
            {paused && <ActionItem action={pauseUntil} />}
            <ActionItem action={mute} />
            <ActionItem action={duplicate} />
          </>
        )}
        <RecordItems
          id={id}
          curl={() => ({ method: "GET", route: v1.monitors({ id }) })}
          onDelete={
            mayWrite &&
            (() => {
              deleteMonitors([monitor]);
              void navigate({ to: "/monitors" });
            })
          }
        />
      </MoreActions>
    </>
  );
}
