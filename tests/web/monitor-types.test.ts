/** How the editor presents the types of monitors. */
import { expect, test } from "bun:test";
import { monitorKinds, type MonitorType } from "../../src/monitoring/monitors/kinds-schema.ts";
import { labelsOf } from "../../web/pages/monitors/editor/labels.ts";
import { upWhen } from "../../web/pages/monitors/editor/up-when.ts";
import { families, familyOf, orderedTypes } from "../../web/pages/monitors/type-families.ts";
import { getTypeName } from "../../web/pages/monitors/type-names.ts";

const types = Object.keys(monitorKinds) as MonitorType[];

test("each type is in a family, and each family has types", () => {
  expect([...orderedTypes].sort()).toEqual([...types].sort());
  expect(new Set(types.map(familyOf))).toEqual(new Set(families));
});

test.each(types)("%s: the example of its address is one that the type accepts", (type) => {
  for (const [name, field] of Object.entries(monitorKinds[type].fields)) {
    if (!["url", "host", "domain", "server"].includes(name)) continue;
    const example = labelsOf(type, name)?.placeholder;
    expect([name, field.safeParse(example).success]).toEqual([name, true]);
  }
  expect(familyOf(type)).not.toBe("Other");
});

test.each(types)("%s: its name and its meaning of “up” are those of the API", (type) => {
  const kind = monitorKinds[type];
  expect(getTypeName(type)).toBe(kind.name);
  const [, start = ""] = /^(.*?\.)(?: |$)/.exec(kind.upWhen) ?? [];
  expect(upWhen[type]).toBe(`Up when ${start.replaceAll("`", "")}`);
});
