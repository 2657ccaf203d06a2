import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeEndlessTable } from "../support/hostile-sqlite.ts";
import { copyFixture, inflateFixture } from "../support/kuma-fixtures.ts";
import type { Json } from "../support/json.ts";
import { createMachine, expectSuccess } from "../support/machine.ts";

type Page = (
  method: string,
  path: string,
  body?: object | Uint8Array<ArrayBuffer>,
) => Promise<{ status: number; json: Json }>;

/** An owner's requests to a server. */
async function signInOwner(box: ReturnType<typeof createMachine>, url: string): Promise<Page> {
  await expectSuccess(box.run(["orgs", "create", "Acme"]));
  const email = "ada@acme.example";
  const created = ["users", "create", "--org", "acme", "--email", email, "--name", "Ada"];
  const password = await expectSuccess(box.run(created));
  let cookie = "";
  const page: Page = async (method, path, body) => {
    const isFile = body instanceof Uint8Array;
    const type = isFile ? "application/octet-stream" : "application/json";
    const response = await fetch(`${url}/dashboard${path}`, {
      method,
      headers: { Origin: url, Cookie: cookie, ...(body && { "Content-Type": type }) },
      ...(body && { body: isFile ? body : JSON.stringify(body) }),
    });
    cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    return { status: response.status, json: await response.json() };
  };
  expect((await page("POST", "/sign-in", { email, password })).status).toBe(200);
  return page;
}

async function upload(page: Page, file: string): Promise<string> {
  const bytes = new Uint8Array(readFileSync(file));
  const { json } = await page("POST", "/imports/uploads", { name: "kuma.db", size: bytes.length });
  const part = 200_000;
  for (let offset = 0; offset < bytes.length; offset += part)
    await page(
      "PUT",
      `/imports/uploads/${json.data.id}?offset=${offset}`,
      bytes.slice(offset, offset + part),
    );
  return json.data.id;
}

const readMemory = (pid: number) =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1_024;

describe("files from strangers", () => {
  test("are read in a child process: the server continues with any file", async () => {
    await using box = createMachine();
    const server = await box.serve();
    const page = await signInOwner(box, server.url);
    const copyWithEndlessTable = (table: string) => {
      const file = copyFixture("kuma-2-acme.db", box.directory);
      writeEndlessTable(file, table, { levels: 5, rows: 300 });
      return file;
    };
    const files: [() => string, RegExp][] = [
      [
        () => copyWithEndlessTable("tag"),
        /^kuma\.db can't be imported: it has more than 10,000 records/,
      ],
      [() => copyWithEndlessTable("monitor_group"), /has more than 200,000 rows/],
    ];
    for (const [make, why] of files) {
      const id = await upload(page, make());
      const source = { source: "uptime-kuma" };
      let isDone = false;
      const preview = page("POST", `/imports/uploads/${id}/preview`, source);
      void preview.finally(() => (isDone = true));
      let answered = 0;
      while (!isDone) {
        expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
        answered++;
        await Bun.sleep(20);
      }
      const { status, json } = await preview;
      expect([status, json.error.message]).toEqual([400, expect.stringMatching(why)]);
      expect(answered).toBeGreaterThan(1);
    }
    if (existsSync("/proc/self/status"))
      expect(readMemory(server.child.pid)).toBeLessThan(400 * 1_024 ** 2);
  });

  test("are imported by upload and by the command line, and leave nothing behind", async () => {
    await using box = createMachine();
    const server = await box.serve();
    const page = await signInOwner(box, server.url);
    const id = await upload(page, inflateFixture("kuma-2-acme.db"));
    const source = "uptime-kuma";
    const preview = await page("POST", `/imports/uploads/${id}/preview`, { source });
    expect([preview.status, preview.json.data?.items.length > 80]).toEqual([200, true]);
    const run = await page("POST", `/imports/uploads/${id}/import`, { source, paused: true });
    expect([run.status, run.json.data?.status]).toEqual([200, "done"]);
    const command = [
      "import",
      "uptime-kuma",
      inflateFixture("kuma-2-acme.db"),
      "--org",
      "acme",
      "--json",
    ];
    const again = JSON.parse(await expectSuccess(box.run(command)));
    expect(again.history).toEqual({ heartbeats: 0, hours: 0, days: 0 });
    const decisions = new Set<string>(
      again.items.map(({ decision }: { decision: string }) => decision),
    );
    expect([...decisions].toSorted()).toEqual(["not-taken", "unchanged", "updated"]);
    const yaml = join(box.directory, "gatus.yaml");
    writeFileSync(yaml, "endpoints: [{ name: one, url: 'http://one.example', conditions: [] }]\n");
    await expectSuccess(box.run(["import", "gatus", yaml, "--org", "acme"]));
    const left = readdirSync(box.dataDir).filter((name) => name.startsWith("import-"));
    expect([left, readdirSync(join(box.dataDir, "uploads"))]).toEqual([[], []]);
  });

  test("that are missing are named", async () => {
    await using box = createMachine();
    await expectSuccess(box.run(["orgs", "create", "Acme"]));
    const missing = join(box.directory, "nowhere.db");
    const { exitCode, stderr } = await box.run(["import", "uptime-kuma", missing, "--org", "acme"]);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining("is not a file or folder here"),
    ]);
  });
});
