/** The list of escalation policies on the On-call page, each read aloud. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { EscalationPolicy, EscalationTarget } from "../../../src/alerting/policies/schema.ts";
import { Confirm } from "../../components/confirm.tsx";
import { dot } from "../../components/display/format.ts";
import { nameSeverity } from "../../components/display/severity.ts";
import { Icon } from "../../components/display/icons.tsx";
import { MenuItem, RecordItems, RowMenu } from "../../components/menus.tsx";
import { openDialog } from "../../components/open-dialog.ts";
import { useAlertChannels } from "../../data/alert-channels.ts";
import { unwrapData, v1, addIfMatch } from "../../data/client.ts";
import { useEscalationPolicies } from "../../data/escalation-policies.ts";
import { listKey } from "../../data/keys.ts";
import { queryClient } from "../../data/query.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { peopleQuery } from "../settings/data.ts";
import { useOnCall } from "./data.ts";
import { DrillDialog, type DrillTarget } from "./drill-dialog.tsx";
import { describeDrill, describePolicy } from "./policy-words.ts";
import { t } from "../../language/text.ts";

/** A record that a step can notify. The key contains its type. */
type NamedTarget = { key: string; name: string; group: string };

export const keyOf = ({ type, id }: EscalationTarget) => `${type} ${id}`;

/** People, schedules and alert channels, in this order. */
export function useTargets(): NamedTarget[] {
  const { data: people = [] } = useQuery(peopleQuery);
  const { data: schedules = [] } = useOnCall();
  const { data: channels = [] } = useAlertChannels();
  const list = (
    type: EscalationTarget["type"],
    group: string,
    records: readonly { id: string; name: string }[],
  ) => records.map(({ id, name }) => ({ key: keyOf({ type, id }), name, group }));
  return [
    ...list("person", t("People"), people),
    ...list(
      "schedule",
      t("On call in"),
      schedules.map(({ scheduleId: id, scheduleName: name }) => ({ id, name })),
    ),
    ...list("channel", t("Alert channels"), channels),
  ];
}

/** Returns the name of a target; null if it does not exist. */
export const findTargetName = (targets: readonly NamedTarget[]) => (target: EscalationTarget) =>
  targets.find(({ key }) => key === keyOf(target))?.name ?? null;

const createPolicy = () => openDialog({ kind: "create-policy" });

export function Policies() {
  const mayEdit = useSignedInPerson().atLeast("admin");
  const { data: policies } = useEscalationPolicies();
  const [deleted, setDeleted] = useState<EscalationPolicy | null>(null);
  const [drilled, setDrilled] = useState<DrillTarget | null>(null);
  if (policies === undefined) return null;
  return (
    <section className="records policies" aria-labelledby="policies">
      <header className="records-head">
        <h2 id="policies">{t("Escalation policies")}</h2>
        {mayEdit && (
          <Button size="xs" leftSection={<Icon name="plus" size={13} />} onClick={createPolicy}>
            {t("Create escalation policy")}
          </Button>
        )}
      </header>
      {policies.length === 0 ? (
        <p className="quiet panel">
          {t(
            "A policy notifies people, the person on call, and channels, step by step until someone acknowledges the alert. Without one, only the monitor's own channels are notified.",
          )}
        </p>
      ) : (
        <ul className="panel panel-flush">
          {policies.map((policy) => (
            <PolicyRow
              key={policy.id}
              policy={policy}
              onDelete={() => setDeleted(policy)}
              onDrill={() => setDrilled({ type: "policy", id: policy.id, name: policy.name })}
            />
          ))}
        </ul>
      )}
      {drilled !== null && <DrillDialog drilled={drilled} onClose={() => setDrilled(null)} />}
      {deleted !== null && <DeleteDialog policy={deleted} onClose={() => setDeleted(null)} />}
    </section>
  );
}

type RowProps = { policy: EscalationPolicy; onDelete: () => void; onDrill: () => void };

function PolicyRow({ policy, onDelete, onDrill }: RowProps) {
  const { id, name, incidentSeverities } = policy;
  const mayEdit = useSignedInPerson().atLeast("admin");
  const targets = useTargets();
  const words = (
    <>
      <b>{name}</b>
      <span>
        {policy.default && t("default") + dot}
        {incidentSeverities.length > 0 &&
          t("{severities} incidents", {
            severities: incidentSeverities.map(nameSeverity).join(", "),
          }) + dot}
        {describePolicy(policy, findTargetName(targets))}
        {policy.drill !== null && ` ${describeDrill(policy.drill)}`}
      </span>
    </>
  );
  const edit = () => openDialog({ kind: "edit-policy", id });
  return (
    <li className="list-row record policy-record" data-item>
      <Icon name="bell" />
      {mayEdit ? (
        <button type="button" className="plain-button row-link" data-item-focus={id} onClick={edit}>
          {words}
        </button>
      ) : (
        <span className="row-words">{words}</span>
      )}
      <PolicyMenu policy={policy} onEdit={edit} onDelete={onDelete} onDrill={onDrill} />
    </li>
  );
}

function PolicyMenu({ policy, onEdit, onDelete, onDrill }: RowProps & { onEdit: () => void }) {
  const { id, name } = policy;
  const mayEdit = useSignedInPerson().atLeast("admin");
  return (
    <RowMenu label={t("Actions for {name}", { name })}>
      {() => (
        <>
          {mayEdit && (
            <>
              <MenuItem icon="edit" onClick={onEdit}>
                {t("Edit")}
              </MenuItem>
              <MenuItem icon="copy" onClick={() => openDialog({ kind: "create-policy", like: id })}>
                {t("Duplicate")}
              </MenuItem>
              {policy.steps.length > 0 && (
                <MenuItem icon="bell" onClick={onDrill}>
                  {t("Start drill")}
                </MenuItem>
              )}
            </>
          )}
          <RecordItems
            id={id}
            curl={() => ({ method: "GET", route: v1["escalation-policies"]({ id }) })}
            onDelete={mayEdit && onDelete}
          />
        </>
      )}
    </RowMenu>
  );
}

const DeleteDialog = ({ policy, onClose }: { policy: EscalationPolicy; onClose: () => void }) => (
  <Confirm
    title={t("Delete {name}?", { name: policy.name })}
    verb={t("Delete")}
    onClose={onClose}
    onConfirm={async () => {
      const route = v1["escalation-policies"]({ id: policy.id });
      await unwrapData(route.delete(undefined, addIfMatch(policy)));
      await queryClient.invalidateQueries({ queryKey: listKey("escalation-policy") });
    }}
  >
    {t(
      "Open alerts stop escalating, and the default channels hear that nobody acknowledged. A policy can't be restored.",
    )}
  </Confirm>
);
