/** Building blocks of every page: header, panels, empty states, errors and loading. */
import { Button } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { capitalize } from "../../src/core/text/formatting.ts";
import { ApiError } from "../data/client.ts";
import { refetchFailed, isFirstLoad } from "../data/query.ts";
import { problemCount } from "../data/problems.ts";
import type { ManagedAs } from "../data/managed.ts";
import { Icon } from "./display/icons.tsx";
import { Waiting } from "./waiting.tsx";
import { ManagedLine } from "./display/managed-notice.tsx";
import { t } from "../language/text.ts";

type Crumb = { to: string; label: string };

/** Title and actions at the top of a page. `crumbs` link to its parent pages. */
export function PageHeader({
  title,
  icon,
  state,
  crumbs = [],
  facts,
  managed,
  wide = false,
  children,
}: {
  title: string;
  icon?: ReactNode;
  /** The state in words, in addition to the icon, and its reason. Header and facts then have one line each. */
  state?: { tone: string; word: string; reason?: { tone: string; text: string } | null };
  crumbs?: Crumb[];
  /** One line of facts under the title. */
  facts?: ReactNode;
  /** The page's record, to name a configuration that manages it. */
  managed?: ManagedAs;
  /** Whether the page uses the whole width of large windows. */
  wide?: boolean;
  /** The page's actions, the main one last. */
  children?: ReactNode;
}) {
  const problems = problemCount.use();
  useDocumentTitle(`${problems > 0 ? `(${problems}) ` : ""}${title} – Signalbox`);
  return (
    <header
      className={`page-header mb-14 ${state === undefined ? "" : "page-header-lines"} ${wide ? "page-wide" : ""}`}
    >
      {crumbs.length > 0 && (
        <nav className="crumbs" aria-label={t("Breadcrumb")}>
          {crumbs.map(({ to, label }, index) => (
            <span key={to + label}>
              {index > 0 && " / "}
              <Link to={to}>{label}</Link>
            </span>
          ))}
        </nav>
      )}
      <div className="page-title">
        <h1>
          {icon}
          <span title={state && title}>{title}</span>
        </h1>
        {state !== undefined && <b className={`page-state ${state.tone}`}>{state.word}</b>}
        {state?.reason != null && (
          <span className={`page-reason ${state.reason.tone}`} title={state.reason.text}>
            {state.reason.text}
          </span>
        )}
        <div className="page-actions">{children}</div>
      </div>
      {facts !== undefined && <div className="page-below quiet text-s mt-6">{facts}</div>}
      {managed !== undefined && <ManagedLine record={managed} />}
    </header>
  );
}

/** The main action of a list page, which creates a record. */
export function CreateButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Button variant="filled" leftSection={<Icon name="plus" size={15} />} onClick={onClick}>
      {children}
    </Button>
  );
}

/** A white surface with an optional heading. Panels are never nested. */
export function Panel({
  title,
  actions,
  children,
  className = "",
  isFlush = false,
}: {
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
  /** Removes the padding, for rows that reach the edges. */
  isFlush?: boolean;
}) {
  return (
    <section className={`panel ${isFlush ? "panel-flush" : ""} ${className}`}>
      {title !== undefined && (
        <header className="panel-head">
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}

/** A figure with a label, and a note below that explains it. */
export function Figure({
  label,
  value,
  note,
}: {
  label: ReactNode;
  value: ReactNode;
  note: string;
}) {
  return (
    <div>
      <dt>{label}</dt>
      <dd className="num">{value}</dd>
      <dd className="stat-note num">{note}</dd>
    </div>
  );
}

/** Replaces an empty list: explains the feature and offers the first step. */
export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  icon: ReactNode;
  title: string;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="empty">
      <div className="empty-icon">{icon}</div>
      <h2>{title}</h2>
      <p>{children}</p>
      {action && <div className="empty-action">{action}</div>}
    </div>
  );
}

/** Shows a shortcut as keys: `⌘K` on Apple devices, `Ctrl K` elsewhere. */
export function KeyHint({ keys }: { keys: string }) {
  return <kbd className="key">{keys.replace("mod", isMac ? "⌘" : t("Ctrl "))}</kbd>;
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

export function Dash() {
  return <span className="faint">–</span>;
}

/** Shows why a request failed, with a retry, or with a way back if the error is final (4xx). */
export function LoadFailed({
  subject,
  error,
  crumbs = [],
}: {
  subject: string;
  error: Error;
  crumbs?: Crumb[] | undefined;
}) {
  const status = error instanceof ApiError ? error.status : 500;
  const { to, label } = crumbs.at(-1) ?? { to: "/", label: t("Go to Monitors") };
  return (
    <EmptyState
      icon={<Icon name="warning" size={28} />}
      title={t("{subject} could not be loaded", { subject })}
      action={
        status < 500 ? (
          <Button component={Link} to={to}>
            {label}
          </Button>
        ) : (
          <Button onClick={() => void refetchFailed()}>{t("Try again")}</Button>
        )
      }
    >
      {status === 404 ? t("The address is wrong, or the record was deleted.") : error.message}
    </EmptyState>
  );
}

/** The article of a subject such as `The API keys`. */
const article = new RegExp(t("^The "));

/**
 * Renders the data of a query, fresh or stale. Renders a placeholder during the first load, or an
 * error if it failed.
 */
export function Loaded<T>({
  query: { data, error },
  otherQueries = [],
  subject,
  crumbs,
  children,
}: {
  query: Pick<UseQueryResult<T>, "data" | "error">;
  /** Queries to wait for, because content that appears later would shift the layout. */
  otherQueries?: Parameters<typeof isFirstLoad>[0];
  /** Subject of the error message, such as `The API keys`. */
  subject: string;
  /** Set if the page shows only this query. The error then has a page header with links back. */
  crumbs?: Crumb[];
  children: (data: T) => ReactNode;
}) {
  if (data !== undefined)
    return isFirstLoad(otherQueries) ? <Waiting subject={subject} /> : children(data);
  if (error === null) return <Waiting subject={subject} />;
  return (
    <>
      {crumbs && <PageHeader title={capitalize(subject.replace(article, ""))} crumbs={crumbs} />}
      <LoadFailed subject={subject} error={error} crumbs={crumbs} />
    </>
  );
}
