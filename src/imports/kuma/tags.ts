import type { Fields } from "../../core/collections/objects.ts";
import { truncateCodePoints } from "../../core/text/formatting.ts";
import { toText } from "../values.ts";
import type { KumaSource } from "./source.ts";
import { toCleanLine, toNumber } from "./values.ts";

const maxTags = 10;
const maxTagLength = 50;

export type Tags = ReturnType<typeof joinTags>;

/** Joins name and value of each tag, because a tag here is a single text. */
export function joinTags(rows: KumaSource["rows"]) {
  const names = new Map(rows.tag.map((row) => [toText(row["id"]), toText(row["name"])]));
  const tagsByMonitor = Map.groupBy(rows.monitor_tag, (row) => toNumber(row["monitor_id"]));
  return (row: Fields): { imported: string[]; notes: string[] } => {
    const all = (tagsByMonitor.get(toNumber(row["id"])) ?? []).map((tag) => {
      const name = names.get(toText(tag["tag_id"])) ?? "";
      const value = toText(tag["value"]);
      return toCleanLine(value === "" ? name : `${name}: ${value}`);
    });
    const shortTags = all
      .map((tag) => truncateCodePoints(tag, maxTagLength))
      .filter((tag) => tag !== "");
    const importedTags = [...new Set(shortTags)].slice(0, maxTags);
    const omittedTags = [...new Set(shortTags)].slice(maxTags);
    const omittedNames = omittedTags.slice(0, maxTags).join(", ");
    return {
      imported: importedTags,
      notes: [
        ...(all.some((tag) => Array.from(tag).length > maxTagLength)
          ? [`Tags are cut to ${maxTagLength} characters.`]
          : []),
        ...(omittedTags.length > 0
          ? [
              `Without the tags ${omittedNames}${omittedTags.length > maxTags ? ` and ${omittedTags.length - maxTags} more` : ""}: at most ${maxTags}.`,
            ]
          : []),
      ],
    };
  };
}
