/** Settings: version, health, problems and figures of the appliance. */
import { useQuery } from "@tanstack/react-query";
import { getLocale } from "../../../../src/core/text/locale.ts";
import type { ApplianceFigures } from "../../../../src/operations/appliance/schema.ts";
import { connection } from "../../../data/connection.ts";
import { liveState } from "../../../data/live.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { formatNarrowBytes, formatCount } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Mark } from "../../../components/display/mark.tsx";
import { Loaded, Panel } from "../../../components/page.tsx";
import { StateIcon } from "../../../components/display/state-icon.tsx";
import { formatAbsolute, Time, useZone } from "../../../components/display/time.tsx";
import { aboutQuery, figuresQuery } from "../data.ts";
import { FactList } from "../entry.tsx";
import { Machines } from "./machines.tsx";
import { translateServerText } from "../../../language/server-text.ts";
import { t, tCount } from "../../../language/text.ts";

export default function About() {
  const query = useQuery(aboutQuery);
  const { person } = useSignedInPerson();
  const zone = useZone();
  return (
    <Loaded query={query} subject={t("The information about Signalbox")}>
      {({ version, startedAt, counts }) => (
        <>
          <Panel>
            <div className="about-head">
              <Mark state="up" size={36} />
              <div>
                <b>Signalbox {version}</b>
                <Health />
              </div>
              <a className="link nowrap" href="/docs" target="_blank" rel="noreferrer">
                {t("API reference")} <Icon name="external" size={14} />
              </a>
            </div>
            <FactList
              facts={[
                [
                  t("Running for"),
                  <>
                    <Time at={startedAt} as="for" />
                    <span className="faint">
                      {t(", since {time}", { time: formatAbsolute(startedAt, zone) })}
                    </span>
                  </>,
                ],
                [t("License"), "MIT"],
              ]}
            />
          </Panel>
          <Panel title={t("In this organization")}>
            <p className="counts">
              {[
                tCount(counts.monitors, "{count} monitor", "{count} monitors"),
                tCount(counts.monitorGroups, "{count} group", "{count} groups"),
                tCount(counts.incidents, "{count} incident", "{count} incidents"),
                tCount(counts.alertChannels, "{count} alert channel", "{count} alert channels"),
                tCount(counts.statusPages, "{count} status page", "{count} status pages"),
                tCount(counts.people, "{count} person", "{count} people"),
                tCount(counts.apiKeys, "{count} API key", "{count} API keys"),
              ].map((words) => (
                <span key={words}>{words}</span>
              ))}
            </p>
          </Panel>
          {person.administrator && <Appliance />}
        </>
      )}
    </Loaded>
  );
}

/** Figures of the whole appliance and its current problems. */
function Appliance() {
  const { data } = useQuery(figuresQuery);
  if (data === undefined) return null;
  return (
    <>
      <Panel title={t("In the whole appliance")}>
        {data.problems.map(({ name, title, message, severity, since }) => (
          <p key={`${name} ${message}`} className="about-problem flex gap-8 mb-12 text-s">
            <StateIcon state={severity === "warning" ? "degraded" : "down"} size={14} />
            <span>
              <b>{translateServerText(title)}</b>, <Time at={since} as="ago" />
              <br />
              <span className="faint">{translateServerText(message)}</span>
            </span>
          </p>
        ))}
        <p className="counts">
          {[
            tCount(data.organizations, "{count} organization", "{count} organizations"),
            tCount(data.people, "{count} person", "{count} people"),
            tCount(data.monitors, "{count} monitor", "{count} monitors"),
            t("{size} of data", { size: formatNarrowBytes(data.dataBytes) }),
          ].map((words) => (
            <span key={words}>{words}</span>
          ))}
        </p>
        <RuntimeFacts figures={data} />
      </Panel>
      <Machines cluster={data.cluster} />
    </>
  );
}

/** Data, load and log of the process, which the metrics have in detail. */
function RuntimeFacts({ figures }: { figures: ApplianceFigures }) {
  const { checksPerSecond, pendingDeliveries, runtime } = figures;
  const { checks, results, pages, passwords } = runtime.waiting;
  const queues = [
    tCount(checks, "{count} check", "{count} checks"),
    tCount(results, "{count} result", "{count} results"),
    t("{count} alerts and notices", { count: formatCount(pendingDeliveries) }),
    tCount(pages, "{count} status page", "{count} status pages"),
    tCount(passwords, "{count} password", "{count} passwords"),
  ];
  return (
    <FactList
      facts={[
        [t("Data"), runtime.dataDirectory ?? t("on the machines of the database")],
        [t("Memory"), formatNarrowBytes(runtime.memoryBytes)],
        [
          t("Checks"),
          t("{number} per second", {
            number: checksPerSecond.toLocaleString(getLocale(), {
              maximumSignificantDigits: 3,
              useGrouping: false,
            }),
          }),
        ],
        [t("Waiting"), queues.join(", ")],
        [t("Log level"), runtime.logLevel],
      ]}
    />
  );
}

function Health() {
  const answers = connection.use() === "good";
  const live = liveState.use() === "live";
  return (
    <span className="about-health flex items-center gap-6 text-s quiet">
      <StateIcon state={answers ? (live ? "up" : "degraded") : "down"} size={14} />
      {!answers
        ? t("Not responding")
        : live
          ? t("Running, with live updates")
          : t("Running, but live updates are delayed")}
    </span>
  );
}
