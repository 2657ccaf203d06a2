import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { assets } from "../../src/core/assets.ts";
import { createEmptyDatabase } from "../../src/database/file/data-directory.ts";
import { binary, getFreePort, runSignalbox, waitUntilHealthy } from "../support/binary.ts";
import {
  createServerClient,
  createMachine,
  createMachineWithKey,
  expectSuccess,
} from "../support/machine.ts";

test("foreign files in the working directory and foreign variables have no effect", async () => {
  await using box = createMachine();
  const cwd = box.directory;
  let proxied = 0;
  using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(String(++proxied)),
  });
  const planted = {
    ".env": "SIGNALBOX_DATA_DIR=./elsewhere\nSIGNALBOX_RATE_LIMIT=1\n",
    ".env.production": "SIGNALBOX_DATA_DIR=./elsewhere\nSIGNALBOX_RATE_LIMIT=1\n",
    "bunfig.toml": 'preload = ["./planted.ts"]\n',
    "planted.ts": 'await Bun.write("executed", "");\nprocess.exit(9);\n',
    "tsconfig.json": "{",
    "package.json": "{",
  };
  for (const [name, text] of Object.entries(planted)) await Bun.write(join(cwd, name), text);
  const hijacking = {
    HTTP_PROXY: proxy.url.href,
    https_proxy: proxy.url.href,
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
  };
  const surroundings = { cwd, env: { ...process.env, ...hijacking, NODE_ENV: "development" } };

  const created = await runSignalbox(["orgs", "create", "Acme"], surroundings);
  expect(created).toMatchObject({ exitCode: 0, stdout: "acme\n" });
  for (const name of Object.keys(hijacking))
    expect(created.stderr).toContain(`signalbox: ignoring ${name} from the environment\n`);
  const args = ["keys", "create", "--org", "acme", "--name", "Script"];
  const key = await expectSuccess(runSignalbox(args, surroundings));
  const server = await box.serve({
    ...surroundings,
    flags: ["--data-dir", join(cwd, "signalbox-data")],
  });
  const api = createServerClient(server.url, key);
  for (let request = 0; request < 3; request++)
    expect((await api("GET", "/api/v1/incidents")).status).toBe(200);
  expect(await server.stop()).toBe(0);

  expect(readdirSync(cwd).toSorted()).toEqual(
    [...Object.keys(planted), "signalbox-data"].toSorted(),
  );
  expect(proxied).toBe(0);
});

test("the data directory and all of a running server's files are private", async () => {
  await using box = await createMachineWithKey();
  const { url } = await box.serve();
  await createServerClient(url, box.key)("POST", "/api/v1/incidents", { title: "Slow" });
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect(modeOf(box.dataDir)).toBe("700");
  const names = readdirSync(box.dataDir);
  expect(names).toContain("signalbox.db-wal");
  const modes = names.map((name) => [name, modeOf(join(box.dataDir, name))]);
  expect(modes).toEqual(names.map((name) => [name, "600"]));
});

test("every flag of serve is a variable too", async () => {
  await using box = await createMachineWithKey();
  const url = `http://127.0.0.1:${getFreePort()}`;
  const publicPort = getFreePort();
  const child = Bun.spawn([binary, "serve"], {
    cwd: box.directory,
    stdout: "ignore",
    stderr: "ignore",
    env: {
      ...process.env,
      SIGNALBOX_DATA_DIR: "data",
      SIGNALBOX_HOST: "127.0.0.1",
      SIGNALBOX_PORT: new URL(url).port,
      SIGNALBOX_PUBLIC_PORT: String(publicPort),
      SIGNALBOX_RATE_LIMIT: "1",
      SIGNALBOX_ALLOWED_HOST: "one.example, box.example",
    },
  });
  try {
    await waitUntilHealthy(url);
    expect((await fetch(`http://127.0.0.1:${publicPort}/docs`)).status).toBe(404);
    const api = createServerClient(url, box.key);
    expect((await api("GET", "/api/v1/incidents")).status).toBe(200);
    expect((await api("GET", "/api/v1/incidents")).status).toBe(429);
    const requestPageAs = async (Host: string) =>
      (await fetch(url, { headers: { Host }, redirect: "manual" })).status;
    expect([await requestPageAs("box.example"), await requestPageAs("other.example")]).toEqual([
      200, 421,
    ]);
  } finally {
    child.kill("SIGKILL");
  }
});

test("a flag wins over its variable", async () => {
  await using box = await createMachineWithKey();
  const env = { ...process.env, SIGNALBOX_PORT: "65536", SIGNALBOX_RATE_LIMIT: "1" };
  const { url } = await box.serve({ env, flags: ["--rate-limit", "2"] });
  const api = createServerClient(url, box.key);
  const statuses = [];
  for (let request = 0; request < 3; request++)
    statuses.push((await api("GET", "/api/v1/incidents")).status);
  expect(statuses).toEqual([200, 200, 429]);
});

test("the executable's database for a first start equals the result of its migrations", async () => {
  await using box = createMachine();
  await (await box.serve()).stop();
  const migrated = join(box.directory, "migrated.db");
  createEmptyDatabase(migrated, assets.migrations);
  const contentOf = (file: string) => {
    using database = new Database(file, { readonly: true });
    const rowsOf = (sql: string) => database.query(sql).values();
    return {
      application: rowsOf("PRAGMA application_id"),
      schema: rowsOf("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"),
      migrations: rowsOf("SELECT * FROM __drizzle_migrations ORDER BY id"),
      statistics: rowsOf("SELECT * FROM sqlite_stat1 ORDER BY tbl, idx"),
    };
  };
  const expected = contentOf(migrated);
  expect(expected.schema.length).toBeGreaterThan(100);
  expect(contentOf(join(box.dataDir, "signalbox.db"))).toEqual(expected);
});

test("options for the runtime in the environment are rejected by name", async () => {
  await using box = createMachine();
  const env = { ...process.env, BUN_OPTIONS: "--smol" };
  const run = await runSignalbox(["version"], { cwd: box.directory, env });
  expect([run.exitCode, run.stdout]).toEqual([2, ""]);
  expect(run.stderr).toContain("BUN_OPTIONS in the environment changes how this program runs");
});

test("libraries are compiled in as their production builds", async () => {
  const file = Buffer.from(await Bun.file(binary).bytes());
  // A warning of React, which only its development build contains.
  expect(file.includes("Each child in a list should have a unique")).toBe(false);
});
