/** Converts an installation of Uptime Kuma to a plan. */
import { plural } from "../../core/text/words.ts";
import { sha256 } from "../../core/ids.ts";
import type { NotTaken, Plan, Planned } from "../plan.ts";
import { channelOf, mailServerOf } from "./channels.ts";
import { hintOfSettings, notesOfLost, type NotesOfLost } from "./columns.ts";
import { windowOf } from "./maintenance.ts";
import type { Installation } from "./monitor-types.ts";
import { monitorOf } from "./monitors.ts";
import { type Attached, groupRecords, type Groups, groupsOf, maxChannels } from "./groups.ts";
import { type Tags, tagsOf } from "./tags.ts";
import { contentOfPages, incidentOf, pageOf } from "./pages.ts";
import type { KumaSource } from "./source.ts";
import { byId, idOf, isGroup, jsonIn, number } from "./values.ts";
import { proxyOf } from "./web.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { text } from "../values.ts";
import { isTimeZone } from "../../core/fields.ts";

const maxMembers = { monitorIds: 5_000, groupIds: 500 };

type Rows = KumaSource["rows"];
type Leave = (noun: string, row: Fields, name: string, ...notes: string[]) => void;

/**
 * Converts an installation. One-time windows in progress start at `now`. Throws BAD_REQUEST for too deeply nested
 * groups.
 */
export function planOf({ rows, version, hints, defaults }: KumaSource, now: number): Plan {
  const settings = settingsOf(rows);
  const zone = text(settings.value("serverTimezone"));
  const serverZone = isTimeZone(zone) ? zone : "UTC";
  const notTaken: NotTaken[] = [];
  const lost: NotesOfLost = (table, row) => notesOfLost(table, row, defaults);
  const leave: Leave = (noun, row, name, ...notes) =>
    notTaken.push({ noun, externalId: idOf(row), name, notes });
  const groups = groupsOf(rows.monitor);
  const channels = channelRecords(rows, leave, lost);
  const attached = attachedChannels(rows, channels);
  const tags = tagsOf(rows);
  const records = [
    ...channels,
    ...groupRecords(groups, attached, tags, lost),
    ...monitorRecords(rows, groups, { attached, tags, lost }),
    ...windowRecords(rows, groups, { serverZone, now, leave, lost }),
    ...pageRecords(rows, serverZone, lost),
    ...rows.incident.map((row) => incidentOf(row, now, lost)),
  ];
  leaveOthers(rows, leave, lost);
  const { smtp, hints: mailHints } = mailServerOf(rows.notification);
  return {
    source: `uptime-kuma:${instanceOf(settings, version)}`,
    product: products[version],
    records,
    notTaken,
    hints: [
      ...hints,
      ...(version === "1" ? [weightHint] : []),
      ...mailHints,
      ...settingHints(rows, settings),
    ],
    smtp,
  };
}

const weightHint =
  "Uptime Kuma 1 weighs a check by the time since the check before it; here each check counts for its interval, as in Uptime Kuma 2. Figures differ for days on which Uptime Kuma was off.";

const products: Record<KumaSource["version"], string> = {
  "2": "Uptime Kuma 2",
  "1": "Uptime Kuma 1",
  backup: "Uptime Kuma 1 (JSON backup)",
};

type Settings = ReturnType<typeof settingsOf>;

function settingsOf(rows: Rows) {
  const values = new Map(rows.setting.map((row) => [text(row["key"]), row["value"]]));
  return { values, value: (key: string) => jsonIn(values.get(key)) ?? values.get(key) };
}

/** Returns an ID of the installation that stays the same in repeated imports. */
const instanceOf = ({ values }: Settings, version: KumaSource["version"]) =>
  version === "backup"
    ? "backup"
    : sha256(`signalbox ${text(values.get("jwtSecret"))}`).slice(0, 12);

function channelRecords(rows: Rows, leave: Leave, lost: NotesOfLost): Planned[] {
  return rows.notification.flatMap((row): Planned[] => {
    const { fields, notes: ofChannel, isIncomplete, isTaken } = channelOf(row);
    const notes = [...ofChannel, ...lost("notification", row)];
    const name = text(fields["name"]);
    if (!isTaken) {
      leave("alert-channel", row, name, ...notes);
      return [];
    }
    const externalId = idOf(row);
    return [{ noun: "alert-channel", externalId, name, fields, links: {}, notes, isIncomplete }];
  });
}

/** Returns the IDs of the channels that are attached directly to a monitor or group. */
function attachedChannels(rows: Rows, channels: readonly Planned[]): Attached {
  const known = new Set(channels.map(({ externalId }) => externalId));
  const ofMonitor = new Map<number, Set<string>>();
  for (const row of rows.monitor_notification) {
    const channel = text(row["notification_id"]);
    if (!known.has(channel)) continue;
    const id = number(row["monitor_id"]);
    const ids = ofMonitor.get(id) ?? new Set<string>();
    ofMonitor.set(id, ids.add(channel));
  }
  return (id) => [...(ofMonitor.get(id) ?? [])];
}

type OfMonitors = { attached: Attached; tags: Tags; lost: NotesOfLost };

function monitorRecords(
  rows: Rows,
  groups: Groups,
  { attached, tags, lost }: OfMonitors,
): Planned[] {
  const installation: Installation = {
    proxies: byId(rows.proxy),
    dockerHosts: byId(rows.docker_host),
    browsers: byId(rows.remote_browser),
  };
  return groups.others.map((row): Planned => {
    const { fields, notes, isIncomplete } = monitorOf(row, installation);
    const { taken, notes: tagNotes } = tags(row);
    const around = groups.pathOf(row).slice(0, -1);
    const group = around.at(-1);
    const alertChannelIds = [
      ...new Set([row, ...around].flatMap((one) => attached(number(one["id"])))),
    ];
    const isPush = text(row["type"]) === "push" && text(row["push_token"]) !== "";
    return {
      noun: "monitor",
      externalId: idOf(row),
      name: text(fields["name"]),
      fields: { ...fields, tags: taken, ...(isPush && { pushToken: text(row["push_token"]) }) },
      links: {
        groupId: group === undefined ? [] : [idOf(group)],
        alertChannelIds: alertChannelIds.slice(0, maxChannels),
      },
      notes: [
        ...notes,
        ...tagNotes,
        ...lost("monitor", row),
        ...(alertChannelIds.length > maxChannels
          ? [`Has the first ${maxChannels} of ${alertChannelIds.length} alert channels.`]
          : []),
      ],
      isIncomplete,
    };
  });
}

type Windows = { serverZone: string; now: number; leave: Leave; lost: NotesOfLost };

function windowRecords(
  rows: Rows,
  groups: Groups,
  { serverZone, now, leave, lost }: Windows,
): Planned[] {
  const membersOf = pairsBy(rows.monitor_maintenance, "maintenance_id", "monitor_id");
  const pagesOf = pairsBy(rows.maintenance_status_page, "maintenance_id", "status_page_id");
  return rows.maintenance.flatMap((row): Planned[] => {
    const mapped = windowOf(row, serverZone, now);
    const name = text(row["title"]);
    if ("reason" in mapped) {
      leave("maintenance-window", row, name, `Not taken: ${mapped.reason}.`);
      return [];
    }
    const members = membersOf(row).flatMap((id): Fields[] => {
      const found = groups.monitors.get(id);
      return found === undefined ? [] : [found];
    });
    const pages = pagesOf(row);
    const monitorIds = members.filter((one) => !isGroup(one)).map(idOf);
    const groupIds = groups.within(members.filter(isGroup)).map(idOf);
    const isCut =
      monitorIds.length > maxMembers.monitorIds || groupIds.length > maxMembers.groupIds;
    return [
      {
        noun: "maintenance-window",
        externalId: idOf(row),
        name,
        fields: { ...mapped.fields, public: pages.length > 0 },
        basis: [row, members.map(idOf), pages],
        links: {
          monitorIds: monitorIds.slice(0, maxMembers.monitorIds),
          groupIds: groupIds.slice(0, maxMembers.groupIds),
        },
        notes: [
          ...mapped.notes,
          ...lost("maintenance", row),
          ...(isCut
            ? [
                `Has the first ${maxMembers.monitorIds} monitors and ${maxMembers.groupIds} groups of ${monitorIds.length} and ${groupIds.length}.`,
              ]
            : []),
          ...(pages.length > 0
            ? ["Announced on each status page that shows one of its monitors."]
            : []),
        ],
      },
    ];
  });
}

/** Groups the numbers of one column by those of another. */
function pairsBy(rows: readonly Fields[], by: string, column: string) {
  const pairs = Map.groupBy(rows, (row) => number(row[by]));
  return (row: Fields) => (pairs.get(number(row["id"])) ?? []).map((pair) => number(pair[column]));
}

function pageRecords(rows: Rows, serverZone: string, lost: NotesOfLost): Planned[] {
  const content = contentOfPages(rows);
  const pages = rows.status_page.map((row) => pageOf(row, content, serverZone, lost));
  const inUse = new Set<string>();
  for (const page of pages) {
    const slug = text(page.fields["slug"]);
    if (inUse.has(slug)) page.fields["slug"] = `${slug}-${page.externalId}`.slice(-63);
    inUse.add(text(page.fields["slug"]));
  }
  return pages;
}

/** Reports the records that have no equivalent here, each with the reason. */
function leaveOthers(rows: Rows, leave: Leave, lost: NotesOfLost) {
  for (const row of rows.proxy)
    leave(
      "proxy",
      row,
      `${text(row["protocol"])}://${text(row["host"])}:${number(row["port"])}`,
      proxyOf(row) === null
        ? "Not taken: a proxy here is one of HTTP or SOCKS5, itself not encrypted. Monitors that need it are paused."
        : "Not imported as a record: it is part of each monitor that uses it.",
      ...lost("proxy", row),
    );
  for (const row of rows.docker_host)
    leave(
      "docker-host",
      row,
      text(row["name"]),
      "Not imported as a record: it is part of each container monitor.",
      ...lost("docker_host", row),
    );
  for (const row of rows.remote_browser)
    leave("remote-browser", row, text(row["name"]), "Not taken: nothing here renders pages.");
  for (const row of rows.api_key)
    leave(
      "api-key",
      row,
      text(row["name"]),
      "Not taken: only its hash is there. Make a new one with `signalbox keys create`.",
    );
  for (const row of rows.user)
    leave(
      "user",
      row,
      text(row["username"]),
      "Not taken: it has no e-mail address. Invite people on the page People.",
    );
  const usedTags = new Set(rows.monitor_tag.map((row) => text(row["tag_id"])));
  for (const row of rows.tag)
    if (!usedTags.has(idOf(row)))
      leave("tag", row, text(row["name"]), "Not taken: no monitor has it.");
}

function settingHints(rows: Rows, { values, value }: Settings): string[] {
  const address = text(value("primaryBaseURL"));
  const manyRedirects = rows.monitor.filter(
    (row) =>
      ["http", "keyword", "json-query"].includes(text(row["type"])) &&
      number(row["maxredirects"]) > 5,
  ).length;
  return [
    ...(address === ""
      ? []
      : [`Uptime Kuma answers at ${address}: with serve --url ${address} links lead there.`]),
    ...(rows.tag.length > 0 ? ["Tags have no color here."] : []),
    ...hintOfSettings(values.keys()),
    ...(manyRedirects > 0
      ? [`Checks follow up to 5 redirects; ${plural(manyRedirects, "monitor")} allowed more.`]
      : []),
    ...(text(value("entryPage")).startsWith("statusPage-")
      ? [
          "Its start page is a status page: give that page a host name of its own for the same here.",
        ]
      : []),
    ...(values.has("keepDataPeriodDays")
      ? [
          `Uptime Kuma keeps results for ${number(value("keepDataPeriodDays"))} days; here results are kept for --keep-results, daily sums for ever.`,
        ]
      : []),
  ];
}
