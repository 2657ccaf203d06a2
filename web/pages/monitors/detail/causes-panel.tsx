/** Known facts from before the failure of a monitor, the most telling first. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Causes } from "../../../../src/dashboard/cause-schema.ts";
import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import {
  describeAction,
  describeFields,
} from "../../../../src/operations/audit-log/sentence-rules.ts";
import { dashboard } from "../../../data/client.ts";
import { recordKey } from "../../../data/keys.ts";
import { createDataQuery } from "../../../data/query.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Panel } from "../../../components/page.tsx";
import { StateIcon } from "../../../components/display/state-icon.tsx";
import { Time } from "../../../components/display/time.tsx";
import { useSignedInPerson } from "../../../data/session.ts";
import { t, tCount, tNode } from "../../../language/text.ts";

const isFailing = (monitor: Monitor | undefined) =>
  monitor?.status === "down" || monitor?.status === "degraded";

export const useCauses = (id: string, monitor: Monitor | undefined) =>
  useQuery({
    enabled: isFailing(monitor),
    ...createDataQuery(
      [...recordKey("monitor", id), "causes", monitor?.statusSince ?? ""],
      (options) => dashboard.monitors({ id }).causes.get(options),
    ),
  });

/** What changed before the monitor failed, and which monitors failed with it. */
export function CausesPanel({ monitor }: { monitor: Monitor }) {
  const { data } = useCauses(monitor.id, monitor);
  if (!isFailing(monitor) || data?.since == null) return null;
  const lines = listLines(data);
  return (
    <Panel title={t("What happened before")}>
      {lines.length === 0 && (
        <p className="quiet panel-none">
          {t(
            "In the hour before, nobody changed this monitor or its group. Its certificate has not expired, and no other monitor failed within a minute.",
          )}
        </p>
      )}
      <ul className="lines">{lines}</ul>
    </Panel>
  );
}

function listLines({ certificateExpiredAt, neighbors, neighborCount, changes }: Causes) {
  const onHost = neighbors.filter(({ host }) => host !== null);
  const others = neighbors.filter(({ host }) => host === null);
  const further = neighborCount - neighbors.length;
  return [
    ...(certificateExpiredAt === null
      ? []
      : [
          <Line key="certificate" icon={<Icon name="lock" size={15} />} at={certificateExpiredAt}>
            <b>{t("The certificate expired.")}</b>
          </Line>,
        ]),
    ...(onHost.length === 0
      ? []
      : [
          <Line key="host" icon={<StateIcon state="down" size={15} />} at={onHost[0]?.since}>
            {tNode("{b} failed within a minute: {names}", {
              b: (
                <b>
                  {tNode("{pluralize} on {host}", {
                    pluralize: tCount(
                      onHost.length,
                      "{count} other monitor",
                      "{count} other monitors",
                    ),
                    host: onHost[0]?.host,
                  })}
                </b>
              ),
              names: <Names neighbors={onHost} />,
            })}
          </Line>,
        ]),
    ...changes.map((change, index) => <ChangeLine key={index} change={change} />),
    ...(others.length === 0
      ? []
      : [
          <Line key="others" icon={<StateIcon state="down" size={15} />} at={others[0]?.since}>
            {tNode("{b} failed within a minute: {names}{value}", {
              b: (
                <b>
                  {tCount(
                    others.length + further,
                    "{count} other monitor",
                    "{count} other monitors",
                  )}
                </b>
              ),
              names: <Names neighbors={others} />,
              value: further > 0 && t(" and {further} more", { further }),
            })}
          </Line>,
        ]),
  ];
}

function ChangeLine({ change }: { change: Causes["changes"][number] }) {
  const { person } = useSignedInPerson();
  const { actor } = change;
  const [before, name, after] = describeAction(change);
  const fields = describeFields(change);
  return (
    <Line icon={<Icon name="edit" size={15} />} at={change.at}>
      <b>{actor.id === person.id ? t("You") : actor.name}</b> {before}
      <bdi>{name}</bdi>
      {after}
      {fields !== "" && `: ${fields}`}
    </Line>
  );
}

const Line = ({
  icon,
  at,
  children,
}: {
  icon: ReactNode;
  at: string | undefined;
  children: ReactNode;
}) => (
  <li>
    {icon}
    <span className="line-words">{children}</span>
    {at !== undefined && <Time at={at} as="short" />}
  </li>
);

const Names = ({ neighbors }: { neighbors: Causes["neighbors"] }) =>
  neighbors.map(({ id, name }, index) => (
    <span key={id}>
      {index > 0 && ", "}
      <Link to="/monitors/$id" params={{ id }} className="link">
        <bdi>{name}</bdi>
      </Link>
    </span>
  ));
