/** One alert: its problem, who takes care of it, and its timeline. */
import { Textarea } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { dot, formatReason } from "../../components/display/format.ts";
import { Time } from "../../components/display/time.tsx";
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

const crumbs = [{ to: "/alerts", label: "Alerts" }];

export default function AlertPage() {
  const { id = "" } = useParams({ strict: false });
  return (
    <Loaded query={useAlert(id)} what="The alert" crumbs={crumbs}>
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
        title={alert.title}
        icon={<AlertIcon alert={alert} size={22} />}
        crumbs={crumbs}
        below={
          <>
            since <Time at={alert.since} as="short" />
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
      <Panel title="Timeline">
        <ol className="lines alert-timeline">
          {alert.timeline.map((entry, index) => (
            <Entry key={`${entry.at} ${index}`} entry={entry} title={alert.title} />
          ))}
        </ol>
        {mayWrite && <NoteForm alert={alert} />}
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
            Revoke links
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
          title="Revoke the links of this alert?"
          verb="Revoke links"
          onConfirm={() => revokeLinks(alert)}
          onClose={() => setRevoking(false)}
        >
          Messages that were sent can no longer acknowledge it. Later messages have new links. This
          can’t be undone.
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
        Open in the tool
      </a>
    </>
  );
}

function SubjectLink({ alert: { subject } }: { alert: AlertDetails }) {
  const paths = {
    monitor: ["/monitors/$id", "the monitor"],
    incident: ["/incidents/$id", "the incident"],
    channel: ["/alert-channels/$id", "the alert channel"],
    schedule: ["/on-call/$id", "the schedule"],
    source: ["/on-call/alert-sources/$id", "the alert source"],
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
        Open {label}
      </Link>
    </>
  );
}

type TimelineEntry = AlertDetails["timeline"][number];

const words: Record<TimelineEntry["type"], string> = {
  opened: "Opened",
  changed: "Changed",
  held: "Held",
  joined: "Joined",
  sent: "Sent",
  delivered: "Delivered",
  failed: "Failed",
  skipped: "Skipped",
  acknowledged: "Acknowledged",
  unacknowledged: "Opened again",
  snoozed: "Snoozed",
  returned: "Returned after the snooze",
  noted: "Note",
  escalated: "Escalated",
  "links-revoked": "Links revoked",
  resolved: "Ended",
};

function Entry({
  entry: { at, type, message, actor, channel },
  title,
}: {
  entry: TimelineEntry;
  title: string;
}) {
  const isBad = type === "failed";
  return (
    <li>
      <Time at={at} as="seconds" />
      <span className="line-words">
        <b className={isBad ? "down" : ""}>{words[type] ?? type}</b>
        {channel !== null && ` to ${channel.name ?? "a deleted channel"}`}
        {actor !== null && ` by ${actor.name}`}
        {message !== null && message !== title && <span className="alert-message">{message}</span>}
      </span>
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
        label="Note"
        description="Visible only in your organization."
        autosize
        minRows={1}
        maxLength={2000}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <BusyButton type="submit" loading={saving.isPending} disabled={text.trim() === ""}>
        Add note
      </BusyButton>
    </form>
  );
}
