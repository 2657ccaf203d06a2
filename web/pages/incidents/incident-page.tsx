import { ActionIcon, Button, Menu } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import type { Incident } from "../../../src/incidents/schema.ts";
import { v1 } from "../../data/client.ts";
import { useOverview } from "../../data/overview.ts";
import { useSignedIn } from "../../data/session.ts";
import { CurlItem } from "../../components/curl-button.tsx";
import { Icon } from "../../components/icons.tsx";
import { EmptyState, PageHeader } from "../../components/page.tsx";
import { useShortcuts } from "../../components/shortcuts.ts";
import { Time } from "../../components/time.tsx";
import { useAudience } from "./data.ts";
import { SeverityPill, StatusPill } from "./words.tsx";
import { deleteIncident, setStatus } from "./actions.ts";
import { Composer } from "./composer.tsx";
import { EditDialog } from "./edit-dialog.tsx";
import { useIncident } from "./incident-data.ts";
import { Facts } from "./facts.tsx";
import { PreviewDialog } from "./preview-dialog.tsx";
import { Timeline } from "./timeline.tsx";

export function IncidentPage() {
  const { id = "" } = useParams({ strict: false });
  const { data: incident, error } = useIncident(id);
  if (incident === undefined && error !== null)
    return (
      <EmptyState icon={<Icon name="warning" size={28} />} title="Incident not found">
        {error.message}
      </EmptyState>
    );
  return incident === undefined ? null : <Loaded key={id} incident={incident} />;
}

type Dialog = "edit" | "preview" | null;

function Loaded({ incident }: { incident: Incident }) {
  const { mayWrite } = useSignedIn();
  const [dialog, setDialog] = useState<Dialog>(null);
  const message = useRef<HTMLTextAreaElement>(null);
  useShortcuts(
    useMemo(
      () => ({
        v: () => setDialog("preview"),
        ...(mayWrite && { u: () => message.current?.focus(), e: () => setDialog("edit") }),
      }),
      [mayWrite],
    ),
  );
  const close = () => setDialog(null);
  return (
    <>
      <PageHeader
        title={incident.title}
        crumbs={[{ to: "/incidents", label: "Incidents" }]}
        below={<Line incident={incident} />}
      >
        <Actions incident={incident} onDialog={setDialog} />
      </PageHeader>
      <div className={mayWrite ? "incident-columns" : "incident-columns incident-read"}>
        {mayWrite && <Composer incident={incident} box={message} />}
        <Facts incident={incident} />
      </div>
      <Timeline incident={incident} />
      {dialog === "edit" && <EditDialog incident={incident} onClose={close} />}
      {dialog === "preview" && (
        <PreviewDialog
          draft={{ incidentId: incident.id, public: incident.public }}
          onClose={close}
        />
      )}
    </>
  );
}

/** How it is, whom it affects and who sees it, in one line. */
function Line({ incident }: { incident: Incident }) {
  const { id, severity, status, monitorId, origin, createdAt } = incident;
  const { data: overview } = useOverview();
  const { data: audience } = useAudience({ incidentId: id });
  const monitor = overview?.monitors.find((one) => one.id === monitorId);
  const pages = incident.public ? (audience?.pages ?? []) : [];
  return (
    <p>
      <SeverityPill severity={severity} over={status === "resolved"} />{" "}
      <StatusPill status={status} />{" "}
      <span className="incident-line">
        {monitor && (
          <>
            affects <b>{monitor.name}</b> ·{" "}
          </>
        )}
        opened by {origin === "monitor" ? "monitor" : "hand"}, <Time at={createdAt} />
        {" · "}
        {pages.length === 0 ? (
          "not public"
        ) : (
          <>
            public on <b>{pages.map(({ title }) => title).join(", ")}</b>
          </>
        )}
      </span>
    </p>
  );
}

function Actions({
  incident,
  onDialog,
}: {
  incident: Incident;
  onDialog: (dialog: Dialog) => void;
}) {
  const { mayWrite } = useSignedIn();
  const navigate = useNavigate();
  const isOver = incident.status === "resolved";
  return (
    <>
      {mayWrite && <Button onClick={() => onDialog("edit")}>Edit</Button>}
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <ActionIcon variant="default" size={34} aria-label="More actions">
            <Icon name="dots" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="page" />} onClick={() => onDialog("preview")}>
            Preview public page
          </Menu.Item>
          <CurlItem
            action={() =>
              mayWrite && !isOver
                ? { method: "POST", route: v1.incidents({ id: incident.id }).resolve }
                : { method: "GET", route: v1.incidents({ id: incident.id }) }
            }
          />
          {mayWrite && (
            <>
              <Menu.Divider />
              <Menu.Item
                color="red"
                leftSection={<Icon name="trash" />}
                onClick={() => {
                  deleteIncident(incident);
                  void navigate({ to: "/incidents" });
                }}
              >
                Delete
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {mayWrite && (
        <Button
          variant={isOver ? "default" : "filled"}
          onClick={() => setStatus(incident, isOver ? "investigating" : "resolved")}
        >
          {isOver ? "Reopen" : "Resolve"}
        </Button>
      )}
    </>
  );
}
