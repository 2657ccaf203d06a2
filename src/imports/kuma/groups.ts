/** Flattens the nested groups of Uptime Kuma: the full path of a group becomes its name. */
import { importBounds } from "../../core/limits.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { createUnreadableError } from "../limits.ts";
import type { PlannedRecord } from "../plan.ts";
import { truncateCodePoints } from "../../core/text/formatting.ts";
import { toText } from "../values.ts";
import type { NoteLost } from "./columns.ts";
import type { Tags } from "./tags.ts";
import { groupById, toCleanLine, idOf, isGroup, isOn, toNumber, toParagraphs } from "./values.ts";

export const maxChannels = 50;
const separator = " / ";

/** IDs of the channels that are attached directly to a monitor or group. */
export type FindAttached = (monitorId: number) => readonly string[];

export type Groups = ReturnType<typeof arrangeGroups>;

/** Sorts monitors and groups as Uptime Kuma does, and finds the parent groups of each. Breaks cycles of groups. */
export function arrangeGroups(rows: readonly Fields[]) {
  const monitors = groupById(rows);
  const ordered = rows.toSorted(
    (one, other) =>
      toNumber(one["weight"] ?? 2000) - toNumber(other["weight"] ?? 2000) ||
      toText(one["name"]).localeCompare(toText(other["name"])) ||
      toNumber(one["id"]) - toNumber(other["id"]),
  );
  const all = ordered.filter(isGroup);
  const maxLevels = importBounds.groupNesting.value;
  const parentOf = (row: Fields) => {
    const parent = monitors.get(toNumber(row["parent"]));
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
        throw createUnreadableError(
          "Uptime Kuma",
          `its groups are nested deeper than ${maxLevels} levels.`,
        );
      seen.add(parent);
      path.push(parent);
    }
    paths.set(row, path.reverse());
    return path;
  };
  const nameOf = (row: Fields) =>
    pathOf(row)
      .map((one) => toText(one["name"]))
      .join(separator);
  /** Returns these groups and all their descendants. */
  const addDescendants = (groups: readonly Fields[]) => {
    const groupSet = new Set(groups);
    return groupSet.size === 0
      ? []
      : all.filter((one) => pathOf(one).some((part) => groupSet.has(part)));
  };
  return {
    monitors,
    all,
    others: ordered.filter((row) => !isGroup(row)),
    pathOf,
    nameOf,
    within: addDescendants,
  };
}

export function buildGroupRecords(
  groups: Groups,
  attached: FindAttached,
  tags: Tags,
  noteLost: NoteLost,
): PlannedRecord[] {
  return groups.all
    .map((row) => ({ row, path: groups.pathOf(row), name: groups.nameOf(row) }))
    .sort((one, other) => one.name.localeCompare(other.name))
    .map(({ row, path, name }): PlannedRecord => {
      const { imported, notes } = tags(row);
      const isPaused = path.some((one) => !isOn(one["active"] ?? true));
      const shortName = truncateCodePoints(name, 255);
      return {
        noun: "group",
        externalId: idOf(row),
        name: shortName,
        fields: {
          name: toCleanLine(name, 255) || `Group ${idOf(row)}`,
          description: toParagraphs(toText(row["description"]), 2_000),
          tags: imported,
          paused: isPaused,
        },
        links: { alertChannelIds: attached(toNumber(row["id"])).slice(0, maxChannels) },
        notes: [
          ...(path.length > 1 ? [`Groups can't contain groups: its name is ${shortName}.`] : []),
          ...(isPaused ? ["It is paused, as it or the group around it was."] : []),
          ...notes,
          ...noteLost("monitor", row),
        ],
      };
    });
}
