/** Puts the signed-in person on call, with two taps, and the dialog for any other override. */
import { Button, Menu, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { OnCall, Schedule, ScheduleOverride } from "../../../src/alerting/schedules/schema.ts";
import { formatTimeSpan } from "../../../src/core/time/times.ts";
import { useZone } from "../../components/display/time.tsx";
import { DateTimeField } from "../../components/forms/date-time-field.tsx";
import { toClock, changeInstant } from "../../components/forms/date-time-rules.ts";
import { FormDialog, useForm } from "../../components/forms/form.tsx";
import { v1 } from "../../data/client.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { peopleQuery } from "../settings/data.ts";
import { listTakeOvers, createOverride } from "./data.ts";
import type { SelectedTimes } from "./duty-calendar.tsx";
import { getLocale } from "../../../src/core/text/locale.ts";
import { t } from "../../language/text.ts";

/** The button that puts the signed-in person on call for some hours. */
export function TakeOver({
  onCall,
  size = "xs",
}: {
  onCall: Pick<OnCall, "scheduleId" | "scheduleName">;
  size?: "xs" | "sm";
}) {
  const { person, mayWriteAll: mayWrite } = useSignedInPerson();
  const zone = useZone();
  if (!mayWrite) return null;
  return (
    <Menu position="bottom-end" width={170}>
      <Menu.Target>
        <Button
          size={size}
          className="record-action"
          aria-label={t("Take over {schedule}", { schedule: onCall.scheduleName })}
        >
          {t("Take over")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t("I am on call")}</Menu.Label>
        {listTakeOvers(onCall, person.id, zone).map(({ label, run }) => (
          <Menu.Item key={label} className="take-over-item" onClick={run}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function useOverrideForm(schedule: Schedule, times: SelectedTimes, onClose: () => void) {
  const zone = useZone();
  const { person } = useSignedInPerson();
  const { data: people = [] } = useQuery(peopleQuery);
  const startsAt = Math.max(times.startsAt, Date.now());
  const start = {
    personId: person.id,
    startsAt: toClock(startsAt, zone),
    endsAt: toClock(times.endsAt, zone),
  };
  const buildBody = (values: typeof start) => ({
    personId: values.personId,
    startsAt:
      changeInstant(values.startsAt, zone, new Date(startsAt).toISOString()) ?? values.startsAt,
    endsAt:
      changeInstant(values.endsAt, zone, new Date(times.endsAt).toISOString()) ?? values.endsAt,
  });
  const describe = (created: ScheduleOverride) => {
    const name = people.find(({ id }) => id === created.personId)?.name ?? t("Someone");
    const [from, until] = [Date.parse(created.startsAt), Date.parse(created.endsAt)];
    return t("{name} is on call {time}", {
      name,
      time: formatTimeSpan(zone, from, until, Date.now(), getLocale()),
    });
  };
  const form = useForm(start, async (values, _force, idempotencyKey) => {
    await createOverride(schedule.id, buildBody(values), describe, idempotencyKey);
    onClose();
  });
  return { form, buildBody };
}

/** The dialog that puts a person on call for a time. */
export function OverrideDialog({
  schedule,
  times,
  onClose,
}: {
  schedule: Schedule;
  times: SelectedTimes;
  onClose: () => void;
}) {
  const zone = useZone();
  const { data: people = [] } = useQuery(peopleQuery);
  const { form, buildBody } = useOverrideForm(schedule, times, onClose);
  return (
    <FormDialog
      form={form}
      title={t("Override {name}", { name: schedule.name })}
      submit={t("Override")}
      onClose={onClose}
      curl={() => ({
        method: "POST",
        route: v1.schedules({ id: schedule.id }).overrides,
        body: buildBody(form.values),
      })}
    >
      <Select
        label={t("On call")}
        allowDeselect={false}
        searchable
        openOnFocus={false}
        data={people.map(({ id, name }) => ({ value: id, label: name }))}
        {...form.field("personId")}
      />
      <div className="field-row">
        <DateTimeField label={t("From")} zone={zone} {...form.field("startsAt")} />
        <DateTimeField
          label={t("Until")}
          zone={zone}
          from={form.values.startsAt}
          {...form.field("endsAt")}
        />
      </div>
      <p className="field-note">
        {t("Times in {zone}. Everyone else is off call for this time.", { zone })}
      </p>
    </FormDialog>
  );
}
