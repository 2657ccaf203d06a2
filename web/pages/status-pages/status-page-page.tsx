import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useSignedIn } from "../../data/session.ts";
import { type StatusPage, useStatusPage, useSubscriberCounts } from "../../data/status-pages.ts";
import { Icon } from "../../components/icons.tsx";
import { Loaded } from "../../components/loading.tsx";
import { PageHeader } from "../../components/page.tsx";
import { addressOf, shortly, visibilities } from "./page-words.tsx";
import { Addresses } from "./addresses.tsx";
import { Badges } from "./badges.tsx";
import { PageActions } from "./page-actions.tsx";
import { PageEditor } from "./page-editor.tsx";
import { PublicFacts } from "./public-facts.tsx";
import { Subscribers } from "./subscribers.tsx";

export function StatusPagePage() {
  const { id = "" } = useParams({ strict: false });
  return (
    <Loaded query={useStatusPage(id)} what="The status page">
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
        crumbs={[{ to: "/status-pages", label: "Status pages" }]}
        below={<Facts page={page} />}
      >
        <PageActions page={page} />
      </PageHeader>
      <Tabs id={id} />
      {/* What was typed stays while another tab is looked at. */}
      <div hidden={tab !== undefined}>
        {mayWrite ? <PageEditor page={page} /> : <PublicFacts page={page} />}
      </div>
      {tab === "subscribers" && <Subscribers page={page} mayWrite={mayWrite} />}
      {tab === "addresses" && (
        <>
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
        {label} ·{" "}
        <a href={address} target="_blank" rel="noreferrer" className="link">
          {shortly(address)}
        </a>
        {page.default && " · the organization's default page"}
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
            <span className="num faint"> {one.count.toLocaleString("en")}</span>
          )}
        </Link>
      ))}
    </nav>
  );
}
