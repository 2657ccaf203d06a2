/** Settings: name, time zone and SLA target of the organization. */
import { Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { OrganizationRecord } from "../../../../src/accounts/organizations/schema.ts";
import { dashboard, dataOf, ifMatch } from "../../../data/client.ts";
import { queryClient } from "../../../data/query.ts";
import { useSignedIn } from "../../../data/session.ts";
import { FormFrame, useForm } from "../../../components/forms/form.tsx";
import { Loaded, Panel } from "../../../components/page.tsx";
import { absolute, useNow, zonesWith } from "../../../components/display/time.tsx";
import { notify } from "../../../components/toasts.tsx";
import { organizationQuery } from "../data.ts";
import { Facts } from "../entry.tsx";

export default function Organization() {
  const { organization, atLeast } = useSignedIn();
  const query = useQuery(organizationQuery(organization.id));
  const [opened, setOpened] = useState(0);
  return (
    <Loaded query={query} what="The organization">
      {(record) =>
        atLeast("admin") ? (
          <Panel>
            <Fields
              key={opened}
              record={record}
              onTheirs={() => void query.refetch().then(() => setOpened(opened + 1))}
            />
          </Panel>
        ) : (
          <Panel>
            <Facts
              facts={[
                ["Name", record.name],
                ["Time zone", record.timeZone],
                [
                  "SLA target",
                  record.slaTarget === null ? "None" : `${inPercent(record.slaTarget)}\u202f%`,
                ],
              ]}
            />
          </Panel>
        )
      }
    </Loaded>
  );
}

function Fields({ record, onTheirs }: { record: OrganizationRecord; onTheirs: () => void }) {
  // The record that the form started from. A later change by another person is a conflict.
  const [known, setKnown] = useState(record);
  const { name, timeZone } = record;
  const slaTarget = record.slaTarget === null ? "" : String(inPercent(record.slaTarget));
  const form = useForm(
    { name, timeZone, slaTarget },
    async ({ slaTarget, ...values }, force, once) => {
      const share = slaTarget.trim() === "" ? null : shareOf(slaTarget);
      const saved = await dataOf(
        dashboard.organization.patch(
          { ...values, slaTarget: share },
          ifMatch(force ? undefined : known, once),
        ),
      );
      setKnown(saved);
      queryClient.setQueryData(organizationQuery(saved.id).queryKey, saved);
      notify("Saved");
    },
    onTheirs,
    { key: "organization" },
  );
  const { values, set, errorOf } = form;
  return (
    <FormFrame form={form} submit="Save">
      <TextInput
        label="Name"
        {...form.input("name")}
        description={`The short name in addresses stays ${record.slug}, as in /status/${record.slug}.`}
      />
      <Select
        label="Time zone"
        description={<NowIn zone={values.timeZone} />}
        data={zonesWith(values.timeZone)}
        searchable
        limit={100}
        maxDropdownHeight={280}
        nothingFoundMessage="No time zones found"
        value={values.timeZone}
        onChange={(zone) => zone !== null && set("timeZone", zone)}
        error={errorOf("timeZone")}
        allowDeselect={false}
      />
      <TextInput
        label="SLA target in percent"
        description="What reports judge uptime by, such as 99.9. Leave it empty for no target."
        inputMode="decimal"
        {...form.input("slaTarget")}
      />
    </FormFrame>
  );
}

const inPercent = (share: number) => Number((share * 100).toFixed(7));
/**
 * Converts a percentage to a share. Text that is not a number becomes 0, which the server rejects.
 */
const shareOf = (percent: string) =>
  Number(((Number(percent.replace(",", ".").replace(/\s*%$/, "")) || 0) / 100).toFixed(9));

const NowIn = ({ zone }: { zone: string }) => (
  <>All times are shown in this time zone. Now: {absolute(useNow(), zone)}</>
);
