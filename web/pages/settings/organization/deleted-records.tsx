/** Settings: recently deleted records, which can be restored with their history. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { DeletableNoun } from "../../../../src/core/deletable-nouns.ts";
import type { DeletedRecord } from "../../../../src/operations/deleted-records/schema.ts";
import { unwrapData, v1 } from "../../../data/client.ts";
import { createPageQuery } from "../../../data/query.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { Confirm } from "../../../components/confirm.tsx";
import { Icon, type IconName } from "../../../components/display/icons.tsx";
import { Time } from "../../../components/display/time.tsx";
import { FormFrame } from "../../../components/forms/form.tsx";
import { NumberField } from "../../../components/forms/number-field.tsx";
import { DangerItem, RowMenu } from "../../../components/menus.tsx";
import { EmptyState, Loaded, Panel } from "../../../components/page.tsx";
import { Pager } from "../../../components/pager.tsx";
import { createSettingsQuery } from "../data.ts";
import { Entry } from "../entry.tsx";
import { type SettingsFormProps, useSettingsForm } from "./settings-form.ts";
import { nameIncident } from "../../../language/server-text.ts";
import { RestoreButton } from "./restore-button.tsx";
import { t, tNode } from "../../../language/text.ts";

const nouns: Record<DeletableNoun, { label: string; icon: IconName }> = {
  monitor: { label: t("Monitor"), icon: "pulse" },
  group: { label: t("Group"), icon: "folder" },
  "alert-channel": { label: t("Alert channel"), icon: "bell" },
  "alert-source": { label: t("Alert source"), icon: "webhook" },
  "status-page": { label: t("Status page"), icon: "page" },
  incident: { label: t("Incident"), icon: "warning" },
  maintenance: { label: t("Maintenance"), icon: "calendar" },
};

export default function DeletedRecords() {
  const [page, setPage] = useState(1);
  const { atLeast, organization } = useSignedInPerson();
  // Every deletion and restoration is in the audit log, whose key all events refresh.
  const query = useQuery({
    ...createPageQuery(["audit-log", "deleted", page], (options) =>
      v1["deleted-records"].get({ query: { page }, ...options }),
    ),
    placeholderData: (before) => before,
  });
  const settings = useQuery({
    ...createSettingsQuery(organization.id),
    enabled: atLeast("admin"),
  });
  return (
    <>
      <p className="quiet panel-words">
        {t(
          "Restored records return with their history, secrets and links. Monitors are checked at once.",
        )}
      </p>
      <Loaded query={query} subject={t("The deleted records")}>
        {({ data, meta }) => (
          <>
            <Panel isFlush={data.length > 0}>
              {data.length === 0 ? (
                <EmptyState icon={<Icon name="trash" size={28} />} title={t("Nothing was deleted")}>
                  {t(
                    "Monitors, groups, channels, status pages, incidents and maintenance that you delete appear here.",
                  )}
                </EmptyState>
              ) : (
                <ul className="entries">
                  {data.map((record) => (
                    <DeletedRow key={record.id} record={record} />
                  ))}
                </ul>
              )}
            </Panel>
            <Pager meta={meta} onPage={setPage} />
          </>
        )}
      </Loaded>
      {settings.data !== undefined && (
        <Panel title={t("Retention")}>
          <RetentionFields
            key={settings.data.updatedAt}
            organizationId={organization.id}
            settings={settings.data}
            onReload={() => void settings.refetch()}
          />
        </Panel>
      )}
    </>
  );
}

function DeletedRow({ record }: { record: DeletedRecord }) {
  const { noun, deletedAt, deletedBy, restorableUntil } = record;
  const name = nameIncident({ title: record.name, origin: record.origin });
  const { atLeast } = useSignedInPerson();
  return (
    <>
      <Entry
        icon={nouns[noun].icon}
        title={name}
        note={tNode("{kind}, deleted by {name} {time}", {
          kind: nouns[noun].label,
          name: deletedBy,
          time: <Time at={deletedAt} />,
        })}
        facts={[[t("Until"), <Time key="until" at={restorableUntil} as="short" />]]}
        menu={atLeast("admin") ? <RemovalMenu record={{ id: record.id, name }} /> : null}
        action={atLeast("member") && <RestoreButton record={{ id: record.id, noun, name }} />}
      />
    </>
  );
}

function RemovalMenu({ record: { id, name } }: { record: Pick<DeletedRecord, "id" | "name"> }) {
  const [isRemoving, setRemoving] = useState(false);
  return (
    <>
      <RowMenu label={t("Actions for {name}", { name })}>
        {() => (
          <DangerItem icon="trash" onClick={() => setRemoving(true)}>
            {t("Remove permanently")}
          </DangerItem>
        )}
      </RowMenu>
      {isRemoving && (
        <Confirm
          title={t("Remove {name} permanently?", { name })}
          verb={t("Remove")}
          onClose={() => setRemoving(false)}
          onConfirm={() => unwrapData(v1["deleted-records"]({ id }).delete())}
        >
          {t("Its history is deleted too. This cannot be undone.")}
        </Confirm>
      )}
    </>
  );
}

function RetentionFields(props: SettingsFormProps) {
  const { keepDeletedDays } = props.settings;
  const form = useSettingsForm(props, { keepDeletedDays }, (body) => body, {
    key: "deleted-records",
  });
  return (
    <FormFrame form={form} submit={t("Save")} disabled={!form.isDirty}>
      <NumberField
        label={t("Days until deleted records are removed")}
        description={t("From 0 to 365. With 0 they are removed within a minute.")}
        {...form.field("keepDeletedDays")}
      />
    </FormFrame>
  );
}
