import { expect, test } from "bun:test";
import { pickFreeSlug, deriveSlug } from "../../../src/accounts/organizations/rules.ts";

test("a slug has lower-case letters, digits and single hyphens between them", () => {
  const slugs: Record<string, string> = {
    Acme: "acme",
    "  Acme & Sons, Ltd. ": "acme-sons-ltd",
    "Café Zürich": "cafe-zuerich",
    Großhandel: "grosshandel",
    "GROẞE Łódź & Ørsted": "grosse-lodz-orsted",
    "24/7": "24-7",
    "ﬁne Ⅳ": "fine-iv",
    "a_b%c": "a-b-c",
    "--": "organization",
    東京: "organization",
    "😀": "organization",
  };
  for (const [name, slug] of Object.entries(slugs))
    expect([name, deriveSlug(name)]).toEqual([name, slug]);
});

test("a slug has at most 50 characters and ends with a letter or digit", () => {
  expect(deriveSlug("x".repeat(255))).toBe("x".repeat(50));
  expect(deriveSlug(`${"x".repeat(49)} y`)).toBe("x".repeat(49));
});

test("a taken slug gets the first free number from 2 on", () => {
  expect(pickFreeSlug("acme", new Set())).toBe("acme");
  expect(pickFreeSlug("acme", new Set(["acme-2", "acme-inc"]))).toBe("acme");
  expect(pickFreeSlug("acme", new Set(["acme"]))).toBe("acme-2");
  expect(pickFreeSlug("acme", new Set(["acme", "acme-2", "acme-4"]))).toBe("acme-3");
});
