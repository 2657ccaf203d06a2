/** The fields of a monthly drill, and the dialog that sets the one of a person. */
import { Select, Switch } from "@mantine/core";
import type { MonthlyDrill, PersonDrill } from "../../../src/alerting/drills/schema.ts";
import { weekdays as weekdayNames } from "../../../src/alerting/hours/schema.ts";
import { listZones, useZone } from "../../components/display/time.tsx";
import { ClockField } from "../../components/forms/clock-field.tsx";
import { EditorDialog } from "../../components/forms/editor-dialog.tsx";
import { type Form, FormFrame, useForm } from "../../components/forms/form.tsx";
import { weekdays } from "../../components/forms/weekdays.ts";
import { unwrapData, v1, addIdempotencyKey } from "../../data/client.ts";
import { listKey } from "../../data/keys.ts";
import { queryClient } from "../../data/query.ts";
import { t } from "../../language/text.ts";

const drillDays = [
  ...weekdayNames.map((day, index) => ({
    value: day as string,
    label: t("First {weekday}", { weekday: weekdays[index] ?? day }),
  })),
  ...Array.from({ length: 28 }, (_, index) => ({
    value: String(index + 1),
    label: t("Day {number}", { number: index + 1 }),
  })),
];

type FieldsProps<V extends PersonDrill> = { form: Form<V>; description: string };

const parseDay = (day: string | null): MonthlyDrill["day"] =>
  weekdayNames.find((one) => one === day) ?? Number(day);

/** When a policy or person is drilled every month. */
export function DrillFields<V extends PersonDrill>({ form, description }: FieldsProps<V>) {
  const zone = useZone();
  const { drill } = form.values;
  const defaultDrill: MonthlyDrill = {
    day: "tuesday",
    from: "10:00",
    until: "16:00",
    timeZone: zone,
  };
  const put = (change: Partial<MonthlyDrill>) =>
    form.set("drill", { ...(drill ?? defaultDrill), ...change });
  return (
    <>
      <Switch
        label={t("Drill every month")}
        description={description}
        checked={drill !== null}
        onChange={({ currentTarget }) =>
          form.set("drill", currentTarget.checked ? defaultDrill : null)
        }
      />
      {drill !== null && (
        <div className="drill-fields">
          <Select
            label={t("Day")}
            openOnFocus={false}
            allowDeselect={false}
            searchable
            data={drillDays}
            value={String(drill.day)}
            onChange={(day) => put({ day: parseDay(day) })}
            error={form.errorOf("drill.day")}
          />
          <ClockField
            label={t("From")}
            value={drill.from}
            onChange={(from) => put({ from })}
            error={form.errorOf("drill.from")}
          />
          <ClockField
            label={t("Until")}
            value={drill.until}
            onChange={(until) => put({ until })}
            error={form.errorOf("drill.until")}
          />
          <Select
            label={t("Time zone")}
            searchable
            limit={100}
            allowDeselect={false}
            data={listZones(drill.timeZone, zone)}
            value={drill.timeZone}
            onChange={(timeZone) => put({ timeZone: timeZone ?? zone })}
            error={form.errorOf("drill.timeZone")}
          />
        </div>
      )}
    </>
  );
}

type Person = { id: string; name: string };

const routeOf = (id: string) => v1.people({ id })["monthly-drill"];
const readDrill = (id: string) => unwrapData(routeOf(id).get());

/** Sets when a person is drilled every month. */
export const PersonDrillDialog = ({ id, name, onClose }: Person & { onClose: () => void }) => (
  <EditorDialog
    title={t("Monthly drill of {name}", { name })}
    size={520}
    id={id}
    read={readDrill}
    onClose={onClose}
  >
    {(stored) => <PersonForm id={id} drill={stored?.drill ?? null} onClose={onClose} />}
  </EditorDialog>
);

type PersonFormProps = PersonDrill & { id: string; onClose: () => void };

function PersonForm({ id, drill, onClose }: PersonFormProps) {
  const form = useForm<PersonDrill>({ drill }, async (values, _force, idempotencyKey) => {
    await unwrapData(routeOf(id).put(values, addIdempotencyKey(idempotencyKey)));
    await queryClient.invalidateQueries({ queryKey: listKey("schedule") });
    onClose();
  });
  return (
    <FormFrame
      form={form}
      submit={t("Save")}
      onCancel={onClose}
      curl={() => ({ method: "PUT", route: routeOf(id), body: form.values })}
    >
      <DrillFields
        form={form}
        description={t(
          "Pages this person as a marked drill, at an unannounced time within these hours. If they do not acknowledge it, the appliance reports a problem.",
        )}
      />
    </FormFrame>
  );
}
