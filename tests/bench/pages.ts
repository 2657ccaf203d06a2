import { Database } from "bun:sqlite";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { createServerClient, createMachineWithKey, type ServerClient } from "../support/machine.ts";
import { countResults } from "./heartbeats.ts";
import { computeQuantile } from "./process.ts";

const rounds = 3;

/** Measures a public page under load against the same bytes from a bare Bun.serve route, with queries, and a large page. */
export async function benchPages() {
  const wrk = Bun.which("wrk");
  if (wrk === null) throw new Error("This suite needs wrk (Debian: apt-get install wrk).");
  console.log(`pages: medians of ${rounds} rounds, product and baseline in turn\n`);
  for (const [count, goal] of [
    [20, "goal ≥ 25,000, ≥ 60 %"],
    [1_000, "goal ≥ 5,000"],
  ] as const) {
    const found = await measure(count, wrk);
    console.log(
      `${count} monitors, 90 days, ${(found.bytes / 1000).toFixed(0)} kB (${(found.brotli / 1000).toFixed(0)} kB as br): ` +
        `${Math.round(found.page)} req/s as it is${count === 20 ? "" : `, ${Math.round(found.compressed)} as br`} (${goal}), ` +
        `${((found.page / found.baseline) * 100).toFixed(0)} % of a static route's ${Math.round(found.baseline)}; ` +
        `random queries ${(found.random * 100).toFixed(0)} % of one and the same (goal > 90 %); ` +
        `a new incident is seen after ${found.seen50.toFixed(0)} ms, ${found.seenMost.toFixed(0)} at most, under this load (goal ≤ 1,000)`,
    );
  }
  await measureLanguages(wrk);
  const [quiet, busy] = [await measureCheckGaps(wrk, false), await measureCheckGaps(wrk, true)];
  console.log(
    `500 monitors every 5 s on a page that 32 clients ask for all the time: gap p99 of checks ${busy.gap99} ms, ` +
      `${busy.gapMax} at most, ${busy.failed} failed; without that ${quiet.gap99} and ${quiet.gapMax}`,
  );
}

/** Measures a page in three languages, chosen by header and by query, against static routes with the same bytes. */
export async function benchPageLanguages() {
  const wrk = Bun.which("wrk");
  if (wrk === null) throw new Error("This suite needs wrk (Debian: apt-get install wrk).");
  await measureLanguages(wrk);
}

const languages = ["en", "de", "fr"];
/** Slices of a second, because the load of a shared machine changes within seconds. */
const languageSlices = 15;

async function measureLanguages(wrk: string) {
  await using box = await createMachineWithKey();
  const server = await box.serve({ flags: ["--rate-limit", "0"] });
  const api = createServerClient(server.url, box.key);
  await publish(api, join(box.dataDir, "signalbox.db"), 20);
  const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
  const [language, ...others] = languages;
  await api("PATCH", `/api/v1/status-pages/${page.id}`, { language, languages: others });
  const url = `${server.url}/status/acme`;
  const copies = new Map<string, string>();
  for (const tag of languages) {
    const copy = join(box.directory, `${tag}.html`);
    await Bun.write(copy, await (await fetch(`${url}?lang=${tag}`)).bytes());
    copies.set(`/status/acme/${tag}`, copy);
  }
  const writeScript = async (name: string, path: string) => {
    const file = join(box.directory, `${name}.lua`);
    await Bun.write(file, buildLanguagesScript(path));
    return file;
  };
  const script = await writeScript("page", "wrk.path");
  const fixedScript = await writeScript("fixed", 'wrk.path .. "/" .. tag');
  const baseline = Bun.spawn([process.execPath, "-e", buildBaselineCode(copies)], {
    stdout: "pipe",
  });
  try {
    const baselineUrl = await readFirstLine(baseline.stdout);
    const [product, fixed]: [number[], number[]] = [[], []];
    for (let slice = 0; slice < languageSlices; slice++) {
      product.push(await measureRequestsPerSecond(wrk, ["-d1", "-s", script, url]));
      fixed.push(await measureRequestsPerSecond(wrk, ["-d1", "-s", fixedScript, baselineUrl]));
    }
    const ratios = product.map((count, slice) => count / (fixed[slice] ?? NaN));
    const seen = await measureFreshness(wrk, url, api, ["-s", script], languages);
    const [count, usual] = [computeQuantile(product, 0.5), computeQuantile(fixed, 0.5)];
    console.log(
      `20 monitors in ${languages.length} languages, by Accept-Language and ?lang=: ${Math.round(count)} req/s, ` +
        `${(computeQuantile(ratios, 0.5) * 100).toFixed(0)} % of ${Math.round(usual)} of static routes with the same bytes (goal ≥ 85 %); ` +
        `a new incident is seen in every language after ${computeQuantile(seen, 0.5).toFixed(0)} ms, ` +
        `${Math.max(...seen).toFixed(0)} at most, under this load (goal ≤ 300)`,
    );
  } finally {
    baseline.kill();
  }
}

/** Requests in turn: each language by header, then each by query. `path` is an expression of Lua. */
const buildLanguagesScript = (
  path: string,
) => `local tags = { ${languages.map((tag) => `"${tag}"`).join(", ")} }
  local made, turn = {}, 0
  init = function()
    for _, tag in ipairs(tags) do
      local path = ${path}
      made[#made + 1] = wrk.format("GET", path, { ["Accept-Encoding"] = "identity", ["Accept-Language"] = tag .. ";q=0.9, *;q=0.1" })
      made[#made + 1] = wrk.format("GET", path .. "?lang=" .. tag, { ["Accept-Encoding"] = "identity" })
    end
  end
  request = function() turn = turn % #made + 1 return made[turn] end`;

/** Gaps between checks of 500 monitors every 5 s, with and without load on their page. */
async function measureCheckGaps(wrk: string, isLooked: boolean) {
  const interval = 5;
  using target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("fine") });
  await using box = await createMachineWithKey();
  const server = await box.serve({ flags: ["--rate-limit", "0"] });
  const api = createServerClient(server.url, box.key);
  const monitors: { id: string; name: null }[] = [];
  for (let number = 0; number < 500; number++) {
    const body = { type: "http", name: `Service ${number}`, url: `${target.url.href}ok`, interval };
    monitors.push({ id: (await api("POST", "/api/v1/monitors", body)).json.data.id, name: null });
  }
  const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
  const sections = [{ name: "Services", groupId: null, monitors }];
  await api("PATCH", `/api/v1/status-pages/${page.id}`, { sections });
  await Bun.sleep(2 * interval * 1_000);
  const from = Date.now();
  const args = ["-t1", "-c32", "-d25", "-H", "Accept-Encoding: br", `${server.url}/status/acme`];
  const load = isLooked ? Bun.spawn([wrk, ...args], { stdout: "ignore" }) : null;
  await Bun.sleep(25_000);
  load?.kill();
  await server.stop();
  return countResults(join(box.dataDir, "signalbox.db"), from, interval);
}

async function measure(count: number, wrk: string) {
  await using box = await createMachineWithKey();
  const server = await box.serve({ flags: ["--rate-limit", "0"] });
  const api = createServerClient(server.url, box.key);
  await publish(api, join(box.dataDir, "signalbox.db"), count);
  const url = `${server.url}/status/acme`;
  const plain = await (await fetch(url, { headers: { "Accept-Encoding": "identity" } })).bytes();
  const packed = await fetch(url, { headers: { "Accept-Encoding": "br" }, decompress: false });
  const brotli = await packed.bytes();
  if (brotliDecompressSync(brotli).length !== plain.length) throw new Error("The br page differs.");
  const copy = join(box.directory, "page.html");
  await Bun.write(copy, plain);
  const baselineCode = buildBaselineCode(new Map([["/status/acme", copy]]));
  const baseline = Bun.spawn([process.execPath, "-e", baselineCode], { stdout: "pipe" });
  const baselineUrl = await readFirstLine(baseline.stdout);
  // Building a request costs wrk the same in both.
  const readScript = async (name: string, query: string) => {
    const file = join(box.directory, `${name}.lua`);
    const text = `local any = tostring(math.random(1e8, 1e9)) return wrk.format("GET", "/status/acme?" .. ${query})`;
    await Bun.write(file, `request = function() ${text} end`);
    return file;
  };
  const [one, any] = [await readScript("one", '"123456789"'), await readScript("any", "any")];
  try {
    const all = { page: [], baseline: [], one: [], any: [], compressed: [] } as Record<
      string,
      number[]
    >;
    for (let round = 0; round < rounds; round++) {
      all["page"]?.push(await measureRequestsPerSecond(wrk, [url]));
      all["baseline"]?.push(await measureRequestsPerSecond(wrk, [baselineUrl]));
      all["one"]?.push(await measureRequestsPerSecond(wrk, ["-s", one, url]));
      all["any"]?.push(await measureRequestsPerSecond(wrk, ["-s", any, url]));
      all["compressed"]?.push(
        await measureRequestsPerSecond(wrk, ["-H", "Accept-Encoding: br", url]),
      );
    }
    const seen = await measureFreshness(wrk, url, api);
    const getMedian = (name: string) => computeQuantile(all[name] ?? [], 0.5);
    return {
      bytes: plain.length,
      brotli: brotli.length,
      page: getMedian("page"),
      baseline: getMedian("baseline"),
      random: getMedian("any") / getMedian("one"),
      compressed: getMedian("compressed"),
      seen50: computeQuantile(seen, 0.5),
      seenMost: Math.max(...seen),
    };
  } finally {
    baseline.kill();
  }
}

/** Milliseconds from an incident's 201 until the page shows it, under constant load. */
async function measureFreshness(
  wrk: string,
  url: string,
  api: ServerClient,
  more: readonly string[] = [],
  tags: readonly string[] = ["en"],
): Promise<number[]> {
  const args = ["-t1", "-c32", "-d10", "-H", "Accept-Encoding: br", ...more, url];
  const load = Bun.spawn([wrk, ...args], { stdout: "ignore" });
  const times: number[] = [];
  for (let number = 0; number < 5; number++) {
    await Bun.sleep(1_300);
    const title = `Incident number ${number}`;
    await api("POST", "/api/v1/incidents", { title });
    const openedAt = performance.now();
    for (const tag of tags)
      while (!(await (await fetch(`${url}?lang=${tag}`)).text()).includes(title))
        await Bun.sleep(5);
    times.push(performance.now() - openedAt);
  }
  load.kill();
  return times;
}

async function measureRequestsPerSecond(wrk: string, args: readonly string[]): Promise<number> {
  const run = Bun.spawn([wrk, "-t1", "-c32", "-d4", ...args], { stdout: "pipe" });
  const text = await new Response(run.stdout).text();
  if (/Non-2xx/.test(text)) throw new Error(text);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
}

/** The bytes of files from static routes of Bun.serve, the fastest possible response. */
function buildBaselineCode(files: ReadonlyMap<string, string>): string {
  return `const headers = { "Content-Type": "text/html; charset=utf-8" };
    const routes = {};
    for (const [path, file] of ${JSON.stringify([...files])})
      routes[path] = new Response(await Bun.file(file).bytes(), { headers });
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", routes, fetch: () => new Response() });
    console.log(server.url + "status/acme");`;
}

async function readFirstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const { value } = await stream.getReader().read();
  return new TextDecoder().decode(value).trim();
}

/** Puts a number of monitors with 90 days of results on the default page. */
async function publish(api: ServerClient, file: string, count: number) {
  const ids: string[] = [];
  for (let number = 0; number < count; number++) {
    const body = { type: "push", name: `Service ${number}`, interval: 86_400 };
    ids.push((await api("POST", "/api/v1/monitors", body)).json.data.id);
  }
  const database = new Database(file);
  const day = database.query(
    `INSERT INTO uptime_days (day, monitor_key, up_seconds, degraded_seconds, down_seconds,
       unknown_seconds, maintenance_seconds, latency_count, latency_sum)
     SELECT ?, key, ?, 0, ?, 0, 0, 1440, 60000 FROM monitor_states WHERE monitor_id = ?`,
  );
  const today = Math.floor(Date.now() / 86_400_000);
  database.transaction(() => {
    for (const [index, id] of ids.entries())
      for (let back = 0; back < 90; back++) {
        const down = (back * 7 + index * 13) % 29 === 3 ? 60 * ((index + back) % 50) : 0;
        day.run(today - back, 86_400 - down, down, id);
      }
    database.run("UPDATE monitor_states SET status = 'up'");
  })();
  database.close();
  const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
  const monitors = ids.map((id) => ({ id, name: null }));
  const sections = [{ name: "Services", groupId: null, monitors }];
  const { status } = await api("PATCH", `/api/v1/status-pages/${page.id}`, { sections });
  if (status !== 200) throw new Error(`The page could not be filled: ${status}`);
}
