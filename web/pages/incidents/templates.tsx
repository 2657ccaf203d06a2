/** The menu of message templates, with their placeholders filled in. */
import { Button, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { fillTemplateText } from "../../../src/core/text/formatting.ts";
import { getFormatter, minuteFormat } from "../../../src/core/time/times.ts";
import type { Incident, IncidentStatus } from "../../../src/incidents/schema.ts";
import type { TemplatePlaceholder } from "../../../src/incidents/rules.ts";
import type { IncidentTemplate } from "../../../src/incidents/templates/schema.ts";
import { Icon } from "../../components/display/icons.tsx";
import { useZone } from "../../components/display/time.tsx";
import { useOverview } from "../../data/overview.ts";
import { templatesQuery } from "./data.ts";
import { nameSeverity } from "../../components/display/severity.ts";
import { incidentStatusLabels } from "./words.ts";
import { getLocale } from "../../../src/core/text/locale.ts";
import { t } from "../../language/text.ts";

/** Built-in message templates by status. */
const templates: Record<IncidentStatus, readonly { name: string; text: string }[]> = {
  investigating: [
    {
      name: t("Looking into it"),
      text: t("We are looking into it. The next update follows within 30 minutes."),
    },
    {
      name: t("Some people affected"),
      text: t(
        "Some people can't use the service as usual at the moment. We are looking for the cause.",
      ),
    },
    {
      name: t("Slow"),
      text: t("The service is slower than usual. We are looking for the cause."),
    },
  ],
  identified: [
    { name: t("Cause found"), text: t("We found the cause and are working on a fix.") },
    { name: t("Rolling back"), text: t("A change we made caused this. We are rolling it back.") },
    {
      name: t("Supplier outage"),
      text: t(
        "The cause is an outage at one of our suppliers. We are in contact with them and follow their progress.",
      ),
    },
  ],
  monitoring: [
    { name: t("Fix in place"), text: t("A fix is in place. We are monitoring the result.") },
    {
      name: t("Recovering"),
      text: t("The service is recovering. Some requests may still be slow for a while."),
    },
  ],
  resolved: [
    {
      name: t("Back to normal"),
      text: t("Everything works as usual again. Thank you for your patience."),
    },
    {
      name: t("Back to normal, no data lost"),
      text: t("Everything works as usual again. No data was lost."),
    },
    {
      name: t("Review follows"),
      text: t(
        "Everything works as usual again. We will publish a review of what happened and what we change.",
      ),
    },
  ],
};

/** Values for the placeholders. */
type IncidentSubject = Pick<Incident, "monitorIds" | "severity">;
type ChosenTemplate = Pick<IncidentTemplate, "status" | "message"> & Partial<IncidentTemplate>;

/**
 * Menu of the organization's templates and built-in messages. The chosen text is appended to the
 * message.
 */
export function TemplatesMenu({
  status,
  message,
  about,
  onChoose,
}: {
  status: IncidentStatus;
  message: string;
  about: IncidentSubject;
  /** Called with the filled template. Its message includes the existing text. */
  onChoose: (chosen: ChosenTemplate) => void;
}) {
  const { data: own = [] } = useQuery(templatesQuery);
  const choose = (chosen: ChosenTemplate) => {
    const text = chosen.message;
    onChoose({
      ...chosen,
      message: message.trim() === "" ? text : `${message.trimEnd()}\n${text}`,
    });
  };
  return (
    <Menu position="bottom-end" width={320}>
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          rightSection={<Icon name="down" size={12} />}
        >
          {t("Templates")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className="templates">
        <OwnTemplates templates={own} about={about} onChoose={choose} />
        {own.length > 0 && <Menu.Divider />}
        {templates[status].map(({ name, text }) => (
          <Menu.Item key={name} onClick={() => choose({ status, message: text })}>
            <b>{name}</b>
            <span className="template-text">{text}</span>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component={Link} to="/settings/incident-templates">
          {t("Edit templates")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Templates with filled placeholders, so that the menu shows the final text. */
function OwnTemplates({
  templates: own,
  about,
  onChoose,
}: {
  templates: readonly IncidentTemplate[];
  about: IncidentSubject;
  onChoose: (chosen: ChosenTemplate) => void;
}) {
  const valuesOf = usePlaceholders();
  return own.map((one) => {
    const values = valuesOf({ ...about, severity: one.severity ?? about.severity });
    const filled: ChosenTemplate = {
      ...one,
      ...(one.title && { title: fillTemplateText(one.title, values) }),
      message: fillTemplateText(one.message, values),
    };
    return (
      <Menu.Item key={one.id} onClick={() => onChoose(filled)}>
        <b>{one.name}</b> <span className="faint">{incidentStatusLabels[one.status]}</span>
        <span className="template-text">{filled.message}</span>
      </Menu.Item>
    );
  });
}

/** Current values of the placeholders in templates. */
function usePlaceholders() {
  const { data: overview } = useOverview();
  const zone = useZone();
  const names = useMemo(
    () => new Map(overview?.monitors.map(({ id, name }) => [id, name])),
    [overview],
  );
  return ({ monitorIds, severity }: IncidentSubject) => {
    const affected = monitorIds.flatMap((id) => names.get(id) ?? []);
    const now = new Date();
    return {
      monitors: affected.length === 0 ? t("Our service") : listFormat.format(affected),
      severity: nameSeverity(severity),
      date: getFormatter(zone, dateFormat, getLocale()).format(now),
      time: getFormatter(zone, timeFormat, getLocale()).format(now),
    } satisfies Record<TemplatePlaceholder, string>;
  };
}

const listFormat = new Intl.ListFormat(getLocale());
const dateFormat = { day: "numeric", month: "long", year: "numeric" } as const;
const timeFormat = { ...minuteFormat, timeZoneName: "short" } as const;
