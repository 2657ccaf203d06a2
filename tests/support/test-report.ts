import { parseXml, XmlElement } from "@rgrove/parse-xml";

/** A failure of the run: a test (`file > name`) or a step. */
export type Failure = { name: string; text: string };
export type Outcome = { passed: number; skipped: number; failures: Failure[] };

/** Outcome of `bun test`, from its JUnit report and its exit status. */
export function parseOutcome(report: string | undefined, ended?: string): Outcome {
  // Bun leaves two characters in the report that XML does not allow.
  const cases =
    report === undefined ? [] : listCases(parseXml(report.replace(/[\ufffe\uffff]/g, "")));
  const failures = cases.flatMap(({ name, element }) => {
    const failure = findChildren(element, "failure")[0];
    if (!failure) return [];
    return [{ name, text: failure.text.trim() || (failure.attributes["message"] ?? "") }];
  });
  const skipped = cases.filter(({ element }) => findChildren(element, "skipped").length > 0).length;
  const passed = cases.length - failures.length - skipped;
  const addFailure = (text: string) => failures.push({ name: "bun test", text });
  if (report === undefined) addFailure(`${ended ?? "ended well"}, without a report`);
  else if (ended !== undefined && failures.length === 0) addFailure(`${ended}, without a red test`);
  else if (passed + failures.length === 0) addFailure("ran no test");
  return { passed, skipped, failures };
}

/** The last lines of a run: all failures, then the count. Logs often keep only the end of a long output. */
export function formatVerdict({ passed, skipped, failures }: Outcome): string {
  const listedFailures = failures.map(({ name, text }, index) => {
    const lines = text === "" ? [] : text.split("\n").slice(0, index < 10 ? 15 : 2);
    return [`FAILED ${name}`, ...lines.map((line) => `    ${line.slice(0, 300)}`)].join("\n");
  });
  if (skipped > 0) listedFailures.push(`${skipped} skipped`);
  return `\n${[...listedFailures, `${passed} passed, ${failures.length} failed`].join("\n")}`;
}

type Parent = { children: readonly unknown[] };
type Case = { name: string; element: XmlElement };

const findChildren = (parent: Parent, name: string) =>
  parent.children.filter(
    (child): child is XmlElement => child instanceof XmlElement && child.name === name,
  );

/** A file is a suite, and so is each group of tests in it. */
function listCases(parent: Parent): Case[] {
  const joinNames = ({ attributes }: XmlElement, name: string) =>
    [attributes["name"], name].filter(Boolean).join(" > ");
  return [
    ...findChildren(parent, "testsuites").flatMap(listCases),
    ...findChildren(parent, "testsuite").flatMap((suite) =>
      listCases(suite).map(({ name, element }) => ({ name: joinNames(suite, name), element })),
    ),
    ...findChildren(parent, "testcase").map((element) => ({
      name: joinNames(element, ""),
      element,
    })),
  ];
}
