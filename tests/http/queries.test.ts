import { expect, test } from "bun:test";
import { testAppliance, unknownId } from "../support/appliance.ts";
import { apiRoutes, fillIds } from "../support/records.ts";

const path = "/api/v1/incidents";
const notWhole = ["", "0", "-1", "1.5", "1e3", "0x10", "%201", "+1", "1%00", "١", "null"];
const refused: [query: string, field: string][] = [
  ...["page", "per_page"].flatMap((field) =>
    notWhole.map((value): [string, string] => [`${field}=${value}`, field]),
  ),
  ["page=1&page=1", "page"],
  ["page=1&p%61ge=2", "page"],
  ["Page=1", "Page"],
  ["limit=5", "limit"],
  ["open=1", "open"],
  ["status=", "status"],
  ["monitorId=7", "monitorId"],
  ["__proto__=1", "__proto__"],
  ["constructor=1", "constructor"],
  ["q=%zz", "query"],
  ["q=%ff", "query"],
  ["q=%00", "q"],
];

test("an invalid, repeated or unknown parameter is rejected by name", async () => {
  const { ours } = await testAppliance();
  for (const [query, field] of refused) {
    const { status, json } = await ours.api("GET", `${path}?${query}`);
    expect([query, status, json.error?.details?.[0].path]).toEqual([query, 422, field]);
  }
});

test("no route ignores an unknown parameter", async () => {
  const { ours } = await testAppliance();
  for (const { method, path } of apiRoutes.filter(({ method }) => method === "GET")) {
    const { status } = await ours.api(method, `${fillIds(path, unknownId)}?nothing=1`);
    expect([path, status]).toEqual([path, 422]);
  }
});

test("more than 100 entries per page are lowered to 100, as the response shows", async () => {
  const { ours } = await testAppliance();
  const pages: [query: string, meta: object][] = [
    ["", { page: 1, per_page: 20, total: 0 }],
    ["?", { page: 1, per_page: 20, total: 0 }],
    ["?per_page=100", { page: 1, per_page: 100, total: 0 }],
    ["?per_page=101&page=7", { page: 7, per_page: 100, total: 0 }],
    [
      "?per_page=999999999999999&page=999999999999999",
      { page: 999999999999999, per_page: 100, total: 0 },
    ],
    [
      `?per_page=1${"0".repeat(99)}&page=9007199254740993`,
      { page: Number.MAX_SAFE_INTEGER, per_page: 100, total: 0 },
    ],
  ];
  for (const [query, meta] of pages)
    expect((await ours.api("GET", path + query)).json).toEqual({ data: [], meta });
});

test("all pages together are the list, without gaps or repetitions, also within one millisecond", async () => {
  const { ours } = await testAppliance();
  const titles = Array.from({ length: 7 }, (_, index) => `Incident ${index}`);
  for (const title of titles) await ours.api("POST", path, { body: { title } });
  const seen: string[] = [];
  for (const page of [1, 2, 3]) {
    const { json } = await ours.api("GET", `${path}?per_page=3&page=${page}`);
    seen.push(...json.data.map(({ title }: { title: string }) => title));
  }
  expect(seen).toEqual(titles.toReversed());
});
