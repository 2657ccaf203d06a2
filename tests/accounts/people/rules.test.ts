import { expect, test } from "bun:test";
import { isAtLeast, type Role } from "../../../src/core/roles.ts";
import { emailKeyOf, findPasswordIssue, canManage } from "../../../src/accounts/people/rules.ts";

test("each role includes the rights of the lower ones", () => {
  const ranked: Role[] = ["viewer", "member", "admin", "owner"];
  for (const [index, role] of ranked.entries())
    expect(ranked.filter((needed) => isAtLeast(role, needed))).toEqual(ranked.slice(0, index + 1));
});

test("only owners manage owners, and roles below admin manage no one", () => {
  expect(canManage("owner", "owner")).toBe(true);
  expect(canManage("admin", "owner")).toBe(false);
  expect(canManage("admin", "admin")).toBe(true);
  expect(canManage("member", "viewer")).toBe(false);
});

test("addresses are compared in lower case and one Unicode form", () => {
  expect(emailKeyOf("Ren\u00c9@Team.Example")).toBe(emailKeyOf("rene\u0301@team.example"));
});

test("a password must not be the person's name, the organization or the address, or a common one", () => {
  const known = ["ada.lovelace@team.example", "Ada Lovelace", "Analytical Engines"];
  for (const bad of [
    "ADA.LOVELACE@team.example",
    "ada.lovelace",
    "ada lovelace",
    "analytical engines",
    "Password1234",
    "aaaaaaaaaaaaaaa",
    "1212121212",
  ])
    expect([bad, typeof findPasswordIssue(bad, known)]).toEqual([bad, "string"]);
  for (const good of ["correct horse battery", "ada lovelace's loom", "analytical"])
    expect([good, findPasswordIssue(good, known)]).toEqual([good, null]);
});
