/** Whether alerts reach people: problems first, then people with their contact methods, and drills. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { MonthlyDrill } from "../../../src/alerting/drills/schema.ts";
import type { ReadinessPerson, ReadinessProblem } from "../../../src/alerting/readiness/schema.ts";
import { formatDuration } from "../../../src/core/text/formatting.ts";
import { dot } from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { Time } from "../../components/display/time.tsx";
import { CurlButton } from "../../components/copy.tsx";
import { openDialog } from "../../components/open-dialog.ts";
import { EmptyState, Loaded, PageHeader } from "../../components/page.tsx";
import { useRowKeys } from "../../components/row-keys.ts";
import { v1 } from "../../data/client.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { useDrills } from "../alerts/data.ts";
import { AlertIcon, Owner } from "../alerts/ownership.tsx";
import { peopleQuery } from "../settings/data.ts";
import { useReadiness } from "./data.ts";
import { DrillDialog, type DrillTarget } from "./drill-dialog.tsx";
import { PersonDrillDialog } from "./monthly-drill.tsx";
import { describeDrill } from "./policy-words.ts";
import { nameAlert, translateServerText } from "../../language/server-text.ts";
import { t, tNode } from "../../language/text.ts";

const crumbs = [{ to: "/on-call", label: t("On call") }];

export default function ReadinessPage() {
  const { person } = useSignedInPerson();
  const [drilled, setDrilled] = useState<(DrillTarget & { isMonthly?: boolean }) | null>(null);
  useRowKeys();
  return (
    <>
      <PageHeader title={t("Readiness")} crumbs={crumbs}>
        <CurlButton action={() => ({ method: "GET", route: v1["on-call"].readiness })} />
        <Button
          leftSection={<Icon name="bell" size={15} />}
          onClick={() => setDrilled({ type: "person", id: person.id, name: person.name })}
        >
          {t("Drill yourself")}
        </Button>
      </PageHeader>
      <Loaded query={useReadiness()} subject={t("The readiness")} crumbs={crumbs}>
        {({ problems, people }) => (
          <>
            <Problems problems={problems} isUsed={people.length > 0} />
            {people.length > 0 && <People people={people} onDrill={setDrilled} />}
          </>
        )}
      </Loaded>
      <Drills />
      {drilled !== null &&
        (drilled.isMonthly === true ? (
          <PersonDrillDialog {...drilled} onClose={() => setDrilled(null)} />
        ) : (
          <DrillDialog
            drilled={drilled}
            onMonthly={() => setDrilled({ ...drilled, isMonthly: true })}
            onClose={() => setDrilled(null)}
          />
        ))}
    </>
  );
}

function Problems({ problems, isUsed }: { problems: ReadinessProblem[]; isUsed: boolean }) {
  if (problems.length === 0 && isUsed)
    return (
      <p className="panel readiness-ok">
        <Icon name="check" /> {t("Alerts reach everyone whom schedules and policies name.")}
      </p>
    );
  if (problems.length === 0)
    return (
      <EmptyState icon={<Icon name="people" size={28} />} title={t("Nobody is on call")}>
        {t(
          "Once schedules and escalation policies name people, this page shows how each of them is reached, when that was last proven, and what is missing.",
        )}
      </EmptyState>
    );
  return (
    <section className="records" aria-labelledby="readiness-problems">
      <div className="records-head">
        <h2 id="readiness-problems">
          {t("Problems")} <span className="num">{problems.length}</span>
        </h2>
      </div>
      <ul className="panel panel-flush">
        {problems.map((problem) => (
          <li
            key={`${problem.type} ${problem.subject.id}`}
            className="list-row record readiness-problem"
          >
            <span className={problem.severity === "error" ? "down" : "degraded"}>
              <Icon name="warning" />
            </span>
            <span>{translateServerText(problem.message)}</span>
            <Remedy problem={problem} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The link or button to the record that mends a problem. */
function Remedy({ problem: { type, subject } }: { problem: ReadinessProblem }) {
  const { person, atLeast } = useSignedInPerson();
  const { id } = subject;
  switch (subject.type) {
    case "person":
      return id === person.id ? (
        <Link className="link" to="/settings/$section" params={{ section: "contact-methods" }}>
          {t("Contact methods")}
        </Link>
      ) : (
        <MailLink id={id} />
      );
    case "schedule":
      return type === "not-used" ? (
        <Link className="link" to="/on-call">
          {t("Escalation policies")}
        </Link>
      ) : (
        <Link className="link" to="/on-call/$id" params={{ id }}>
          {t("Open the schedule")}
        </Link>
      );
    case "policy":
      return atLeast("admin") ? (
        <button
          type="button"
          className="plain-button link"
          onClick={() => openDialog({ kind: "edit-policy", id })}
        >
          {t("Edit the policy")}
        </button>
      ) : (
        <Link className="link" to="/on-call">
          {t("Escalation policies")}
        </Link>
      );
    case "channel":
      return (
        <Link className="link" to="/alert-channels/$id" params={{ id }}>
          {t("Open the channel")}
        </Link>
      );
    case "alert":
      return (
        <Link className="link" to="/alerts/$id" params={{ id }}>
          {t("Open the drill")}
        </Link>
      );
  }
}

/** Only a person can verify their own contact methods. */
function MailLink({ id }: { id: string }) {
  const { data: people = [] } = useQuery(peopleQuery);
  const found = people.find((one) => one.id === id);
  return found === undefined ? null : (
    <a className="link" href={`mailto:${found.email}`}>
      {t("Write an e-mail")}
    </a>
  );
}

type OnDrill = { onDrill: (drilled: DrillTarget & { isMonthly?: boolean }) => void };

const People = ({ people, onDrill }: { people: ReadinessPerson[] } & OnDrill) => (
  <section className="records" aria-labelledby="readiness-people">
    <div className="records-head">
      <h2 id="readiness-people">
        {t("People")} <span className="num">{people.length}</span>
      </h2>
    </div>
    <ul className="panel panel-flush">
      {people.map((entry) => (
        <PersonRow key={entry.id} entry={entry} onDrill={onDrill} />
      ))}
    </ul>
  </section>
);

function PersonRow({ entry, onDrill }: { entry: ReadinessPerson } & OnDrill) {
  const { person, atLeast } = useSignedInPerson();
  const { id, name, onCall, uses, contactMethods, acknowledgedAt, drill } = entry;
  const mayDrill = id === person.id || atLeast("admin");
  const edit = () => onDrill({ type: "person", id, name, isMonthly: true });
  return (
    <li className="list-row record readiness-person" data-item>
      <Icon name="person" />
      <div className="readiness-words">
        <b>{name}</b>
        <span>
          {onCall && t("on call now")}
          {onCall && uses.length > 0 && dot}
          {uses.map((use) => use.name).join(", ")}
        </span>
        {acknowledgedAt !== null && (
          <span>
            {tNode("acknowledged {time}", { time: <Time at={acknowledgedAt} as="ago" /> })}
          </span>
        )}
        {drill !== null && <MonthlyDrillWords drill={drill} onEdit={mayDrill ? edit : null} />}
      </div>
      <ul className="readiness-methods" aria-label={t("Contact methods of {name}", { name })}>
        {contactMethods.length === 0 && <li className="down">{t("no contact method")}</li>}
        {contactMethods.map((method) => (
          <Method key={method.id} method={method} />
        ))}
      </ul>
      {mayDrill && (
        <Button
          size="xs"
          className="record-action"
          aria-label={t("Drill {name}", { name })}
          onClick={() => onDrill({ type: "person", id, name })}
        >
          {t("Drill")}
        </Button>
      )}
    </li>
  );
}

const MonthlyDrillWords = ({
  drill,
  onEdit,
}: {
  drill: MonthlyDrill;
  onEdit: (() => void) | null;
}) =>
  onEdit === null ? (
    <span>{describeDrill(drill)}</span>
  ) : (
    <button type="button" className="plain-button link" onClick={onEdit}>
      {describeDrill(drill)}
    </button>
  );

const methodProblems = {
  disabled: t("disabled"),
  "not-verified": t("not verified"),
  failing: t("failing"),
} as const;

function Method({ method }: { method: ReadinessPerson["contactMethods"][number] }) {
  const { name, usedAfterMinutes, usedForCriticalAfterMinutes, provenAt, problem } = method;
  const use = describeUse(usedAfterMinutes, usedForCriticalAfterMinutes);
  return (
    <li>
      <b>{name}</b>
      {use !== "" && ` ${use}`}
      {problem === null ? (
        provenAt !== null && (
          <>
            {dot}
            {tNode("proven {time}", { time: <Time at={provenAt} as="ago" /> })}
          </>
        )
      ) : (
        <span className={problem === "failing" ? "down" : "degraded"}>
          {dot}
          {methodProblems[problem]}
        </span>
      )}
    </li>
  );
}

/** Returns when a method is used, such as `at once` or `after 3 min, critical at once`. */
function describeUse(normal: number | null, critical: number | null): string {
  if (normal === null && critical === null) return "";
  if (normal === critical) return formatAfter(normal);
  if (normal === null) return t("only critical, {critical}", { critical: formatAfter(critical) });
  if (critical === null) return t("{normal}, not for critical", { normal: formatAfter(normal) });
  return t("{normal}, critical {critical}", {
    normal: formatAfter(normal),
    critical: formatAfter(critical),
  });
}

const formatAfter = (minutes: number | null) =>
  minutes === null || minutes === 0
    ? t("at once")
    : t("after {duration}", { duration: formatDuration(minutes * 60) });

function Drills() {
  const { data } = useDrills();
  if (data === undefined || data.data.length === 0) return null;
  return (
    <section className="records" aria-labelledby="readiness-drills">
      <div className="records-head">
        <h2 id="readiness-drills">{t("Drills")}</h2>
      </div>
      <ul className="panel panel-flush">
        {data.data.map((alert) => (
          <li key={alert.id} className="list-row record readiness-drill" data-item>
            <AlertIcon alert={alert} />
            <Link
              to="/alerts/$id"
              params={{ id: alert.id }}
              className="row-link row-cut"
              data-item-focus={alert.id}
            >
              <b>{nameAlert(alert)}</b>
              <span>
                <Owner alert={alert} />
              </span>
            </Link>
            <span className="quiet nowrap">
              <Time at={alert.since} as="short" />
            </span>
          </li>
        ))}
      </ul>
      {data.meta.total > data.data.length && (
        <p className="quiet text-s mt-6">
          <Link to="/alerts" search={{ type: "drill" } as never}>
            {t("All drills")}
          </Link>
        </p>
      )}
    </section>
  );
}
