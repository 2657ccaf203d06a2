import type { StatusPageSection } from "../../../src/status-pages/schema.ts";
import type { Overview } from "../../data/overview.ts";

type Section = StatusPageSection;

/** Monitors of a page in page order, with their public names, without duplicates. */
export function listShownMonitors(sections: readonly Section[], { groups, monitors }: Overview) {
  const names = new Map(sections.flatMap(({ monitors }) => monitors).map((one) => [one.id, one]));
  const seenIds = new Set<string>();
  return sections.flatMap(({ name, groupId, monitors: listed }) => {
    const ids =
      groupId === null
        ? listed.map(({ id }) => id)
        : monitors.filter((monitor) => monitor.groupId === groupId).map(({ id }) => id);
    const section = name ?? groups.find(({ id }) => id === groupId)?.name ?? "";
    return ids.flatMap((id) => {
      const monitor = monitors.find((one) => one.id === id);
      if (monitor === undefined || seenIds.has(id)) return [];
      seenIds.add(id);
      return [{ id, name: names.get(id)?.name ?? monitor.name, section }];
    });
  });
}
