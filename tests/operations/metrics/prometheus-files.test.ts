import { expect, test } from "bun:test";
import { join } from "node:path";
import { scrapeAppliance } from "../../docs/metrics.ts";
import { parseScrape } from "../../support/metrics.ts";
import { defineTestWith } from "../../support/real-targets.ts";
import { createScratch } from "../../support/scratch-directories.ts";

const folder = join(import.meta.dir, "..", "..", "..", "docs", "prometheus");
const read = (name: string) => Bun.file(join(folder, name)).text();
const newDirectory = createScratch();

type Rules = { groups: { rules: { alert: string; expr: string }[] }[] };
type Cases = {
  tests: {
    input_series: { series: string }[];
    promql_expr_test: { exp_samples: { labels: string }[] }[];
  }[];
};
type Panel = { title: string; id: number; targets?: { expr: string }[]; gridPos: GridPos };
type GridPos = { x: number; y: number; w: number; h: number };

const rules = (Bun.YAML.parse(await read("signalbox.rules.yml")) as Rules).groups.flatMap(
  (group) => group.rules,
);
const cases = (Bun.YAML.parse(await read("signalbox.rules.test.yml")) as Cases).tests;
const dashboard = JSON.parse(await read("grafana-dashboard.json")) as {
  panels: Panel[];
  templating: { list: { query: string | { query: string } }[] };
};
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

async function runPromtool(...args: string[]) {
  const run = Bun.spawn(["promtool", ...args], { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const said = (await new Response(run.stdout).text()) + (await new Response(run.stderr).text());
  return { exitCode: await run.exited, said };
}

test("alert rules, their test cases and the dashboard use only exported metrics", async () => {
  const { types } = parseScrape(await scrapeAppliance());
  // Prometheus itself exports whether it could scrape.
  const exported = new Set(["up"]);
  for (const [name, type] of types)
    for (const suffix of type === "histogram" ? ["_bucket", "_sum", "_count"] : [""])
      exported.add(name + suffix);
  const texts = [
    ...rules.map(({ expr }) => expr),
    ...cases.flatMap((one) => one.input_series.map(({ series }) => series)),
    ...queries,
    ...dashboard.templating.list.map(({ query }) =>
      typeof query === "string" ? query : query.query,
    ),
  ];
  const asked = new Set(
    texts.flatMap((text) =>
      text.replace(/"[^"]*"/g, '""').match(/\b(?:up|(?:signalbox|process)_\w+)\b/g),
    ),
  );
  asked.delete(null);
  expect(asked.size).toBeGreaterThan(40);
  expect([...asked].filter((name) => !exported.has(name ?? ""))).toEqual([]);
});

test("each alert rule has a test case in which only it fires", () => {
  const firing = cases.flatMap((one) =>
    one.promql_expr_test.map(({ exp_samples: samples }) =>
      samples.map(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1]),
    ),
  );
  expect(new Set(firing.flat())).toEqual(new Set(rules.map(({ alert }) => alert)));
  expect(firing.filter((alerts) => alerts.length > 1)).toEqual([]);
  expect(firing).toContainEqual([]);
});

defineTestWith(
  ["promtool"],
  "Prometheus accepts the alert rules, and their test cases pass",
  async () => {
    const checked = await runPromtool("check", "rules", "signalbox.rules.yml");
    expect(checked).toEqual({
      exitCode: 0,
      said: expect.stringContaining(`SUCCESS: ${rules.length} rules found`),
    });
    const { exitCode, said } = await runPromtool("test", "rules", "signalbox.rules.test.yml");
    expect([exitCode, said]).toEqual([0, expect.stringContaining("SUCCESS")]);
  },
);

defineTestWith(["promtool"], "Prometheus accepts every query of the dashboard", async () => {
  const file = join(newDirectory(), "queries.yml");
  const recorded = queries.map((expr, index) => ({
    record: `query:${index}`,
    expr: expr.replaceAll("$__rate_interval", "5m"),
  }));
  await Bun.write(file, JSON.stringify({ groups: [{ name: "dashboard", rules: recorded }] }));
  const { exitCode, said } = await runPromtool("check", "rules", "--lint=none", file);
  expect([exitCode, said]).toEqual([0, expect.stringContaining(`${queries.length} rules found`)]);
});

test("the dashboard's panels do not overlap", () => {
  const { panels } = dashboard;
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const overlapping = panels.flatMap(({ title, gridPos: a }, index) =>
    panels
      .slice(index + 1)
      .filter(({ gridPos: b }) => {
        const isBeside = a.x + a.w <= b.x || b.x + b.w <= a.x;
        return !isBeside && !(a.y + a.h <= b.y || b.y + b.h <= a.y);
      })
      .map((other) => `${title} and ${other.title}`),
  );
  expect(overlapping).toEqual([]);
  expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
});
