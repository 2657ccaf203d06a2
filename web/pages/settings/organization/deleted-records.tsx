/** Settings: recently deleted records, which can be restored with their history. */
import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Settings } from "../../../../src/accounts/settings/schema.ts";
import type { DeletableNoun } from "../../../../src/core/deletable-nouns.ts";
import type { DeletedRecord } from "../../../../src/operations/deleted-records/schema.ts";
import { ApiError, unwrapData, v1, withIfMatch } from "../../../data/client.ts";
import { createPageQuery, queryClient } from "../../../data/query.ts";
import { restoreRecord, type RestoreChoice } from "../../../data/restore.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { Confirm } from "../../../components/confirm.tsx";
import { Icon, type IconName } from "../../../components/display/icons.tsx";
import { Time } from "../../../components/display/time.tsx";
import { FormDialog, FormFrame, useForm } from "../../../components/forms/form.tsx";
import { NumberField } from "../../../components/forms/number-field.tsx";
import { DangerItem, RowMenu } from "../../../components/menus.tsx";
import { EmptyState, Loaded, Panel } from "../../../components/page.tsx";
import { Pager } from "../../../components/pager.tsx";
import { notify, useAction } from "../../../components/toasts.tsx";
import { createSettingsQuery } from "../data.ts";
import { Entry } from "../entry.tsx";

const nouns: Record<DeletableNoun, { label: string; icon: IconName }> = {
  monitor: { label: "Monitor", icon: "pulse" },
  group: { label: "Group", icon: "folder" },
  "alert-channel": { label: "Alert channel", icon: "bell" },
  "status-page": { label: "Status page", icon: "page" },
  incident: { label: "Incident", icon: "warning" },
  maintenance: { label: "Maintenance", icon: "calendar" },
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
        Restored records return with their history, secrets and links. Monitors are checked at once.
      </p>
      <Loaded query={query} what="The deleted records">
        {({ data, meta }) => (
          <>
            <Panel flush={data.length > 0}>
              {data.length === 0 ? (
                <EmptyState icon={<Icon name="trash" size={28} />} title="Nothing was deleted">
                  Monitors, groups, channels, status pages, incidents and maintenance that you
                  delete appear here.
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
        <Panel title="Retention">
          <RetentionFields
            key={settings.data.updatedAt}
            organizationId={organization.id}
            settings={settings.data}
            onTheirs={() => void settings.refetch()}
          />
        </Panel>
      )}
    </>
  );
}

function DeletedRow({ record }: { record: DeletedRecord }) {
  const { name, noun, deletedAt, deletedBy, restorableUntil } = record;
  const { atLeast } = useSignedInPerson();
  const [taken, setTaken] = useState<keyof RestoreChoice | null>(null);
  const action = useAction(async () => {
    try {
      await unwrapData(restoreRecord(noun, record.id));
      notify(`Restored ${name}`);
    } catch (error) {
      const path = error instanceof ApiError ? error.details[0]?.path : undefined;
      if (path !== "name" && path !== "slug") throw error;
      setTaken(path);
    }
  });
  return (
    <>
      <Entry
        icon={nouns[noun].icon}
        title={name}
        note={
          <>
            {nouns[noun].label}, deleted by {deletedBy} <Time at={deletedAt} />
          </>
        }
        facts={[["Until", <Time key="until" at={restorableUntil} as="short" />]]}
        action={
          <span className="flex gap-8 items-center">
            {atLeast("member") && (
              <Button
                size="xs"
                loading={action.isPending}
                onClick={action.run}
                aria-label={`Restore ${name}`}
              >
                Restore
              </Button>
            )}
            {atLeast("admin") && <RemovalMenu record={record} />}
          </span>
        }
      />
      {taken !== null && (
        <ChoiceDialog record={record} field={taken} onClose={() => setTaken(null)} />
      )}
    </>
  );
}

function RemovalMenu({ record: { id, name } }: { record: DeletedRecord }) {
  const [isRemoving, setRemoving] = useState(false);
  return (
    <>
      <RowMenu label={`Actions for ${name}`}>
        {() => (
          <DangerItem icon="trash" onClick={() => setRemoving(true)}>
            Remove for good
          </DangerItem>
        )}
      </RowMenu>
      {isRemoving && (
        <Confirm
          title={`Remove ${name} for good?`}
          verb="Remove"
          onClose={() => setRemoving(false)}
          onConfirm={() => unwrapData(v1["deleted-records"]({ id }).delete())}
        >
          Its history is deleted too. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

type ChoiceProps = { record: DeletedRecord; field: keyof RestoreChoice; onClose: () => void };

/** Asks for another name or slug, because another record has the old one. */
function ChoiceDialog({ record, field, onClose }: ChoiceProps) {
  const form = useForm(
    { value: field === "name" ? record.name : "" },
    async ({ value }, _, once) => {
      const { name } = await unwrapData(
        restoreRecord(record.noun, record.id, { [field]: value }, once),
      );
      notify(`Restored ${name}`);
      onClose();
    },
  );
  return (
    <FormDialog title={`Restore ${record.name}`} onClose={onClose} form={form} submit="Restore">
      <TextInput
        label={field === "name" ? "Name" : "Slug"}
        description={
          field === "name"
            ? "Another record has this name now. Choose another one, or keep it for both."
            : "Another status page has the old address now. This is the end of the new one: /status/SLUG."
        }
        data-autofocus
        {...form.input("value")}
        error={form.errorOf(field as "value")}
      />
    </FormDialog>
  );
}

type RetentionProps = { organizationId: string; settings: Settings; onTheirs: () => void };

function RetentionFields({ organizationId, settings, onTheirs }: RetentionProps) {
  const form = useForm(
    { keepDeletedDays: settings.keepDeletedDays },
    async (body, force, once) => {
      const saved = await unwrapData(
        v1.settings.patch(body, withIfMatch(force ? undefined : settings, once)),
      );
      queryClient.setQueryData(createSettingsQuery(organizationId).queryKey, saved);
      notify("Saved");
    },
    onTheirs,
    { key: "deleted-records" },
  );
  return (
    <FormFrame form={form} submit="Save" disabled={!form.dirty}>
      <NumberField
        label="Days until deleted records are removed"
        description="From 0 to 365. With 0 they are removed within a minute."
        {...form.field("keepDeletedDays")}
      />
    </FormFrame>
  );
}
