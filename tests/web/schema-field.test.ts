import { expect, test } from "bun:test";
import { monitorKinds } from "../../src/monitoring/monitors/kinds-schema.ts";
import { monitorFields } from "../../src/monitoring/monitors/schema.ts";
import { parseScalar, formatScalar } from "../../web/components/forms/assertions-field.tsx";
import { describeField } from "../../web/components/forms/field-kinds.ts";

test("every field of a monitor has a control for its type, including headers and assertions", () => {
  const asHeaders = new Set<string>();
  expect(describeField(monitorKinds.http.fields.assertions)).toMatchObject({
    control: "assertions",
    initial: [],
  });
  for (const { fields } of Object.values(monitorKinds))
    for (const [name, field] of Object.entries({ ...fields, ...monitorFields }))
      if (describeField(field).control === "headers") asHeaders.add(name);
  expect([...asHeaders]).toEqual(["headers", "variables"]);
  const { control, nullable, schema } = describeField(monitorFields.autoIncidentSeverity);
  expect([control, nullable, schema.enum]).toEqual([
    "choice",
    true,
    ["minor", "major", "critical"],
  ]);
});

test("a JSON value is written so that it is read back unchanged", () => {
  for (const value of [
    "",
    "a",
    "200",
    "true",
    "null",
    '"quoted"',
    '"',
    "-1.5",
    200,
    -1.5,
    true,
    null,
  ])
    expect([value, parseScalar(formatScalar(value))]).toEqual([value, value]);
  expect([formatScalar("200"), formatScalar(200), formatScalar("up")]).toEqual([
    '"200"',
    "200",
    "up",
  ]);
});
