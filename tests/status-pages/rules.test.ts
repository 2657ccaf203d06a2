import { describe, expect, test } from "bun:test";
import {
  beginsAs,
  validateAccess,
  flawOfCss,
  logoUrlOf,
  shownDays,
  sectionsOf,
} from "../../src/status-pages/rules.ts";
import { pixel } from "../support/images.ts";

test("only a page that asks for a password needs one", () => {
  expect(validateAccess("password", false)).toBe("is required while visibility is password");
  expect(validateAccess("password", true)).toBe(null);
  expect(validateAccess("public", false)).toBe(null);
  expect(validateAccess("hidden", false)).toBe(null);
});

test("a logo's path names the page and changes with the image alone", () => {
  const path = (slug: string, logoData: string | null) => logoUrlOf({ slug, logoData });
  expect(path("acme", null)).toBe(null);
  expect(path("acme", "AAAA")).toMatch(/^\/status\/acme\/logo\?v=[0-9a-z]+$/);
  expect(path("acme", "AAAA")).toBe(path("acme", "AAAA"));
  expect(path("acme", "AAAA")).not.toBe(path("acme", "AAAB"));
});

test("names of monitors whose section went with its group are no part of the page", () => {
  const section = (position: number) => ({ position, name: `Part ${position}`, groupId: null });
  const monitor = (section: number) => ({ section, monitorId: `m${section}`, publicName: null });
  expect(sectionsOf([section(0), section(2)], [monitor(0), monitor(1), monitor(2)])).toEqual([
    { name: "Part 0", groupId: null, monitors: [{ id: "m0", name: null }] },
    { name: "Part 2", groupId: null, monitors: [{ id: "m2", name: null }] },
  ]);
});

test("an image is known by how it begins", () => {
  const { png, webp, svg } = pixel;
  expect([beginsAs("image/png", png), beginsAs("image/webp", webp)]).toEqual([true, true]);
  for (const bytes of [webp, svg, png.slice(0, 12), png.slice(1), new Uint8Array()])
    expect(beginsAs("image/png", bytes)).toBe(false);
  for (const bytes of [png, svg, webp.slice(0, 12), webp.slice(1), new Uint8Array()])
    expect(beginsAs("image/webp", bytes)).toBe(false);
});

test("a page tells of the days it is set to, and of fewer where there are very many monitors", () => {
  for (const [historyDays, monitors, shown] of [
    [90, 0, 90],
    [365, 273, 365],
    [365, 274, 364],
    [90, 1_000, 90],
    [365, 1_000, 100],
    [365, 5_000, 20],
    [1, 5_000, 1],
  ] as const)
    expect([monitors, shownDays(historyDays, monitors)]).toEqual([monitors, shown]);
});

describe("styles of a picture", () => {
  const still = [
    "",
    ".a{fill:#fff;stroke:rgb(1 2 3/50%)}",
    "fill:red;transform:translate(1px, 2px) ROTATE(3deg)",
    "@media (prefers-color-scheme: dark) { path { fill: white } }",
    "@MEDIA(min-width:1px){g:not(.a){opacity:.5}}",
  ];
  test.each(still)("%p reach nothing outside of it", (css) => {
    expect(flawOfCss(css)).toBe(null);
  });

  const reaching = [
    "fill:url(http://evil.io)",
    "fill:URL( '//evil.io')",
    "fill:\\75rl(http://evil.io)",
    "@import 'http://evil.io'",
    "@font-face{src:local(x)}",
    "@\\69mport 'x'",
    "@media-import 'x'; @import 'x'",
    "background:image-set('http://evil.io' 1x)",
    "background:-webkit-image-set('http://evil.io' 1x)",
    "content:image('http://evil.io')",
    "src:src('http://evil.io')",
    "width:expression(alert(1))",
    "filter:blur(9px)",
    "fill:rgb(url(http://evil.io))",
  ];
  test.each(reaching)("%p could reach out of it", (css) => {
    expect(flawOfCss(css)).toStartWith("without ");
  });

  test("it may refer to what is in the picture, and to nothing else", () => {
    const issue = (value: string) => flawOfCss(value);
    for (const value of ["url(#a)", "url( '#a' ) none", 'URL("#a")', "url(#a) rgb(1,2,3)"])
      expect([value, issue(value)]).toEqual([value, null]);
    for (const value of ["url(a.svg#a)", "url(//evil.io#a)", "url(#a) url(http://evil.io)", "url("])
      expect([value, issue(value)]).not.toEqual([value, null]);
  });
});
