import type { Fields } from "../../core/collections/objects.ts";
import { text } from "../values.ts";
import type { KumaSource } from "./source.ts";
import { clean, number } from "./values.ts";

const maxTags = 10;
const maxTagLength = 50;

export type Tags = ReturnType<typeof tagsOf>;

/** Joins name and value of each tag, because a tag here is a single text. */
export function tagsOf(rows: KumaSource["rows"]) {
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
    const named = left.slice(0, maxTags).join(", ");
    return {
      taken,
      notes: [
        ...(all.some((tag) => Array.from(tag).length > maxTagLength)
          ? [`Tags are cut to ${maxTagLength} characters.`]
          : []),
        ...(left.length > 0
          ? [
              `Without the tags ${named}${left.length > maxTags ? ` and ${left.length - maxTags} more` : ""}: at most ${maxTags}.`,
            ]
          : []),
      ],
    };
  };
}
