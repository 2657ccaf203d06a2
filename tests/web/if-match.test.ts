import { expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";

const web = join(import.meta.dir, "../../web");

/** Calls that say nothing of what was read, and why. */
const without: Record<string, string[]> = {
  "one switch, whatever else was changed meanwhile": [
    "channelRoutes(id).patch(change)",
    "v1.monitors({ id }).patch(change)",
    "v1.incidents({ id }).patch({ status })",
    "dashboard.people({ id }).patch({ role })",
    "v1.settings.patch({ smtp: null })",
    "logo.put(file)",
    "logo.delete()",
  ],
  "no record": [
    "dashboard.monitors.order.put(order)",
    'dashboard["monitor-groups"].order.put(order)',
    "uploads({ id }).put(part,",
  ],
  "its list does not tell in which state it read each": ['v1["monitor-groups"]({ id }).delete()'],
  "nobody edits it": [
    "v1.incidents({ id: incidentId }).notes({ noteId: id }).delete()",
    "pageRoutes(pageId).subscribers({ subscriberId: id }).delete()",
    "dashboard.people({ id }).delete()",
    "dashboard.administrators({ id: taking.id }).delete()",
    "dashboard.sessions({ id }).delete()",
    "dashboard.organizations({ id }).delete()",
    "dashboard.invitations({ id }).delete()",
  ],
  "one's own, or of those who run the appliance; its route takes none": [
    "dashboard.backup.schedule.patch(planOf(values))",
    'dashboard.profile.patch({ ...fields, ...(password !== "" && { password }) })',
  ],
};

test("whoever edits or deletes a record in the page names the state of it that they saw", async () => {
  const calls: string[] = [];
  for await (const file of new Glob("**/*.{ts,tsx}").scan(web)) {
    const source = await Bun.file(join(web, file)).text();
    for (const { index } of source.matchAll(/\bdataOf\(/g)) {
      const asked = inBrackets(source, index + "dataOf".length);
      if (/\.(patch|put|delete)\(/.test(asked)) calls.push(asked);
    }
  }
  expect(calls.length).toBeGreaterThan(25);
  const silent = calls.filter((call) => !call.includes("ifMatch("));
  const known = Object.values(without).flat();
  expect(silent.filter((call) => !known.some((one) => call.includes(one)))).toEqual([]);
  expect(known.filter((one) => !silent.some((call) => call.includes(one)))).toEqual([]);
});

/** What stands between the bracket at this place and the one that closes it, on one line. */
function inBrackets(source: string, from: number): string {
  let depth = 0;
  for (let at = from; at < source.length; at++) {
    if (source[at] === "(") depth++;
    if (source[at] === ")" && --depth === 0)
      return source
        .slice(from + 1, at)
        .replace(/\s+/g, " ")
        .replace(/,? \)/g, ")")
        .replace(/\( /g, "(")
        .replace(/\b(\w+|\)) \./g, "$1.")
        .trim();
  }
  throw new Error("A bracket is not closed.");
}
