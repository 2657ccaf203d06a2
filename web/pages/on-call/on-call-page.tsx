/** Schedules, with who is on call now and next and gaps of the next 14 days, and escalation policies. */
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { OnCall } from "../../../src/alerting/schedules/schema.ts";
import { dot } from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { Time } from "../../components/display/time.tsx";
import { openDialog } from "../../components/open-dialog.ts";
import { CreateButton, EmptyState, Loaded, PageHeader } from "../../components/page.tsx";
import { useDeleting } from "../../components/deletion.ts";
import { CurlButton } from "../../components/copy.tsx";
import { useRowKeys } from "../../components/row-keys.ts";
import { useShortcuts } from "../../components/shortcuts.ts";
import { v1 } from "../../data/client.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { useOnCall, useReadiness } from "./data.ts";
import { Policies } from "./policies.tsx";
import { TakeOver } from "./take-over.tsx";
import { t, tNode } from "../../language/text.ts";

const createSchedule = () => openDialog({ kind: "create-schedule" });

export default function OnCallPage() {
  const { atLeast, isLimited } = useSignedInPerson();
  const mayEdit = atLeast("admin");
  const query = useOnCall();
  const deleting = useDeleting();
  useRowKeys();
  useShortcuts(mayEdit ? { n: createSchedule } : {});
  return (
    <>
      <PageHeader title={t("On call")}>
        <CurlButton action={() => ({ method: "GET", route: v1["on-call"] })} />
        {!isLimited && (
          <>
            <Button renderRoot={(props) => <Link to="/on-call/alert-sources" {...props} />}>
              {t("Alert sources")}
            </Button>
            <ReadinessButton />
          </>
        )}
        {mayEdit && <CreateButton onClick={createSchedule}>{t("Create schedule")}</CreateButton>}
      </PageHeader>
      <Loaded query={query} subject={t("The schedules")}>
        {(all) => {
          const visibleSchedules = all.filter(({ scheduleId }) => !deleting.has(scheduleId));
          if (visibleSchedules.length === 0) return <NoSchedules mayEdit={mayEdit} />;
          return (
            <section className="records" aria-label={t("Schedules")}>
              <div className="records-head" aria-hidden="true">
                <h2>
                  {t("Schedules")} <span className="num">{visibleSchedules.length}</span>
                </h2>
              </div>
              <ul className="panel panel-flush">
                {visibleSchedules.map((onCall) => (
                  <ScheduleRow key={onCall.scheduleId} onCall={onCall} />
                ))}
              </ul>
            </section>
          );
        }}
      </Loaded>
      <Policies />
    </>
  );
}

/** The link to the readiness, with the number of its errors. */
function ReadinessButton() {
  const { data } = useReadiness();
  const errors = data?.problems.filter(({ severity }) => severity === "error").length ?? 0;
  return (
    <Button renderRoot={(props) => <Link to="/on-call/readiness" {...props} />}>
      {t("Readiness")}
      {errors > 0 && <b className="down readiness-count">{errors}</b>}
    </Button>
  );
}

function NoSchedules({ mayEdit }: { mayEdit: boolean }) {
  return (
    <EmptyState icon={<Icon name="people" size={28} />} title={t("No schedules")}>
      {t(
        "A schedule says who is on call at which time: people take turns, by day, by week or by hour. Escalation policies then notify the person who is on call.",
      )}
      {!mayEdit && ` ${t("Admins can create one.")}`}
    </EmptyState>
  );
}

function ScheduleRow({ onCall }: { onCall: OnCall }) {
  const { scheduleId: id, scheduleName, next, nextGapAt } = onCall;
  return (
    <li className="list-row record duty-record" data-item>
      <span className={onCall.personId === null ? "down" : ""}>
        <Icon name={onCall.personId === null ? "warning" : "person"} />
      </span>
      <Link to="/on-call/$id" params={{ id }} className="row-link row-cut" data-item-focus={id}>
        <b title={scheduleName}>{scheduleName}</b>
        <span>
          {next === null
            ? t("no further shifts")
            : tNode("next {person} {time}", {
                person: next.personName ?? t("someone"),
                time: <Time at={next.startsAt} as="short" />,
              })}
          {nextGapAt !== null && onCall.personId !== null && (
            <span className="degraded">
              {dot}
              {tNode("nobody from {time}", { time: <Time at={nextGapAt} as="short" /> })}
            </span>
          )}
        </span>
      </Link>
      <OnCallNow onCall={onCall} />
      <TakeOver onCall={onCall} />
    </li>
  );
}

/** Who is on call, and until when. */
export function OnCallNow({ onCall }: { onCall: OnCall }) {
  const { personId, personName, until } = onCall;
  return (
    <span className="duty-current">
      <b className={personId === null ? "down" : ""}>
        {personId === null ? t("Nobody") : (personName ?? t("Someone"))}
      </b>
      {until !== null && (
        <small>{tNode("until {time}", { time: <Time at={until} as="short" /> })}</small>
      )}
    </span>
  );
}
