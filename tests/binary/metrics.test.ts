import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, getFreePort, waitUntilHealthy } from "../support/binary.ts";
import { publicPaths } from "../../src/status-pages/site/public-paths.ts";
import { unknownId } from "../support/appliance.ts";
import { expectHistograms, lintMetrics, parseScrape } from "../support/metrics.ts";
import { copyMonitor } from "../support/many-monitors.ts";
import { createServerClient, createMachine, createMachineWithKey } from "../support/machine.ts";
import { createFolder, startProgram, defineTestWith } from "../support/real-targets.ts";
import type { Json } from "../support/json.ts";
import { waitUntil } from "../support/poll.ts";

const first = "first-token-".repeat(4);

/** A running appliance with a metrics token and an awaitable log. */
async function startScrapable(box: Awaited<ReturnType<typeof createMachineWithKey>>) {
  const tokenFile = join(box.directory, "metrics-token");
  writeFileSync(tokenFile, `${first}\n`, { mode: 0o600 });
  const [port, publicPort] = [getFreePort(), getFreePort()];
  const at = ["--data-dir", box.dataDir, "--host", "127.0.0.1", "--port", String(port)];
  const more = ["--public-port", String(publicPort), "--metrics-token-file", tokenFile];
  const log = join(box.directory, "log");
  const output = openSync(log, "a");
  const child = Bun.spawn([binary, "serve", ...at, ...more], { stdout: output, stderr: output });
  closeSync(output);
  const url = `http://127.0.0.1:${port}`;
  await waitUntilHealthy(url);
  const scrape = (token: string, of = url) =>
    fetch(`${of}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
  return {
    ...box,
    child,
    url,
    port,
    publicUrl: `http://127.0.0.1:${publicPort}`,
    tokenFile,
    scrape,
    logged: () => readFileSync(log, "utf8"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      await box[Symbol.asyncDispose]();
    },
  };
}

let box: Awaited<ReturnType<typeof startScrapable>>;
beforeAll(async () => {
  box = await startScrapable(await createMachineWithKey());
});
afterAll(() => box[Symbol.asyncDispose]());

test("the token reads the metrics of the whole appliance on the main port, not on the public one", async () => {
  const before = parseScrape(await (await box.scrape(first)).text());
  for (let i = 0; i < 50; i++) {
    await (await fetch(`${box.url}/status/acme`)).text();
    await (await fetch(`${box.publicUrl}/status/acme.json`)).text();
    await (await fetch(`${box.url}/push/${i}?status=up`)).text();
  }
  const after = parseScrape(await (await box.scrape(first)).text());
  const countNewRequests = (route: string) => {
    const [one, other] = [before, after].map(
      (scrape) => scrape.of("signalbox_http_request_duration_seconds_count")[route] ?? 0,
    );
    return (other ?? 0) - (one ?? 0);
  };
  expect(countNewRequests("route=/status/:slug,method=GET,status=2xx")).toBe(50);
  expect(countNewRequests("route=/status/:slug.json,method=GET,status=2xx")).toBe(50);
  expect(countNewRequests("route=/push/:token,method=GET,status=4xx")).toBe(50);
  expectHistograms(after);
  for (const name of ["process_open_fds", "process_max_fds", "process_cpu_seconds_total"])
    expect([name, after.of(name)[""]]).toEqual([name, expect.any(Number)]);
  expect(after.of("signalbox_database_size_bytes")["file=database"]).toBeGreaterThan(100_000);
  expect(after.of("signalbox_disk_free_bytes")[""]).toBeLessThan(
    after.of("signalbox_disk_size_bytes")[""] ?? 0,
  );
  // Absent if all this took less than the first interval.
  expect(after.samples.get("signalbox_event_loop_delay_seconds_count")).toBeNumber();
  expect((await box.scrape(first, box.publicUrl)).status).toBe(404);
  expect((await box.scrape(box.key, box.publicUrl)).status).toBe(404);
});

test("every public path is counted under its pattern", async () => {
  const values: Record<string, string> = {
    slug: "acme",
    id: unknownId,
    name: "summary",
    verb: "confirm",
    token: "canary",
    kind: "status",
    file: "canary",
    number: "1",
    measure: "uptime",
    span: "24h",
  };
  for (const path of Object.values(publicPaths)) {
    const filled = path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? "");
    await (await fetch(`${box.publicUrl}${filled}`)).text();
  }
  const scrape = parseScrape(await (await box.scrape(first)).text());
  const counted = Object.keys(scrape.of("signalbox_http_request_duration_seconds_count"));
  const routes = counted.map((labels) => /route=([^,]*)/.exec(labels)?.[1]);
  for (const path of Object.values(publicPaths)) expect(routes).toContain(path);
  expect(scrape.text).not.toContain("canary");
});

defineTestWith(
  ["promtool"],
  "Prometheus' linter accepts the metrics of the executable",
  async () => {
    expect(await lintMetrics(await (await box.scrape(first)).text())).toBe("");
    expect(await lintMetrics(await (await box.scrape(box.key)).text())).toBe("");
  },
);

defineTestWith(
  ["prometheus"],
  "a real Prometheus scrapes it with the token as a file",
  async () => {
    const folder = createFolder();
    const port = getFreePort();
    writeFileSync(
      join(folder, "prometheus.yml"),
      `global: { scrape_interval: 1s }
scrape_configs:
  - job_name: signalbox
    authorization: { credentials_file: ${box.tokenFile} }
    static_configs: [{ targets: ["127.0.0.1:${box.port}"] }]
  - job_name: stranger
    metrics_path: /metrics
    static_configs: [{ targets: ["127.0.0.1:${box.port}"] }]
`,
    );
    const address = `127.0.0.1:${port}`;
    const args = [
      `--web.listen-address=${address}`,
      "--config.file=prometheus.yml",
      "--storage.tsdb.path=data",
    ];
    const stop = await startProgram({ program: "prometheus", args, folder }, [port]);
    try {
      const query = async (expression: string) => {
        const request = new URLSearchParams({ query: expression });
        const response = await fetch(`http://${address}/api/v1/query?${request}`);
        // It reports its start in words.
        const { data } = response.ok ? ((await response.json()) as Json) : { data: null };
        return (data?.result ?? []).map(
          ({ metric, value }: { metric: { job: string }; value: unknown[] }) => [
            metric.job,
            value[1],
          ],
        );
      };
      // A slow scrape on a busy machine counts as down.
      const waitForResult = async (expression: string, wanted: string[][]) => {
        await waitUntil(
          async () => Bun.deepEquals((await query(expression)).toSorted(), wanted),
          50,
        );
      };
      await waitForResult("up", [
        ["signalbox", "1"],
        ["stranger", "0"],
      ]);
      await waitForResult("signalbox_organizations", [["signalbox", "1"]]);
      const quantile =
        'histogram_quantile(0.5, sum by (job, le) (signalbox_http_request_duration_seconds_bucket{route="/metrics"}))';
      const queryMedian = async () => Number((await query(quantile))[0]?.[1] ?? Number.NaN);
      await waitUntil(async () => !Number.isNaN(await queryMedian()), 50);
      expect(await queryMedian()).toBeGreaterThan(0);
    } finally {
      await stop();
    }
  },
);

test("metrics are readable while a starting appliance loads its monitors", async () => {
  const machineWithKey = await createMachineWithKey();
  const server = await machineWithKey.serve();
  const router = { type: "ping", name: "Router", host: "127.0.0.1", interval: 86_400 };
  const { json } = await createServerClient(server.url, machineWithKey.key)(
    "POST",
    "/api/v1/monitors",
    router,
  );
  await server.stop();
  const database = new Database(join(machineWithKey.dataDir, "signalbox.db"));
  copyMonitor(database, json.data.id, 20_000, {});
  database.close();
  await using many = await startScrapable(machineWithKey);
  for (let i = 0; i < 5; i++) expect((await many.scrape(first)).status).toBe(200);
});

test("SIGHUP reads the token again; an invalid file leaves the old one", async () => {
  const second = "second-token".repeat(4);
  const reload = async (text: string, output: RegExp) => {
    writeFileSync(box.tokenFile, text);
    const before = box.logged().length;
    box.child.kill("SIGHUP");
    await waitUntil(() => output.test(box.logged().slice(before)));
  };
  await reload(second, /settings were read again/);
  expect((await box.scrape(first)).status).toBe(401);
  expect((await box.scrape(second)).status).toBe(200);
  await reload("short", /token stays as it was.*32 to 200.*\n.*read again/);
  expect((await box.scrape(second)).status).toBe(200);
  expect((await box.scrape("short")).status).toBe(401);
  await reload(first, /settings were read again/);
  expect((await box.scrape(first)).status).toBe(200);
  const visibleTexts = [
    box.logged(),
    ...["cmdline", "environ"].map((file) => readFileSync(`/proc/${box.child.pid}/${file}`, "utf8")),
  ].join("\n");
  for (const token of [first, second, "short"]) expect(visibleTexts).not.toContain(token);
});

test.each([
  ["", /it is empty/],
  [" \n", /it is empty/],
  ["x".repeat(31), /32 to 200/],
  ["x".repeat(201), /32 to 200/],
  ["two words of thirty-two characters", /32 to 200/],
  [null, /can be read .*ENOENT/],
])("an invalid token file prevents a start: %j", async (text, reason) => {
  await using other = createMachine();
  const file = join(other.directory, "token");
  if (text !== null) writeFileSync(file, text);
  const { exitCode, stderr } = await other.run(["serve", "--port=0", "--metrics-token-file", file]);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/--metrics-token-file must name a file/);
  expect(stderr).toMatch(reason);
  if (text?.trim()) expect(stderr).not.toContain(text.trim());
});
