import { expect, test } from "bun:test";
import { actionLabel } from "../../web/pages/settings/audit-labels.ts";

const said = (action: string, type: string, fields: string[] = [], name: string | null = "Shop") =>
  actionLabel({ action, subjectName: name, actor: { type, id: null, name: "Ada" }, fields }).join(
    "",
  );

test("the audit log says what somebody did, not what came of it", () => {
  expect(said("subscriber.added", "person", [], null)).toBe("added a subscriber");
  expect(said("subscriber.confirmed", "visitor", [], null)).toBe("confirmed a subscription");
  // As versions before 0.2 wrote it.
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
