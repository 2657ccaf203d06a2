import { plural } from "../../core/text.ts";
import { sha256 } from "../../core/ids.ts";
import type { NotTaken, Plan, Planned } from "../plan.ts";
import { channelOf, mailServerOf } from "./channels.ts";
import { windowOf } from "./maintenance.ts";
import type { Installation } from "./monitor-types.ts";
import { monitorOf } from "./monitors.ts";
import { incidentOf, pageOf } from "./pages.ts";
import type { KumaSource } from "./source.ts";
import { byId, clean, idOf, isGroup, isOn, jsonIn, number, paragraphs } from "./values.ts";
import { proxyOf } from "./web.ts";
import type { Fields } from "../../core/objects.ts";
import { text } from "../values.ts";
import { isTimeZone } from "../../core/fields.ts";

const maxTags = 10;
const maxTagLength = 50;
const maxChannels = 50;
const separator = " / ";

/** Everything that an Uptime Kuma has, in our words; `now` is for what begins today. */
export function planOf({ rows, version, hints }: KumaSource, now: number): Plan {
  const settings = new Map(rows.setting.map((row) => [text(row["key"]), row["value"]]));
  const setting = (key: string) => jsonIn(settings.get(key)) ?? settings.get(key);
  const zone = text(setting("serverTimezone"));
  const serverZone = isTimeZone(zone) ? zone : "UTC";
  const instance =
    version === "backup"
      ? "backup"
      : sha256(`signalbox ${text(settings.get("jwtSecret"))}`).slice(0, 12);
  const notTaken: NotTaken[] = [];
  const leave = (noun: string, row: Fields, name: string, ...notes: string[]) =>
    notTaken.push({ noun, externalId: idOf(row), name, notes });

  const channels = rows.notification.flatMap((row): Planned[] => {
    const { fields, notes, isIncomplete, isTaken } = channelOf(row);
    const name = text(fields["name"]);
    if (!isTaken) {
      leave("alert-channel", row, name, ...notes);
      return [];
    }
    return [
      {
        noun: "alert-channel",
        externalId: idOf(row),
        name,
        fields,
        links: {},
        notes,
        isIncomplete,
      },
    ];
  });
  const known = new Set(channels.map(({ externalId }) => externalId));
  const channelsOf = Map.groupBy(
    rows.monitor_notification.filter((row) => known.has(text(row["notification_id"]))),
    (row) => number(row["monitor_id"]),
  );

  const monitors = byId(rows.monitor);
  const groups = groupsOf(rows.monitor, monitors);
  const tags = tagsOf(rows);
  const installation: Installation = {
    proxies: byId(rows.proxy),
    dockerHosts: byId(rows.docker_host),
    browsers: byId(rows.remote_browser),
  };
  const attached = (id: number) =>
    (channelsOf.get(id) ?? []).map((row) => text(row["notification_id"]));
  const ordered = rows.monitor.toSorted(
    (one, other) =>
      number(one["weight"] ?? 2000) - number(other["weight"] ?? 2000) ||
      text(one["name"]).localeCompare(text(other["name"])) ||
      number(one["id"]) - number(other["id"]),
  );
  const named = (path: readonly Fields[]) => path.map((one) => text(one["name"])).join(separator);
  const records: Planned[] = [...channels];
  for (const row of ordered
    .filter(isGroup)
    .toSorted((one, other) =>
      named(groups.pathOf(one)).localeCompare(named(groups.pathOf(other))),
    )) {
    const path = groups.pathOf(row);
    const { taken, notes } = tags(row);
    const isPaused = path.some((one) => !isOn(one["active"] ?? true));
    records.push({
      noun: "group",
      externalId: idOf(row),
      name: named(path).slice(0, 255),
      fields: {
        name: clean(named(path)).slice(0, 255) || `Group ${idOf(row)}`,
        description: paragraphs(text(row["description"])).slice(0, 2_000),
        tags: taken,
        paused: isPaused,
      },
      links: { alertChannelIds: attached(number(row["id"])).slice(0, maxChannels) },
      notes: [
        ...(path.length > 1 ? [`Groups have no groups within: it is called ${named(path)}.`] : []),
        ...(isPaused ? ["It is paused, as it or the group around it was."] : []),
        ...notes,
      ],
    });
  }
  for (const row of ordered.filter((one) => !isGroup(one))) {
    const id = number(row["id"]);
    const { fields, notes, isIncomplete } = monitorOf(row, installation);
    const { taken, notes: tagNotes } = tags(row);
    const path = groups.pathOf(row).slice(0, -1);
    const of = path.at(-1);
    const all = [...attached(id), ...path.flatMap((group) => attached(number(group["id"])))];
    const alertChannelIds = [...new Set(all)];
    records.push({
      noun: "monitor",
      externalId: idOf(row),
      name: text(fields["name"]),
      fields: {
        ...fields,
        tags: taken,
        ...(text(row["type"]) === "push" &&
          text(row["push_token"]) !== "" && {
            pushToken: text(row["push_token"]),
          }),
      },
      links: {
        groupId: of === undefined ? [] : [idOf(of)],
        alertChannelIds: alertChannelIds.slice(0, maxChannels),
      },
      notes: [
        ...notes,
        ...tagNotes,
        ...(alertChannelIds.length > maxChannels
          ? [`Has the first ${maxChannels} of ${alertChannelIds.length} alert channels.`]
          : []),
      ],
      isIncomplete,
    });
  }
  for (const row of rows.maintenance) {
    const mapped = windowOf(row, serverZone, now);
    const name = text(row["title"]);
    if ("reason" in mapped) {
      leave("maintenance-window", row, name, `Not taken: ${mapped.reason}.`);
      continue;
    }
    const its = (pairs: readonly Fields[], key: string) =>
      pairs
        .filter((pair) => number(pair["maintenance_id"]) === number(row["id"]))
        .map((pair) => number(pair[key]));
    const members = its(rows.monitor_maintenance, "monitor_id").flatMap((id): Fields[] => {
      const found = monitors.get(id);
      return found === undefined ? [] : [found];
    });
    const pages = its(rows.maintenance_status_page, "status_page_id");
    records.push({
      noun: "maintenance-window",
      externalId: idOf(row),
      name,
      fields: { ...mapped.fields, public: pages.length > 0 },
      basis: [row, members.map(idOf), pages],
      links: {
        monitorIds: members.filter((one) => !isGroup(one)).map(idOf),
        groupIds: members
          .filter(isGroup)
          .flatMap((one) => groups.within(one))
          .map(idOf),
      },
      notes: [
        ...mapped.notes,
        ...(pages.length > 0
          ? ["Announced on each status page that shows one of its monitors."]
          : []),
      ],
    });
  }
  for (const row of rows.status_page) records.push(pageOf(row, rows, monitors, serverZone));
  const inUse = new Map<string, string>();
  for (const page of records.filter(({ noun }) => noun === "status-page")) {
    const slug = text(page.fields["slug"]);
    if (inUse.has(slug)) page.fields["slug"] = `${slug}-${page.externalId}`.slice(-63);
    inUse.set(slug, page.externalId);
  }
  for (const row of rows.incident) records.push(incidentOf(row, now));

  for (const row of rows.proxy)
    leave(
      "proxy",
      row,
      `${text(row["protocol"])}://${text(row["host"])}:${number(row["port"])}`,
      proxyOf(row) === null
        ? "Not taken: a proxy here is one of HTTP or SOCKS5, itself not encrypted. Monitors that need it are paused."
        : "Not taken by itself: it stands in each monitor that goes through it.",
    );
  for (const row of rows.docker_host)
    leave(
      "docker-host",
      row,
      text(row["name"]),
      "Not taken by itself: what it is stands in each monitor of a container.",
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

  const { smtp, hints: mailHints } = mailServerOf(rows.notification);
  const address = text(setting("primaryBaseURL"));
  const manyRedirects = rows.monitor.filter(
    (row) =>
      ["http", "keyword", "json-query"].includes(text(row["type"])) &&
      number(row["maxredirects"]) > 5,
  ).length;
  return {
    source: `uptime-kuma:${instance}`,
    product:
      version === "2"
        ? "Uptime Kuma 2"
        : version === "1"
          ? "Uptime Kuma 1"
          : "Uptime Kuma 1 (JSON backup)",
    records,
    notTaken,
    hints: [
      ...hints,
      ...mailHints,
      ...(address === ""
        ? []
        : [`Uptime Kuma answers at ${address}: with serve --url ${address} links lead there.`]),
      ...(rows.tag.length > 0 ? ["Tags have no colors here."] : []),
      ...(manyRedirects > 0
        ? [`Checks follow up to 5 redirects; ${plural(manyRedirects, "monitor")} allowed more.`]
        : []),
      ...(text(setting("entryPage")).startsWith("statusPage-")
        ? [
            "Its start page is a status page: give that page a host name of its own for the same here.",
          ]
        : []),
      ...(settings.has("keepDataPeriodDays")
        ? [
            `Uptime Kuma keeps results for ${number(setting("keepDataPeriodDays"))} days; here results are kept for --keep-results, daily sums for ever.`,
          ]
        : []),
    ],
    smtp,
  };
}

/** The way to each monitor through the groups around it, and the groups within one. Circles end where they close. */
function groupsOf(rows: readonly Fields[], monitors: ReadonlyMap<number, Fields>) {
  const pathOf = (row: Fields): Fields[] => {
    const path = [row];
    const seen = new Set([number(row["id"])]);
    for (;;) {
      const parent = monitors.get(number(path[0]?.["parent"]));
      if (parent === undefined || !isGroup(parent) || seen.has(number(parent["id"]))) return path;
      seen.add(number(parent["id"]));
      path.unshift(parent);
    }
  };
  const all = rows.filter(isGroup);
  return { pathOf, within: (group: Fields) => all.filter((one) => pathOf(one).includes(group)) };
}

function tagsOf(rows: KumaSource["rows"]) {
  const names = new Map(rows.tag.map((row) => [text(row["id"]), text(row["name"])]));
  const ofMonitor = Map.groupBy(rows.monitor_tag, (row) => number(row["monitor_id"]));
  return (row: Fields): { taken: string[]; notes: string[] } => {
    const all = (ofMonitor.get(number(row["id"])) ?? []).map((tag) => {
      const name = names.get(text(tag["tag_id"])) ?? "";
      const value = text(tag["value"]);
      return clean(value === "" ? name : `${name}: ${value}`);
    });
    const short = all
      .map((tag) => Array.from(tag).slice(0, maxTagLength).join(""))
      .filter((tag) => tag !== "");
    const taken = [...new Set(short)].slice(0, maxTags);
    const left = [...new Set(short)].slice(maxTags);
    return {
      taken,
      notes: [
        ...(all.some((tag) => Array.from(tag).length > maxTagLength)
          ? [`Tags are cut to ${maxTagLength} characters.`]
          : []),
        ...(left.length > 0 ? [`Without the tags ${left.join(", ")}: at most ${maxTags}.`] : []),
      ],
    };
  };
}
