/** Converts status pages and incidents of Uptime Kuma. */
import { slugFrom } from "../../core/text/words.ts";
import { NewStatusPage } from "../../status-pages/schema.ts";
import type { Planned } from "../plan.ts";
import type { NotesOfLost } from "./columns.ts";
import type { KumaSource } from "./source.ts";
import { instantOf } from "./sqlite.ts";
import { byId, clean, idOf, isGroup, isOn, number, paragraphs } from "./values.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { text } from "../values.ts";

/** Groups the sections and domains by page, and the entries by section. */
export function contentOfPages(rows: KumaSource["rows"]) {
  const by = (table: readonly Fields[], column: string) => {
    const ordered = table.toSorted((one, other) => number(one["weight"]) - number(other["weight"]));
    const lists = Map.groupBy(ordered, (row) => number(row[column]));
    return (row: Fields): readonly Fields[] => lists.get(number(row["id"])) ?? [];
  };
  return {
    groupsOf: by(rows.group, "status_page_id"),
    entriesOf: by(rows.monitor_group, "group_id"),
    domainsOf: by(rows.status_page_cname, "status_page_id"),
    monitors: byId(rows.monitor),
  };
}

type Content = ReturnType<typeof contentOfPages>;

/** Converts a status page with its sections. A repeated monitor keeps only its first position. */
export function pageOf(
  row: Fields,
  content: Content,
  timeZone: string,
  lost: NotesOfLost,
): Planned {
  const notes: string[] = [];
  const seen = new Set<number>();
  const sections = content
    .groupsOf(row)
    .flatMap((group) => sectionOf(group, content, seen, notes, lost));
  const hosts = hostsOf(content.domainsOf(row), notes);
  notes.push(...notesOfUnused(row), ...lost("status_page", row));
  const slug = text(row["slug"]);
  const theme = text(row["theme"]);
  const fields: Fields = {
    slug: slugFor(slug, idOf(row)),
    title: clean(text(row["title"])).slice(0, 255) || slug || "Status",
    description: paragraphs(text(row["description"])).slice(0, 2_000),
    theme: ["light", "dark"].includes(theme) ? theme : "auto",
    visibility: isOn(row["published"] ?? true) ? "public" : "hidden",
    hosts,
    // Uptime Kuma publishes the latency of all monitors on a page.
    showLatency: true,
    timeZone,
    sections,
    icon: text(row["icon"]),
  };
  if (fields["slug"] !== slug)
    notes.push(`Its address is /status/${text(fields["slug"])} instead of /status/${slug}.`);
  return {
    noun: "status-page",
    externalId: idOf(row),
    name: text(row["title"]),
    fields,
    links: { monitorIds: sections.flatMap(({ monitors }) => monitors) },
    notes,
  };
}

/** Converts a public group to a section. Returns an empty list for other groups. Adds to `seen` and `notes`. */
function sectionOf(
  group: Fields,
  { entriesOf, monitors }: Content,
  seen: Set<number>,
  notes: string[],
  lost: NotesOfLost,
): { name: string; monitors: string[] }[] {
  notes.push(...lost("group", group));
  const name = clean(text(group["name"])).slice(0, 255) || "Services";
  if (!isOn(group["public"] ?? true)) {
    notes.push(`Without its section ${name}: it was not public.`);
    return [];
  }
  const ids: string[] = [];
  for (const entry of entriesOf(group)) {
    const monitor = monitors.get(number(entry["monitor_id"]));
    if (monitor === undefined) continue;
    const quotedName = `“${text(monitor["name"])}”`;
    if (isGroup(monitor))
      notes.push(
        `Section ${name}: without the row of the group ${quotedName}, which has no state here. Add the group as a section to publish its monitors.`,
      );
    else if (seen.has(number(monitor["id"])))
      notes.push(`Section ${name}: without ${quotedName}, which is on the page already.`);
    else {
      ids.push(idOf(monitor));
      if (isOn(entry["send_url"]))
        notes.push(`Section ${name}: ${quotedName} without the link to it.`);
    }
    notes.push(...lost("monitor_group", entry).map((note) => `${quotedName}: ${note}`));
    seen.add(number(monitor["id"]));
  }
  return [{ name, monitors: ids }];
}

/** Returns the first ten valid host names of a page. Adds a note about other domains. */
function hostsOf(domains: readonly Fields[], notes: string[]): string[] {
  const isValid = (host: string) =>
    NewStatusPage.safeParse({ slug: "page", title: "Page", hosts: [host] }).success;
  const hosts = domains.map((cname) => text(cname["domain"]).toLowerCase());
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
  password: "password, which Uptime Kuma did not ask for",
  rss_title: "title of its feed",
};

function notesOfUnused(row: Fields): string[] {
  const css = text(row["custom_css"])
    .replace(/body\s*\{\s*\}/, "")
    .trim();
  const lacking = Object.entries(unusedColumns)
    .filter(([column]) => (column === "custom_css" ? css : text(row[column])) !== "")
    .map(([, word]) => word);
  return [
    ...(lacking.length > 0 ? [`Without its ${lacking.join(", ")}.`] : []),
    ...(isOn(row["show_tags"]) ? ["Tags are not shown."] : []),
    ...(isOn(row["show_certificate_expiry"]) ? ["The expiry of certificates is not shown."] : []),
  ];
}

function slugFor(slug: string, id: string): string {
  const isFine = (one: string) => NewStatusPage.safeParse({ slug: one, title: "Page" }).success;
  if (isFine(slug)) return slug;
  const other = slugFrom(slug, 56);
  return isFine(other) ? other : `page-${id}`;
}

const severities: Record<string, string> = { danger: "critical", warning: "major" };

export function incidentOf(row: Fields, now: number, lost: NotesOfLost): Planned {
  const isOpen = isOn(row["pin"]) && isOn(row["active"] ?? true);
  const createdAt = Math.min(instantOf(row["created_date"]) ?? now, now);
  const changedAt = Math.max(
    createdAt,
    Math.min(instantOf(row["last_updated_date"]) ?? createdAt, now),
  );
  const title = clean(text(row["title"])).slice(0, 500) || "Incident";
  return {
    noun: "incident",
    externalId: idOf(row),
    name: title,
    fields: {
      title,
      message: paragraphs(text(row["content"])).slice(0, 5_000) || "Incident opened.",
      severity: severities[text(row["style"])] ?? "minor",
      createdAt: new Date(createdAt).toISOString(),
      resolvedAt: isOpen ? null : new Date(changedAt).toISOString(),
    },
    links: {},
    notes: [
      "Shown on each status page of the organization: incidents here belong to no single one.",
      ...lost("incident", row),
    ],
  };
}
