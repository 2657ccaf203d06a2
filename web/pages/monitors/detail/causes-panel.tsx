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
import { uneditedKey } from "../../../data/keys.ts";
import { createDataQuery } from "../../../data/query.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Panel } from "../../../components/page.tsx";
import { StateIcon } from "../../../components/display/state-icon.tsx";
import { Time } from "../../../components/display/time.tsx";
import { useSignedInPerson } from "../../../data/session.ts";
import { nameField } from "../../settings/organization/field-labels.ts";
import { t, tCount, tNode } from "../../../language/text.ts";

const isFailing = (monitor: Monitor | undefined) =>
  monitor?.status === "down" || monitor?.status === "degraded";

export const useCauses = (id: string, monitor: Monitor | undefined) =>
  useQuery({
    enabled: isFailing(monitor),
    ...createDataQuery([...uneditedKey(id), "causes", monitor?.statusSince ?? ""], (options) =>
      dashboard.monitors({ id }).causes.get(options),
    ),
  });

/** Lists the changes before the monitor failed, and the monitors that failed with it. */
export function CausesPanel({ monitor }: { monitor: Monitor }) {
  const { data } = useCauses(monitor.id, monitor);
  if (!isFailing(monitor) || data?.since == null) return null;
  const lines = listLines(data);
  return (
    <Panel title={t("What happened before")}>
      {lines.length === 0 && (
        <p className="quiet panel-none">
          {t(
            "In the hour before, nobody changed this monitor or its group, and no other addresses of its host were seen. Its certificate has not expired, and no other monitor failed within a minute.",
          )}
        </p>
      )}
      <ul className="lines">{lines}</ul>
    </Panel>
  );
}

function listLines({ certificateExpiredAt, resolved, neighbors, neighborCount, changes }: Causes) {
  const alike = Map.groupBy(
    neighbors.filter(({ common }) => common !== null),
    ({ common }) => `${common?.kind} ${common?.value}`,
  );
  const others = neighbors.filter(({ common }) => common === null);
  const hiddenCount = neighborCount - neighbors.length;
  return [
    ...(certificateExpiredAt === null
      ? []
      : [
          <Line key="certificate" icon={<Icon name="lock" size={15} />} at={certificateExpiredAt}>
            <b>{t("The certificate expired.")}</b>
          </Line>,
        ]),
    ...(resolved === null
      ? []
      : [
          <Line key="resolved" icon={<Icon name="refresh" size={15} />} at={resolved.at}>
            {tNode("{change} Before: {before}", {
              change: (
                <b>
                  {t("{name} resolves to {after}.", { name: resolved.name, after: resolved.after })}
                </b>
              ),
              before: <bdi>{resolved.before}</bdi>,
            })}
          </Line>,
        ]),
    ...[...alike].map(([key, failed]) => (
      <NeighborsLine key={key} neighbors={failed} count={describeCommon(failed)} />
    )),
    ...changes.map((change, index) => <ChangeLine key={index} change={change} />),
    ...(others.length === 0
      ? []
      : [
          <NeighborsLine
            key="others"
            neighbors={others}
            hiddenCount={hiddenCount}
            count={tCount(
              others.length + hiddenCount,
              "{count} other monitor",
              "{count} other monitors",
            )}
          />,
        ]),
  ];
}

/** Counts the neighbors, and names what they have in common with the monitor. */
function describeCommon(neighbors: Causes["neighbors"]): string {
  const { kind, value = "" } = neighbors[0]?.common ?? {};
  const count = neighbors.length;
  if (kind === "certificate")
    return tCount(
      count,
      "{count} other monitor with the same certificate",
      "{count} other monitors with the same certificate",
    );
  if (kind === "resolver")
    return tCount(
      count,
      "{count} other monitor with the name server {value}",
      "{count} other monitors with the name server {value}",
      { value },
    );
  return tCount(count, "{count} other monitor on {value}", "{count} other monitors on {value}", {
    value,
  });
}

const NeighborsLine = ({
  neighbors,
  count,
  hiddenCount = 0,
}: {
  neighbors: Causes["neighbors"];
  count: string;
  /** Neighbors that are not listed. */
  hiddenCount?: number;
}) => (
  <Line icon={<StateIcon state="down" size={15} />} at={neighbors[0]?.since}>
    {tNode("{monitors} failed within a minute: {names}", {
      monitors: <b>{count}</b>,
      names: <Names neighbors={neighbors} />,
    })}
    {hiddenCount > 0 && ` ${t("and {further} more", { further: hiddenCount })}`}
  </Line>
);

function ChangeLine({ change }: { change: Causes["changes"][number] }) {
  const { person } = useSignedInPerson();
  const { actor } = change;
  const [before, name, after] = describeAction(change);
  const fields = describeFields(change, nameField);
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
