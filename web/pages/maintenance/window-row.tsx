import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import { useOverview } from "../../data/overview.ts";
import { useSignedIn } from "../../data/session.ts";
import { durationInWords, useNow, useZone } from "../../components/time.tsx";
import { endNow } from "./data.ts";
import { affectedInWords, recurrenceInWords, spanInWords, WindowIcon } from "./words.tsx";

export function WindowRow({ window }: { window: MaintenanceWindow }) {
  const { id, title, state, current, next, startsAt, endsAt, rrule } = window;
  const { data: overview } = useOverview();
  const { mayWrite } = useSignedIn();
  const zone = useZone();
  const when = current ?? next ?? { startsAt, endsAt };
  const about = [
    ...(rrule === null ? [] : [recurrenceInWords(window)]),
    affectedInWords(window, overview),
    ...(window.public ? [] : ["not public"]),
  ];
  return (
    <li className="record window-record">
      <WindowIcon state={state} />
      <Link to="/maintenance/$id" params={{ id }} className="record-name">
        <b>{title}</b>
        <span>{about.join(" · ")}</span>
      </Link>
      <span className="window-when">
        <span className="num">
          {spanInWords(Date.parse(when.startsAt), Date.parse(when.endsAt), zone)}
        </span>
        {state !== "over" && <Until window={window} />}
      </span>
      {state === "running" && rrule === null && mayWrite && (
        <Button size="xs" className="record-action" onClick={() => void endNow(window)}>
          End now
        </Button>
      )}
    </li>
  );
}

/** `ends in 34 min`, `in 2 d 3 h`. */
function Until({ window: { current, next } }: { window: MaintenanceWindow }) {
  const now = useNow();
  const at = current?.endsAt ?? next?.startsAt;
  if (at === undefined) return null;
  const seconds = Math.floor((Date.parse(at) - now) / 1000);
  if (seconds <= 0) return <small>now</small>;
  const words = seconds < 60 ? `${seconds} s` : durationInWords(seconds - (seconds % 60));
  return (
    <small className="num">
      {current ? "ends " : ""}in {words}
    </small>
  );
}
