import { expect, test } from "bun:test";
import {
  createOrganization,
  getOrganization,
  listOrganizations,
} from "../../../src/accounts/organizations/service.ts";
import { dumpTables, testAppliance } from "../../support/appliance.ts";
import { createSampleRecord } from "../../support/records.ts";
import { findErrorCode } from "../../support/error-code.ts";

test("an organization is found by its slug, and listed with the others by slug", async () => {
  const { store, time } = await testAppliance();
  const organization = await createOrganization(store, () => time.now, "Café Nord");
  expect(organization).toEqual({
    id: expect.any(String),
    slug: "cafe-nord",
    name: "Café Nord",
    createdAt: "2026-11-20T10:00:00.000Z",
  });
  expect(await getOrganization(store, "cafe-nord")).toEqual(organization);
  const slugs = (await listOrganizations(store)).map(({ slug }) => slug);
  expect(slugs).toEqual(["cafe-nord", "ours", "theirs"]);
});

test("an unknown slug is NOT_FOUND", async () => {
  const { store } = await testAppliance();
  for (const slug of ["nobody", "OURS", "our%", ""])
    expect(await findErrorCode(getOrganization(store, slug))).toBe("NOT_FOUND");
});

test("10 organizations created at once with one name get 10 slugs", async () => {
  const { store, time } = await testAppliance();
  const result = await Promise.all(
    Array.from({ length: 10 }, () => createOrganization(store, () => time.now, "Acme")),
  );
  const slugs = result.map(({ slug }) => slug);
  const expected = ["acme", ...Array.from({ length: 9 }, (_, index) => `acme-${index + 2}`)];
  expect(slugs.toSorted()).toEqual(expected.toSorted());
});

test("a blank, overlong or malformed name is rejected, and nothing is written", async () => {
  const appliance = await testAppliance();
  const { store, time } = appliance;
  const before = dumpTables(appliance);
  for (const name of ["", " ", "a\nb", "\ud800", "x".repeat(256)])
    expect(() => createOrganization(store, () => time.now, name)).toThrow(
      expect.objectContaining({ code: "VALIDATION_ERROR" }),
    );
  expect(dumpTables(appliance)).toBe(before);
});

test("creating an organization writes its audit row and its event", async () => {
  const { store, time, database } = await testAppliance();
  const { id } = await createOrganization(store, () => time.now, "Acme");
  const readRows = (sql: string) => database.query(sql).values(id);
  expect(
    readRows("SELECT action, subject_id, actor_type FROM audit_entries WHERE organization_id = ?"),
  ).toEqual([["organization.created", id, "command-line"]]);
  expect(readRows("SELECT type, subject_id FROM events WHERE organization_id = ?")).toEqual([
    ["organization.created", id],
  ]);
});

test("a new organization has a default status page under its slug", async () => {
  const { store, time, database } = await testAppliance();
  const { id } = await createOrganization(store, () => time.now, "Café Nord");
  const pages = database.query(
    "SELECT slug, title, is_default, visibility FROM status_pages WHERE organization_id = ?",
  );
  expect(pages.values(id)).toEqual([["cafe-nord", "Café Nord", 1, "public"]]);
});

test("no organization gets the slug of another's status page, or a reserved word", async () => {
  const { store, time, ours } = await testAppliance();
  await createSampleRecord(ours.api, "status-pages", { slug: "acme" });
  const slugs: string[] = [];
  for (const name of ["Acme", "Docs", "API", "Healthz", "Ours"])
    slugs.push((await createOrganization(store, () => time.now, name)).slug);
  expect(slugs).toEqual(["acme-2", "docs-2", "api-2", "healthz-2", "ours-2"]);
});
