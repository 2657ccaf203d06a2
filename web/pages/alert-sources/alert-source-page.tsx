/** The page of one alert source: what to enter in the tool, and the log of its requests. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Confirm } from "../../components/confirm.tsx";
import { CopyLine } from "../../components/copy.tsx";
import { BusyButton } from "../../components/forms/busy-button.tsx";
import { MoreActions, RecordItems } from "../../components/menus.tsx";
import { openDialog } from "../../components/open-dialog.ts";
import { Loaded, PageHeader, Panel } from "../../components/page.tsx";
import { useShortcuts } from "../../components/shortcuts.ts";
import { useAlertChannels } from "../../data/alert-channels.ts";
import { type AlertSource, getSourceRoutes, useAlertSource } from "../../data/alert-sources.ts";
import { useEscalationPolicies } from "../../data/escalation-policies.ts";
import { useManagedRecords } from "../../data/managed.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { nameSeverity } from "../../components/display/severity.ts";
import { priorityWords } from "./words.ts";
import { aboutQuery } from "../settings/data.ts";
import { deleteSource, rotateAddress, setEnabled } from "./actions.ts";
import { SourceFacts, SourceStateIcon } from "./alert-sources-page.tsx";
import { RequestLog } from "./request-log.tsx";
import { describeSetUp } from "./source-types.ts";
import { t, tNode } from "../../language/text.ts";

const crumbs = [
  { to: "/on-call", label: t("On call") },
  { to: "/on-call/alert-sources", label: t("Alert sources") },
];

export default function AlertSourcePage() {
  const { id = "" } = useParams({ strict: false });
  return (
    <Loaded
      query={useAlertSource(id)}
      otherQueries={[
        useManagedRecords("alertSources"),
        useAlertChannels(),
        useEscalationPolicies(),
      ]}
      subject={t("The alert source")}
      crumbs={crumbs}
    >
      {(source) => (
        <>
          <PageHeader
            title={source.name}
            icon={<SourceStateIcon source={source} size={22} />}
            crumbs={crumbs}
            facts={<SourceFacts source={source} />}
            managed={{ section: "alertSources", id: source.id }}
          >
            <Actions source={source} />
          </PageHeader>
          <div className="columns">
            <RequestLog source={source} />
            <div className="flex flex-col gap-14">
              <Address source={source} />
              <Recipients source={source} />
            </div>
          </div>
        </>
      )}
    </Loaded>
  );
}

function Actions({ source }: { source: AlertSource }) {
  const { id, enabled } = source;
  const mayEdit = useSignedInPerson().atLeast("admin");
  const navigate = useNavigate();
  const edit = () => openDialog({ kind: "edit-source", id });
  useShortcuts(mayEdit ? { e: edit } : {});
  return (
    <>
      <Button renderRoot={(props) => <Link to="/alerts" search={{ source: id }} {...props} />}>
        {t("Alerts")}
      </Button>
      {mayEdit && (
        <>
          <BusyButton loading={false} onClick={() => void setEnabled(source)}>
            {enabled ? t("Disable") : t("Enable")}
          </BusyButton>
          <Button onClick={edit}>{t("Edit")}</Button>
        </>
      )}
      <MoreActions>
        <RecordItems
          id={id}
          curl={() => ({ method: "GET", route: getSourceRoutes(id) })}
          onDelete={
            mayEdit &&
            (() => {
              deleteSource(source);
              void navigate({ to: "/on-call/alert-sources" });
            })
          }
        />
      </MoreActions>
    </>
  );
}

/** The address, and what to enter in the tool. Viewers don't see it. */
function Address({ source }: { source: AlertSource }) {
  const mayEdit = useSignedInPerson().atLeast("admin");
  const [isAsking, setIsAsking] = useState(false);
  const { address, type } = source;
  if (address === null) return null;
  const { where, lines } = describeSetUp(type, address);
  return (
    <Panel
      title={t("What to enter in the tool")}
      actions={
        mayEdit && (
          <Button size="xs" onClick={() => setIsAsking(true)}>
            {t("New address")}
          </Button>
        )
      }
    >
      <p className="field-note mb-12">{where}</p>
      <div className="copy-stack">
        {lines.map(({ label, text }) => (
          <CopyLine key={label} label={label} text={text} />
        ))}
      </div>
      {type === "email" ? (
        <MailServer />
      ) : (
        <p className="field-note">
          {t(
            "If the tool reaches this appliance under another name, replace the host. Anyone who knows the token can open alerts.",
          )}
        </p>
      )}
      {isAsking && (
        <Confirm
          title={t("Create a new address?")}
          verb={t("Create")}
          onClose={() => setIsAsking(false)}
          onConfirm={() => rotateAddress(source)}
        >
          {t("The present address stops working at once. Enter the new one in the tool.")}
        </Confirm>
      )}
    </Panel>
  );
}

/** The mail server to enter in the tool. */
function MailServer() {
  const { data: about } = useQuery(aboutQuery);
  if (about === undefined) return null;
  if (about.smtpPort === null)
    return (
      <p className="field-note degraded">
        {tNode("This appliance accepts no mail yet. Start it with {code}.", {
          code: <code>serve --smtp-port 2525</code>,
        })}
      </p>
    );
  return (
    <>
      <CopyLine label={t("Mail server (SMTP)")} text={`${location.hostname}:${about.smtpPort}`} />
      <p className="field-note">
        {t(
          "The host after the @ does not matter if the tool sends to this mail server. Anyone who knows the address can open alerts.",
        )}
      </p>
    </>
  );
}

/** Who is notified by alerts of the source, and their escalation policy. */
function Recipients({ source }: { source: AlertSource }) {
  const { alertChannelIds, escalationPolicyId, priority, incidentSeverity } = source;
  const { data: channels = [] } = useAlertChannels();
  const { data: policies = [] } = useEscalationPolicies();
  const names = alertChannelIds.flatMap((id) => channels.find((one) => one.id === id)?.name ?? []);
  const policy = policies.find(({ id }) => id === escalationPolicyId)?.name;
  const minutes = source.resolveAfterMinutes;
  return (
    <Panel title={t("Its alerts")}>
      {names.length === 0 && policy === undefined && (
        <p className="field-note degraded mb-12">{t("They notify no one.")}</p>
      )}
      <ul className="lines">
        <Line label={t("Alert channels")}>{names.length === 0 ? t("none") : names.join(", ")}</Line>
        <Line label={t("Escalation policy")}>{policy ?? t("none")}</Line>
        <Line label={t("Priority")}>
          {priority === null ? t("as the tool names it") : priorityWords[priority]}
        </Line>
        {incidentSeverity !== null && (
          <Line label={t("Incidents")}>{nameSeverity(incidentSeverity)}</Line>
        )}
        {minutes !== null && (
          <Line label={t("End")}>{t("after {minutes} min without a report", { minutes })}</Line>
        )}
      </ul>
    </Panel>
  );
}

const Line = ({ label, children }: { label: string; children: ReactNode }) => (
  <li>
    <span className="line-words">
      {label} <b>{children}</b>
    </span>
  </li>
);
