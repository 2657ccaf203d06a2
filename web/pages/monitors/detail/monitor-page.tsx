/** The page of a monitor: description, figures, latency chart, panels and actions. */
import { Button } from "@mantine/core";
import { useQuery, useMutation } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { linkRel } from "../../../../src/core/text/markdown.ts";
import type { Monitor as MonitorRecord } from "../../../../src/monitoring/monitors/schema.ts";
import { formatFullTarget } from "../../../../src/monitoring/monitors/target-rules.ts";
import type { Uptime } from "../../../../src/monitoring/uptime/schema.ts";
import { v1 } from "../../../data/client.ts";
import { useManagedRecords } from "../../../data/managed.ts";
import { overviewQuery } from "../../../data/overview.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { openDialog } from "../../../components/open-dialog.ts";
import { dot, formatReason, toneOfReason } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Markdown } from "../../../components/display/markdown.tsx";
import { MenuItem, MoreActions, RecordItems } from "../../../components/menus.tsx";
import { Names } from "../../../components/display/name-list.tsx";
import { Loaded, PageHeader } from "../../../components/page.tsx";
import { useShortcuts } from "../../../components/shortcuts.ts";
import { StateIcon, stateLabels } from "../../../components/display/state-icon.tsx";
import { durationInWords, Time } from "../../../components/display/time.tsx";
import { notifyError } from "../../../components/toasts.tsx";
import { checkNow, deleteMonitors, muteMonitor, pauseMonitor } from "../actions.ts";
import { useMonitor, useAlertRecipients, useUptime } from "../data.ts";
import { Figures } from "./figures.tsx";
import { nameOfType } from "../type-names.ts";
import { LatencyPanel } from "./latency-panel.tsx";
import { ScreenshotPanel } from "./screenshot-panel.tsx";
import { chooseSpan, type SpanSearch } from "./spans.ts";
import {
  DetailsPanel,
  PushPanel,
  RecentChecks,
  Activity,
  Incidents,
  AlertRecipients,
} from "./monitor-panels.tsx";

const crumbs = [{ to: "/monitors", label: "Monitors" }];

export default function MonitorPage() {
  const { id = "" } = useParams({ strict: false });
  return (
    <Loaded
      query={useMonitor(id)}
      besides={[useManagedRecords("monitors"), useAlertRecipients(id), useQuery(overviewQuery)]}
      what="The monitor"
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
        state={{ tone: status, word: stateLabels[status] }}
        crumbs={[
          ...crumbs,
          ...(group
            ? [{ to: `/monitors?q=${encodeURIComponent(group.name)}`, label: group.name }]
            : []),
        ]}
        below={<About monitor={monitor} />}
        managed={{ section: "monitors", id }}
      >
        <Actions monitor={monitor} />
      </PageHeader>
      <Loaded query={uptime} what="The monitor's figures">
        {(uptime) => <Panels monitor={monitor} uptime={uptime} />}
      </Loaded>
    </>
  );
}

function Panels({ monitor, uptime }: { monitor: MonitorRecord; uptime: Uptime }) {
  const { id, interval } = monitor;
  const search = useSearch({ strict: false }) as SpanSearch;
  const span = chooseSpan(uptime, search);
  const { from, to } = search;
  const zoom = from === undefined || to === undefined ? null : { from, to };
  return (
    <>
      <Figures monitor={monitor} uptime={uptime} span={span} />
      {monitor.type === "push" && <PushPanel monitor={monitor} />}
      <ScreenshotPanel monitor={monitor} />
      <DetailsPanel monitor={monitor} />
      <LatencyPanel
        id={id}
        interval={interval}
        from={Date.parse(uptime.spans[span].from)}
        span={span}
        zoom={zoom}
      />
      <div className="columns">
        <div>
          <Activity id={id} />
          <Incidents id={id} />
        </div>
        <div>
          <AlertRecipients monitor={monitor} />
          <RecentChecks id={id} />
        </div>
      </div>
    </>
  );
}

/** Description, facts and tags of the monitor. */
function About({ monitor }: { monitor: MonitorRecord }) {
  const { description, tags } = monitor;
  return (
    <>
      {description.trim() !== "" && <Markdown text={description} />}
      <Facts monitor={monitor} />
      {tags.length > 0 && (
        <ul className="tags" aria-label="Tags">
          {tags.map((tag) => (
            <li key={tag}>
              <Link className="tag" to="/monitors" search={{ tag }}>
                <bdi>{tag}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Type, target, interval, state and alert channels in one line. */
function Facts({ monitor }: { monitor: MonitorRecord }) {
  const { data: recipients } = useAlertRecipients(monitor.id);
  const target = formatFullTarget(monitor);
  const method = typeof monitor["method"] === "string" ? ` ${monitor["method"]}` : "";
  const isPush = monitor.type === "push";
  const trouble = monitor.status === "down" || monitor.status === "degraded";
  return (
    <p>
      {nameOfType(monitor.type)}
      {method} {target !== null && <Target address={target} />}{" "}
      {isPush ? "· report expected every" : "every"} {durationInWords(monitor.interval)}
      {dot}
      {stateLabels[monitor.status].toLowerCase()} for <Time at={monitor.statusSince} as="for" />
      {monitor.lastCheckedAt !== null && (
        <>
          {dot}
          checked <Time at={monitor.lastCheckedAt} />
        </>
      )}
      {recipients !== undefined && recipients.told.length > 0 && (
        <>
          {dot}
          alerts to{" "}
          <b>
            <Names names={recipients.told.map(({ name }) => name)} />
          </b>
        </>
      )}
      {monitor.muted && `${dot}muted`}
      {trouble && monitor.lastMessage !== null && (
        <span className={`fact-trouble ${toneOfReason(monitor.status, monitor.lastMessage)}`}>
          {formatReason(monitor.lastMessage)}
        </span>
      )}
    </p>
  );
}

/** The target, as a link if it is a web address. */
function Target({ address }: { address: string }) {
  if (!/^https?:/.test(address)) return <code>{address}</code>;
  return (
    <a className="link" href={address} target="_blank" rel={linkRel}>
      {address.replace(/^https?:\/\//, "")} <Icon name="external" size={13} />
    </a>
  );
}

function Actions({ monitor }: { monitor: MonitorRecord }) {
  const { id, type, paused, muted } = monitor;
  const { mayWrite } = useSignedInPerson();
  const navigate = useNavigate();
  const { mutate, isPending } = useMutation({
    mutationFn: () => checkNow(id),
    onError: notifyError,
  });
  const check = () => mutate();
  const pause = () => void pauseMonitor(monitor);
  const edit = () => openDialog({ kind: "edit-monitor", id });
  useShortcuts(mayWrite ? { c: check, p: pause, e: edit } : {});
  return (
    <>
      {mayWrite && (
        <>
          <BusyButton onClick={check} loading={isPending} disabled={paused || type === "push"}>
            Check now
          </BusyButton>
          <Button onClick={pause}>{paused ? "Resume" : "Pause"}</Button>
          <Button onClick={edit}>Edit</Button>
        </>
      )}
      <MoreActions>
        {mayWrite && (
          <>
            <MenuItem icon={muted ? "sound" : "mute"} onClick={() => void muteMonitor(monitor)}>
              {muted ? "Unmute" : "Mute"}
            </MenuItem>
            <MenuItem icon="copy" onClick={() => openDialog({ kind: "create-monitor", like: id })}>
              Duplicate
            </MenuItem>
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
