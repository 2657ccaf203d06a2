import { expect, test } from "bun:test";
import { monitorFields, monitorKinds } from "../../src/monitoring/monitors/schema.ts";
import { kindOf } from "../../web/components/schema-field.tsx";

test("every field of a monitor is asked for by what it holds, headers alone as headers", () => {
  const asHeaders = new Set<string>();
  for (const { fields } of Object.values(monitorKinds))
    for (const [name, field] of Object.entries({ ...fields, ...monitorFields }))
      if (kindOf(field).control === "headers") asHeaders.add(name);
  expect([...asHeaders]).toEqual(["headers"]);
  const { control, nullable, schema } = kindOf(monitorFields.autoIncidentSeverity);
  expect([control, nullable, schema.enum]).toEqual([
    "choice",
    true,
    ["minor", "major", "critical"],
  ]);
});
