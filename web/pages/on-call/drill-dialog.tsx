/** The dialog that shows whom a drill would notify, and starts it. */
import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { DrillPreview } from "../../../src/alerting/drills/schema.ts";
import { formatDuration } from "../../../src/core/text/formatting.ts";
import { Confirm } from "../../components/confirm.tsx";
import { unwrapData, v1 } from "../../data/client.ts";
import { listKey } from "../../data/keys.ts";
import { queryClient } from "../../data/query.ts";
import { translateServerText } from "../../language/server-text.ts";
import { t } from "../../language/text.ts";

/** The policy or person of a drill. */
export type DrillTarget = { type: "policy" | "person"; id: string; name: string };

type DrillPriority = "normal" | "critical";

const routeOf = ({ type, id }: DrillTarget) =>
  type === "policy" ? v1["escalation-policies"]({ id }) : v1.people({ id });

type DialogProps = {
  drilled: DrillTarget;
  /** Opens the monthly drill. */
  onMonthly?: () => void;
  onClose: () => void;
};

export function DrillDialog({ drilled, onMonthly, onClose }: DialogProps) {
  const navigate = useNavigate();
  const [priority, setPriority] = useState<DrillPriority>("normal");
  const route = routeOf(drilled);
  const { data: preview, error } = useQuery({
    queryKey: [...listKey("alert"), "drill-preview", drilled, priority],
    queryFn: () => unwrapData(route["drill-preview"].get({ query: { priority } })),
    retry: false,
  });
  return (
    <Confirm
      title={t("Start a drill of {name}?", { name: drilled.name })}
      verb={t("Start drill")}
      publishes
      onClose={onClose}
      onConfirm={async () => {
        const { id } = await unwrapData(route.drill.post({ priority }));
        await queryClient.invalidateQueries({ queryKey: listKey("alert") });
        await navigate({ to: "/alerts/$id", params: { id } });
      }}
    >
      <p>
        {t(
          "Everyone below is notified as for an alert, until someone acknowledges. Every message is marked as a drill. Messages can't be called back.",
        )}
      </p>
      <SegmentedControl
        aria-label={t("Priority")}
        className="drill-priority"
        value={priority}
        onChange={(next) => setPriority(next as DrillPriority)}
        data={[
          { value: "normal", label: t("Normal priority") },
          { value: "critical", label: t("Critical") },
        ]}
      />
      {error !== null && <p className="down">{error.message}</p>}
      {preview && <Steps preview={preview} />}
      {onMonthly && (
        <button type="button" className="plain-button link" onClick={onMonthly}>
          {t("Drill every month")}
        </button>
      )}
    </Confirm>
  );
}

/** The steps of a preview, each with its recipients. */
const Steps = ({ preview: { at, steps } }: { preview: DrillPreview }) => (
  <ol className="drill-steps" aria-label={t("Who is notified")}>
    {steps.map((step, index) => (
      <li key={index}>
        <b>{formatAfter(at, step.at)}</b>
        <span className={step.step !== null && step.notifications.length === 0 ? "down" : ""}>
          {step.step === null
            ? t("If nobody acknowledges: {message}", {
                message: translateServerText(step.message),
              })
            : translateServerText(step.message)}
          {step.step !== null && (
            <small>
              {step.notifications.map((one) => describeNotification(step.at, one)).join(", ")}
            </small>
          )}
        </span>
      </li>
    ))}
  </ol>
);

type Notification = DrillPreview["steps"][number]["notifications"][number];

/** Returns a contact method with its delay, such as `Phone, Call after 3 min`. Channels are named by their step. */
function describeNotification(stepAt: string, { at, channel, person }: Notification): string {
  const name =
    person === null
      ? channel.name
      : t("{method} of {person}", { method: channel.name, person: person.name });
  const seconds = countSeconds(stepAt, at);
  return seconds === 0
    ? name
    : t("{name} {duration} later", { name, duration: formatDuration(seconds) });
}

const countSeconds = (from: string, until: string) =>
  Math.round((Date.parse(until) - Date.parse(from)) / 1000);

function formatAfter(from: string, at: string): string {
  const seconds = countSeconds(from, at);
  return seconds === 0
    ? t("At once")
    : t("After {duration}", { duration: formatDuration(seconds) });
}
