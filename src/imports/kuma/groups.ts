/** Flattens the nested groups of Uptime Kuma: the full path of a group becomes its name. */
import { importBounds } from "../../core/limits.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { unreadable } from "../limits.ts";
import type { Planned } from "../plan.ts";
import { text } from "../values.ts";
import type { NotesOfLost } from "./columns.ts";
import type { Tags } from "./tags.ts";
import { byId, clean, idOf, isGroup, isOn, number, paragraphs } from "./values.ts";

export const maxChannels = 50;
const separator = " / ";

/** IDs of the channels that are attached directly to a monitor or group. */
export type Attached = (monitorId: number) => readonly string[];

export type Groups = ReturnType<typeof groupsOf>;

/** Sorts monitors and groups as Uptime Kuma does, and finds the parent groups of each. Breaks cycles of groups. */
export function groupsOf(rows: readonly Fields[]) {
  const monitors = byId(rows);
  const ordered = rows.toSorted(
    (one, other) =>
      number(one["weight"] ?? 2000) - number(other["weight"] ?? 2000) ||
      text(one["name"]).localeCompare(text(other["name"])) ||
      number(one["id"]) - number(other["id"]),
  );
  const all = ordered.filter(isGroup);
  const maxLevels = importBounds.groupNesting.value;
  const parentOf = (row: Fields) => {
    const parent = monitors.get(number(row["parent"]));
    return parent !== undefined && isGroup(parent) ? parent : null;
  };
  const paths = new Map<Fields, Fields[]>();
  const pathOf = (row: Fields): Fields[] => {
    const known = paths.get(row);
    if (known !== undefined) return known;
    const path = [row];
    const seen = new Set(path);
    for (
      let parent = parentOf(row);
      parent !== null && !seen.has(parent);
      parent = parentOf(parent)
    ) {
      if (path.length > maxLevels)
        throw unreadable("Uptime Kuma", `its groups are nested deeper than ${maxLevels} levels.`);
      seen.add(parent);
      path.push(parent);
    }
    paths.set(row, path.reverse());
    return path;
  };
  const nameOf = (row: Fields) =>
    pathOf(row)
      .map((one) => text(one["name"]))
      .join(separator);
  /** Returns these groups and all their descendants. */
  const within = (groups: readonly Fields[]) => {
    const wanted = new Set(groups);
    return wanted.size === 0
      ? []
      : all.filter((one) => pathOf(one).some((part) => wanted.has(part)));
  };
  return { monitors, all, others: ordered.filter((row) => !isGroup(row)), pathOf, nameOf, within };
}

export function groupRecords(
  groups: Groups,
  attached: Attached,
  tags: Tags,
  lost: NotesOfLost,
): Planned[] {
  return groups.all
    .map((row) => ({ row, path: groups.pathOf(row), name: groups.nameOf(row) }))
    .sort((one, other) => one.name.localeCompare(other.name))
    .map(({ row, path, name }): Planned => {
      const { taken, notes } = tags(row);
      const isPaused = path.some((one) => !isOn(one["active"] ?? true));
      const short = name.slice(0, 255);
      return {
        noun: "group",
        externalId: idOf(row),
        name: short,
        fields: {
          name: clean(name).slice(0, 255) || `Group ${idOf(row)}`,
          description: paragraphs(text(row["description"])).slice(0, 2_000),
          tags: taken,
          paused: isPaused,
        },
        links: { alertChannelIds: attached(number(row["id"])).slice(0, maxChannels) },
        notes: [
          ...(path.length > 1 ? [`Groups have no groups within: it is called ${short}.`] : []),
          ...(isPaused ? ["It is paused, as it or the group around it was."] : []),
          ...notes,
          ...lost("monitor", row),
        ],
      };
    });
}
