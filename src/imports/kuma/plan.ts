/** Converts an installation of Uptime Kuma to a plan. */
import { pluralize } from "../../core/text/formatting.ts";
import { sha256 } from "../../core/ids.ts";
import type { NotTaken, Plan, PlannedRecord } from "../plan.ts";
import { convertChannel, findMailServer } from "./channels.ts";
import { buildSettingsHint, listLostNotes, type NoteLost } from "./columns.ts";
import { convertWindow } from "./maintenance.ts";
import type { Installation } from "./monitor-types.ts";
import { convertMonitor } from "./monitors.ts";
import {
  type FindAttached,
  buildGroupRecords,
  type Groups,
  arrangeGroups,
  maxChannels,
} from "./groups.ts";
import { type Tags, joinTags } from "./tags.ts";
import { groupPageContent, convertIncident, convertPage } from "./pages.ts";
import type { KumaSource } from "./source.ts";
import { groupById, idOf, isGroup, parseColumn, toNumber } from "./values.ts";
import { convertProxy } from "./web.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { toText } from "../values.ts";
import { isTimeZone } from "../../core/fields.ts";

const maxMembers = { monitorIds: 5_000, groupIds: 500 };

type Rows = KumaSource["rows"];
type LeaveOut = (noun: string, row: Fields, name: string, ...notes: string[]) => void;

/**
 * Converts an installation. One-time windows in progress start at `now`. Throws BAD_REQUEST for too deeply nested
 * groups.
 */
export function buildKumaPlan({ rows, version, hints, defaults }: KumaSource, now: number): Plan {
  const settings = readSettings(rows);
  const zone = toText(settings.value("serverTimezone"));
  const serverZone = isTimeZone(zone) ? zone : "UTC";
  const notTaken: NotTaken[] = [];
  const noteLost: NoteLost = (table, row) => listLostNotes(table, row, defaults);
  const leave: LeaveOut = (noun, row, name, ...notes) =>
    notTaken.push({ noun, externalId: idOf(row), name, notes });
  const groups = arrangeGroups(rows.monitor);
  const channels = buildChannelRecords(rows, leave, noteLost);
  const attached = findAttachedChannels(rows, channels);
  const tags = joinTags(rows);
  const records = [
    ...channels,
    ...buildGroupRecords(groups, attached, tags, noteLost),
    ...buildMonitorRecords(rows, groups, { attached, tags, noteLost: noteLost }),
    ...buildWindowRecords(rows, groups, { serverZone, now, leave, noteLost: noteLost }),
    ...buildPageRecords(rows, serverZone, noteLost),
    ...rows.incident.map((row) => convertIncident(row, now, noteLost)),
  ];
  leaveOthers(rows, leave, noteLost);
  const { smtp, hints: mailHints } = findMailServer(rows.notification);
  return {
    source: `uptime-kuma:${identifyInstallation(settings, version)}`,
    product: products[version],
    records,
    notTaken,
    hints: [
      ...hints,
      ...(version === "1" ? [weightHint] : []),
      ...mailHints,
      ...buildSettingHints(rows, settings),
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

type Settings = ReturnType<typeof readSettings>;

function readSettings(rows: Rows) {
  const values = new Map(rows.setting.map((row) => [toText(row["key"]), row["value"]]));
  return { values, value: (key: string) => parseColumn(values.get(key)) ?? values.get(key) };
}

/** Returns an ID of the installation that stays the same in repeated imports. */
const identifyInstallation = ({ values }: Settings, version: KumaSource["version"]) =>
  version === "backup"
    ? "backup"
    : sha256(`signalbox ${toText(values.get("jwtSecret"))}`).slice(0, 12);

function buildChannelRecords(rows: Rows, leave: LeaveOut, noteLost: NoteLost): PlannedRecord[] {
  return rows.notification.flatMap((row): PlannedRecord[] => {
    const { fields, notes: ofChannel, isIncomplete, isImportable } = convertChannel(row);
    const notes = [...ofChannel, ...noteLost("notification", row)];
    const name = toText(fields["name"]);
    if (!isImportable) {
      leave("alert-channel", row, name, ...notes);
      return [];
    }
    const externalId = idOf(row);
    return [{ noun: "alert-channel", externalId, name, fields, links: {}, notes, isIncomplete }];
  });
}

/** Returns the IDs of the channels that are attached directly to a monitor or group. */
function findAttachedChannels(rows: Rows, channels: readonly PlannedRecord[]): FindAttached {
  const known = new Set(channels.map(({ externalId }) => externalId));
  const channelsByMonitor = new Map<number, Set<string>>();
  for (const row of rows.monitor_notification) {
    const channel = toText(row["notification_id"]);
    if (!known.has(channel)) continue;
    const id = toNumber(row["monitor_id"]);
    const ids = channelsByMonitor.get(id) ?? new Set<string>();
    channelsByMonitor.set(id, ids.add(channel));
  }
  return (id) => [...(channelsByMonitor.get(id) ?? [])];
}

type MonitorContext = { attached: FindAttached; tags: Tags; noteLost: NoteLost };

function buildMonitorRecords(
  rows: Rows,
  groups: Groups,
  { attached, tags, noteLost }: MonitorContext,
): PlannedRecord[] {
  const installation: Installation = {
    proxies: groupById(rows.proxy),
    dockerHosts: groupById(rows.docker_host),
    browsers: groupById(rows.remote_browser),
  };
  return groups.others.map((row): PlannedRecord => {
    const { fields, notes, isIncomplete } = convertMonitor(row, installation);
    const { imported, notes: tagNotes } = tags(row);
    const around = groups.pathOf(row).slice(0, -1);
    const group = around.at(-1);
    const alertChannelIds = [
      ...new Set([row, ...around].flatMap((one) => attached(toNumber(one["id"])))),
    ];
    const isPush = toText(row["type"]) === "push" && toText(row["push_token"]) !== "";
    return {
      noun: "monitor",
      externalId: idOf(row),
      name: toText(fields["name"]),
      fields: {
        ...fields,
        tags: imported,
        ...(isPush && { pushToken: toText(row["push_token"]) }),
      },
      links: {
        groupId: group === undefined ? [] : [idOf(group)],
        alertChannelIds: alertChannelIds.slice(0, maxChannels),
      },
      notes: [
        ...notes,
        ...tagNotes,
        ...noteLost("monitor", row),
        ...(alertChannelIds.length > maxChannels
          ? [`Has the first ${maxChannels} of ${alertChannelIds.length} alert channels.`]
          : []),
      ],
      isIncomplete,
    };
  });
}

type Windows = { serverZone: string; now: number; leave: LeaveOut; noteLost: NoteLost };

function buildWindowRecords(
  rows: Rows,
  groups: Groups,
  { serverZone, now, leave, noteLost }: Windows,
): PlannedRecord[] {
  const membersOf = groupNumbers(rows.monitor_maintenance, "maintenance_id", "monitor_id");
  const pagesOf = groupNumbers(rows.maintenance_status_page, "maintenance_id", "status_page_id");
  return rows.maintenance.flatMap((row): PlannedRecord[] => {
    const mapped = convertWindow(row, serverZone, now);
    const name = toText(row["title"]);
    if ("reason" in mapped) {
      leave("maintenance-window", row, name, `Not imported: ${mapped.reason}.`);
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
          ...noteLost("maintenance", row),
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
function groupNumbers(rows: readonly Fields[], by: string, column: string) {
  const pairs = Map.groupBy(rows, (row) => toNumber(row[by]));
  return (row: Fields) =>
    (pairs.get(toNumber(row["id"])) ?? []).map((pair) => toNumber(pair[column]));
}

function buildPageRecords(rows: Rows, serverZone: string, noteLost: NoteLost): PlannedRecord[] {
  const content = groupPageContent(rows);
  const pages = rows.status_page.map((row) => convertPage(row, content, serverZone, noteLost));
  const inUse = new Set<string>();
  for (const page of pages) {
    const slug = toText(page.fields["slug"]);
    if (inUse.has(slug)) page.fields["slug"] = `${slug}-${page.externalId}`.slice(-63);
    inUse.add(toText(page.fields["slug"]));
  }
  return pages;
}

/** Reports the records that have no equivalent here, each with the reason. */
function leaveOthers(rows: Rows, leave: LeaveOut, noteLost: NoteLost) {
  for (const row of rows.proxy)
    leave(
      "proxy",
      row,
      `${toText(row["protocol"])}://${toText(row["host"])}:${toNumber(row["port"])}`,
      convertProxy(row) === null
        ? "Not imported: Signalbox supports HTTP and SOCKS5 proxies without encryption. Monitors that need this proxy are paused."
        : "Not imported as a record: it is part of each monitor that uses it.",
      ...noteLost("proxy", row),
    );
  for (const row of rows.docker_host)
    leave(
      "docker-host",
      row,
      toText(row["name"]),
      "Not imported as a record: it is part of each container monitor.",
      ...noteLost("docker_host", row),
    );
  for (const row of rows.remote_browser)
    leave(
      "remote-browser",
      row,
      toText(row["name"]),
      "Not imported: Signalbox uses the Chromium of its own machine.",
    );
  for (const row of rows.api_key)
    leave(
      "api-key",
      row,
      toText(row["name"]),
      "Not imported: the file contains only its hash. Create a new key with `signalbox keys create`.",
    );
  for (const row of rows.user)
    leave(
      "user",
      row,
      toText(row["username"]),
      "Not imported: it has no e-mail address. Invite the person under Settings → People.",
    );
  const usedTags = new Set(rows.monitor_tag.map((row) => toText(row["tag_id"])));
  for (const row of rows.tag)
    if (!usedTags.has(idOf(row)))
      leave("tag", row, toText(row["name"]), "Not imported: no monitor uses it.");
}

function buildSettingHints(rows: Rows, { values, value }: Settings): string[] {
  const address = toText(value("primaryBaseURL"));
  const manyRedirects = rows.monitor.filter(
    (row) =>
      ["http", "keyword", "json-query"].includes(toText(row["type"])) &&
      toNumber(row["maxredirects"]) > 5,
  ).length;
  return [
    ...(address === ""
      ? []
      : [
          `Uptime Kuma uses the address ${address}. Start Signalbox with \`serve --url ${address}\` to use it in links.`,
        ]),
    ...(rows.tag.length > 0 ? ["Tags have no color here."] : []),
    ...buildSettingsHint(values.keys()),
    ...(manyRedirects > 0
      ? [`Checks follow up to 5 redirects; ${pluralize(manyRedirects, "monitor")} allowed more.`]
      : []),
    ...(toText(value("entryPage")).startsWith("statusPage-")
      ? ["Its start page is a status page. For the same here, give that page its own host name."]
      : []),
    ...(values.has("keepDataPeriodDays")
      ? [
          `Uptime Kuma stores results for ${toNumber(value("keepDataPeriodDays"))} days. Signalbox stores results for --keep-results days and daily figures forever.`,
        ]
      : []),
  ];
}
