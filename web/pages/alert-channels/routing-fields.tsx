/** Fields for the messages that a channel gets, and for its quiet hours. */
import { Input, Select } from "@mantine/core";
import {
  type MessageKind,
  messageKinds,
  type QuietHours,
} from "../../../src/alerting/channels/routing-schema.ts";
import { formatHours } from "../../../src/alerting/hours/rules.ts";
import { type ScheduleHours, weekdays } from "../../../src/alerting/hours/schema.ts";
import { listZones, useZone } from "../../components/display/time.tsx";
import type { Form } from "../../components/forms/form.tsx";
import { RecordsField } from "../../components/forms/records-field.tsx";
import { WeekHours } from "../../components/forms/week-hours.tsx";
import { t } from "../../language/text.ts";

const kindLabels: Record<MessageKind, string> = {
  down: t("Down"),
  degraded: t("Degraded"),
  flapping: t("Flapping"),
  recovery: t("Recovery"),
  reminder: t("Reminders"),
  certificate: t("Certificates"),
  incident: t("Incidents"),
  channel: t("Failing channels"),
  appliance: t("Problems of Signalbox"),
};

/** The kinds as parts of a sentence. */
const kindWords: Record<MessageKind, string> = {
  down: t("down"),
  degraded: t("degraded"),
  flapping: t("flapping"),
  recovery: t("recovery"),
  reminder: t("reminders"),
  certificate: t("certificates"),
  incident: t("incidents"),
  channel: t("failing channels"),
  appliance: t("problems of Signalbox"),
};

const kinds = messageKinds.map((id) => ({ id, name: kindLabels[id] }));

/** Names the kinds of messages that a channel gets; null for all. */
export const describeKinds = (notifyOn: readonly MessageKind[]): string | null =>
  notifyOn.length === messageKinds.length
    ? null
    : notifyOn.map((kind) => kindWords[kind]).join(", ");

type Fields = { form: Form<Record<string, unknown>> };

export function NotifyOnField({ form }: Fields) {
  const chosen = (form.values["notifyOn"] as string[] | undefined) ?? [...messageKinds];
  return (
    <RecordsField
      label={t("Notify of")}
      description={t("Escalation policies notify the channel of every alert.")}
      records={kinds}
      value={chosen}
      onChange={(ids) => form.set("notifyOn", ids)}
      error={form.errorOf("notifyOn")}
    />
  );
}

const nightHours: ScheduleHours = { days: [...weekdays], from: "22:00", until: "07:00" };

/** Quiet hours with their time zone. Without hours, there are none. */
export function QuietHoursField({ form }: Fields) {
  const zone = useZone();
  const quiet = form.values["quietHours"] as QuietHours | null | undefined;
  const { timeZone = zone, hours = [] } = quiet ?? {};
  const errorOf = (field: string) => form.errorOf(`quietHours.${field}`);
  const set = (next: QuietHours) => form.set("quietHours", next.hours.length === 0 ? null : next);
  return (
    <Input.Wrapper
      role="group"
      aria-label={t("Quiet hours")}
      labelElement="div"
      label={t("Quiet hours")}
      description={t(
        "Only critical alerts are sent at once. Others follow at the end, unless they are over by then.",
      )}
      error={form.errorOf("quietHours") ?? errorOf("hours")}
    >
      <div className="quiet-hours">
        {hours.length > 0 && (
          <Select
            aria-label={t("Time zone")}
            searchable
            limit={100}
            allowDeselect={false}
            data={listZones(timeZone, zone)}
            value={timeZone}
            onChange={(next) => set({ timeZone: next ?? timeZone, hours })}
            error={errorOf("timeZone")}
          />
        )}
        <WeekHours
          hours={hours}
          initial={nightHours}
          verb={t("Add quiet hours")}
          onChange={(all) => set({ timeZone, hours: all })}
          errorOf={errorOf}
        />
      </div>
    </Input.Wrapper>
  );
}

/** Describes quiet hours in a line, such as `daily 22:00–07:00 (Europe/Berlin)`. */
export const describeQuietHours = ({ timeZone, hours }: QuietHours): string =>
  `${formatHours(hours)} (${timeZone})`;
