import { slugFrom } from "../../core/text/words.ts";
import { NewStatusPage } from "../../status-pages/schema.ts";
import type { Planned } from "../plan.ts";
import type { NotesOfLost } from "./columns.ts";
import type { KumaSource } from "./source.ts";
import { instantOf } from "./sqlite.ts";
import { byId, clean, idOf, isGroup, isOn, number, paragraphs } from "./values.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { text } from "../values.ts";

/** The sections of each page, the entries of each section, and the domains of each page. */
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

/** A status page with its sections; of a monitor that stands on it twice the first place. */
export function pageOf(
  row: Fields,
  content: ReturnType<typeof contentOfPages>,
  timeZone: string,
  lost: NotesOfLost,
): Planned {
  const notes: string[] = [];
  const { groupsOf, entriesOf, domainsOf, monitors } = content;
  const seen = new Set<number>();
  const sections: Fields[] = [];
  for (const group of groupsOf(row)) {
    notes.push(...lost("group", group));
    const name = clean(text(group["name"])).slice(0, 255) || "Services";
    if (!isOn(group["public"] ?? true)) {
      notes.push(`Without its section ${name}: it was not public.`);
      continue;
    }
    const ids: string[] = [];
    for (const entry of entriesOf(group)) {
      const monitor = monitors.get(number(entry["monitor_id"]));
      if (monitor === undefined) continue;
      const called = `“${text(monitor["name"])}”`;
      if (isGroup(monitor))
        notes.push(
          `Section ${name}: without the row of the group ${called}, which has no state here. Add the group as a section to publish its monitors.`,
        );
      else if (seen.has(number(monitor["id"])))
        notes.push(`Section ${name}: without ${called}, which is on the page already.`);
      else {
        ids.push(idOf(monitor));
        if (isOn(entry["send_url"]))
          notes.push(`Section ${name}: ${called} without the link to it.`);
      }
      notes.push(...lost("monitor_group", entry).map((note) => `${called}: ${note}`));
      seen.add(number(monitor["id"]));
    }
    sections.push({ name, monitors: ids });
  }
  const hosts = domainsOf(row).map((cname) => text(cname["domain"]).toLowerCase());
  const fitting = hosts
    .filter(
      (host) => NewStatusPage.safeParse({ slug: "page", title: "Page", hosts: [host] }).success,
    )
    .slice(0, 10);
  for (const host of hosts)
    if (!fitting.includes(host)) notes.push(`Without its host name ${host}.`);
  const unused = {
    custom_css: "custom CSS",
    footer_text: "footer",
    analytics_id: "analytics",
    google_analytics_tag_id: "analytics",
    password: "password, which Uptime Kuma did not ask for",
    rss_title: "title of its feed",
  };
  const css = text(row["custom_css"])
    .replace(/body\s*\{\s*\}/, "")
    .trim();
  const missing = Object.entries(unused).filter(
    ([column]) => (column === "custom_css" ? css : text(row[column])) !== "",
  );
  if (missing.length > 0) notes.push(`Without its ${missing.map(([, word]) => word).join(", ")}.`);
  if (isOn(row["show_tags"])) notes.push("Tags are not shown.");
  if (isOn(row["show_certificate_expiry"])) notes.push("The end of certificates is not shown.");
  notes.push(...lost("status_page", row));
  const slug = text(row["slug"]);
  const theme = text(row["theme"]);
  const fields: Fields = {
    slug: slugFor(slug, idOf(row)),
    title: clean(text(row["title"])).slice(0, 255) || slug || "Status",
    description: paragraphs(text(row["description"])).slice(0, 2_000),
    theme: ["light", "dark"].includes(theme) ? theme : "auto",
    visibility: isOn(row["published"] ?? true) ? "public" : "hidden",
    hosts: fitting,
    // Uptime Kuma tells everybody the latency of what is on a page.
    showLatency: true,
    timeZone,
    sections,
    icon: text(row["icon"]),
  };
  if (fields["slug"] !== slug)
    notes.push(`Its address is /status/${text(fields["slug"])} instead of /status/${slug}.`);
  const listed = sections.flatMap((section) => section["monitors"] as string[]);
  return {
    noun: "status-page",
    externalId: idOf(row),
    name: text(row["title"]),
    fields,
    links: { monitorIds: listed },
    notes,
  };
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
