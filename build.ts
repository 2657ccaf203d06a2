/**
 * Builds the files for browsers and the executables into `dist/`. With `--watch`, serves from the
 * sources and rebuilds on changes.
 */
import { watch } from "node:fs";
import { cp, mkdir, readdir, rm } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { createConfigSchema } from "./src/configuration/document.ts";
import { prebuildEmptyDatabase } from "./src/database/file/data-directory.ts";
import { adminLanguages, type AdminLanguage, nameAdminPage } from "./src/core/admin-languages.ts";
import { buildDocument } from "./src/openapi-document.ts";
import { auditPackages } from "./release/audit.ts";
import { readBuildSource } from "./release/commit.ts";
import { type Architecture, downloadPackages } from "./release/debian.ts";
import { renderFormula } from "./release/formula.ts";
import { writeImage } from "./release/image.ts";
import { buildDeb, buildRpm } from "./release/linux-packages.ts";
import { buildBillOfMaterials, renderLicenses, listShippedPackages } from "./release/packages.ts";
import { type FindText, loadDictionary, translateSource } from "./release/page-texts.ts";
import { sign } from "./release/sign.ts";
import manifest from "./package.json" with { type: "json" };

const targets = {
  "bun-linux-x64": "signalbox-linux-x64",
  "bun-linux-arm64": "signalbox-linux-arm64",
  "bun-linux-x64-musl": "signalbox-linux-x64-musl",
  "bun-linux-arm64-musl": "signalbox-linux-arm64-musl",
  "bun-darwin-x64": "signalbox-macos-x64",
  "bun-darwin-arm64": "signalbox-macos-arm64",
  "bun-windows-x64": "signalbox-windows-x64.exe",
} as const;

/** Targets of images and packages. */
const linux = { amd64: "bun-linux-x64", arm64: "bun-linux-arm64" } as const;
const architectures: readonly Architecture[] = ["amd64", "arm64"];

/**
 * Leaves out the compiler of JSON Schemas in the MCP library, which is three quarters of it. `src/mcp/server.ts`
 * replaces it, because it only checks what a server asks of a client.
 */
const withoutSchemaCompiler: Bun.BunPlugin = {
  name: "without-schema-compiler",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]validation[\\/]ajv-provider\.js$/ }, () => ({
      contents: "export class AjvJsonSchemaValidator {}",
      loader: "js",
    }));
  },
};

/**
 * Leaves out TypeBox, with which Elysia validates requests. `endpoint()` validates them instead. These are the names that
 * Elysia imports; only functions that it calls without a schema exist.
 */
const withoutTypeBox: Bun.BunPlugin = {
  name: "without-typebox",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]@sinclair[\\/]typebox[\\/].+\.mjs$/ }, () => ({
      contents: `
        export const Kind = Symbol("Kind"), OptionalKind = Symbol("Optional"), TransformKind = Symbol("Transform");
        export const TypeRegistry = new Map(), FormatRegistry = TypeRegistry;
        TypeRegistry.Has = () => true;
        const create = () => ({});
        export const Type = {
          Any: create, Array: create, Boolean: create, Module: create, Number: create, Object: create,
        };
        export class TypeBoxError extends Error {}
        export class TransformDecodeError extends TypeBoxError {}
        export const Unsafe = undefined, TypeCheck = undefined, TypeCompiler = undefined, Value = undefined;
        export const TypeSystem = undefined, TypeSystemPolicy = undefined;
        export const TypeSystemDuplicateFormat = undefined, TypeSystemDuplicateTypeKind = undefined;`,
      loader: "js",
    }));
  },
};

/** Leaves out the streaming renderer of React. Pages are rendered to a string by the other one. */
const withoutStreamingReact: Bun.BunPlugin = {
  name: "without-streaming-react",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]react-dom[\\/]server\.bun\.js$/ }, () => ({
      contents: `module.exports = require("./cjs/react-dom-server-legacy.browser.production.js")`,
      loader: "js",
    }));
  },
};

/**
 * Makes a chunk of its own of each module that our code requires instead of imports, so that it is loaded with its first
 * use. Collects these modules by the name of their chunk.
 */
const createRequirePlugin = (required: Map<string, string>): Bun.BunPlugin => ({
  name: "required-apart",
  setup(builder) {
    builder.onResolve({ filter: /./ }, ({ path, importer, kind }) => {
      if (kind !== "require-call" || importer.includes("node_modules")) return undefined;
      const file = Bun.resolveSync(path, dirname(importer));
      const hash = Bun.hash(relative(import.meta.dir, file)).toString(36);
      const name = `required-${basename(path, ".ts")}-${hash}.js`;
      required.set(name, file);
      return { path: `./${name}`, external: true };
    });
  },
});

/** Leaves imports between chunks as they are. */
const keepingChunks: Bun.BunPlugin = {
  name: "keeping-chunks",
  setup(builder) {
    builder.onResolve({ filter: /^(\.\/|compressed:)/ }, ({ path, importer }) =>
      importer === "" ? undefined : { path, external: true },
    );
  },
};

/** Puts the texts of the admin page into its code, in place of the functions that name them. */
const createTextPlugin = (find: FindText): Bun.BunPlugin => ({
  name: "with-texts",
  setup(builder) {
    builder.onLoad({ filter: /[\\/](src|web)[\\/].*\.tsx?$/ }, async ({ path }) => ({
      contents: translateSource(path, await Bun.file(path).text(), find),
      loader: path.endsWith("x") ? "tsx" : "ts",
    }));
  },
});

const built = readBuildSource();
/** Compresses 3 % better than zlib. */
const smallest = { level: 12, library: "libdeflate" } as const;
const has = (flag: string) => process.argv.includes(flag);
/** Folder of the files for browsers before compression. */
const plain = "dist/plain";
/** Folder of the chunks of the executable. */
const code = "dist/code";
/** Modules that a start of the server and its first request load, together with what they import. */
const startModules = [
  "src/main.ts",
  "src/cli/support/command-line.ts",
  "src/app.ts",
  "src/handlers.ts",
];

if (has("--watch")) await serveAndWatch();
else if (has("--page")) await buildPage();
else await buildAll();

/**
 * Builds the executable for this machine. `--all` builds executables for all systems, `--image` container images,
 * `--packages` packages for Debian and RPM. These builds, also combined, end with checksums and a signature.
 */
async function buildAll() {
  // Screenshots are not removed, because rendering them takes hours.
  for (const name of await readdir("dist").catch(() => []))
    if (name !== "screenshots") await rm(`dist/${name}`, { recursive: true, force: true });
  await buildWeb();
  // Snapshots are left out: only drizzle-kit needs them, and they are larger than all migrations.
  await cp("migrations", "dist/migrations", {
    recursive: true,
    filter: (path) => !path.endsWith("_snapshot.json"),
  });
  prebuildEmptyDatabase("dist/migrations");
  const packages = listShippedPackages();
  const licenses = renderLicenses(packages);
  await Bun.write("dist/legal/licenses.txt.zst", Bun.zstdCompressSync(licenses));
  await Bun.write("dist/signalbox.cdx.json", buildBillOfMaterials(packages, built.builtAt));
  if (has("--all") || has("--image") || has("--packages")) await buildRelease(packages, licenses);
  else
    await compile(
      await bundle(),
      process.platform === "win32" ? "dist/signalbox.exe" : "dist/signalbox",
    );
  await rm(code, { recursive: true });
}

async function buildRelease(packages: ReturnType<typeof listShippedPackages>, licenses: string) {
  const { state, output } = await auditPackages();
  if (state === "vulnerable") throw new Error(output);
  if (state === "skipped") console.warn(`NOT AUDITED: no response from the registry: ${output}`);
  const needed = has("--all") ? keysOf(targets) : Object.values(linux);
  const chunks = await bundle();
  for (const target of needed) await compile(chunks, `dist/${targets[target]}`, target);
  const files = [...needed.map((target) => targets[target] as string), "signalbox.cdx.json"];
  if (has("--image")) files.push(...(await writeImages(packages)));
  if (has("--packages")) files.push(...(await writePackages(licenses)));
  const hashes = await hashFiles(files);
  if (has("--all")) {
    const base = process.env["SIGNALBOX_RELEASE_URL"];
    if (base === undefined)
      console.warn("NO FORMULA: SIGNALBOX_RELEASE_URL names no address of the release.");
    else
      await Bun.write(
        "dist/signalbox.rb",
        renderFormula(base, (name) => hashes.get(name) ?? throwMissing(name)),
      );
  }
  const lines = [...hashes].map(([name, hash]) => `${hash}  ${name}\n`);
  await Bun.write("dist/SHA256SUMS", lines.join(""));
  sign("dist/SHA256SUMS", process.env["SIGNALBOX_SIGNING_KEY"]);
}

const keysOf = <T extends string>(record: Record<T, unknown>) => Object.keys(record) as T[];

function throwMissing(name: string): never {
  throw new Error(`The release has no ${name}.`);
}

/** Writes a container image per architecture. Returns their file names. */
async function writeImages(packages: ReturnType<typeof listShippedPackages>): Promise<string[]> {
  const names: string[] = [];
  for (const architecture of architectures) {
    const { root, versions } = downloadPackages(`dist/debian-${architecture}`, architecture);
    const name = `signalbox-image-${architecture}.tar`;
    await writeImage(`dist/${name}`, {
      ...built,
      architecture,
      executable: `dist/${targets[linux[architecture]]}`,
      debian: root,
      bill: buildBillOfMaterials(packages, built.builtAt, { architecture, versions }),
      level: 12,
    });
    await rm(`dist/debian-${architecture}`, { recursive: true });
    reportSize(name);
    names.push(name);
  }
  return names;
}

/** Writes a package of each format per architecture. Returns their file names. */
async function writePackages(licenses: string): Promise<string[]> {
  process.umask(0o022);
  const names: string[] = [];
  const formats = { deb: buildDeb, rpm: buildRpm };
  for (const architecture of architectures)
    for (const [format, buildPackage] of Object.entries(formats)) {
      const name = `signalbox_${manifest.version}_${architecture}.${format}`;
      const folder = "dist/package";
      await mkdir(folder, { recursive: true });
      const executable = `dist/${targets[linux[architecture]]}`;
      const { builtAt } = built;
      buildPackage(`dist/${name}`, { architecture, executable, licenses, builtAt, folder });
      await rm(folder, { recursive: true });
      reportSize(name);
      names.push(name);
    }
  return names;
}

/** Builds only the files for browsers into `dist/web`, quickly compressed. `bun run dev` serves them. */
async function buildPage() {
  await rm("dist/web", { recursive: true, force: true });
  await buildWeb({ isQuick: true });
}

/**
 * Serves from the sources, with the options after `--watch`. A change in `src`, `web` or
 * `migrations` rebuilds and restarts.
 */
async function serveAndWatch() {
  const args = process.argv.slice(process.argv.indexOf("--watch") + 1);
  const bun = (...command: string[]) =>
    Bun.spawn([process.execPath, ...command], { stdio: ["inherit", "inherit", "inherit"] });
  let server: Bun.Subprocess | undefined;
  const stop = async () => {
    server?.kill();
    await server?.exited;
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => void stop().then(() => process.exit(0)));
  const changes = watchFolders(["src", "web", "migrations"]);
  for (;;) {
    const isBuilt = (await bun("build.ts", "--page").exited) === 0;
    await stop();
    server = isBuilt ? bun("src/main.ts", "serve", ...args) : undefined;
    await changes.next();
  }
}

/** Watches folders. `next` resolves after the next change, once nothing has changed for 100 ms. */
function watchFolders(folders: readonly string[]) {
  let changed = Promise.withResolvers<void>();
  let timer: Timer | undefined;
  const onChange = () => {
    clearTimeout(timer);
    timer = setTimeout(() => changed.resolve(), 100);
  };
  for (const folder of folders) watch(folder, { recursive: true }, onChange);
  return {
    async next() {
      await changed.promise;
      changed = Promise.withResolvers();
    },
  };
}

/** Builds all files for browsers into `dist/web`, compressed with gzip. Names of files in `assets` contain a hash. */
async function buildWeb({ isQuick = false } = {}) {
  const fonts = await addFonts();
  const icon = await addAsset("mark.svg", Bun.file("web/mark.svg"));
  const maskable = await addAsset("maskable-512.png", Bun.file("web/icons/maskable-512.png"));
  await buildAdmin(fonts, icon, maskable);
  await buildApplication(icon, maskable);
  await buildReference(fonts, icon);
  await buildHttpsRecipe(icon);
  await addAsset("public/status.js", Bun.file("web/status/status.js"));
  await addAsset("public/copy.js", Bun.file("web/status/copy.js"));
  await addAsset("public/status.css", await buildStatusStyles(fonts));
  await Bun.write(`${plain}/openapi.json`, JSON.stringify(buildDocument(manifest.version)));
  await Bun.write(`${plain}/config.schema.json`, JSON.stringify(createConfigSchema()));
  for (const name of await readdir(plain, { recursive: true })) {
    const file = Bun.file(`${plain}/${name}`);
    if ((await file.stat()).isDirectory()) continue;
    const gzipped = Bun.gzipSync(await file.bytes(), isQuick ? { level: 1 } : smallest);
    await Bun.write(`dist/web/${name}`, gzipped);
  }
  await rm(plain, { recursive: true });
}

/** Writes a file into `assets`, with a hash of its content in the name. Returns its URL path. */
async function addAsset(name: string, content: Blob | string): Promise<string> {
  const bytes = await new Blob([content]).bytes();
  const hashed = name.replace(/(?=\.\w+$)/, `-${Bun.hash(bytes).toString(36)}`);
  await Bun.write(`${plain}/assets/${hashed}`, bytes);
  return `/assets/${hashed}`;
}

/** Adds the font of all pages. Returns the URL path of each font file by its name in stylesheets. */
async function addFonts(): Promise<Map<string, string>> {
  const folder = Bun.resolveSync("@fontsource-variable/inter/package.json", import.meta.dir);
  const css = await Bun.file("web/theme/alphabets.css").text();
  const names = ["inter-latin.woff2", ...(css.match(/inter-[a-z-]+\.woff2/g) ?? [])];
  const paths = new Map<string, string>();
  for (const name of names) {
    const file = `files/${name.replace(".woff2", "-wght-normal.woff2")}`;
    const content = Bun.file(folder.replace("package.json", file));
    paths.set(name, await addAsset(`public/${name}`, content));
  }
  return paths;
}

function inlineFonts(css: string, fonts: ReadonlyMap<string, string>): string {
  return css.replace(/inter-[a-z-]+\.woff2/g, (name) => fonts.get(name) ?? name);
}

/** Returns the stylesheet of public pages, with imports inlined. */
async function buildStatusStyles(fonts: ReadonlyMap<string, string>): Promise<string> {
  let css = await Bun.file("web/status/status.css").text();
  for (const [statement, from = ""] of css.matchAll(/^@import "\.\.\/(.+)";$/gm)) {
    const imported = await Bun.file(`web/${from}`).text();
    css = css.replace(statement, () => imported);
  }
  // “optional” skips a font that arrives late in this visit, so that text on public pages never
  // moves.
  return inlineFonts(css.replaceAll("font-display: swap", "font-display: optional"), fonts);
}

/** Builds the API reference: `docs.html`, its script and its styles. */
async function buildReference(fonts: ReadonlyMap<string, string>, icon: string) {
  const library = Bun.resolveSync("@scalar/api-reference", import.meta.dir);
  const standalone = library.replace(/dist\/.*$/, "dist/browser/standalone.js");
  await writePage("docs.html", "web/docs/index.html", {
    icon,
    font: fonts.get("inter-latin.woff2") ?? "",
    styles: await addAsset(
      "docs.css",
      inlineFonts(await Bun.file("web/docs/docs.css").text(), fonts),
    ),
    reference: await addAsset("reference.js", Bun.file(standalone)),
    script: await addAsset("docs.js", Bun.file("web/docs/docs.js")),
  });
}

/** Builds `https.html` from the chapter “HTTPS on the LAN” of the documentation, for browsers without internet. */
async function buildHttpsRecipe(icon: string) {
  const operations = await Bun.file("docs/operations.md").text();
  const chapter = /^### HTTPS on the LAN\n(.+?)(?=^##)/ms.exec(operations)?.[1];
  if (chapter === undefined) throw new Error("docs/operations.md has no chapter HTTPS on the LAN");
  // The other documents are not served.
  const text = chapter.replace(/\[([^\]]+)\]\((?!https:)[^)]+\)/g, "$1");
  await writePage("https.html", "web/docs/https.html", {
    icon,
    styles: await addAsset("https.css", Bun.file("web/docs/https.css")),
    chapter: Bun.markdown.html(text),
  });
}

/** Builds the admin page: per language its HTML and scripts, and its styles. */
async function buildAdmin(fonts: ReadonlyMap<string, string>, icon: string, maskable: string) {
  const scripts = new Map<AdminLanguage, Awaited<ReturnType<typeof buildScripts>>>();
  for (const language of adminLanguages) scripts.set(language, await buildScripts(language));
  const styles = await addAsset("styles.css", inlineFonts(await buildAdminStyles(), fonts));
  const paths = { icon, maskable, styles, font: fonts.get("inter-latin.woff2") ?? "" };
  for (const [language, names] of scripts)
    await writePage(nameAdminPage(language), "web/index.html", { ...paths, ...names, language });
}

/** Returns the stylesheet of the admin page, for the scripts that are already built. */
async function buildAdminStyles(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: ["web/theme/styles.css"],
    minify: true,
    external: ["*.woff2"],
    plugins: [
      {
        name: "smaller-styles",
        setup(builder) {
          builder.onLoad({ filter: /\.css$/ }, async ({ path }) => {
            const isMantine = path.endsWith("styles.layer.css");
            const css = isMantine ? await selectUsedStyles(path) : await Bun.file(path).text();
            return { contents: writeLeftToRight(css), loader: "css" };
          });
        },
      },
    ],
  });
  return (await outputs[0]?.text()) ?? "";
}

/** Returns Mantine's styles without components whose classes no script has, in the order of its own file. */
async function selectUsedStyles(path: string): Promise<string> {
  const whole = await Bun.file(path).text();
  const assets = `${plain}/assets`;
  const names = (await readdir(assets)).filter((name) => name.endsWith(".js"));
  const code = await Promise.all(names.map((name) => Bun.file(`${assets}/${name}`).text()));
  const listClasses = (text: string) => text.match(/\bm_[0-9a-f]{6,8}\b/g) ?? [];
  const used = new Set(code.flatMap(listClasses));
  const folder = path.replace(/\.layer\.css$/, "");
  const parts: { at: number; css: string }[] = [];
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".layer.css")) continue;
    const css = await Bun.file(`${folder}/${name}`).text();
    const classes = listClasses(css);
    if (classes.length > 0 && !classes.some((one) => used.has(one))) continue;
    parts.push({ at: whole.indexOf(classes[0] ?? "@layer"), css });
  }
  return parts
    .sort((one, other) => one.at - other.at)
    .map(({ css }) => css)
    .join("\n");
}

/** Replaces logical properties, because the bundler writes four rules for each: one per direction and browser. */
function writeLeftToRight(css: string): string {
  return css
    .replace(/\binset-inline-start\b/g, "left")
    .replace(/\binset-inline-end\b/g, "right")
    .replace(/\b(margin|padding|border)-inline-start\b/g, "$1-left")
    .replace(/\b(margin|padding|border)-inline-end\b/g, "$1-right")
    .replace(/\bborder-(start|end)-(start|end)-radius\b/g, (_, block, inline) => {
      const side = inline === "start" ? "left" : "right";
      return `border-${block === "start" ? "top" : "bottom"}-${side}-radius`;
    });
}

/** Builds the scripts of the admin page in a language. Returns the paths of those in its HTML. */
async function buildScripts(language: AdminLanguage) {
  const assets = `${plain}/assets`;
  const shared: Omit<Bun.BuildConfig, "entrypoints"> = {
    outdir: assets,
    target: "browser",
    minify: true,
    naming: "[name]-[hash].[ext]",
    plugins: [createTextPlugin(await loadDictionary(language))],
  };
  const { outputs } = await Bun.build({
    ...shared,
    entrypoints: ["web/main.tsx"],
    splitting: true,
    publicPath: "/assets/",
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
  });
  // Classic scripts: one runs before module scripts, the other is a shared worker.
  const early = await Bun.build({
    ...shared,
    entrypoints: ["web/early.ts", "web/live-worker.ts"],
    format: "iife",
  });
  outputs.push(...early.outputs);
  const nameOf = (pattern: RegExp) => {
    const path = outputs.map(({ path }) => path).find((path) => pattern.test(path));
    if (path === undefined) throw new Error(`The build has no output like ${pattern}.`);
    return path.split(/[\\/]/).pop() ?? "";
  };
  const script = nameOf(/main-\w+\.js$/);
  // With this hint, Chromium compiles all functions in a background thread, instead of one by one
  // during the first render.
  const code = await Bun.file(`${assets}/${script}`).text();
  await Bun.write(`${assets}/${script}`, `//# allFunctionsCalledOnLoad\n${code}`);
  const size = await measureFirstLoad(assets, script);
  console.log(`admin page (${language})  first script load ${size} kB as gzip`);
  return {
    script: `/assets/${script}`,
    early: `/assets/${nameOf(/early-\w+\.js$/)}`,
    worker: `/assets/${nameOf(/live-worker-\w+\.js$/)}`,
  };
}

/** Builds the files with which browsers install the admin page and show its notifications. */
async function buildApplication(icon: string, maskable: string) {
  const icon192 = await addAsset("icon-192.png", Bun.file("web/icons/icon-192.png"));
  const icon512 = await addAsset("icon-512.png", Bun.file("web/icons/icon-512.png"));
  const icons = { icon, icon192, icon512, maskable };
  await writePage("manifest.webmanifest", "web/manifest.webmanifest", icons);
  await Bun.build({
    entrypoints: ["web/service-worker.ts"],
    outdir: plain,
    target: "browser",
    format: "iife",
    minify: true,
    define: { ICON_PATH: JSON.stringify(icon192) },
  });
}

/** Writes a page after replacing each `{name}` with the path of that name. */
async function writePage(name: string, source: string, paths: Record<string, string>) {
  const page = await Bun.file(source).text();
  await Bun.write(
    `${plain}/${name}`,
    page.replace(/\{(\w+)\}/g, (placeholder, name: string) => paths[name] ?? placeholder),
  );
}

/** Returns the size of the first page's scripts in kB: the entry and its static imports. */
async function measureFirstLoad(folder: string, entry: string): Promise<number> {
  const names = new Set([entry]);
  const transpiler = new Bun.Transpiler({ loader: "js" });
  let total = 0;
  for (const name of names) {
    const text = await Bun.file(`${folder}/${name}`).text();
    total += Bun.gzipSync(text, smallest).length;
    for (const { kind, path } of transpiler.scanImports(text))
      if (kind === "import-statement") names.add(path.split("/").pop() ?? "");
  }
  return Math.round(total / 1000);
}

type Chunks = { first: string[]; later: string[] };

/**
 * Bundles the code into chunks. Returns those that a start and its first request load, the entry first, and those that
 * are loaded later, compressed.
 */
async function bundle(): Promise<Chunks> {
  const required = new Map<string, string>();
  const options = {
    outdir: code,
    target: "bun",
    minify: { syntax: true, whitespace: true },
    define: {
      BUILT_FROM: JSON.stringify(built),
      // Without it, React's development build renders public pages, at half the speed.
      "process.env.NODE_ENV": JSON.stringify("production"),
    },
  } as const;
  const result = await Bun.build({
    ...options,
    entrypoints: ["src/main.ts"],
    format: "esm",
    // Lazily loaded chunks save start time and memory.
    splitting: true,
    metafile: true,
    plugins: [
      withoutSchemaCompiler,
      withoutTypeBox,
      withoutStreamingReact,
      createRequirePlugin(required),
    ],
  });
  if (!result.success) throw new AggregateError(result.logs, "The build failed.");
  const chunks = Object.entries(result.metafile?.outputs ?? {});
  const first = new Set(
    startModules.map(
      (module) =>
        chunks.find(([, { entryPoint }]) => entryPoint === module)?.[0] ?? throwMissing(module),
    ),
  );
  for (const name of first)
    for (const { kind, path } of result.metafile?.outputs[name]?.imports ?? [])
      if (kind === "import-statement" && path.startsWith("./")) first.add(path);
  for (const [naming, file] of required) {
    const library = { ...options, entrypoints: [file], naming, format: "esm", metafile: true };
    const inputs = Object.keys(
      (await Bun.build(library as Bun.BuildConfig)).metafile?.inputs ?? {},
    );
    if (inputs.some((input) => input.startsWith("src/") && !file.endsWith(input)))
      throw new Error(`${file} is required, and imports modules that would exist twice.`);
  }
  const later = new Set(chunks.map(([name]) => name)).difference(first);
  for (const name of required.keys()) later.add(`./${name}`);
  return { first: [...first].map((name) => join(code, name)), later: await compressChunks(later) };
}

/**
 * Compresses chunks, and changes imports of them so that `src/core/system/compressed-modules.ts` loads them. Returns the
 * compressed files.
 */
async function compressChunks(compressed: ReadonlySet<string>): Promise<string[]> {
  const files: string[] = [];
  for (const name of await readdir(code)) {
    const file = join(code, name);
    const text = (await Bun.file(file).text()).replace(
      /(?<=")\.\/([\w-]+\.js)(?=")/g,
      (path, chunk) => (compressed.has(path) ? `compressed:${chunk}` : path),
    );
    if (compressed.has(`./${name}`)) {
      files.push(`${file}.zst`);
      await Bun.write(`${file}.zst`, Bun.zstdCompressSync(text, { level: 19 }));
    } else await Bun.write(file, text);
  }
  return files;
}

async function compile({ first, later }: Chunks, outfile: string, target?: keyof typeof targets) {
  const result = await Bun.build({
    entrypoints: first,
    root: code,
    minify: { syntax: true, whitespace: true },
    // Bytecode halves the time to the first response, but takes three times the size of its source. That is why chunks
    // that are loaded later are embedded as files. Functions nested deeper than two levels are
    // compiled with their first call.
    bytecode: true,
    bytecodeDepth: 2,
    format: "esm",
    plugins: [keepingChunks],
    compile: {
      outfile,
      assets: ["dist/migrations", "dist/web", "dist/legal", ...later],
      // A .env or bunfig.toml that someone placed in the working directory must have no effect.
      autoloadDotenv: false,
      autoloadBunfig: false,
      ...(target && { target }),
    },
  });
  if (!result.success) throw new AggregateError(result.logs, "The build failed.");
  reportSize(outfile.replace("dist/", ""));
}

function reportSize(name: string) {
  console.log(`dist/${name}  ${(Bun.file(`dist/${name}`).size / 1024 ** 2).toFixed(0)} MiB`);
}

/** Returns the SHA-256 of files in `dist`, by name. */
async function hashFiles(names: readonly string[]): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (const name of names) {
    const bytes = await Bun.file(`dist/${name}`).bytes();
    hashes.set(name, Bun.CryptoHasher.hash("sha256", bytes, "hex"));
  }
  return hashes;
}
