/** The list of status pages, with their addresses, visibility and subscribers. */
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import type { SubscriberCount } from "../../../src/dashboard/schema.ts";
import { createChunk } from "../../data/chunks.ts";
import { listKnownMonitors, useOverview } from "../../data/overview.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { type StatusPage, useStatusPages, useSubscriberCounts } from "../../data/status-pages.ts";
import { copyText } from "../../components/copy.tsx";
import { formatCount, dot } from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { StateIcon } from "../../components/display/state-icon.tsx";
import {
  CreateButton,
  Dash,
  EmptyState,
  LoadFailed,
  PageHeader,
  Panel,
} from "../../components/page.tsx";
import { useRowKeys } from "../../components/row-keys.ts";
import { useShortcuts } from "../../components/shortcuts.ts";
import { useDeleting } from "../../components/deletion.ts";
import { buildMemberUrl, buildPageUrl, omitScheme, visibilities } from "./labels.tsx";
import { t, tCount, tNode } from "../../language/text.ts";

const CreatePage = lazy(createChunk(() => import("./create-page.tsx")));

const Visit = lazy(createChunk(() => import("./visit.tsx")));

/** The list, or the way back to a status page that recognizes a signed-in person. */
export default function StatusPagesPage() {
  // The first script would grow by a schema for this parameter of a single page.
  const visit = new URLSearchParams(location.search).get("visit");
  return visit === null ? (
    <StatusPages />
  ) : (
    <Suspense>
      <Visit visit={visit} />
    </Suspense>
  );
}

function StatusPages() {
  const { data, error } = useStatusPages();
  const deleting = useDeleting();
  const pages = data?.filter(({ id }) => !deleting.has(id));
  const { data: counts } = useSubscriberCounts();
  const { mayWriteAll: mayWrite, isLimited } = useSignedInPerson();
  const navigate = useNavigate();
  const { new: adding } = useSearch({ strict: false });
  const countById = useMemo(() => new Map(counts?.map((one) => [one.pageId, one])), [counts]);
  const open = (yes: boolean) =>
    void navigate({ to: "/status-pages", search: yes ? { new: "" } : {} });
  useRowKeys();
  useShortcuts(mayWrite ? { n: () => open(true) } : {});
  return (
    <>
      <PageHeader
        title={t("Status pages")}
        facts={t("What the public sees of your monitors and incidents.")}
      >
        {mayWrite && (
          <CreateButton onClick={() => open(true)}>{t("Create status page")}</CreateButton>
        )}
      </PageHeader>
      {error !== null && pages === undefined && (
        <LoadFailed subject={t("The status pages")} error={error} />
      )}
      {isLimited && (
        <EmptyState icon={<Icon name="lock" size={28} />} title={t("Not for your groups")}>
          {t("Status pages concern all monitors. You are limited to some monitor groups.")}
        </EmptyState>
      )}
      {pages !== undefined && !isLimited && (
        <>
          <div className="list-head pages-head faint" aria-hidden="true">
            <span>{t("Page")}</span>
            <span>{t("Now")}</span>
            <span>{t("Visibility")}</span>
            <span>{t("Subscribers")}</span>
          </div>
          <Panel isFlush>
            <ul className="pages" aria-label={t("Status pages")}>
              {pages.map((page) => (
                <PageRow key={page.id} page={page} count={countById.get(page.id)} />
              ))}
            </ul>
          </Panel>
        </>
      )}
      <Suspense>
        {mayWrite && adding !== undefined && <CreatePage onClose={() => open(false)} />}
      </Suspense>
    </>
  );
}

/** The state of the page's monitors. Their problems are known in installations of every size. */
function PageState({ page }: { page: StatusPage }) {
  const { data: overview } = useOverview();
  if (overview === undefined) return <span />;
  const groups = page.sections.map(({ groupId }) => groupId);
  const ids = page.sections.flatMap(({ monitors }) => monitors.map(({ id }) => id));
  const shownMonitors = listKnownMonitors(overview).filter(
    ({ id, groupId }) => ids.includes(id) || (groupId !== null && groups.includes(groupId)),
  );
  const worst = (["down", "degraded", "maintenance"] as const).find((state) =>
    shownMonitors.some(({ status }) => status === state),
  );
  const count = shownMonitors.filter(({ status }) => status === worst).length;
  return (
    <span className="page-now">
      <StateIcon state={worst ?? "up"} size={14} />
      {worst === undefined ? t("No problems") : countWords[worst](formatCount(count))}
    </span>
  );
}

const countWords = {
  down: (count: string) => t("{count} down", { count }),
  degraded: (count: string) => t("{count} degraded", { count }),
  maintenance: (count: string) => t("{count} in maintenance", { count }),
};

function PageRow({ page, count }: { page: StatusPage; count: SubscriberCount | undefined }) {
  const { id, title, visibility, hosts } = page;
  const address = buildPageUrl(page);
  const { label, icon } = visibilities[visibility];
  const sectionCount = page.sections.length;
  return (
    <li className="list-row page-row" data-item>
      <i className="page-accent" style={{ background: page.accentColor ?? "var(--accent)" }} />
      <Link to="/status-pages/$id" params={{ id }} className="row-link" data-item-focus={id}>
        <b>{title}</b>
        <span>
          {omitScheme(address)}
          {hosts.length > 0 && `${dot}${hosts.join(dot)}`}
          {page.default && `${dot}${t("default")}`}
          {sectionCount === 0 && `${dot}${t("no monitors yet")}`}
        </span>
      </Link>
      <PageState page={page} />
      <span className={`page-visibility ${visibility === "public" ? "" : "faint"}`} title={label}>
        <Icon name={icon} size={14} /> <span>{label}</span>
      </span>
      <span className="page-count num">
        {count === undefined ? (
          <Dash />
        ) : (
          <>
            <span className="not-phone">{formatCount(count.confirmed)}</span>
            <span className="only-phone">
              {tCount(count.confirmed, "{count} subscriber", "{count} subscribers")}
            </span>
            {count.pending > 0 && (
              <span className="faint">
                {" "}
                {tNode("+ {pending} unconfirmed", { pending: count.pending })}
              </span>
            )}
          </>
        )}
      </span>
      <PageActions page={page} />
    </li>
  );
}

const PageActions = ({ page }: { page: StatusPage }) => (
  <span className="page-doing">
    <button
      type="button"
      className="dots"
      aria-label={t("Copy address of {title}", { title: page.title })}
      title={t("Copy address")}
      onClick={() => void copyText(buildPageUrl(page), t("Address"))}
    >
      <Icon name="copy" size={15} />
    </button>
    <a
      className="dots"
      href={buildMemberUrl(page)}
      target="_blank"
      rel="noreferrer"
      aria-label={t("Open {title} in a new tab", { title: page.title })}
      title={t("Open in a new tab")}
    >
      <Icon name="external" size={15} />
    </a>
  </span>
);
