import { describe, expect, test } from "bun:test";
import { z } from "zod";
import {
  createStrengthCheck,
  isSameOrigin,
  isSameValue,
} from "../../src/core/security/destinations.ts";
import type { AppError } from "../../src/core/errors.ts";
import {
  joinSecrets,
  mergePatch,
  OpenedRecord,
  splitSecrets,
  findStrandedSecrets,
} from "../../src/core/security/kind-secrets.ts";
import { defineKind } from "../../src/core/kinds.ts";

const kinds = {
  site: defineKind(
    {
      url: z.string(),
      token: z.string().nullable().default(null),
      auth: z
        .object({ user: z.string(), pass: z.string().nullable().optional() })
        .nullable()
        .default(null),
      headers: z.record(z.string(), z.string()).default({}),
    },
    {
      token: { url: isSameOrigin },
      "auth.pass": { url: isSameOrigin },
      "headers.*": { url: isSameOrigin },
    },
  ),
  job: defineKind({ grace: z.int().default(60) }),
};
const record = { name: "A", type: "site", url: "http://a.lan/x", headers: {} };
const auth = { user: "x", pass: "p" };

describe("splitting off the secrets", () => {
  const cases: [own: object, settings: object, secrets: Record<string, string>][] = [
    [{ token: "t", auth }, { auth: { user: "x" } }, { token: "t", "auth.pass": "p" }],
    [{ token: null, auth: null }, { auth: null }, {}],
    [{ token: "t", auth: { user: "x" } }, { auth: { user: "x" } }, { token: "t" }],
    [{ token: null, auth: { user: "x", pass: null } }, { auth: { user: "x" } }, {}],
    [
      { auth: null, headers: { "X-Team": "ops", "X.Y": "" } },
      { auth: null, headers: { "X-Team": null, "X.Y": null } },
      { "headers.X-Team": "ops", "headers.X.Y": "" },
    ],
  ];
  test("leaves the type's other fields, and joining is its inverse", () => {
    for (const [own, settings, secrets] of cases) {
      const whole = { ...record, ...own };
      const split = splitSecrets(kinds, "site", whole);
      const { name: _name, type: _type, ...others } = { ...record, ...settings };
      expect(split).toEqual({ settings: others, secrets });
      const joined = joinSecrets(kinds, "site", split.settings, split.secrets);
      expect(joined).toHaveProperty("token", secrets["token"] ?? null);
      expect(splitSecrets(kinds, "site", joined)).toEqual(split);
      expect(whole).toEqual({ ...record, ...own });
    }
  });
});

describe("merging a patch", () => {
  const whole = { ...record, token: "t", auth, headers: { "X-A": "1", "X-B": "2" } };
  const cases: [does: string, patch: Record<string, unknown>, changed: object][] = [
    ["absent and undefined values leave fields unchanged", { name: undefined }, {}],
    ["null clears", { token: null, auth: null }, { token: null, auth: null }],
    [
      "an object with a secret is merged",
      { auth: { user: "y" } },
      { auth: { user: "y", pass: "p" } },
    ],
    [
      "a secret in an object is cleared by null",
      { auth: { user: "x", pass: null } },
      { auth: { user: "x", pass: null } },
    ],
    [
      "a null header is unchanged, an absent one is removed, and a new one needs its value",
      { headers: { "x-a": null, "X-C": "3", "X-D": null } },
      { headers: { "x-a": "1", "X-C": "3", "X-D": null } },
    ],
  ];
  for (const [does, patch, changed] of cases)
    test(does, () => {
      const before = structuredClone(whole);
      expect(mergePatch(kinds, "site", whole, patch)).toEqual({ ...whole, ...changed });
      expect(whole).toEqual(before);
    });

  test("a secret that was not set is set", () => {
    expect(mergePatch(kinds, "site", { ...record, auth: null }, { auth })).toEqual({
      ...record,
      auth,
    });
  });
});

describe("a secret never follows a changed address", () => {
  const whole = { ...record, token: "t", auth, headers: { "X-A": "1", "X.B": "2" } };
  const all = ["token", "auth.pass", "headers.X-A", "headers.X.B"];
  const cases: [patch: Record<string, unknown>, asked: string[]][] = [
    [{ name: "B" }, []],
    [{ url: "http://a.lan/y?z" }, []],
    [{ url: "HTTP://A.LAN:80" }, []],
    [{ url: "http://a.lan:81/x" }, all],
    [{ url: "https://a.lan/x" }, all],
    [{ url: "http://b.lan/x" }, all],
    [{ url: "http://b.lan/x", token: null, auth: null, headers: {} }, []],
    [{ url: "http://b.lan/x", token: "t", auth, headers: { "X-A": "1", "x.b": "2" } }, []],
    [
      { url: "http://b.lan/x", token: undefined, auth: { user: "y" }, headers: { "x-a": null } },
      ["token", "auth.pass", "headers.X-A"],
    ],
    [{ url: "http://b.lan/x", token: "u", auth: { pass: null }, headers: { "X-A": "3" } }, []],
  ];
  for (const [patch, asked] of cases)
    test(JSON.stringify(patch), () => {
      const stranded = findStrandedSecrets(kinds, "site", whole, patch);
      expect(stranded.map((keys) => keys.join("."))).toEqual(asked);
    });

  test("and a stored row without a newer field counts as having its default", () => {
    const served = {
      push: defineKind(
        { token: z.string(), region: z.enum(["us", "eu"]).default("us") },
        { token: { region: isSameValue } },
      ),
    };
    expect(findStrandedSecrets(served, "push", { token: "t" }, { region: "us" })).toEqual([]);
    expect(findStrandedSecrets(served, "push", { token: "t" }, { region: "eu" })).toEqual([
      ["token"],
    ]);
  });

  test("the error names each secret and the way to proceed", () => {
    const readRejection = () =>
      new OpenedRecord(kinds, "site", whole).applyPatch({ url: "http://b.lan" }, (after) => after);
    let details: unknown;
    try {
      readRejection();
    } catch (error) {
      details = (error as AppError).details;
    }
    const reentryMessage =
      "stays with the address it was given for: send it again for the new address";
    expect(details).toEqual([
      { path: "token", message: `${reentryMessage}, or null` },
      { path: "auth.pass", message: `${reentryMessage}, or null` },
      { path: "headers.X-A", message: `${reentryMessage}, or leave it out` },
      { path: "headers.X.B", message: `${reentryMessage}, or leave it out` },
    ]);
  });
});

describe("a record that another program changes", () => {
  const whole = { ...record, token: "t", auth, headers: { "X-A": "1", "X-B": "2" } };
  const opened = new OpenedRecord(kinds, "site", whole);
  const elsewhere = { url: "http://b.lan/x" };
  const cases: [does: string, patch: object, source: object, after: object, notes: number][] = [
    ["at the same address leaves secrets unchanged", { name: "B" }, {}, { ...whole, name: "B" }, 0],
    [
      "at another address loses the secrets that the source does not have",
      elsewhere,
      {},
      { name: "A", type: "site", ...elsewhere },
      4,
    ],
    [
      "at another address has the secrets of the source instead",
      elsewhere,
      { token: "s", auth: { user: "y" }, headers: { "X-A": "3" } },
      {
        name: "A",
        type: "site",
        ...elsewhere,
        token: "s",
        auth: { user: "y" },
        headers: { "X-A": "3" },
      },
      4,
    ],
    [
      "that sends its secrets again has these",
      { ...elsewhere, token: "u", auth: { user: "z", pass: "q" }, headers: {} },
      {},
      { ...whole, ...elsewhere, token: "u", auth: { user: "z", pass: "q" }, headers: {} },
      0,
    ],
  ];
  test.each(cases)("%s", (_does, patch, source, after, notes) => {
    const result = opened.applyPatchFromSource({ ...patch }, { ...source });
    expect(result.fields).toEqual({ ...after });
    expect(result.notes).toHaveLength(notes);
    for (const note of result.notes) expect(note).toContain("Enter it again.");
  });

  test("can't be spread: its fields are private", () => {
    expect(Object.keys(opened)).toEqual([]);
    expect(JSON.stringify(opened)).toBe("{}");
  });
});

describe("protections from the weakest to the strongest", () => {
  const tls = createStrengthCheck("none", "starttls", "tls");
  test.each([
    ["tls", "tls", true],
    ["tls", "starttls", false],
    ["tls", "none", false],
    ["starttls", "none", false],
    ["starttls", "tls", true],
    ["none", "none", true],
  ])("%s to %s: %p", (before, after, expected) => expect(tls(before, after)).toBe(expected));
});
