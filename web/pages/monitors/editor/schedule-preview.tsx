/** The time zone of a job's schedule, and the times at which the schedule is due before it is saved. */
import { Select, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { getFormatter, minuteFormat } from "../../../../src/core/time/times.ts";
import { listZones } from "../../../components/display/time.tsx";
import { useSchedulePreview } from "../data.ts";
import { t } from "../../../language/text.ts";

type Props = {
  schedule: string;
  timeZone: string;
  onChange: (timeZone: string) => void;
  error: string | undefined;
};

/** A local time of the schedule, such as `Mon 30 Nov, 02:30`. */
const formatDue = (at: string, timeZone: string) =>
  getFormatter(timeZone, {
    weekday: "short",
    day: "numeric",
    month: "short",
    ...minuteFormat,
  }).format(new Date(at));

export function ScheduleZone({ schedule, timeZone, onChange, error }: Props) {
  const [typed] = useDebouncedValue(schedule.trim(), 250);
  const { data } = useSchedulePreview(typed, timeZone);
  return (
    <>
      <Select
        label={t("Time zone of the schedule")}
        data={listZones(timeZone)}
        value={timeZone}
        onChange={(zone) => onChange(zone ?? timeZone)}
        searchable
        allowDeselect={false}
        error={error}
      />
      <Text size="xs" c="dimmed" aria-live="polite">
        {data === undefined
          ? ""
          : data.issue === null
            ? t("Next due: {times}", {
                times:
                  data.dueAt.map((at) => formatDue(at, timeZone)).join("; ") || t("never again"),
              })
            : t("The schedule {issue}.", { issue: data.issue })}
      </Text>
    </>
  );
}
