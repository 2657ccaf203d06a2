import { expect, test } from "bun:test";
import {
  describeAction,
  describeField,
  describeFields,
} from "../../../src/operations/audit-log/sentence-rules.ts";

const said = (action: string, type: string, fields: string[] = [], name: string | null = "Shop") =>
  describeAction({
    action,
    subjectName: name,
    actor: { type, id: null, name: "Ada" },
    fields,
  }).join("");

test("the audit log names the action of the person, not its outcome", () => {
  expect(said("subscriber.added", "person", [], null)).toBe("added a subscriber");
  expect(said("subscriber.confirmed", "visitor", [], null)).toBe("confirmed a subscription");
  // Versions before 0.2 wrote this.
  expect(said("subscriber.confirmed", "person", [], null)).toBe("added a subscriber");
  expect(said("subscriber.asked", "api-key", [], null)).toBe(
    "asked somebody to confirm a subscription",
  );
  expect(said("subscriber.asked", "visitor", [], null)).toBe("asked to subscribe");
  expect(said("incident.updated", "person", ["status", "message"])).toBe(
    "posted an update on Shop",
  );
  expect(said("incident.updated", "person", ["title"])).toBe("edited the incident Shop");
  expect(said("incident.updated", "person", ["title"], null)).toBe("edited the incident (deleted)");
});

test("a deleted record has no name, and is called deleted only once", () => {
  expect(said("monitor.deleted", "person", [], null)).toBe("deleted a monitor");
  expect(said("monitor.updated", "person", ["url"], null)).toBe("changed a monitor, since deleted");
  expect(said("group.created", "person", [], null)).toBe("created a group, since deleted");
  expect(said("api-key.revoked", "person", [], null)).toBe("revoked an API key");
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
