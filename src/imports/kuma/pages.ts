/** Converts status pages and incidents of Uptime Kuma. */
import { createLookup } from "../../core/collections/objects.ts";
import { slugify } from "../../core/text/formatting.ts";
import { NewStatusPage } from "../../status-pages/schema.ts";
import type { PlannedRecord } from "../plan.ts";
import type { NoteLost } from "./columns.ts";
import type { KumaSource } from "./source.ts";
import { parseInstant } from "./sqlite.ts";
import { groupById, toCleanLine, idOf, isGroup, isOn, toNumber, toParagraphs } from "./values.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { toText } from "../values.ts";

/** Groups the sections and domains by page, and the entries by section. */
export function groupPageContent(rows: KumaSource["rows"]) {
  const groupSorted = (table: readonly Fields[], column: string) => {
    const ordered = table.toSorted(
      (one, other) => toNumber(one["weight"]) - toNumber(other["weight"]),
    );
    const lists = Map.groupBy(ordered, (row) => toNumber(row[column]));
    return (row: Fields): readonly Fields[] => lists.get(toNumber(row["id"])) ?? [];
  };
  return {
    groupsOf: groupSorted(rows.group, "status_page_id"),
    entriesOf: groupSorted(rows.monitor_group, "group_id"),
    domainsOf: groupSorted(rows.status_page_cname, "status_page_id"),
    monitors: groupById(rows.monitor),
  };
}

type Content = ReturnType<typeof groupPageContent>;

/** Converts a status page with its sections. A repeated monitor keeps only its first position. */
export function convertPage(
  row: Fields,
  content: Content,
  timeZone: string,
  noteLost: NoteLost,
): PlannedRecord {
  const notes: string[] = [];
  const seen = new Set<number>();
  const sections = content
    .groupsOf(row)
    .flatMap((group) => convertSection(group, content, seen, notes, noteLost));
  const hosts = selectHosts(content.domainsOf(row), notes);
  notes.push(...noteUnusedColumns(row), ...noteLost("status_page", row));
  const slug = toText(row["slug"]);
  const theme = toText(row["theme"]);
  const fields: Fields = {
    slug: createSlug(slug, idOf(row)),
    title: toCleanLine(toText(row["title"]), 255) || slug || "Status",
    description: toParagraphs(toText(row["description"]), 2_000),
    theme: ["light", "dark"].includes(theme) ? theme : "auto",
    visibility: isOn(row["published"] ?? true) ? "public" : "hidden",
    hosts,
    // Uptime Kuma publishes the latency of all monitors on a page.
    showLatency: true,
    timeZone,
    sections,
    icon: toText(row["icon"]),
  };
  if (fields["slug"] !== slug)
    notes.push(`Its address is /status/${toText(fields["slug"])} instead of /status/${slug}.`);
  return {
    noun: "status-page",
    externalId: idOf(row),
    name: toText(row["title"]),
    fields,
    links: { monitorIds: sections.flatMap(({ monitors }) => monitors) },
    notes,
  };
}

/** Converts a public group to a section. Returns an empty list for other groups. Adds to `seen` and `notes`. */
function convertSection(
  group: Fields,
  { entriesOf, monitors }: Content,
  seen: Set<number>,
  notes: string[],
  noteLost: NoteLost,
): { name: string; monitors: string[] }[] {
  notes.push(...noteLost("group", group));
  const name = toCleanLine(toText(group["name"]), 255) || "Services";
  if (!isOn(group["public"] ?? true)) {
    notes.push(`Without its section ${name}: it was not public.`);
    return [];
  }
  const ids: string[] = [];
  for (const entry of entriesOf(group)) {
    const monitor = monitors.get(toNumber(entry["monitor_id"]));
    if (monitor === undefined) continue;
    const quotedName = `“${toText(monitor["name"])}”`;
    if (isGroup(monitor))
      notes.push(
        `Section ${name}: without the row of the group ${quotedName}, which has no state here. Add the group as a section to publish its monitors.`,
      );
    else if (seen.has(toNumber(monitor["id"])))
      notes.push(`Section ${name}: without ${quotedName}, which is on the page already.`);
    else {
      ids.push(idOf(monitor));
      if (isOn(entry["send_url"]))
        notes.push(`Section ${name}: ${quotedName} without the link to it.`);
    }
    notes.push(...noteLost("monitor_group", entry).map((note) => `${quotedName}: ${note}`));
    seen.add(toNumber(monitor["id"]));
  }
  return [{ name, monitors: ids }];
}

/** Returns the first ten valid host names of a page. Adds a note about other domains. */
function selectHosts(domains: readonly Fields[], notes: string[]): string[] {
  const isValid = (host: string) =>
    NewStatusPage.safeParse({ slug: "page", title: "Page", hosts: [host] }).success;
  const hosts = domains.map((cname) => toText(cname["domain"]).toLowerCase());
  const accepted = hosts.filter(isValid).slice(0, 10);
  for (const host of hosts)
    if (!accepted.includes(host)) notes.push(`Without its host name ${host}.`);
  return accepted;
}

const unusedColumns = {
  custom_css: "custom CSS",
  footer_text: "footer",
  analytics_id: "analytics",
  google_analytics_tag_id: "analytics",
  password: "password, which Uptime Kuma did not require",
  rss_title: "title of its feed",
};

function noteUnusedColumns(row: Fields): string[] {
  const css = toText(row["custom_css"])
    .replace(/body\s*\{\s*\}/, "")
    .trim();
  const lacking = Object.entries(unusedColumns)
    .filter(([column]) => (column === "custom_css" ? css : toText(row[column])) !== "")
    .map(([, word]) => word);
  return [
    ...(lacking.length > 0 ? [`Without its ${lacking.join(", ")}.`] : []),
    ...(isOn(row["show_tags"]) ? ["Tags are not shown."] : []),
    ...(isOn(row["show_certificate_expiry"]) ? ["The expiry of certificates is not shown."] : []),
  ];
}

function createSlug(slug: string, id: string): string {
  const isFine = (one: string) => NewStatusPage.safeParse({ slug: one, title: "Page" }).success;
  if (isFine(slug)) return slug;
  const other = slugify(slug, 56);
  return isFine(other) ? other : `page-${id}`;
}

const severities: Record<string, string> = createLookup({ danger: "critical", warning: "major" });

export function convertIncident(row: Fields, now: number, noteLost: NoteLost): PlannedRecord {
  const isOpen = isOn(row["pin"]) && isOn(row["active"] ?? true);
  const createdAt = Math.min(parseInstant(row["created_date"]) ?? now, now);
  const changedAt = Math.max(
    createdAt,
    Math.min(parseInstant(row["last_updated_date"]) ?? createdAt, now),
  );
  const title = toCleanLine(toText(row["title"]), 500) || "Incident";
  return {
    noun: "incident",
    externalId: idOf(row),
    name: title,
    fields: {
      title,
      message: toParagraphs(toText(row["content"]), 5_000) || "Incident opened.",
      severity: severities[toText(row["style"])] ?? "minor",
      createdAt: new Date(createdAt).toISOString(),
      resolvedAt: isOpen ? null : new Date(changedAt).toISOString(),
    },
    links: {},
    notes: [
      "Shown on each status page of the organization: an incident does not belong to one page.",
      ...noteLost("incident", row),
    ],
  };
}
