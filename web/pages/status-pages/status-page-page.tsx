/** The admin page of one status page, with tabs for its editor, subscribers and addresses. */
import { countInWords, dot } from "../../components/display/format.ts";
import { Button, Menu } from "@mantine/core";
import { Link, useParams, useSearch, useNavigate } from "@tanstack/react-router";
import { dataOf, ifMatch } from "../../data/client.ts";
import { useManagedRecords } from "../../data/managed.ts";
import { useOverview } from "../../data/overview.ts";
import { useSignedIn } from "../../data/session.ts";
import {
  type StatusPage,
  useStatusPage,
  useSubscriberCounts,
  pageRoutes,
} from "../../data/status-pages.ts";
import { copy } from "../../components/copy.tsx";
import { Icon } from "../../components/display/icons.tsx";
import { MenuItem, MoreActions, RecordItems } from "../../components/menus.tsx";
import { Loaded, PageHeader, Panel } from "../../components/page.tsx";
import { deleteWithUndo } from "../../components/toasts.tsx";
import { Addresses, Badges } from "./addresses.tsx";
import { addressOf, shortly, visibilities } from "./labels.tsx";
import { HostNames } from "./host-names.tsx";
import { PageEditor } from "./page-editor.tsx";
import { shownOn } from "./page-monitors.ts";
import { Subscribers } from "./subscribers.tsx";

const crumbs = [{ to: "/status-pages", label: "Status pages" }];

export default function StatusPagePage() {
  const { id = "" } = useParams({ strict: false });
  return (
    <Loaded
      query={useStatusPage(id)}
      besides={[useManagedRecords("statusPages"), useSubscriberCounts(), useOverview()]}
      what="The status page"
      crumbs={crumbs}
    >
      {(page) => <Page key={id} page={page} />}
    </Loaded>
  );
}

function Page({ page }: { page: StatusPage }) {
  const { id, title } = page;
  const { mayWrite } = useSignedIn();
  const { tab } = useSearch({ strict: false });
  return (
    <>
      <PageHeader
        title={title}
        crumbs={crumbs}
        below={<Facts page={page} />}
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
          <Badges page={page} />
        </>
      )}
    </>
  );
}

function Facts({ page }: { page: StatusPage }) {
  const { icon, label } = visibilities[page.visibility];
  const address = addressOf(page);
  return (
    <p className="page-facts">
      <Icon name={icon} size={14} />
      <span>
        {label}
        {dot}
        <a href={address} target="_blank" rel="noreferrer" className="link">
          {shortly(address)}
        </a>
        {page.default && `${dot}the organization's default page`}
      </span>
    </p>
  );
}

function Tabs({ id }: { id: string }) {
  const { data: counts } = useSubscriberCounts();
  const confirmed = counts?.find(({ pageId }) => pageId === id)?.confirmed ?? 0;
  const tabs = [
    { key: undefined, label: "Page" },
    { key: "subscribers", label: "Subscribers", count: confirmed },
    { key: "addresses", label: "Addresses and badges" },
  ] as const;
  return (
    <nav className="page-tabs" aria-label="Views of this page">
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
            <span className="num faint"> {countInWords(one.count)}</span>
          )}
        </Link>
      ))}
    </nav>
  );
}

function PageActions({ page }: { page: StatusPage }) {
  const { id, title } = page;
  const { mayWrite } = useSignedIn();
  const navigate = useNavigate();
  const address = addressOf(page);
  return (
    <>
      <Button
        component="a"
        href={address}
        target="_blank"
        rel="noreferrer"
        rightSection={<Icon name="external" size={14} />}
      >
        Open page
      </Button>
      <MoreActions>
        <MenuItem icon="copy" onClick={() => void copy(address, "Address")}>
          Copy address
        </MenuItem>
        <RecordItems
          curl={() => ({ method: "GET", route: pageRoutes(id) })}
          onDelete={
            mayWrite &&
            !page.default &&
            (() => {
              deleteWithUndo({ id, title }, () =>
                dataOf(pageRoutes(id).delete(undefined, ifMatch(page))),
              );
              void navigate({ to: "/status-pages" });
            })
          }
        />
        {mayWrite && page.default && (
          <>
            <Menu.Divider />
            <Menu.Item disabled>The default page cannot be deleted</Menu.Item>
          </>
        )}
      </MoreActions>
    </>
  );
}

/** Monitors on the page, for people without write access. */
function PublicFacts({ page }: { page: StatusPage }) {
  const { data: overview } = useOverview();
  const shown = overview === undefined ? [] : shownOn(page.sections, overview);
  return (
    <Panel title="Shown on the page">
      {shown.length === 0 && <p className="quiet panel-none">No monitors yet.</p>}
      <ul className="lines">
        {shown.map(({ id, name, section }) => (
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
