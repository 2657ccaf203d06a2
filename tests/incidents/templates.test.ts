import { expect, test } from "bun:test";
import { fillTemplateText } from "../../src/core/text/formatting.ts";
import { testAppliance } from "../support/appliance.ts";

const path = "/api/v1/incident-templates";

test("a template is stored unchanged, listed by name, changed and deleted", async () => {
  const { api } = (await testAppliance()).ours;
  const make = async (body: object) => (await api("POST", path, { body })).json.data;
  const full = {
    name: "Provider down",
    status: "identified",
    title: "{{monitors}}: payments fail",
    severity: "major",
    message: "**An outage** since {{ time }}.\n",
  };
  const one = await make(full);
  expect(one).toMatchObject(full);
  const other = await make({ name: "Back", message: "All is well." });
  expect(other).toMatchObject({ status: "investigating", title: null, severity: null });
  const readNames = async () =>
    (await api("GET", path)).json.data.map(({ name }: { name: string }) => name);
  expect(await readNames()).toEqual(["Back", "Provider down"]);
  const { json } = await api("PATCH", `${path}/${one.id}`, { body: { name: "A", title: null } });
  expect(json.data).toEqual({ ...one, name: "A", title: null });
  expect(await readNames()).toEqual(["A", "Back"]);
  await api("DELETE", `${path}/${one.id}`);
  expect(await readNames()).toEqual(["Back"]);
});

test("unknown placeholders are rejected with their position", async () => {
  const { api } = (await testAppliance()).ours;
  const valid = { name: "x", message: "{{monitors}} {{date}} {}" };
  for (const [field, value] of [
    ["message", "{{monitor}} is down"],
    ["title", "{{ organization }}"],
  ] as const) {
    const { status, json } = await api("POST", path, { body: { ...valid, [field]: value } });
    expect([status, json.error.details]).toEqual([
      422,
      [
        {
          path: field,
          message:
            "must use no other placeholders than {{monitors}}, {{severity}}, {{date}}, {{time}}",
        },
      ],
    ]);
  }
});

test("placeholders are filled once: text inside a name is no placeholder", () => {
  const values = { monitors: "{{time}} $&", time: "14:31" };
  expect(fillTemplateText("{{monitors}} at {{ time }}, {{gone}}", values)).toBe(
    "{{time}} $& at 14:31, {{gone}}",
  );
});
