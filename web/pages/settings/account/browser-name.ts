import { t } from "../../../language/text.ts";

// Specific browsers first: most user agents also contain the names of other browsers.
const browsers: [RegExp, string][] = [
  [/Edg(e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/HeadlessChrome|Chrome\/|CriOS\//, "Chrome"],
  [/Safari\//, "Safari"],
  [/^curl\//, "curl"],
];

const systems: [RegExp, string][] = [
  [/iPhone/, t("an iPhone")],
  [/iPad/, t("an iPad")],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, t("a Mac")],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

const findFirstMatch = (names: [RegExp, string][], text: string) =>
  names.find(([pattern]) => pattern.test(text))?.[1];

/** Browser and system from the user agent, such as `Firefox on Linux`. */
export function describeBrowser(userAgent: string): string {
  const browser = findFirstMatch(browsers, userAgent) ?? t("A browser");
  const system = findFirstMatch(systems, userAgent);
  return system === undefined ? browser : t("{browser} on {system}", { browser, system });
}
