import { expect, test } from "bun:test";
import {
  assertImage,
  findMissingAccess,
  buildFileUrl,
  limitShownDays,
  assembleSections,
  selectNested,
} from "../../src/status-pages/rules.ts";
import { visibilities } from "../../src/status-pages/access-rules.ts";
import { pixel } from "../support/images.ts";

test("each visibility requires only its own field: a password, or addresses", () => {
  for (const visibility of visibilities)
    for (const allowedAddresses of [[], ["10.0.0.0/8"]])
      for (const passwordIsSet of [true, false]) {
        const isMissing = {
          password: !passwordIsSet,
          addresses: allowedAddresses.length === 0,
          public: false,
          "signed-in": false,
          hidden: false,
        }[visibility];
        const field = visibility === "password" ? "password" : "allowedAddresses";
        expect(findMissingAccess({ visibility, allowedAddresses }, passwordIsSet)).toEqual(
          isMissing ? { field, issue: `is required while visibility is ${visibility}` } : null,
        );
      }
});

test("a logo's path names the page and changes only with the image", () => {
  const buildPath = (slug: string, logoData: string | null) => buildFileUrl(slug, "logo", logoData);
  expect(buildPath("acme", null)).toBe(null);
  expect(buildPath("acme", "AAAA")).toMatch(/^\/status\/acme\/logo\?v=[0-9a-z]+$/);
  expect(buildPath("acme", "AAAA")).toBe(buildPath("acme", "AAAA"));
  expect(buildPath("acme", "AAAA")).not.toBe(buildPath("acme", "AAAB"));
});

test("monitors of a section whose group was deleted are not part of the page", () => {
  const audience = "everyone" as const;
  const buildSection = (position: number) => ({
    position,
    name: `Part ${position}`,
    groupId: null,
    nested: false,
    folding: "auto" as const,
    audience,
  });
  const buildMonitor = (section: number) => ({
    section,
    monitorId: `m${section}`,
    publicName: null,
    showDescription: false,
    link: null,
  });
  expect(
    assembleSections(
      [buildSection(0), buildSection(2)],
      [buildMonitor(0), buildMonitor(1), buildMonitor(2)],
    ),
  ).toEqual([
    {
      name: "Part 0",
      groupId: null,
      nested: false,
      folding: "auto",
      audience,
      monitors: [{ id: "m0", name: null, showDescription: false, link: null }],
    },
    {
      name: "Part 2",
      groupId: null,
      nested: false,
      folding: "auto",
      audience,
      monitors: [{ id: "m2", name: null, showDescription: false, link: null }],
    },
  ]);
});

test("a nested section is not nested without its parent", () => {
  const parseLetters = (text: string) =>
    text.split(" ").map((name) => ({ name, nested: name === name.toLowerCase() }));
  const select = (text: string, ...omitted: string[]) =>
    selectNested(parseLetters(text), ({ name }) => !omitted.includes(name))
      .map(({ name, nested }) => (nested ? `(${name})` : name))
      .join(" ");
  expect(select("A b c D e")).toBe("A (b) (c) D (e)");
  expect(select("A b c D e", "D")).toBe("A (b) (c) e");
  expect(select("A b c D e", "A", "b")).toBe("c D (e)");
  expect(select("a B")).toBe("a B");
});

test("an image is recognized by its signature", () => {
  const { png, webp, svg } = pixel;
  const assertAs = (type: string, bytes: Uint8Array) => () => assertImage({ type, bytes });
  for (const bytes of [webp, svg, png.slice(0, 12), png.slice(1), new Uint8Array()])
    expect(assertAs("image/png", bytes)).toThrow();
  for (const bytes of [png, svg, webp.slice(0, 12), webp.slice(1), new Uint8Array()])
    expect(assertAs("image/webp", bytes)).toThrow();
  for (const [type, bytes] of Object.entries({ png, webp, "svg+xml": svg }))
    expect(assertAs(`image/${type}`, bytes)).not.toThrow();
});

test("a page shows its configured number of days, and fewer with very many monitors", () => {
  for (const [historyDays, monitors, shown] of [
    [90, 0, 90],
    [365, 273, 365],
    [365, 274, 364],
    [90, 1_000, 90],
    [365, 1_000, 100],
    [365, 5_000, 20],
    [1, 5_000, 1],
  ] as const)
    expect([monitors, limitShownDays(historyDays, monitors)]).toEqual([monitors, shown]);
});
