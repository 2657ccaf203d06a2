/** The job of a push monitor: commands to copy, the next due times, and its last runs with their output. */
import { Button } from "@mantine/core";
import type { Job, JobReport } from "../../../../src/monitoring/jobs/schema.ts";
import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import { copyText } from "../../../components/copy.tsx";
import { formatLatency } from "../../../components/display/format.ts";
import { StateIcon } from "../../../components/display/state-icon.tsx";
import { formatUnbrokenDuration, Time, useNow } from "../../../components/display/time.tsx";
import { Panel } from "../../../components/page.tsx";
import { maxJobReports, useJob } from "../data.ts";
import { t, tCount, tNode } from "../../../language/text.ts";

export function JobPanels({ monitor }: { monitor: Monitor }) {
  const { data: job } = useJob(monitor.id);
  const commands = <CommandsPanel monitor={monitor} />;
  if (job === undefined) return commands;
  // The address is needed until the job reports.
  const isNew = job.reports.length === 0;
  return (
    <>
      {isNew && commands}
      <DuePanel monitor={monitor} job={job} />
      {!isNew && <RunsPanel job={job} />}
      {!isNew && commands}
    </>
  );
}

/** Commands with the addresses of the job. */
function CommandsPanel({ monitor: { pingUrl, pushUrl } }: { monitor: Monitor }) {
  if (typeof pingUrl !== "string" || typeof pushUrl !== "string")
    return (
      <Panel title={t("Address for reports")}>
        <p className="quiet panel-words">
          {t(
            "The job reports to a URL of its own. Anyone who knows it can report, so only people who can edit monitors see it.",
          )}
        </p>
      </Panel>
    );
  return (
    <Panel title={t("Address for reports")}>
      <Command
        label={t("After the job, with its exit status")}
        command={`curl -fsS -m 10 --retry 5 ${pingUrl}/$?`}
      />
      <Command
        label={t("Before it, to measure and limit its run time")}
        command={`curl -fsS -m 10 --retry 5 ${pingUrl}/start`}
      />
      <Command
        label={t("With a message")}
        command={`curl -fsS --retry 5 --data-urlencode "msg=12 tables copied" "${pushUrl}?status=up"`}
      />
    </Panel>
  );
}

function Command({ label, command }: { label: string; command: string }) {
  return (
    <div className="job-command">
      <span className="quiet">{label}</span>
      <Button
        size="compact-xs"
        aria-label={t("Copy: {label}", { label })}
        onClick={() => void copyText(command, t("Command"))}
      >
        {t("Copy")}
      </Button>
      <code className="push-command">{command}</code>
    </div>
  );
}

function DuePanel({ monitor, job }: { monitor: Monitor; job: Job }) {
  const { schedule, timeZone } = monitor;
  return (
    <Panel
      title={t("Next due")}
      actions={
        typeof schedule === "string" && (
          <span className="quiet job-schedule">
            <code>{schedule}</code> {String(timeZone)}
          </span>
        )
      }
    >
      <ul className="job-due">
        {job.nextDueAt.map((at) => (
          <li key={at}>
            <Time at={at} as="short" />
          </li>
        ))}
        {job.nextDueAt.length === 0 && <li>{t("Never again")}</li>}
      </ul>
      <p className="quiet panel-none">
        {job.startedAt !== null && (
          <>{tNode("Running for {time}.", { time: <Time at={job.startedAt} as="for" /> })} </>
        )}
        {job.overdueAt === null ? (
          t("No report is awaited.")
        ) : (
          <>
            {tNode("Down without a report {time}.", {
              time: <Time at={job.overdueAt} as="until" />,
            })}
          </>
        )}
      </p>
    </Panel>
  );
}

const reportLabels: Record<JobReport["kind"], string> = {
  success: t("Success"),
  failure: t("Failure"),
  start: t("Started"),
  log: t("Log"),
};
const states = { success: "up", failure: "down", start: "pending", log: "pending" } as const;

/** Whether a start belongs to a run whose end is shown. */
const isEnded = (start: JobReport, reports: readonly JobReport[]) =>
  start.kind === "start" &&
  reports.some(
    ({ at, runId, durationMs }) =>
      durationMs !== null &&
      runId === start.runId &&
      Date.parse(at) - durationMs === Date.parse(start.at),
  );

function RunsPanel({ job: { reports } }: { job: Job }) {
  const shownReports = reports.filter((report) => !isEnded(report, reports));
  return (
    <Panel title={t("Runs")}>
      <ul className="lines">
        {shownReports.map((report) => (
          <Run key={report.at} report={report} reports={reports} />
        ))}
      </ul>
      {reports.length === maxJobReports && (
        <p className="quiet panel-none">
          {tCount(maxJobReports, "The last report.", "The last {count} reports.")}
        </p>
      )}
    </Panel>
  );
}

function Run({ report, reports }: { report: JobReport; reports: readonly JobReport[] }) {
  const { at, kind, durationMs, exitStatus, body, address, userAgent } = report;
  const now = useNow();
  const isLast = reports.find((one) => one.kind !== "log") === report;
  const sender = [address, userAgent].filter((part) => part !== null).join(", ");
  return (
    <li>
      <StateIcon state={states[kind]} size={15} />
      <span className="line-words">
        <b>{reportLabels[kind]}</b>
        {exitStatus !== null &&
          exitStatus > 0 &&
          ` ${t("with exit status {status}", { status: exitStatus })}`}
        {durationMs !== null &&
          ` ${t("after {duration}", { duration: formatRunTime(durationMs) })}`}
        {kind === "start" &&
          `, ${
            isLast
              ? t("running for {duration}", {
                  duration: formatUnbrokenDuration((now - Date.parse(at)) / 1000),
                })
              : t("and did not finish")
          }`}
        <details className="job-output">
          <summary>{body === null ? t("Sender") : t("Output")}</summary>
          {body !== null && <pre>{body}</pre>}
          <span className="quiet">{sender}</span>
        </details>
      </span>
      <Time at={at} as="short" />
    </li>
  );
}

const formatRunTime = (ms: number) =>
  ms < 60_000 ? formatLatency(ms) : formatUnbrokenDuration(ms / 1000);
