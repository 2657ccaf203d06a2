/** The admin page of one status page, with tabs for its editor, subscribers and addresses. */
import { formatCount, dot } from "../../components/display/format.ts";
import { Button, Menu } from "@mantine/core";
import { Link, useParams, useSearch, useNavigate } from "@tanstack/react-router";
import { addIfMatch } from "../../data/client.ts";
import { useManagedRecords } from "../../data/managed.ts";
import { useOverview } from "../../data/overview.ts";
import { useSignedInPerson } from "../../data/session.ts";
import {
  type StatusPage,
  useStatusPage,
  useSubscriberCounts,
  getPageRoutes,
} from "../../data/status-pages.ts";
import { copyText } from "../../components/copy.tsx";
import { Icon } from "../../components/display/icons.tsx";
import { MenuItem, MoreActions, RecordItems } from "../../components/menus.tsx";
import { Loaded, PageHeader, Panel } from "../../components/page.tsx";
import { deleteRecord } from "../../components/deletion.ts";
import { AccessTokens } from "./access-tokens.tsx";
import { Addresses, Badges } from "./addresses.tsx";
import { buildMemberUrl, buildPageUrl, omitScheme, visibilities } from "./labels.tsx";
import { HostNames } from "./host-names.tsx";
import { PageEditor } from "./page-editor.tsx";
import { listShownMonitors } from "./page-monitors.ts";
import { Publishing } from "./publishing.tsx";
import { Subscribers } from "./subscribers.tsx";
import { t } from "../../language/text.ts";

const crumbs = [{ to: "/status-pages", label: t("Status pages") }];

export default function StatusPagePage() {
  const { id = "" } = useParams({ strict: false });
  return (
    <Loaded
      query={useStatusPage(id)}
      otherQueries={[useManagedRecords("statusPages"), useSubscriberCounts(), useOverview()]}
      subject={t("The status page")}
      crumbs={crumbs}
    >
      {(page) => <Page key={id} page={page} />}
    </Loaded>
  );
}

function Page({ page }: { page: StatusPage }) {
  const { id, title } = page;
  const { mayWriteAll: mayWrite, atLeast } = useSignedInPerson();
  const { tab } = useSearch({ strict: false });
  return (
    <>
      <PageHeader
        title={title}
        crumbs={crumbs}
        facts={<PageFacts page={page} />}
        managed={{ section: "statusPages", id: page.id }}
      >
        <PageActions page={page} />
      </PageHeader>
      <Tabs id={id} />
      {/* Hidden instead of removed, so that typed text survives a change of tabs. */}
      <div hidden={tab !== undefined}>
        {mayWrite ? <PageEditor page={page} /> : <PublicFacts page={page} />}
      </div>
      {tab === "subscribers" && <Subscribers page={page} mayWrite={mayWrite} />}
      {tab === "addresses" && (
        <>
          {mayWrite && <HostNames page={page} />}
          <Addresses page={page} />
          {page.visibility !== "hidden" && <AccessTokens pageId={page.id} mayWrite={mayWrite} />}
          {atLeast("admin") && <Publishing page={page} />}
          <Badges page={page} />
        </>
      )}
    </>
  );
}

function PageFacts({ page }: { page: StatusPage }) {
  const { icon, label } = visibilities[page.visibility];
  const address = buildPageUrl(page);
  return (
    <p className="page-facts">
      <Icon name={icon} size={14} />
      <span>
        {label}
        {dot}
        <a href={buildMemberUrl(page)} target="_blank" rel="noreferrer" className="link">
          {omitScheme(address)}
        </a>
        {page.default && (
          <>
            {dot}
            {t("the organization's default page")}
          </>
        )}
      </span>
    </p>
  );
}

function Tabs({ id }: { id: string }) {
  const { data: counts } = useSubscriberCounts();
  const confirmed = counts?.find(({ pageId }) => pageId === id)?.confirmed ?? 0;
  const tabs = [
    { key: undefined, label: t("Page") },
    { key: "subscribers", label: t("Subscribers"), count: confirmed },
    { key: "addresses", label: t("Addresses and badges") },
  ] as const;
  return (
    <nav className="page-tabs" aria-label={t("Views of this page")}>
      {tabs.map((one) => (
        <Link
          key={one.label}
          to="/status-pages/$id"
          params={{ id }}
          search={one.key === undefined ? {} : { tab: one.key }}
          replace
          activeOptions={{ exact: true, includeSearch: true }}
        >
          {one.label}
          {"count" in one && one.count > 0 && (
            <span className="num faint"> {formatCount(one.count)}</span>
          )}
        </Link>
      ))}
    </nav>
  );
}

function PageActions({ page }: { page: StatusPage }) {
  const { id, title } = page;
  const { mayWriteAll: mayWrite } = useSignedInPerson();
  const navigate = useNavigate();
  const address = buildPageUrl(page);
  return (
    <>
      <Button
        component="a"
        href={buildMemberUrl(page)}
        target="_blank"
        rel="noreferrer"
        rightSection={<Icon name="external" size={14} />}
      >
        {t("Open page")}
      </Button>
      <MoreActions>
        <MenuItem icon="copy" onClick={() => void copyText(address, t("Address"))}>
          {t("Copy address")}
        </MenuItem>
        <RecordItems
          id={id}
          curl={() => ({ method: "GET", route: getPageRoutes(id) })}
          onDelete={
            mayWrite &&
            !page.default &&
            (() => {
              void deleteRecord({ noun: "status-page", id, title }, () =>
                getPageRoutes(id).delete(undefined, addIfMatch(page)),
              );
              void navigate({ to: "/status-pages" });
            })
          }
        />
        {mayWrite && page.default && (
          <>
            <Menu.Divider />
            <Menu.Item disabled>{t("The default page cannot be deleted")}</Menu.Item>
          </>
        )}
      </MoreActions>
    </>
  );
}

/** Monitors on the page, for people without write access. */
function PublicFacts({ page }: { page: StatusPage }) {
  const { data: overview } = useOverview();
  const publicMonitors = overview === undefined ? [] : listShownMonitors(page.sections, overview);
  return (
    <Panel title={t("Shown on the page")}>
      {publicMonitors.length === 0 && <p className="quiet panel-none">{t("No monitors yet.")}</p>}
      <ul className="lines">
        {publicMonitors.map(({ id, name, section }) => (
          <li key={id}>
            <span className="line-words">
              <b>{name}</b> {section}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
