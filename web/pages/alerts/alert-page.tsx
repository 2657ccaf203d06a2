/** One alert: its problem, who takes care of it, and its timeline. */
import { Textarea } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { dot, formatReason } from "../../components/display/format.ts";
import { Names, shortenNames } from "../../components/display/name-list.tsx";
import { Time, useNow, useZone } from "../../components/display/time.tsx";
import { describeDay } from "../../components/display/days.ts";
import { ShowAllRows, useFirstRows } from "../../components/first-rows.tsx";
import { Confirm } from "../../components/confirm.tsx";
import { BusyButton } from "../../components/forms/busy-button.tsx";
import { MenuItem, MoreActions, RecordItems } from "../../components/menus.tsx";
import { Loaded, PageHeader, Panel } from "../../components/page.tsx";
import { useAction } from "../../components/toasts.tsx";
import { useState } from "react";
import { v1 } from "../../data/client.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { addNote, type AlertDetails, revokeLinks, useAlert } from "./data.ts";
import { AlertButtons, AlertIcon, Owner, stateOf } from "./ownership.tsx";
import { foldTimeline, type TimelineEntry, type TimelineLine } from "./timeline-rules.ts";
import { nameAlert, translateServerText } from "../../language/server-text.ts";
import { t, tNode } from "../../language/text.ts";

const crumbs = [{ to: "/alerts", label: t("Alerts") }];

export default function AlertPage() {
  const { id = "" } = useParams({ strict: false });
  return (
    <Loaded query={useAlert(id)} subject={t("The alert")} crumbs={crumbs}>
      {(alert) => <Details alert={alert} />}
    </Loaded>
  );
}

function Details({ alert }: { alert: AlertDetails }) {
  const { mayWrite } = useSignedInPerson();
  const message = alert.data["message"];
  return (
    <>
      <PageHeader
        title={nameAlert(alert)}
        icon={<AlertIcon alert={alert} size={22} />}
        crumbs={crumbs}
        facts={
          <>
            {tNode("since {time}", { time: <Time at={alert.since} as="short" /> })}
            {dot}
            <Owner alert={alert} />
            <SubjectLink alert={alert} />
            <ReportLink alert={alert} />
          </>
        }
      >
        <AlertButtons alert={alert} size="sm" />
        <AlertMenu alert={alert} />
      </PageHeader>
      {typeof message === "string" && message !== "" && (
        <p className={`alert-reason ${stateOf(alert)}`}>{formatReason(message)}</p>
      )}
      <Panel title={t("Timeline")}>
        {mayWrite && <NoteForm alert={alert} />}
        <Timeline alert={alert} />
      </Panel>
    </>
  );
}

function AlertMenu({ alert }: { alert: AlertDetails }) {
  const { mayWrite } = useSignedInPerson();
  const [isRevoking, setRevoking] = useState(false);
  return (
    <>
      <MoreActions>
        {mayWrite && alert.status !== "resolved" && (
          <MenuItem icon="link" onClick={() => setRevoking(true)}>
            {t("Revoke links")}
          </MenuItem>
        )}
        <RecordItems
          id={alert.id}
          curl={() => ({ method: "GET", route: v1.alerts({ id: alert.id }) })}
          onDelete={false}
        />
      </MoreActions>
      {isRevoking && (
        <Confirm
          title={t("Revoke the links of this alert?")}
          verb={t("Revoke links")}
          onConfirm={() => revokeLinks(alert)}
          onClose={() => setRevoking(false)}
        >
          {t(
            "Messages that were sent can no longer acknowledge it. Later messages have new links. This can’t be undone.",
          )}
        </Confirm>
      )}
    </>
  );
}

/** The page of the tool that reported the alert. */
function ReportLink({ alert: { subject, data } }: { alert: AlertDetails }) {
  const report = subject.type === "source" ? data["report"] : null;
  const link = (report as { link: string | null } | null)?.link ?? null;
  if (link === null) return null;
  return (
    <>
      {dot}
      <a href={link} target="_blank" rel="noreferrer" className="link">
        {t("Open in the tool")}
      </a>
    </>
  );
}

function SubjectLink({ alert: { subject } }: { alert: AlertDetails }) {
  const paths = {
    monitor: ["/monitors/$id", t("Open the monitor")],
    incident: ["/incidents/$id", t("Open the incident")],
    channel: ["/alert-channels/$id", t("Open the alert channel")],
    schedule: ["/on-call/$id", t("Open the schedule")],
    source: ["/on-call/alert-sources/$id", t("Open the alert source")],
    problem: null,
    policy: null,
    person: null,
  } as const;
  const target = paths[subject.type];
  if (target === null) return null;
  const [to, label] = target;
  return (
    <>
      {dot}
      <Link to={to} params={{ id: subject.id }} className="link">
        {label}
      </Link>
    </>
  );
}

/** Whether all messages of the alert have its title. Those of an incident have several. */
const hasOneMessage = ({ timeline, title }: AlertDetails) =>
  timeline.every(({ type, message }) => type !== "sent" || message === title);

const entryLabels: Record<TimelineEntry["type"], string> = {
  opened: t("Opened"),
  changed: t("Changed"),
  held: t("Held"),
  joined: t("Joined"),
  sent: t("Sending"),
  delivered: t("Delivered"),
  failed: t("Failed"),
  skipped: t("Skipped"),
  acknowledged: t("Acknowledged"),
  unacknowledged: t("Opened again"),
  snoozed: t("Snoozed"),
  returned: t("Returned after the snooze"),
  noted: t("Note"),
  escalated: t("Escalated"),
  "links-revoked": t("Links revoked"),
  resolved: t("Ended"),
};

/** Newest first, by day. */
function Timeline({ alert }: { alert: AlertDetails }) {
  const zone = useZone();
  const now = useNow();
  const lines = foldTimeline(alert.timeline).toReversed();
  const { shown, showAll } = useFirstRows(lines);
  const days = Map.groupBy(shown, ([{ at }]) => describeDay(zone, Date.parse(at), now));
  const repeatedTitle = hasOneMessage(alert) ? alert.title : null;
  return (
    <>
      {[...days].map(([day, ofDay]) => (
        <section key={day} aria-label={day}>
          <h3 className="lines-day">{day}</h3>
          <ol className="lines alert-timeline">
            {ofDay.map((entries, index) => (
              <Entry
                key={`${entries[0].at} ${ofDay.length - index}`}
                entries={entries}
                repeatedTitle={repeatedTitle}
              />
            ))}
          </ol>
        </section>
      ))}
      <ShowAllRows shown={shown} rows={lines} onShow={showAll} />
    </>
  );
}

function Entry({
  entries,
  repeatedTitle,
}: {
  entries: TimelineLine;
  /** The title of the alert, if no entry needs to repeat it. */
  repeatedTitle: string | null;
}) {
  const [{ at, type, title, message, actor }] = entries;
  const [isOpen, setOpen] = useState(false);
  const isBad = type === "failed";
  const names = entries.flatMap(({ channel }) =>
    channel === null ? [] : [channel.name ?? t("a deleted channel")],
  );
  const shortNames = shortenNames(names);
  const isShort = !isOpen && !isBad;
  return (
    <li>
      <span className="line-words">
        <b className={isBad ? "down" : ""}>{entryLabels[type] ?? type}</b>
        {names.length > 0 &&
          tNode(" to {name}", { name: <Names names={isShort ? shortNames : names} /> })}
        {isShort && shortNames.length < names.length && (
          <>
            {" "}
            <button type="button" className="link" onClick={() => setOpen(true)}>
              {t("Show all")}
            </button>
          </>
        )}
        {actor !== null && t(" by {name}", { name: actor.name })}
        {[title, message].map(
          (text, index) =>
            text !== null &&
            text !== repeatedTitle && (
              <span key={index} className="alert-message">
                {type === "noted" ? text : translateServerText(text)}
              </span>
            ),
        )}
      </span>
      <Time at={at} as="clock" />
    </li>
  );
}

function NoteForm({ alert }: { alert: AlertDetails }) {
  const [text, setText] = useState("");
  const saving = useAction(async () => {
    await addNote(alert, text);
    setText("");
  });
  return (
    <form
      className="alert-note"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") saving.run();
      }}
    >
      <Textarea
        aria-label={t("Note")}
        placeholder={t("Visible only in your organization.")}
        autosize
        minRows={1}
        maxLength={2000}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <BusyButton type="submit" loading={saving.isPending} disabled={text.trim() === ""}>
        {t("Add note")}
      </BusyButton>
    </form>
  );
}
