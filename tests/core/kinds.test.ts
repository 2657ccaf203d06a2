import { expect, test } from "bun:test";
import { z } from "zod";
import { kind, newOf } from "../../src/core/kinds.ts";

const kinds = {
  site: kind({ url: z.string() }),
  job: kind({ grace: z.int().default(60) }),
};

test("a new record takes the common fields and those of its type alone", () => {
  const schema = newOf(kinds, { name: z.string() }, { id: "NewThing" });
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
