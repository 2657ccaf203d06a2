/** The list of alert sources: tools that send their alerts to this appliance. */
import { Link } from "@tanstack/react-router";
import { CurlButton } from "../../components/copy.tsx";
import { useDeleting } from "../../components/deletion.ts";
import { dot } from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { StateIcon } from "../../components/display/state-icon.tsx";
import { Time } from "../../components/display/time.tsx";
import { MenuItem, RecordItems, RowMenu } from "../../components/menus.tsx";
import { openDialog } from "../../components/open-dialog.ts";
import { CreateButton, EmptyState, Loaded, PageHeader } from "../../components/page.tsx";
import { useRowKeys } from "../../components/row-keys.ts";
import { useShortcuts } from "../../components/shortcuts.ts";
import { type AlertSource, getSourceRoutes, useAlertSources } from "../../data/alert-sources.ts";
import { v1 } from "../../data/client.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { deleteSource, setEnabled } from "./actions.ts";
import { sourceTypeInfos } from "./source-types.ts";
import { t, tCount, tNode } from "../../language/text.ts";

const createSource = () => openDialog({ kind: "create-source" });

export default function AlertSourcesPage() {
  const mayEdit = useSignedInPerson().atLeast("admin");
  const deleting = useDeleting();
  useRowKeys();
  useShortcuts(mayEdit ? { n: createSource } : {});
  return (
    <>
      <PageHeader title={t("Alert sources")} crumbs={[{ to: "/on-call", label: t("On call") }]}>
        <CurlButton action={() => ({ method: "GET", route: v1["alert-sources"] })} />
        {mayEdit && <CreateButton onClick={createSource}>{t("Create alert source")}</CreateButton>}
      </PageHeader>
      <Loaded query={useAlertSources()} subject={t("The alert sources")}>
        {(all) => {
          const visibleSources = all.filter(({ id }) => !deleting.has(id));
          if (visibleSources.length === 0) return <NoSources mayEdit={mayEdit} />;
          return (
            <section className="records" aria-label={t("Alert sources")}>
              <ul className="panel panel-flush">
                {visibleSources.map((source) => (
                  <SourceRow key={source.id} source={source} />
                ))}
              </ul>
            </section>
          );
        }}
      </Loaded>
    </>
  );
}

const NoSources = ({ mayEdit }: { mayEdit: boolean }) => (
  <EmptyState icon={<Icon name="webhook" size={28} />} title={t("No alert sources")}>
    {t(
      "Prometheus, Grafana, Zabbix and other tools can send their alerts to an address of a source. They then notify channels or an escalation policy, like alerts of monitors.",
    )}
    {!mayEdit && ` ${t("Admins can create one.")}`}
  </EmptyState>
);

/** Describes the state of a source: disabled, with open alerts, or quiet. */
function describeState({ enabled, openAlerts }: AlertSource) {
  if (!enabled) return { state: "paused", words: t("disabled") } as const;
  return openAlerts > 0
    ? ({
        state: "down",
        words: tCount(openAlerts, "{count} open alert", "{count} open alerts"),
      } as const)
    : ({ state: "up", words: t("no open alerts") } as const);
}

export const SourceStateIcon = ({ source, size = 16 }: { source: AlertSource; size?: number }) => (
  <StateIcon state={describeState(source).state} size={size} />
);

/** Type, open alerts and last request in one line. */
export function SourceFacts({ source }: { source: AlertSource }) {
  const { type, lastRequestAt } = source;
  const { words } = describeState(source);
  return (
    <span>
      {sourceTypeInfos[type].name}
      {dot}
      {words}
      {dot}
      {lastRequestAt === null
        ? t("no requests yet")
        : tNode("last request {time}", { time: <Time at={lastRequestAt} /> })}
    </span>
  );
}

function SourceRow({ source }: { source: AlertSource }) {
  const { id, name, enabled } = source;
  const mayEdit = useSignedInPerson().atLeast("admin");
  return (
    <li className="list-row record policy-record" data-item>
      <SourceStateIcon source={source} />
      <Link
        to="/on-call/alert-sources/$id"
        params={{ id }}
        className="row-link row-cut"
        data-item-focus={id}
      >
        <b title={name}>{name}</b>
        <SourceFacts source={source} />
      </Link>
      <RowMenu label={t("Actions for {name}", { name })}>
        {() => (
          <>
            {mayEdit && (
              <>
                <MenuItem icon="edit" onClick={() => openDialog({ kind: "edit-source", id })}>
                  {t("Edit")}
                </MenuItem>
                <MenuItem icon={enabled ? "pause" : "play"} onClick={() => void setEnabled(source)}>
                  {enabled ? t("Disable") : t("Enable")}
                </MenuItem>
              </>
            )}
            <RecordItems
              id={id}
              curl={() => ({ method: "GET", route: getSourceRoutes(id) })}
              onDelete={mayEdit && (() => deleteSource(source))}
            />
          </>
        )}
      </RowMenu>
    </li>
  );
}
