import { expect, test } from "bun:test";
import { Glob } from "bun";
import { dirname, join, relative } from "node:path";

/**
 * The rooms of src, lowest first. A file may import from its own room, from rooms below it and from
 * nothing above: whoever knows two rooms knows which way the arrow between them points.
 */
const rooms = [
  "assets.ts",
  "base",
  "database",
  "events",
  "outgoing",
  "audit",
  "http",
  "organizations",
  "settings",
  "api-keys",
  "sessions",
  "people",
  "two-factor",
  "sign-in",
  "invitations",
  "audit-log",
  "about",
  "backups",
  "appliance",
  "alert-channels",
  "monitor-groups",
  "uptime",
  "monitors",
  "incidents",
  "maintenance",
  "alerting",
  "checks",
  "status-pages",
  "subscribers",
  "dashboard",
  "metrics.ts",
  "api.ts",
  "server.ts",
  "config.ts",
  "app.ts",
  "cli",
  "main.ts",
];

/** What a file of this name in a feature folder may import: the road from the wire to the disk has no shortcuts. */
const inFeature: Record<string, RegExp> = {
  "schema.ts": /^(zod|.*base\/.*|.*\/schema\.ts)$/,
  "rules.ts": /^(zod|.*base\/.*|.*\/schema\.ts)$/,
  "store.ts": /^(drizzle-orm.*|.*database\/.*|.*base\/.*|.*\/store\.ts|\.\/(schema|rules)\.ts)$/,
  "routes.ts": /^(elysia|zod|.*base\/.*|.*http\/.*|.*\/schema\.ts|\.\/service\.ts)$/,
};

const root = join(import.meta.dir, "..");
const files = [...new Glob("src/**/*.ts").scanSync(root)].sort();
const transpiler = new Bun.Transpiler({ loader: "ts" });

async function importsOf(file: string): Promise<string[]> {
  const text = await Bun.file(join(root, file)).text();
  // Type-only imports vanish in compilation, yet they are knowledge, too.
  const types = [...text.matchAll(/^import type [^;]*? from "([^"]+)"/gms)].map(([, path]) => path);
  return [...transpiler.scanImports(text).map(({ path }) => path), ...types] as string[];
}

const roomOf = (file: string) => file.split("/")[1] ?? "";

test("every file of src stands in a room that is on the list", () => {
  expect(files.map(roomOf).filter((room) => !rooms.includes(room))).toEqual([]);
});

test("no room imports from a higher one", async () => {
  const wrong: string[] = [];
  for (const file of files)
    for (const path of await importsOf(file)) {
      if (!path.startsWith(".")) continue;
      const target = relative(root, join(root, dirname(file), path));
      if (!target.startsWith("src/")) continue;
      if (rooms.indexOf(roomOf(target)) > rooms.indexOf(roomOf(file)))
        wrong.push(`${file} imports ${target}`);
    }
  expect(wrong).toEqual([]);
});

test("the five files of a feature import only what their kind may", async () => {
  const wrong: string[] = [];
  for (const file of files) {
    const may = inFeature[file.split("/")[2] ?? ""];
    if (may === undefined || ["base", "database", "http"].includes(roomOf(file))) continue;
    for (const path of await importsOf(file))
      if (!may.test(path)) wrong.push(`${file} imports ${path}`);
  }
  expect(wrong).toEqual([]);
});

test("base imports nothing of ours", async () => {
  const wrong: string[] = [];
  for (const file of files.filter((file) => roomOf(file) === "base"))
    for (const path of await importsOf(file))
      if (path.startsWith("../")) wrong.push(`${file} imports ${path}`);
  expect(wrong).toEqual([]);
});

test("only config.ts and main.ts read the environment, only main.ts ends the process", async () => {
  const found: string[] = [];
  for (const file of files) {
    const text = await Bun.file(join(root, file)).text();
    if (/process\.env/.test(text) && !["src/config.ts", "src/main.ts"].includes(file))
      found.push(`${file} reads process.env`);
    if (/process\.exit\b/.test(text) && file !== "src/main.ts") found.push(`${file} exits`);
  }
  expect(found).toEqual([]);
});

test("the admin page takes schemas, rules and words from the server, all else only as types", async () => {
  const may = /^src\/([\w-]+\/(schema|rules)\.ts|base\/(kind-secrets|text|time-zones)\.ts)$/;
  const wrong: string[] = [];
  for (const file of new Glob("web/**/*.{ts,tsx}").scanSync(root)) {
    const text = await Bun.file(join(root, file)).text();
    const loader = file.endsWith("x") ? "tsx" : "ts";
    for (const { path } of new Bun.Transpiler({ loader }).scanImports(text)) {
      const target = relative(root, join(root, dirname(file), path));
      if (path.startsWith(".") && target.startsWith("src/") && !may.test(target))
        wrong.push(`${file} imports ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("the first page loads no schema: the library that reads them is as large as a third of it", async () => {
  const seen = new Set(["web/main.tsx"]);
  for (const file of seen) {
    const loader = file.endsWith("x") ? "tsx" : "ts";
    const text = await Bun.file(join(root, file)).text();
    for (const { path, kind } of new Bun.Transpiler({ loader }).scanImports(text)) {
      if (kind !== "import-statement" || !/^\..*\.tsx?$/.test(path)) continue;
      seen.add(relative(root, join(root, dirname(file), path)));
    }
  }
  expect(seen.size).toBeGreaterThan(20);
  expect([...seen].filter((file) => file.endsWith("schema.ts"))).toEqual([]);
});

test("parts and data of the admin page know no page", async () => {
  const wrong: string[] = [];
  for (const file of new Glob("web/{parts,data}/**/*.{ts,tsx}").scanSync(root)) {
    const text = await Bun.file(join(root, file)).text();
    if (/from "\.\.\/(pages|shell)\//.test(text)) wrong.push(file);
  }
  expect(wrong).toEqual([]);
});

test("long files are named, so that somebody asks whether each still holds one idea", async () => {
  for (const file of [...files, ...new Glob("{tests,web}/**/*.{ts,tsx}").scanSync(root)]) {
    const lines = (await Bun.file(join(root, file)).text()).split("\n").length;
    // One place to read every table, from top to bottom.
    if (file !== "src/database/tables.ts" && lines > 400) console.warn(`${file}: ${lines} lines`);
  }
});
