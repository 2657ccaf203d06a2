import type { StatusPage } from "../../data/status-pages.ts";
import { CopyLine } from "../../components/copy-line.tsx";
import { Panel } from "../../components/page.tsx";
import { addressOf } from "./page-words.tsx";

/** Everything that the page answers at. */
export function Addresses({ page }: { page: StatusPage }) {
  const base = addressOf(page);
  const lines: [label: string, address: string][] = [
    ["Page", base],
    ...page.hosts.map((host): [string, string] => [
      "Host name",
      `${location.protocol}//${host}${location.port === "" ? "" : `:${location.port}`}`,
    ]),
    ["Get updates", `${base}/subscribe`],
    ["History", `${base}/history`],
    ["JSON", `${base}.json`],
    ["RSS", `${base}/feed.rss`],
    ["Atom", `${base}/feed.atom`],
    ["Calendar", `${base}/maintenance.ics`],
    ["Statuspage API", `${base}/api/v2/summary.json`],
  ];
  return (
    <Panel title="Addresses">
      {page.visibility === "hidden" && (
        <p className="quiet panel-none">The page is hidden, so nobody can open these addresses.</p>
      )}
      {page.visibility === "password" && (
        <p className="quiet panel-none">All of these ask for the password first.</p>
      )}
      <div className="copy-lines">
        {lines.map(([label, address]) => (
          <CopyLine key={address} label={label} text={address} href={address} />
        ))}
      </div>
    </Panel>
  );
}
