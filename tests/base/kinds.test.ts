import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { joinSecrets, kind, merged, newOf, splitSecrets } from "../../src/base/kinds.ts";

const kinds = {
  site: kind(
    {
      url: z.string(),
      token: z.string().nullable().default(null),
      auth: z
        .object({ user: z.string(), pass: z.string().nullable().optional() })
        .nullable()
        .default(null),
      headers: z.record(z.string(), z.string()).default({}),
    },
    ["token", "auth.pass"],
  ),
  job: kind({ grace: z.int().default(60) }),
};
const record = { name: "A", type: "site", url: "u", headers: { a: "1" } };
const auth = { user: "x", pass: "p" };

describe("splitting off the secrets", () => {
  const cases: [own: object, settings: object, secrets: Record<string, string>][] = [
    [{ token: "t", auth }, { auth: { user: "x" } }, { token: "t", "auth.pass": "p" }],
    [{ token: null, auth: null }, { auth: null }, {}],
    [{ token: "t", auth: { user: "x" } }, { auth: { user: "x" } }, { token: "t" }],
    [{ token: null, auth: { user: "x", pass: null } }, { auth: { user: "x" } }, {}],
  ];
  test("leaves the type's other own fields, and joining is its inverse", () => {
    for (const [own, settings, secrets] of cases) {
      const whole = { ...record, ...own };
      const split = splitSecrets(kinds, "site", whole);
      const { name: _name, type: _type, ...others } = { ...record, ...settings };
      expect(split).toEqual({ settings: others, secrets });
      const again = splitSecrets(kinds, "site", joinSecrets(split.settings, split.secrets));
      expect(again).toEqual(split);
      expect(whole).toEqual({ ...record, ...own });
    }
  });
});

describe("merging a patch", () => {
  const whole = { ...record, token: "t", auth };
  const cases: [does: string, patch: Record<string, unknown>, changed: object][] = [
    ["absent and undefined keep", { name: undefined }, {}],
    ["null clears", { token: null, auth: null }, { token: null, auth: null }],
    ["what holds a secret is merged", { auth: { user: "y" } }, { auth: { user: "y", pass: "p" } }],
    [
      "a secret within is cleared by null",
      { auth: { user: "x", pass: null } },
      { auth: { user: "x", pass: null } },
    ],
    ["any other object is replaced", { headers: { b: "2" } }, { headers: { b: "2" } }],
  ];
  for (const [does, patch, changed] of cases)
    test(does, () => {
      expect(merged(kinds, "site", whole, patch)).toEqual({ ...whole, ...changed });
      expect(whole).toEqual({ ...record, token: "t", auth });
    });

  test("what was not set is set", () => {
    expect(merged(kinds, "site", { ...record, auth: null }, { auth })).toEqual({ ...record, auth });
  });
});

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
