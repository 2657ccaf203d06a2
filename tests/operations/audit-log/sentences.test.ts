import { expect, test } from "bun:test";
import { createId } from "../../../src/core/ids.ts";
import {
  describeAction,
  describeField,
  describeFields,
} from "../../../src/operations/audit-log/sentence-rules.ts";
import {
  describeChange,
  describeValue,
  findRestorable,
} from "../../../web/pages/settings/organization/audit-values.ts";

const readText = (
  action: string,
  type: string,
  fields: string[] = [],
  name: string | null = "Shop",
) =>
  describeAction({
    action,
    subjectName: name,
    actor: { type, id: null, name: "Ada" },
    fields,
  }).join("");

test("the audit log names the action of the person, not its outcome", () => {
  expect(readText("subscriber.added", "person", [], null)).toBe("added a subscriber");
  expect(readText("subscriber.confirmed", "visitor", [], null)).toBe("confirmed a subscription");
  // Versions before 0.2 wrote this.
  expect(readText("subscriber.confirmed", "person", [], null)).toBe("added a subscriber");
  expect(readText("subscriber.asked", "api-key", [], null)).toBe("sent someone a link to confirm");
  expect(readText("subscriber.asked", "visitor", [], null)).toBe("requested a subscription");
  expect(readText("incident.updated", "person", ["status", "message"])).toBe(
    "posted an update on Shop",
  );
  expect(readText("incident.updated", "person", ["title"])).toBe("edited the incident Shop");
  expect(readText("incident.updated", "person", ["title"], null)).toBe(
    "edited the incident (deleted)",
  );
});

test("a deleted record has no name, and is called deleted only once", () => {
  expect(readText("monitor.deleted", "person", [], null)).toBe("deleted a monitor");
  expect(readText("monitor.updated", "person", ["url"], null)).toBe(
    "changed a monitor, since deleted",
  );
  expect(readText("group.created", "person", [], null)).toBe("created a group, since deleted");
  expect(readText("api-key.revoked", "person", [], null)).toBe("revoked an API key");
  const deletedIncident = {
    action: "incident.resolved",
    subjectName: "Shop is down",
    subjectExists: false,
    restorable: false,
    actor: { type: "person", id: null, name: "Ada" },
    fields: [],
  };
  expect(describeAction(deletedIncident).join("")).toEndWith(" Shop is down, since deleted");
});

test("fields are named in words, with the usual abbreviations", () => {
  const fields =
    "retryInterval proxyUrl verifyTls smtp degradedAfterMs alertChannelIds groupId chatId";
  expect(fields.split(" ").map(describeField).join(", ")).toBe(
    "retry interval, proxy URL, verify TLS, mail server, degraded after, alert channels, group, chat ID",
  );
});

test("a field that the verb already implies is not repeated", () => {
  const fields = ["status", "message", "severity"];
  expect(describeFields({ action: "incident.updated", fields })).toBe("severity");
  expect(describeFields({ action: "incident.resolved", fields: ["status"] })).toBe("");
  expect(describeFields({ action: "incident-template.updated", fields: ["message"] })).toBe(
    "message",
  );
});

test("a repeated entry says how often, or of how many records", () => {
  const describeRepeated = (action: string, count: number, subjects: number, name: string | null) =>
    describeAction({
      action,
      subjectName: name,
      actor: { type: "person", id: null, name: "Ada" },
      fields: [],
      repeated: { count, subjects, since: "2026-11-20T10:00:00.000Z" },
    }).join("");
  expect(describeRepeated("subscriber.invited", 195, 195, null)).toBe(
    "sent 195 people a link to confirm",
  );
  expect(describeRepeated("monitor.deleted", 20, 20, "Shop")).toBe(
    "deleted the monitor Shop and 19 more",
  );
  expect(describeRepeated("incident.updated", 3, 1, "Slow")).toBe(
    "posted an update on Slow, 3 times",
  );
  expect(describeRepeated("person.signed-in", 2, 1, "Ada")).toBe("signed in, 2 times");
});

test("values have units, and IDs have names", () => {
  const id = "0199a3f0-5c1e-7cc0-b1a5-3f2d8e6a9b10";
  expect(describeValue("interval", 20, {})).toBe("20 s");
  expect(describeValue("interval", 3_600, {})).toBe("1 h");
  expect(describeValue("interval", 90_060, {})).toBe("90060 s");
  expect(describeValue("degradedAfterMs", null, {})).toBe("none");
  expect(describeValue("degradedAfterMs", 500, {})).toBe("500 ms");
  expect(describeValue("verifyTls", false, {})).toBe("no");
  expect(describeValue("alertChannelIds", [id], { [id]: "Pager" })).toBe("Pager");
  expect(describeValue("groupId", id, {})).toBe("a deleted record");
  expect(describeValue("basicAuth", { username: "probe" }, {})).toBe("username: probe");
  const look = {
    font: "inter",
    colors: { text: null, background: null },
    headerLinks: [],
    banner: null,
  };
  const other = {
    ...look,
    colors: { text: null, background: "#fffaf0" },
    headerLinks: [{ label: "Shop" }, { label: "Help" }],
    banner: { tone: "good" },
  };
  const changed = { field: "look", before: look, after: other, truncated: [] };
  expect(describeChange(changed, {})).toEqual([
    "colors background: #fffaf0, header links: ((label: Shop), (label: Help)), banner tone: good",
    null,
  ]);
  const server = { ...changed, field: "smtp", before: null, after: { user: null, port: 25 } };
  expect(describeChange(server, {})).toEqual(["port: 25", null]);
  const closed = { ...server, before: server.after, after: null };
  expect(describeChange(closed, {})).toEqual(["none", "port: 25"]);
  const auth = { ...changed, field: "auth", before: "none", after: "password" };
  expect(describeChange(auth, {})).toEqual(["password", "none"]);
  const tags = ["a", "b", "c", "d", "e", "f"];
  const change = { field: "tags", before: tags, after: [...tags.slice(1), "g"], truncated: [] };
  expect(describeChange(change, {})).toEqual(["added g; removed a", null]);
  expect(describeChange({ ...change, after: ["a"] }, {})[0]).toBe("removed b, c, d, e, f");
  const stored = tags.map((name) => ({ name, nested: false, group: null }));
  const sent = stored.map(({ name }) => ({ nested: false, name }));
  const sections = { field: "sections", before: stored, after: sent.slice(1), truncated: [] };
  expect(describeChange(sections, {})[0]).toBe("removed name: a, nested: no");
});

test("layers of schedules are described in words, also those of earlier versions", () => {
  const [ann, gone] = [createId(0), createId(0)];
  const layer = { name: "Nights", every: 2, unit: "days", start: "2026-12-01T20:00" };
  const describeLayers = (...layers: unknown[]) =>
    describeValue("layers", layers, { [ann]: "Ann" });
  const times = "every 2 days from 1 Dec 2026, 20:00";
  expect(describeLayers({ ...layer, personIds: [ann, gone] })).toBe(
    `Nights: Ann, a deleted record; ${times}`,
  );
  expect(describeLayers({ ...layer, personIds: ["Ben"], end: "2026-12-02T20:00" })).toBe(
    `Nights: Ben; ${times} to 2 Dec 2026, 20:00`,
  );
  expect(describeLayers(`Nights: Ben; ${times}`)).toBe(`Nights: Ben; ${times}`);
  expect(describeLayers({ name: "Nights" })).toBe("name: Nights");
});

test("a field can be restored if its record exists and its value is complete", () => {
  const change = { field: "interval", before: 60, after: 30, truncated: [] };
  const entry = { action: "monitor.updated", subjectExists: true, repeated: null };
  expect(findRestorable(entry, change)).toBe("monitor");
  expect(findRestorable({ ...entry, subjectExists: false }, change)).toBeNull();
  expect(findRestorable({ ...entry, action: "incident.updated" }, change)).toBeNull();
  expect(findRestorable(entry, { ...change, truncated: ["before"] })).toBeNull();
});
