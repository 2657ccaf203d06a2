import { expect, test } from "bun:test";
import { z } from "zod";
import { defineKind, createInputSchema, parseSettings } from "../../src/core/kinds.ts";

const kinds = {
  site: defineKind({ url: z.string() }),
  job: defineKind({ grace: z.int().default(60) }),
  list: defineKind({ steps: z.array(z.string()).default([]) }),
};

test("a new record accepts only the common fields and those of its type", () => {
  const schema = createInputSchema(kinds, { name: z.string() }, { id: "NewThing" });
  expect(schema.parse({ type: "job", name: "A" })).toEqual({ type: "job", name: "A", grace: 60 });
  for (const value of [
    { type: "job", name: "A", url: "u" },
    { type: "site", name: "A" },
    { type: "site", name: "A", url: "u", grace: 1 },
    { type: "other", name: "A" },
    { name: "A" },
  ])
    expect([value, schema.safeParse(value).success]).toEqual([value, false]);
});

test("a row without a newer field has the field's default, shared with no other row", () => {
  expect(parseSettings(kinds, "job", "{}")).toEqual({ grace: 60 });
  expect(parseSettings(kinds, "job", '{"grace":5}')).toEqual({ grace: 5 });
  const [one, other] = [parseSettings(kinds, "list", "{}"), parseSettings(kinds, "list", "{}")];
  expect(one).toEqual({ steps: [] });
  expect(one["steps"]).not.toBe(other["steps"]);
});
