/** The page of an incident: facts, timeline, composer and postmortem. */
import { Button } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Incident as IncidentRecord } from "../../../../src/incidents/schema.ts";
import { v1 } from "../../../data/client.ts";
import { useOverview } from "../../../data/overview.ts";
import { PartialNote, useMayChange } from "../../../components/display/partial-record.tsx";
import { dot } from "../../../components/display/format.ts";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { useIsResolving, useUndoneCount } from "../../../components/held-changes.tsx";
import { MenuItem, MoreActions, RecordItems } from "../../../components/menus.tsx";
import { Names, shortenNames } from "../../../components/display/name-list.tsx";
import { Loaded, PageHeader, Panel } from "../../../components/page.tsx";
import { useShortcuts } from "../../../components/shortcuts.ts";
import { Time } from "../../../components/display/time.tsx";
import { deleteIncident, setStatus } from "../actions.ts";
import { Composer, type ComposerMode, type UpdateDraft, useUpdateDraft } from "./composer.tsx";
import { useAudience, useIncident, useTraces } from "../data.ts";
import { CustomerView } from "../customer-view.tsx";
import { EditDialog } from "./edit-dialog.tsx";
import { IncidentFacts } from "../facts.tsx";
import { SeverityPill, StatusPill } from "../labels.tsx";
import { Postmortem } from "./postmortem.tsx";
import { PreviewDialog } from "../preview-dialog.tsx";
import { Timeline, useAuthorName } from "./timeline.tsx";
import { nameIncident } from "../../../language/server-text.ts";
import { t, tNode } from "../../../language/text.ts";

const crumbs = [{ to: "/incidents", label: t("Incidents") }];

export default function IncidentPage() {
  const { id = "" } = useParams({ strict: false });
  // An undone update is a draft again.
  const undone = useUndoneCount(id);
  return (
    <Loaded
      query={useIncident(id)}
      otherQueries={[useTraces(id), useAudience({ incidentId: id }), useOverview()]}
      subject={t("The incident")}
      crumbs={crumbs}
    >
      {(incident) => <Incident key={`${id} ${undone}`} incident={incident} />}
    </Loaded>
  );
}

type Dialog = "edit" | "preview" | null;

function Incident({ incident }: { incident: IncidentRecord }) {
  const mayWrite = useMayChange(incident);
  const [dialog, setDialog] = useState<Dialog>(null);
  const [writing, setWriting] = useState<ComposerMode>("update");
  const message = useRef<HTMLTextAreaElement>(null);
  const draft = useUpdateDraft(incident);
  const write = () => {
    flushSync(() => setWriting("update"));
    message.current?.focus();
  };
  useShortcuts({
    v: () => setDialog("preview"),
    ...(mayWrite && { u: write, e: () => setDialog("edit") }),
  });
  const close = () => setDialog(null);
  const { data: audience } = useAudience({ incidentId: incident.id });
  const pages = incident.public ? (audience?.pages ?? []) : [];
  // Narrow windows have the preview in a dialog.
  const isWide = useMediaQuery("(min-width: 1200px)", undefined, {
    getInitialValueInEffect: false,
  });
  const hasView = isWide && pages.length > 0;
  return (
    <>
      <PageHeader
        title={nameIncident(incident)}
        crumbs={crumbs}
        facts={<Line incident={incident} />}
      >
        <Actions incident={incident} draft={draft} onDialog={setDialog} />
      </PageHeader>
      <PartialNote subject={t("The incident")} partial={incident.partial} />
      <div className={mayWrite ? "incident-columns" : "incident-columns incident-read"}>
        {mayWrite && (
          <Composer
            incident={incident}
            draft={draft}
            box={message}
            writing={writing}
            onWriting={setWriting}
          />
        )}
        <IncidentFacts incident={incident} />
      </div>
      <div className={hasView ? "incident-story" : ""}>
        <div>
          <Timeline incident={incident} />
          <Postmortem incident={incident} />
        </div>
        {hasView && <CustomerPanel draft={draft.preview} pages={pages} />}
      </div>
      {dialog === "edit" && <EditDialog incident={incident} onClose={close} />}
      {dialog === "preview" && (
        <PreviewDialog draft={draft.preview} audience={audience} onClose={close} />
      )}
    </>
  );
}

/** The public pages with the draft, next to the timeline. */
const CustomerPanel = (view: Pick<Parameters<typeof CustomerView>[0], "draft" | "pages">) => (
  <Panel className="customer-view">
    <CustomerView {...view}>
      {(choice) => (
        <header className="panel-head">
          <h2>{t("As customers see it")}</h2>
          {choice}
        </header>
      )}
    </CustomerView>
  </Panel>
);

/** Name of the author of the first update; undefined for an imported incident without authors. */
function useOpener({ id, updates }: IncidentRecord): string | undefined {
  const nameAuthor = useAuthorName();
  const author = useTraces(id).data?.authors.find(({ updateId }) => updateId === updates[0]?.id);
  return author && nameAuthor(author);
}

/** Status, severity, affected monitors and visibility in one line. */
function Line({ incident }: { incident: IncidentRecord }) {
  const { id, severity, status, monitorIds, origin, createdAt } = incident;
  const { data: overview } = useOverview();
  const { data: audience } = useAudience({ incidentId: id });
  const names = new Map(overview?.monitors.map(({ id, name }) => [id, name]));
  const monitors = monitorIds.flatMap((one) => names.get(one) ?? []);
  const opener = useOpener(incident);
  const pages = incident.public ? (audience?.pages ?? []) : [];
  return (
    <p>
      <SeverityPill severity={severity} isOver={status === "resolved"} />{" "}
      <StatusPill status={status} />{" "}
      <span className="incident-line">
        {monitors.length > 0 && (
          <>
            {tNode("affects {names}", {
              names: (
                <b>
                  <Names names={shortenNames(monitors)} />
                </b>
              ),
            })}
            {dot}
          </>
        )}
        {origin === "monitor"
          ? tNode("opened by monitor, {time}", { time: <Time at={createdAt} /> })
          : opener === undefined
            ? tNode("opened manually, {time}", { time: <Time at={createdAt} /> })
            : tNode("opened by {name}, {time}", {
                name: opener,
                time: <Time at={createdAt} />,
              })}
        {dot}
        {pages.length === 0
          ? t("not public")
          : tNode("public on {names}", {
              names: (
                <b>
                  <Names names={pages.map(({ title }) => title)} />
                </b>
              ),
            })}
      </span>
    </p>
  );
}

function Actions({
  incident,
  draft,
  onDialog,
}: {
  incident: IncidentRecord;
  draft: UpdateDraft;
  onDialog: (dialog: Dialog) => void;
}) {
  const mayWrite = useMayChange(incident);
  const navigate = useNavigate();
  const isOver = incident.status === "resolved";
  return (
    <>
      {mayWrite && <StatusButton incident={incident} draft={draft} />}
      {mayWrite && <Button onClick={() => onDialog("edit")}>{t("Edit")}</Button>}
      <MoreActions>
        <MenuItem icon="page" onClick={() => onDialog("preview")}>
          {t("Preview public page")}
        </MenuItem>
        <RecordItems
          id={incident.id}
          curl={() =>
            mayWrite && !isOver
              ? { method: "POST", route: v1.incidents({ id: incident.id }).resolve }
              : { method: "GET", route: v1.incidents({ id: incident.id }) }
          }
          onDelete={
            mayWrite &&
            (() => {
              deleteIncident(incident);
              void navigate({ to: "/incidents" });
            })
          }
        />
      </MoreActions>
    </>
  );
}

/** Resolves or reopens the incident, together with the draft if there is one. */
function StatusButton({ incident, draft }: { incident: IncidentRecord; draft: UpdateDraft }) {
  const isOver = incident.status === "resolved";
  const isResolving = useIsResolving(incident.id);
  const next = isOver ? "investigating" : "resolved";
  const verb = isOver ? t("Reopen") : t("Resolve");
  const verbWithDraft = isOver ? t("Post and reopen") : t("Post and resolve");
  return (
    <BusyButton
      // With a draft, the button of the composer is the primary one.
      variant={isOver || !draft.isEmpty ? "default" : "filled"}
      loading={draft.form.isBusy}
      disabled={isResolving}
      onClick={() => (draft.hasText ? void draft.postAs(next) : setStatus(incident, next))}
    >
      {draft.hasText ? verbWithDraft : verb}
    </BusyButton>
  );
}
