import type { AutomaticUpdate } from "../../incidents/rules.ts";
import type { Translations } from "../../incidents/schema.ts";

/** The sources of a message in other languages. */
export type MessageSources = {
  /** The facts of a monitor's update; null for a text by a person. */
  automatic: AutomaticUpdate | null;
  /** Texts by people, by language. */
  translations: Translations | null;
};
