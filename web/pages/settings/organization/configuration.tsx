/** Settings: records that a configuration manages, and how they differ from it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ManagedRecord } from "../../../../src/configuration/schema.ts";
import { driftedRecordsQuery } from "../../../data/managed.ts";
import { Icon, type IconName } from "../../../components/display/icons.tsx";
import { EmptyState, Loaded, Panel } from "../../../components/page.tsx";
import { Entry } from "../entry.tsx";
import { nameField } from "./field-labels.ts";
import { t, tNode } from "../../../language/text.ts";

const kinds = {
  alertChannels: { icon: "bell", to: "/alert-channels/$id" },
  escalationPolicies: { icon: "list", to: null },
  alertSources: { icon: "webhook", to: "/on-call/alert-sources/$id" },
  groups: { icon: "folder", to: null },
  monitors: { icon: "pulse", to: "/monitors/$id" },
  schedules: { icon: "people", to: "/on-call/$id" },
  maintenanceWindows: { icon: "calendar", to: "/maintenance/$id" },
  statusPages: { icon: "page", to: "/status-pages/$id" },
} as const satisfies Record<ManagedRecord["section"], { icon: IconName; to: string | null }>;

/** Managed records that were changed or deleted since the configuration was applied (drift). */
export default function ConfigurationSettings() {
  const query = useQuery(driftedRecordsQuery);
  return (
    <>
      <div className="settings-head">
        <p className="quiet">
          {tNode(
            "Changed or deleted here since a configuration was applied. The next {command} restores it.",
            { command: <code>signalbox apply</code> },
          )}
        </p>
      </div>
      <Loaded query={query} subject={t("The differences")}>
        {(records) =>
          records.length === 0 ? (
            <Panel>
              <EmptyState icon={<Icon name="check" size={28} />} title={t("Nothing differs")}>
                {t("Everything that a configuration manages is as it was applied.")}
              </EmptyState>
            </Panel>
          ) : (
            <Panel isFlush>
              <ul className="entries drift" aria-label={t("Differences")}>
                {records.map((record) => (
                  <DriftedRecord key={`${record.section} ${record.id}`} record={record} />
                ))}
              </ul>
            </Panel>
          )
        }
      </Loaded>
    </>
  );
}

function DriftedRecord({ record }: { record: ManagedRecord }) {
  const { id, section, key, source, name, drift } = record;
  const { icon, to } = kinds[section];
  const recordPath = `${section}.${key}`;
  return (
    <Entry
      icon={icon}
      title={
        name !== null && to !== null ? (
          <Link to={to} params={{ id }}>
            {name}
          </Link>
        ) : (
          (name ?? key)
        )
      }
      note={tNode("{path} of {source}", { path: <code>{recordPath}</code>, source })}
      facts={[
        name === null ? [t("Here"), t("deleted")] : [t("Changed"), drift.map(nameField).join(", ")],
      ]}
    />
  );
}
