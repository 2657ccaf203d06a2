/** Settings: version, health, problems and figures of the appliance. */
import { useQuery } from "@tanstack/react-query";
import type { ApplianceFigures } from "../../../../src/operations/appliance/schema.ts";
import { connection } from "../../../data/connection.ts";
import { liveState } from "../../../data/live.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { bytesInWords, formatCount, pluralize } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Mark } from "../../../components/display/mark.tsx";
import { Loaded, Panel } from "../../../components/page.tsx";
import { StateIcon } from "../../../components/display/state-icon.tsx";
import { formatAbsolute, Time, useZone } from "../../../components/display/time.tsx";
import { aboutQuery, figuresQuery } from "../data.ts";
import { Facts } from "../entry.tsx";
import { Machines } from "./machines.tsx";

export default function About() {
  const query = useQuery(aboutQuery);
  const { person } = useSignedInPerson();
  const zone = useZone();
  return (
    <Loaded query={query} what="The information about Signalbox">
      {({ version, startedAt, counts }) => (
        <>
          <Panel>
            <div className="about-head">
              <Mark state="up" size={36} />
              <div>
                <b>Signalbox {version}</b>
                <Health />
              </div>
              <a className="link" href="/docs" target="_blank" rel="noreferrer">
                API reference <Icon name="external" size={14} />
              </a>
            </div>
            <Facts
              facts={[
                [
                  "Running for",
                  <>
                    <Time at={startedAt} as="for" />
                    <span className="faint">, since {formatAbsolute(startedAt, zone)}</span>
                  </>,
                ],
                ["License", "MIT"],
              ]}
            />
          </Panel>
          <Panel title="In this organization">
            <p className="counts">
              {[
                pluralize(counts.monitors, "monitor"),
                pluralize(counts.monitorGroups, "group"),
                pluralize(counts.incidents, "incident"),
                pluralize(counts.alertChannels, "alert channel"),
                pluralize(counts.statusPages, "status page"),
                counts.people === 1 ? "1 person" : `${counts.people} people`,
                pluralize(counts.apiKeys, "API key"),
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
      <Panel title="In the whole appliance">
        {data.problems.map(({ name, title, message, severity, since }) => (
          <p key={`${name} ${message}`} className="about-problem flex gap-8 mb-12 text-s">
            <StateIcon state={severity === "warning" ? "degraded" : "down"} size={14} />
            <span>
              <b>{title}</b>, <Time at={since} as="ago" />
              <br />
              <span className="faint">{message}</span>
            </span>
          </p>
        ))}
        <p className="counts">
          {[
            pluralize(data.organizations, "organization"),
            data.people === 1 ? "1 person" : `${data.people} people`,
            pluralize(data.monitors, "monitor"),
            `${bytesInWords(data.dataBytes)} of data`,
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
    pluralize(checks, "check"),
    pluralize(results, "result"),
    `${formatCount(pendingDeliveries)} alerts and notices`,
    pluralize(pages, "status page"),
    pluralize(passwords, "password"),
  ];
  return (
    <Facts
      facts={[
        ["Data", runtime.dataDirectory ?? "on the machines of the database"],
        ["Memory", bytesInWords(runtime.memoryBytes)],
        ["Checks", `${Number(checksPerSecond.toPrecision(3))} per second`],
        ["Waiting", queues.join(", ")],
        ["Log level", runtime.logLevel],
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
        ? "Not responding"
        : live
          ? "Running, with live updates"
          : "Running, but live updates are delayed"}
    </span>
  );
}
