/** The “Addresses” tab of a status page: its URLs, feeds and badges. */
import { SegmentedControl, Select } from "@mantine/core";
import { useState } from "react";
import { useOverview } from "../../data/overview.ts";
import type { StatusPage } from "../../data/status-pages.ts";
import { CopyLine } from "../../components/copy.tsx";
import { Panel } from "../../components/page.tsx";
import { buildPageUrl } from "./labels.tsx";
import { listShownMonitors } from "./page-monitors.ts";
import { t, tNode } from "../../language/text.ts";

const restrictions: Partial<Record<StatusPage["visibility"], string>> = {
  password: t("All of these ask for the password first."),
  "signed-in": t("All of these are only for signed-in people."),
  addresses: t("All of these are only for the chosen addresses."),
};

/** URLs of the page, its feeds and its JSON summary. */
export function Addresses({ page }: { page: StatusPage }) {
  const base = buildPageUrl(page);
  const lines: [label: string, address: string][] = [
    [t("Page"), base],
    ...page.hosts.map((host): [string, string] => [
      t("Host name"),
      `${location.protocol}//${host}${location.port === "" ? "" : `:${location.port}`}`,
    ]),
    [t("Get updates"), `${base}/subscribe`],
    [t("History"), `${base}/history`],
    ["JSON", `${base}.json`],
    ["RSS", `${base}/feed.rss`],
    ["Atom", `${base}/feed.atom`],
    [t("Calendar"), `${base}/maintenance.ics`],
    [t("Widget"), `${base}/embed`],
    ["Statuspage API", `${base}/api/v2/summary.json`],
  ];
  return (
    <Panel title={t("Addresses")}>
      {page.visibility === "hidden" && (
        <p className="quiet panel-none">
          {t("The page is hidden, so no one can open these addresses.")}
        </p>
      )}
      {restrictions[page.visibility] !== undefined && (
        <p className="quiet panel-none">
          {tNode("{restriction} Programs add an access token to these addresses.", {
            restriction: restrictions[page.visibility],
          })}
        </p>
      )}
      <div className="flex flex-col">
        {lines.map(([label, address]) => (
          <CopyLine key={address} label={label} text={address} href={address} />
        ))}
        {page.look.embedOrigins.length > 0 && (
          <CopyLine
            label={t("HTML of the widget")}
            text={`<iframe src="${base}/embed" title="${escapeAttribute(page.title)}" width="400" height="90" style="border:0"></iframe>`}
          />
        )}
      </div>
    </Panel>
  );
}

/** Badge snippets to copy into a README or a wiki. */
export function Badges({ page }: { page: StatusPage }) {
  const { data: overview } = useOverview();
  const [chosen, setChosen] = useState<string | null>(null);
  const [kind, setKind] = useState("status");
  const monitors = overview === undefined ? [] : listShownMonitors(page.sections, overview);
  const monitor = monitors.find(({ id }) => id === chosen) ?? monitors[0];
  if (page.visibility !== "public" || monitor === undefined)
    return (
      <Panel title={t("Badges")}>
        <p className="quiet panel-none">
          {t(
            "Badges show the state of one monitor in a README or a wiki. They are available once the page is public and shows a monitor. On other pages, they need an access token in their address.",
          )}
        </p>
      </Panel>
    );
  const path = `/badge/monitor/${monitor.id}/${kind}.svg`;
  const url = location.origin + path;
  const name = `${monitor.name}: ${kind}`;
  return (
    <Panel title={t("Badges")}>
      <div className="badge-choice">
        <Select
          aria-label={t("Monitor of the badge")}
          searchable
          data={monitors.map(({ id, name }) => ({ value: id, label: name }))}
          value={monitor.id}
          onChange={setChosen}
          allowDeselect={false}
        />
        <SegmentedControl
          aria-label={t("Content of the badge")}
          value={kind}
          onChange={setKind}
          data={[
            { value: "status", label: t("Status") },
            { value: "uptime", label: t("Uptime") },
            ...(page.showLatency ? [{ value: "latency", label: t("Latency") }] : []),
          ]}
        />
        <img src={path} alt={name} height={20} />
      </div>
      <div className="flex flex-col">
        <CopyLine label={"Markdown"} text={`[![${name}](${url})](${buildPageUrl(page)})`} />
        <CopyLine
          label="HTML"
          text={`<a href="${buildPageUrl(page)}"><img src="${url}" alt="${escapeAttribute(name)}"></a>`}
        />
        <CopyLine label={t("Picture")} text={url} href={url} />
      </div>
    </Panel>
  );
}

const escapeAttribute = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
