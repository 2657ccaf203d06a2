import { expect, test } from "bun:test";
import { testAppliance } from "../support/appliance.ts";

test("a search over many incidents finds each match once, in order, page by page", async () => {
  const { ours, database, time } = await testAppliance();
  const insert = database.query(
    `INSERT INTO incidents (organization_id, id, title, status, severity, origin, public, version,
     created_at, updated_at) VALUES (?, ?, ?, 'identified', 'minor', 'manual', 1, 1, ?, ?)`,
  );
  const at = new Date(time.now).toISOString();
  const count = 25_000;
  database.transaction(() => {
    for (let index = 0; index < count; index++) {
      const id = Bun.randomUUIDv7("hex", time.now + index);
      insert.run(ours.id, id, index % 2_500 === 0 ? `needle ${index}` : `hay ${index}`, at, at);
    }
  })();

  const found: string[] = [];
  for (const page of [1, 2, 3, 4, 5]) {
    const { json } = await ours.api("GET", `/api/v1/incidents?q=NEEDLE&per_page=3&page=${page}`);
    expect(json.meta.total).toBe(10);
    found.push(...json.data.map(({ title }: { title: string }) => title));
  }
  expect(found).toEqual(Array.from({ length: 10 }, (_, index) => `needle ${(9 - index) * 2_500}`));
});
