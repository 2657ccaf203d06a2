/** Settings: organizations of the appliance. They are created and deleted here. */
import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { OrganizationEntry } from "../../../../src/operations/appliance/schema.ts";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { renewSession } from "../../../data/session.ts";
import { FormDialog, FormFrame, useForm } from "../../../components/forms/form.tsx";
import { DangerItem, RowMenu } from "../../../components/menus.tsx";
import { Loaded, Panel } from "../../../components/page.tsx";
import { Time, useZone } from "../../../components/display/time.tsx";
import { notify } from "../../../components/toasts.tsx";
import { useOrganizationSwitch } from "../../../shell/organization-switch.ts";
import { invalidateQuery, organizationsQuery } from "../data.ts";
import { Entry } from "../entry.tsx";
import { t, tNode } from "../../../language/text.ts";

/** The tenants of the appliance. They share nothing except people who belong to several. */
export default function Organizations() {
  const query = useQuery(organizationsQuery);
  const [deleting, setDeleting] = useState<OrganizationEntry | null>(null);
  return (
    <>
      <div className="settings-head">
        <p className="quiet">
          {t(
            "Everything belongs to one organization: monitors, people, keys, status pages. Only totals are shown here.",
          )}
        </p>
      </div>
      <Loaded query={query} subject={t("The organizations")}>
        {(organizations) => (
          <>
            <Panel isFlush>
              <ul className="entries">
                {organizations.map((organization) => (
                  <Row
                    key={organization.id}
                    organization={organization}
                    onDelete={() => setDeleting(organization)}
                  />
                ))}
              </ul>
            </Panel>
            <NewOrganization />
          </>
        )}
      </Loaded>
      {deleting !== null && <Delete organization={deleting} onClose={() => setDeleting(null)} />}
    </>
  );
}

function Row({
  organization,
  onDelete,
}: {
  organization: OrganizationEntry;
  onDelete: () => void;
}) {
  const { name, slug, createdAt, people, monitors, statusPages } = organization;
  return (
    <Entry
      icon="folder"
      title={name}
      note={tNode("{slug}, since {time}", { slug, time: <Time at={createdAt} as="short" /> })}
      facts={[
        [t("People"), people],
        [t("Monitors"), monitors],
        [t("Status pages"), statusPages],
      ]}
      menu={
        <RowMenu label={t("Actions for {name}", { name })}>
          {() => (
            <DangerItem icon="close" onClick={onDelete}>
              {t("Delete")}
            </DangerItem>
          )}
        </RowMenu>
      }
    />
  );
}

/** Requires the organization's short name, to prevent deleting the wrong one. */
function Delete({
  organization: { id, name, slug },
  onClose,
}: {
  organization: OrganizationEntry;
  onClose: () => void;
}) {
  const form = useForm({ slug: "" }, async () => {
    await unwrapData(dashboard.organizations({ id }).delete());
    onClose();
    await renewSession();
    await invalidateQuery(organizationsQuery);
    notify(t("Deleted {name}", { name }));
  });
  return (
    <FormDialog
      title={t("Delete {name}?", { name })}
      size="sm"
      onClose={onClose}
      form={form}
      submit={t("Delete permanently")}
      disabled={form.values.slug !== slug}
    >
      <p className="quiet">
        {t(
          "Everything is deleted at once and permanently: monitors and their results, incidents, status pages, keys, and people who belong to no other organization. Only a backup can restore it.",
        )}
      </p>
      <TextInput
        label={t("Type {slug} to confirm", { slug })}
        autoComplete="off"
        data-autofocus
        value={form.values.slug}
        onChange={({ currentTarget }) => form.set("slug", currentTarget.value.trim())}
      />
    </FormDialog>
  );
}

function NewOrganization() {
  const switchTo = useOrganizationSwitch();
  const timeZone = useZone();
  const form = useForm(
    { name: "" },
    async ({ name }) => {
      const { id } = await unwrapData(dashboard.organizations.post({ name, timeZone }));
      await renewSession();
      await switchTo(id);
      notify(t("Created {name}; you are its owner", { name }));
    },
    undefined,
    { key: "new-organization" },
  );
  return (
    <Panel title={t("Create organization")}>
      <p className="quiet panel-words">
        {t(
          "You become its owner. Switch between your organizations at the bottom of the navigation.",
        )}
      </p>
      <FormFrame form={form} submit={t("Create organization")} disabled={!form.isDirty}>
        <TextInput label={t("Name of the new organization")} {...form.input("name")} />
      </FormFrame>
    </Panel>
  );
}
