/** Import rules between folders and between the layers of a feature. */
import { expect, test } from "bun:test";
import { Glob } from "bun";
import { basename, dirname, join, relative } from "node:path";

/**
 * Folders of src, lowest first. A file can import from its own folder and lower folders, never from
 * higher ones.
 */
const folders = [
  "core",
  "core/outgoing",
  "database",
  "cluster",
  "events",
  "http",
  "accounts/organizations",
  "accounts/settings",
  "accounts/group-limit",
  "accounts/api-keys",
  "accounts/sessions",
  "accounts/people",
  "accounts/identity-providers",
  "accounts/identities",
  "accounts/passkeys",
  "accounts/two-factor",
  "accounts/sign-in",
  "accounts/invitations",
  "accounts/single-sign-on",
  "accounts/trusted-header",
  "incidents",
  "monitoring/dependencies",
  "monitoring/groups",
  "monitoring/uptime",
  "monitoring/jobs",
  "monitoring/monitors",
  "monitoring/maintenance",
  "monitoring/checks",
  "monitoring/checks/kinds",
  "monitoring/pings",
  "alerting/hours",
  "alerting/channels",
  "alerting",
  "alerting/providers",
  "status-pages",
  "status-pages/subscribers",
  "reports",
  "imports",
  "imports/kuma",
  "imports/gatus",
  "imports/healthchecks",
  "configuration",
  "configuration/files",
  "dashboard",
  "operations/audit-log",
  "operations/appliance",
  "operations/backups",
  "operations/deleted-records",
  "operations/retention",
  "operations/metrics",
  "operations/diagnostics",
  "mcp",
  "api.ts",
  "openapi-document.ts",
  "server.ts",
  "config.ts",
  "reload.ts",
  "parts.ts",
  "handlers.ts",
  "app.ts",
  "cli",
  "main.ts",
];
/** A list of types and the types themselves import each other. */
const together: Record<string, string> = {
  "imports/kuma": "imports",
  "imports/gatus": "imports",
  "imports/healthchecks": "imports",
  "monitoring/checks/kinds": "monitoring/checks",
  "alerting/providers": "alerting",
};

/**
 * Allowed imports of a feature's files by name. No layer between HTTP and the database is skipped.
 */
const layers: [name: RegExp, imports: RegExp][] = [
  [
    /(^|-)(schema|rules)\.ts$/,
    /^(zod|croner|rrule-temporal|.*core\/.*|.*events\/catalog\.ts|.*(\/|-)(schema|rules)\.ts)$/,
  ],
  [
    /(^|-)store\.ts$/,
    /^(drizzle-orm.*|.*database\/.*|.*core\/.*|.*events\/catalog\.ts|.*(\/|-)store\.ts|\.\/([\w-]+-)?(schema|rules)\.ts)$/,
  ],
  // A GET route can call its store. A use case can have its own file.
  [
    /(^|-)routes\.ts$/,
    /^(elysia|zod|.*core\/.*|.*http\/.*|.*(\/|-)(schema|service|store)\.ts|\.\/[\w-]+\.ts)$/,
  ],
  // Every other file, such as an engine, knows no routes.
  [/./, /^(?!.*\broutes\.ts$|.*http\/(endpoint|request-context)\.ts$)/],
];

const root = join(import.meta.dir, "..");
const files = [...new Glob("{src,web}/**/*.{ts,tsx}").scanSync(root)].sort();
const sources = files.filter((file) => file.startsWith("src/"));

/** Imports per file: our own files by path, packages by name. Type imports count, too. */
const imports = new Map(
  await Promise.all(
    files.map(async (file) => {
      const text = await Bun.file(join(root, file)).text();
      const named = text.matchAll(/^(?:import|export)\b[^;]*?\bfrom "([^"]+)"/gms);
      const awaited = text.matchAll(/\bimport\("([^"]+)"\)/g);
      const paths = [...named, ...awaited].map(([, path = ""]) => path);
      return [file, paths] as const;
    }),
  ),
);

const targetOf = (file: string, path: string) =>
  path.startsWith(".") ? relative(root, join(root, dirname(file), path)) : path;

/** The folder on the list that contains a file of src. */
function folderOf(file: string): string {
  const path = file.replace(/^src\//, "");
  const isInFolder = (folder: string) => path === folder || path.startsWith(`${folder}/`);
  return folders.filter(isInFolder).toSorted((a, b) => b.length - a.length)[0] ?? "";
}

test("every file of src is in a listed folder", () => {
  expect(sources.filter((file) => folderOf(file) === "")).toEqual([]);
});

test("no file has the name of its folder, which would not describe it", () => {
  const getStem = (file: string) => basename(file).replace(/\.tsx?$/, "");
  expect(files.filter((file) => getStem(file) === basename(dirname(file)))).toEqual([]);
});

test("every file of more than 60 lines opens with a sentence about its responsibility", async () => {
  const texts = await Promise.all(files.map((file) => Bun.file(join(root, file)).text()));
  const isSilent = (text: string) => text.split("\n").length > 61 && !/^\/\*\*|^\/\/ /.test(text);
  expect(files.filter((_, index) => isSilent(texts[index] ?? ""))).toEqual([]);
});

test("no folder imports from a higher one", () => {
  const rankOf = (file: string) => {
    const folder = folderOf(file);
    return folders.indexOf(together[folder] ?? folder);
  };
  const wrong: string[] = [];
  for (const file of sources)
    for (const path of imports.get(file) ?? []) {
      const target = targetOf(file, path);
      if (target.startsWith("src/") && rankOf(target) > rankOf(file))
        wrong.push(`${file} imports ${target}`);
      if (target.startsWith("web/")) wrong.push(`${file} imports ${target}`);
    }
  expect(wrong).toEqual([]);
});

test("there are no import cycles", () => {
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (file: string, way: readonly string[]) => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(" → "));
    if (done.has(file) || way.includes(file)) return;
    for (const path of imports.get(file) ?? []) walk(targetOf(file, path), [...way, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
  expect(circles).toEqual([]);
});

test("every file of a feature imports only from its allowed layers", () => {
  const wrong: string[] = [];
  for (const file of sources) {
    const [, allowed] = layers.find(([name]) => name.test(basename(file))) ?? [];
    if (/^(core|database|events|http|cli|\w+\.ts)\b/.test(folderOf(file))) continue;
    for (const path of imports.get(file) ?? [])
      if (!allowed?.test(path)) wrong.push(`${file} imports ${path}`);
  }
  expect(wrong).toEqual([]);
});

test("only config.ts and main.ts read the environment, only main.ts ends the process", async () => {
  const found: string[] = [];
  for (const file of sources) {
    const text = await Bun.file(join(root, file)).text();
    if (/process\.env/.test(text) && !["src/config.ts", "src/main.ts"].includes(file))
      found.push(`${file} reads process.env`);
    if (/process\.exit\b/.test(text) && file !== "src/main.ts") found.push(`${file} exits`);
  }
  expect(found).toEqual([]);
});

test("bodies of requests are read only in http/body.ts, within limits, in chunks or not", async () => {
  const reading = /\brequest\.(text|json|formData|bytes|arrayBuffer)\(/;
  const texts = await Promise.all(sources.map((file) => Bun.file(join(root, file)).text()));
  expect(sources.filter((_, index) => reading.test(texts[index] ?? ""))).toEqual([
    "src/http/body.ts",
  ]);
});

test("only database and cli know how the data is stored", async () => {
  const found: string[] = [];
  for (const file of sources)
    if (
      !/^src\/(database|cli)\//.test(file) &&
      /rqlite/i.test(await Bun.file(join(root, file)).text())
    )
      found.push(file);
  expect(found).toEqual([]);
});

test("the admin page imports schemas, rules, texts and the event catalog from the server, all else only as types", async () => {
  const may =
    /^src\/([\w/-]+[/-](schema|rules)\.ts|core\/(security\/kind-secrets|admin-languages|collections\/objects|deletable-nouns|languages|limits|text\/markdown|statuses|text\/(formatting|locale|server-texts|texts)|time\/(clock|time-zones|times))\.ts|events\/catalog\.ts)$/;
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

/** Our files that these entry points load, and their packages, without lazy imports. */
async function listLoaded(...entries: string[]) {
  const loaded = new Set(entries);
  const packages = new Set<string>();
  for (const file of loaded) {
    const loader = file.endsWith("x") ? "tsx" : "ts";
    // Macros run while bundling, and their imports are not loaded at run time.
    const text = (await Bun.file(join(root, file)).text()).replace(/^import .*"macro" \};$/gm, "");
    for (const { path, kind } of new Bun.Transpiler({ loader }).scanImports(text)) {
      if (kind !== "import-statement") continue;
      if (/^\..*\.tsx?$/.test(path)) loaded.add(targetOf(file, path));
      else if (!path.startsWith(".")) packages.add(path);
    }
  }
  return { files: [...loaded], packages: [...packages].sort() };
}

test("the first page loads no schema, because zod would increase its size by a third", async () => {
  const { files, packages } = await listLoaded("web/main.tsx");
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => file.endsWith("schema.ts"))).toEqual([]);
  expect(packages.filter((name) => name.startsWith("zod"))).toEqual([]);
});

test("the first page loads no form and no limits, which are large and needed later", async () => {
  const { files } = await listLoaded("web/main.tsx");
  const late = ["web/components/forms/form.tsx", "web/shell/sign-in.tsx", "src/core/limits.ts"];
  expect(files.filter((file) => late.includes(file))).toEqual([]);
});

test("a start loads no routes, checks or other commands, one language, and only small libraries", async () => {
  // All other modules of the two entry points are loaded by the commands that need them.
  const { files, packages } = await listLoaded(
    "src/main.ts",
    "src/cli/support/command-line.ts",
    "src/app.ts",
  );
  expect(files.length).toBeGreaterThan(200);
  const libraries = packages.filter((name) => !/^(node|bun):/.test(name));
  expect([...new Set(libraries.map((name) => name.split("/")[0]))]).toEqual([
    "commander",
    "drizzle-orm",
    "zod",
  ]);
  expect(files.filter((file) => file.endsWith("routes.ts"))).toEqual([]);
  expect(files.filter((file) => /document\.ts$|\.tsx$/.test(file))).toEqual([]);
  const lateFiles =
    /^src\/(cli\/(?!serve\.)[a-z-]+|monitoring\/checks\/kinds\/(?!push\.)[a-z-]+|status-pages\/languages\/(?!en\.)[a-z]{2}(-[a-z]{2})?)\.ts$/;
  expect(files.filter((file) => lateFiles.test(file))).toEqual([]);
});

test("the admin page reaches the server only through its typed client", async () => {
  // Exceptions: requests before the client is loaded or without it, as in the service worker, and
  // addresses outside its routes, such as health and the page itself.
  const mayFetch =
    /^web\/(service-worker|data\/(client|early-requests|connection|push-subscription|shared-streams)|pages\/wall\/upgrades)\.ts$/;
  const wrong: string[] = [];
  for (const file of new Glob("web/**/*.{ts,tsx}").scanSync(root)) {
    const text = await Bun.file(join(root, file)).text();
    if (/\b(fetch\(|XMLHttpRequest|sendBeacon)/.test(text) && !mayFetch.test(file))
      wrong.push(`${file} sends its own requests`);
    if (/["'`]\/(api|dashboard)\b/.test(text) && !mayFetch.test(file))
      wrong.push(`${file} spells out a path of the API`);
  }
  expect(wrong).toEqual([]);
});

test("components and data of the admin page import no page", async () => {
  const lower = ["web/components", "web/data"];
  expect(lower.filter((folder) => !files.some((file) => dirname(file) === folder))).toEqual([]);
  const wrong = files
    .filter((file) => lower.includes(dirname(file)))
    .flatMap((file) => (imports.get(file) ?? []).map((path) => [file, targetOf(file, path)]))
    .filter(([, target]) => /^web\/(pages|shell)\//.test(target ?? ""));
  expect(wrong).toEqual([]);
});

test("only the newest snapshot of drizzle-kit is stored", () => {
  const snapshots = [...new Glob("migrations/meta/*_snapshot.json").scanSync(root)];
  expect(snapshots).toHaveLength(1);
});
