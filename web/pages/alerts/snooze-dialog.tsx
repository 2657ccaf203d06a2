import { useState } from "react";
import { useZone } from "../../components/display/time.tsx";
import { DateTimeField } from "../../components/forms/date-time-field.tsx";
import { changeInstant, toClock } from "../../components/forms/date-time-rules.ts";
import { FormDialog, useForm } from "../../components/forms/form.tsx";
import { v1 } from "../../data/client.ts";
import { nameAlert } from "../../language/server-text.ts";
import { t } from "../../language/text.ts";
import { type Alert, snoozeUntil } from "./data.ts";

const choices = [t("in 1 h"), t("in 8 h"), t("tomorrow 09:00"), t("in 7 d")];

/** The dialog that snoozes an alert until a chosen time. */
export function SnoozeDialog({ alert, onClose }: { alert: Alert; onClose: () => void }) {
  const zone = useZone();
  const [usualEnd] = useState(() => Date.now() + 3_600_000);
  const untilOf = (local: string) =>
    changeInstant(local, zone, new Date(usualEnd).toISOString()) ?? local;
  const start = { until: toClock(usualEnd, zone) };
  const form = useForm(start, async ({ until }) => {
    await snoozeUntil(alert, untilOf(until));
    onClose();
  });
  return (
    <FormDialog
      form={form}
      title={t("Snooze {title}", { title: nameAlert(alert) })}
      submit={t("Snooze")}
      onClose={onClose}
      curl={() => ({
        method: "POST",
        route: v1.alerts({ id: alert.id }).snooze,
        body: { until: untilOf(form.values.until) },
      })}
    >
      <DateTimeField
        label={t("Until")}
        zone={zone}
        choices={choices}
        openOnFocus={false}
        {...form.field("until")}
      />
      <p className="field-note">{t("Times in {zone}, at most 30 days from now.", { zone })}</p>
    </FormDialog>
  );
}
