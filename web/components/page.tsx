/** The building blocks of every page: header, panels, empty states, loading. */
import { Button } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { capitalized } from "../../src/core/text/words.ts";
import { ApiError } from "../data/client.ts";
import { askAgain, isComing } from "../data/query.ts";
import { problemCount } from "../data/problems.ts";
import type { ManagedAs } from "../data/managed.ts";
import { palette } from "./open-dialog.ts";
import { Icon } from "./display/icons.tsx";
import { ManagedLine } from "./display/managed-notice.tsx";

type Crumb = { to: string; label: string };

/** Title and actions at the top of every page; `crumbs` lead back. */
export function PageHeader({
  title,
  icon,
  state,
  crumbs = [],
  below,
  managed,
  children,
}: {
  title: string;
  icon?: ReactNode;
  /** In what state it is, as the icon says. */
  state?: { tone: string; word: string };
  crumbs?: Crumb[];
  /** One line of facts under the title. */
  below?: ReactNode;
  /** The record that the page is of, where a configuration may manage it. */
  managed?: ManagedAs;
  /** The page's actions, the main one last. */
  children?: ReactNode;
}) {
  const problems = problemCount.use();
  useDocumentTitle(`${problems > 0 ? `(${problems}) ` : ""}${title} – Signalbox`);
  return (
    <header className="page-header mb-14">
      {crumbs.length > 0 && (
        <nav className="crumbs" aria-label="Breadcrumb">
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
          <span>{title}</span>
        </h1>
        {state !== undefined && <b className={`page-state ${state.tone}`}>{state.word}</b>}
        <div className="page-actions">
          <SearchField isNarrow={crumbs.length > 0} />
          {children}
        </div>
      </div>
      {below !== undefined && <div className="page-below quiet text-s mt-6">{below}</div>}
      {managed !== undefined && <ManagedLine what={managed} />}
    </header>
  );
}

/** Opens the palette; beside the actions of a record its sign alone, where there is little room. */
function SearchField({ isNarrow }: { isNarrow: boolean }) {
  return (
    <button
      type="button"
      className={`search-jump ${isNarrow ? "search-narrow" : ""}`}
      onClick={() => palette.set(true)}
    >
      <Icon name="search" size={15} />
      <span>Search or jump to…</span>
      <KeyHint keys="modK" />
    </button>
  );
}

/** The main action of a page: to create what it lists. */
export function CreateButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Button variant="filled" leftSection={<Icon name="plus" size={15} />} onClick={onClick}>
      {children}
    </Button>
  );
}

/** A white surface with an optional heading; panels never stand in panels. */
export function Panel({
  title,
  actions,
  children,
  className = "",
  flush = false,
}: {
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
  /** Content reaches the edges, as rows do. */
  flush?: boolean;
}) {
  return (
    <section className={`panel ${flush ? "panel-flush" : ""} ${className}`}>
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

/** One of a list of figures, with what it means below it. */
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

/** What a list says before it has anything, and how to begin. */
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

/** A shortcut as keys: `⌘K`, or `Ctrl K` elsewhere. */
export function KeyHint({ keys }: { keys: string }) {
  return <kbd className="key">{keys.replace("mod", isMac ? "⌘" : "Ctrl ")}</kbd>;
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

export function Dash() {
  return <span className="faint">–</span>;
}

/** Why there is nothing to show, and how to ask again, unless the answer would be the same. */
export function LoadFailed({ what, error }: { what: string; error: Error }) {
  const isFinal = error instanceof ApiError && error.status < 500;
  return (
    <EmptyState
      icon={<Icon name="warning" size={28} />}
      title={`${what} could not be loaded`}
      action={!isFinal && <Button onClick={() => void askAgain()}>Try again</Button>}
    >
      {error.message}
    </EmptyState>
  );
}

/** What a query found, old or new; nothing while it is the first time, and the reason where it failed. */
export function Loaded<T>({
  query: { data, error },
  besides = [],
  what,
  crumbs,
  children,
}: {
  query: Pick<UseQueryResult<T>, "data" | "error">;
  /** What else is shown: coming later, it would push apart what is being read. */
  besides?: Parameters<typeof isComing>[0];
  /** `The API keys`. */
  what: string;
  /** Of a page that is about it alone: without it there is a header all the same, and a way back. */
  crumbs?: Crumb[];
  children: (data: T) => ReactNode;
}) {
  if (data !== undefined) return isComing(besides) ? null : children(data);
  if (error === null) return null;
  return (
    <>
      {crumbs && <PageHeader title={capitalized(what.replace("The ", ""))} crumbs={crumbs} />}
      <LoadFailed what={what} error={error} />
    </>
  );
}
