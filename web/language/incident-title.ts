import { translateServerText } from "./server-text.ts";

/** The title of an incident. Those of people stay as they are. */
export const nameIncident = ({ title, origin }: { title: string; origin: string }): string =>
  origin === "monitor" ? translateServerText(title) : title;
