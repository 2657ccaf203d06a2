/** The schedule of backups: when, where to, how many, and the result of the last one. */
import { Alert, Checkbox, Select, Switch, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  backupKinds,
  type BackupSchedule as Schedule,
} from "../../../../src/operations/backups/schedule-schema.ts";
import { BucketFields } from "../../../components/forms/bucket-fields.tsx";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { ClockField } from "../../../components/forms/clock-field.tsx";
import { NumberField } from "../../../components/forms/number-field.tsx";
import { formatNarrowBytes } from "../../../components/display/format.ts";
import { ChoiceField, type Form, FormFrame, useForm } from "../../../components/forms/form.tsx";
import { Loaded, Panel } from "../../../components/page.tsx";
import { SecretField } from "../../../components/forms/secret-fields.tsx";
import {
  createStoredSecrets,
  type StoredSecrets,
} from "../../../components/forms/stored-secrets.ts";
import { Time, listZones } from "../../../components/display/time.tsx";
import { notify } from "../../../components/toasts.tsx";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { queryClient } from "../../../data/query.ts";
import { backupScheduleQuery, invalidateQuery } from "../data.ts";
import { toFields, buildPatch } from "./backup-fields.ts";
import { translateServerText } from "../../../language/server-text.ts";
import { t, tNode } from "../../../language/text.ts";

export function BackupSchedule() {
  const query = useQuery(backupScheduleQuery);
  return (
    <Loaded query={query} subject={t("The scheduled backups")}>
      {(schedule) => (
        <>
          <Outcome schedule={schedule} />
          <Panel title={t("Scheduled backups")}>
            <Fields schedule={schedule} />
          </Panel>
        </>
      )}
    </Loaded>
  );
}

/** Result of the last backup, and a button that starts one. */
function Outcome({ schedule: { enabled, last, failure, nextAt } }: { schedule: Schedule }) {
  const { mutate, isPending } = useMutation({
    mutationFn: () => unwrapData(dashboard.backup.schedule.run.post()),
    onSuccess: () => notify(t("Backup created")),
    onSettled: () => invalidateQuery(backupScheduleQuery),
  });
  if (!enabled && last === null) return null;
  return (
    <Panel>
      <div className="backup" aria-live="polite">
        {failure !== null && (
          <Alert color="red" variant="light">
            {tNode("Backups have been failing since {time}: {reason}", {
              time: <Time at={failure.since} as="short" />,
              reason: translateServerText(failure.reason),
            })}
          </Alert>
        )}
        <p>
          {last === null ? (
            t("No backup yet.")
          ) : (
            <>
              {tNode("Last backup: {name}, {size}, {time}.", {
                name: <code>{last.name}</code>,
                size: formatNarrowBytes(last.bytes),
                time: <Time at={last.at} />,
              })}
            </>
          )}{" "}
          {nextAt !== null && (
            <>{tNode("Next backup: {time}.", { time: <Time at={nextAt} as="short" /> })}</>
          )}
        </p>
        {enabled && (
          <div className="flex items-center gap-12">
            <BusyButton loading={isPending} onClick={() => mutate()}>
              {t("Back up now")}
            </BusyButton>
          </div>
        )}
      </div>
    </Panel>
  );
}

function Fields({ schedule }: { schedule: Schedule }) {
  const [known, setKnown] = useState(schedule);
  const form = useForm(
    toFields(schedule),
    async (values) => {
      const saved = await unwrapData(dashboard.backup.schedule.patch(buildPatch(values)));
      setKnown(saved);
      form.replace(toFields(saved));
      queryClient.setQueryData(backupScheduleQuery.queryKey, saved);
      notify(t("Saved"));
    },
    undefined,
    { key: "backup-schedule", secrets: ["s3.secretAccessKey", "passphrase"] },
  );
  const { values, errorOf } = form;
  const secrets = createStoredSecrets(backupKinds, "schedule", known, buildPatch(values), errorOf);
  return (
    <FormFrame form={form} submit={t("Save")} disabled={!form.isDirty}>
      <Switch label={t("Back up every day")} {...form.toggle("enabled")} />
      <TimeFields form={form} />
      <DestinationFields form={form} secrets={secrets} />
      <div className="field-row">
        <CountField form={form} name="keepDaily" label={t("Days to keep")} />
        <CountField form={form} name="keepWeekly" label={t("Weeks to keep")} />
        <CountField form={form} name="keepMonthly" label={t("Months to keep")} />
      </div>
      <SecretField
        label={t("Passphrase")}
        hint={t(
          "Encrypts the backups. Store it in another place, too. Without it, the backups can't be opened.",
        )}
        {...createSecretProps(form, secrets, "passphrase")}
      />
      <Checkbox
        label={t("Include secret.key")}
        description={t("Then the passphrase alone is enough to restore everything.")}
        {...form.toggle("includeKey")}
      />
    </FormFrame>
  );
}

type ScheduleForm = Form<ReturnType<typeof toFields>>;

const createSecretProps = (
  { values, set }: ScheduleForm,
  secrets: StoredSecrets,
  name: "s3.secretAccessKey" | "passphrase",
) => ({
  value: values[name] === "" ? undefined : values[name],
  onChange: (value: string | null | undefined) => set(name, value === undefined ? "" : value),
  error: secrets.errorOf(name),
  isSet: secrets.isSet(name),
  needsReentry: secrets.needsReentry(name),
  mayBeNone: name === "passphrase",
});

const TimeFields = ({ form }: { form: ScheduleForm }) => (
  <div className="field-row">
    <ClockField
      label={t("At")}
      {...form.field("time")}
      onChange={(time) => form.set("time", time)}
    />
    <Select
      label={t("Time zone")}
      data={listZones(form.values.timeZone)}
      searchable
      limit={100}
      maxDropdownHeight={280}
      nothingFoundMessage={t("No time zones found")}
      allowDeselect={false}
      value={form.values.timeZone}
      onChange={(zone) => form.set("timeZone", zone ?? form.values.timeZone)}
      error={form.errorOf("timeZone")}
    />
  </div>
);

const CountField = ({
  form,
  name,
  label,
}: {
  form: ScheduleForm;
  name: "keepDaily" | "keepWeekly" | "keepMonthly";
  label: string;
}) => (
  <NumberField
    label={label}
    hideControls
    value={form.values[name]}
    onChange={(count) => form.set(name, count)}
    error={form.errorOf(name)}
  />
);

function DestinationFields({ form, secrets }: { form: ScheduleForm; secrets: StoredSecrets }) {
  return (
    <>
      <ChoiceField
        label={t("Destination")}
        options={{ folder: t("Folder"), s3: t("S3 bucket") }}
        value={form.values.to}
        onChange={(to) => form.set("to", to)}
      />
      {form.values.to === "folder" ? (
        <TextInput
          label={t("Folder")}
          placeholder="/backups"
          description={t("On the machine of this appliance, preferably on another disk.")}
          {...form.input("folder")}
          autoComplete="off"
          spellCheck={false}
        />
      ) : (
        <BucketFields
          createProps={(name) => form.input(name)}
          prefixExample="signalbox/"
          secret={
            <SecretField
              label={t("Secret access key")}
              {...createSecretProps(form, secrets, "s3.secretAccessKey")}
            />
          }
        />
      )}
    </>
  );
}
