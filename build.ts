import { watch } from "node:fs";
import { cp, mkdir, readdir, rm } from "node:fs/promises";
import { brotliCompressSync, constants } from "node:zlib";
import { configSchema } from "./src/configuration/document.ts";
import { emptyDatabase, makeEmptyDatabase } from "./src/database/file/data-directory.ts";
import { documentOf } from "./src/document.ts";
import { audit } from "./release/audit.ts";
import { builtFrom } from "./release/commit.ts";
import { billOfMaterials, licencesText, shippedPackages } from "./release/packages.ts";
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

const built = builtFrom();
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };

if (process.argv.includes("--watch")) await serveAndWatch();
else if (process.argv.includes("--page")) await buildPage();
else await buildAll();

/** Builds the executable for this machine, or with `--all` a release: executables for all systems, checksums, signature. */
async function buildAll() {
  // Screenshots stay, because drawing all of them takes hours.
  for (const name of await readdir("dist").catch(() => []))
    if (name !== "screenshots") await rm(`dist/${name}`, { recursive: true, force: true });
  await buildWeb();
  // Not the snapshots that the next migration is made from: they are longer than all the rest.
  await cp("migrations", "dist/migrations", {
    recursive: true,
    filter: (path) => !path.endsWith("_snapshot.json"),
  });
  makeEmptyDatabase(`dist/migrations/${emptyDatabase}`, "migrations");
  const packages = shippedPackages();
  await Bun.write("dist/legal/licences.txt", licencesText(packages));
  await Bun.write("dist/signalbox.cdx.json", billOfMaterials(packages, built.builtAt));
  if (process.argv.includes("--all")) {
    const { state, output } = await audit();
    if (state === "vulnerable") throw new Error(output);
    if (state === "skipped") console.warn(`NOT AUDITED: the registry tells nothing: ${output}`);
    for (const [target, name] of Object.entries(targets))
      await compile(`dist/${name}`, target as keyof typeof targets);
    await writeChecksums([...Object.values(targets), "signalbox.cdx.json"]);
    sign("dist/SHA256SUMS", process.env["SIGNALBOX_SIGNING_KEY"]);
  } else {
    await compile(process.platform === "win32" ? "dist/signalbox.exe" : "dist/signalbox");
  }
}

/** Builds what browsers load and nothing else, without slow compression: `bun run dev` serves it from dist/web. */
async function buildPage() {
  await rm("dist/web", { recursive: true, force: true });
  await buildWeb({ isQuick: true });
}

/** Serves from the sources with the options that follow `--watch`. Each change in src, web or migrations rebuilds and restarts. */
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

/** `next` resolves after the next change in one of the folders, once nothing changed for 100 ms. */
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

/** Builds every file that browsers load into dist/web: all gzipped, most as Brotli too unless `isQuick`. */
async function buildWeb({ isQuick = false } = {}) {
  await buildAdmin();
  await mkdir("dist/plain/docs", { recursive: true });
  await cp("web/docs", "dist/plain/docs", { recursive: true });
  const reference = Bun.resolveSync("@scalar/api-reference", import.meta.dir);
  const standalone = reference.replace(/dist\/.*$/, "dist/browser/standalone.js");
  await cp(standalone, "dist/plain/docs/reference.js");
  await cp("web/status", "dist/plain/status", { recursive: true });
  await withImports("dist/plain/status/status.css");
  await cp(fontOf("inter-latin.woff2"), "dist/plain/status/inter.woff2");
  for (const font of await alphabets()) await cp(fontOf(font), `dist/plain/status/${font}`);
  const document = documentOf(manifest.version);
  await Bun.write("dist/plain/openapi.json", JSON.stringify(document));
  await Bun.write("dist/plain/config.schema.json", JSON.stringify(configSchema()));
  for (const name of await readdir("dist/plain", { recursive: true })) {
    const file = Bun.file(`dist/plain/${name}`);
    if ((await file.stat()).isDirectory()) continue;
    const bytes = await file.bytes();
    await Bun.write(`dist/web/${name}.gz`, Bun.gzipSync(bytes, { level: isQuick ? 1 : 9 }));
    // Brotli would take seconds for the API reference (4 MB), and fonts are compressed already.
    if (!isQuick && bytes.length < 1024 ** 2 && !name.endsWith(".woff2"))
      await Bun.write(`dist/web/${name}.br`, brotliCompressSync(bytes, brotli));
  }
  await rm("dist/plain", { recursive: true });
}

/** The file of the typeface that has this name here. */
function fontOf(name: string): string {
  const fonts = Bun.resolveSync("@fontsource-variable/inter/package.json", import.meta.dir);
  return fonts.replace("package.json", `files/${name.replace(".woff2", "-wght-normal.woff2")}`);
}

/** The fonts of what is not Latin, as the stylesheet of both pages names them. */
async function alphabets(): Promise<string[]> {
  const css = await Bun.file("web/theme/alphabets.css").text();
  return css.match(/inter-[a-z-]+\.woff2/g) ?? [];
}

/** A stylesheet that is served as it is has what it imports in the imports' places. */
async function withImports(path: string) {
  let css = await Bun.file(path).text();
  for (const [statement, from = ""] of css.matchAll(/^@import "\.\.\/(.+)";$/gm)) {
    const imported = await Bun.file(`web/${from}`).text();
    css = css.replace(statement, () => imported);
  }
  // Text of a public page never moves: where a font is late, this visit goes without it.
  css = css.replaceAll("font-display: swap", "font-display: optional");
  await Bun.write(path, css);
}

/** The admin page: `index.html`, and everything that it loads under hashed names in `assets`. */
async function buildAdmin() {
  const assets = "dist/plain/assets";
  const { outputs } = await Bun.build({
    entrypoints: ["web/main.tsx", "web/theme/styles.css"],
    outdir: assets,
    target: "browser",
    minify: true,
    splitting: true,
    publicPath: "/assets/",
    naming: "[name]-[hash].[ext]",
    external: ["*.woff2"],
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
  });
  // A plain script, which runs before modules do.
  const early = await Bun.build({
    entrypoints: ["web/early.ts"],
    outdir: assets,
    target: "browser",
    format: "iife",
    minify: true,
    naming: "[name]-[hash].[ext]",
  });
  outputs.push(...early.outputs);
  const nameOf = (pattern: RegExp) => {
    const path = outputs.map(({ path }) => path).find((path) => pattern.test(path));
    if (path === undefined) throw new Error(`The build made nothing like ${pattern}.`);
    return path.split(/[\\/]/).pop() ?? "";
  };
  const styles = nameOf(/styles-\w+\.css$/);
  let css = await Bun.file(`${assets}/${styles}`).text();
  for (const font of ["inter-latin.woff2", ...(await alphabets())])
    css = css.replaceAll(font, await hashed(fontOf(font), font));
  await Bun.write(`${assets}/${styles}`, css);
  const script = nameOf(/main-\w+\.js$/);
  // Chromium then compiles all of it beside the page's thread, not each function as the first screen comes to it.
  const code = await Bun.file(`${assets}/${script}`).text();
  await Bun.write(`${assets}/${script}`, `//# allFunctionsCalledOnLoad\n${code}`);
  const names: Record<string, string> = {
    script,
    styles,
    early: nameOf(/early-\w+\.js$/),
    font: await hashed(fontOf("inter-latin.woff2"), "inter-latin.woff2"),
    icon: await hashed("web/mark.svg", "mark.svg"),
  };
  const page = await Bun.file("web/index.html").text();
  await Bun.write(
    "dist/plain/index.html",
    page.replace(/\{(script|styles|early|font|icon)\}/g, (_, name) => `/assets/${names[name]}`),
  );
  console.log(`admin page  first script load ${await firstLoad(assets, script)} kB as gzip`);

  async function hashed(file: string, name: string) {
    const bytes = await Bun.file(file).bytes();
    const unique = name.replace(".", `-${Bun.hash(bytes).toString(36)}.`);
    await Bun.write(`${assets}/${unique}`, bytes);
    return unique;
  }
}

/** Kilobytes of the script that the first page needs: the entry and whatever it imports without being asked. */
async function firstLoad(folder: string, entry: string): Promise<number> {
  const names = new Set([entry]);
  const transpiler = new Bun.Transpiler({ loader: "js" });
  let total = 0;
  for (const name of names) {
    const text = await Bun.file(`${folder}/${name}`).text();
    total += Bun.gzipSync(text, { level: 9 }).length;
    for (const { kind, path } of transpiler.scanImports(text))
      if (kind === "import-statement") names.add(path.split("/").pop() ?? "");
  }
  return Math.round(total / 1000);
}

async function compile(outfile: string, target?: keyof typeof targets) {
  const result = await Bun.build({
    entrypoints: ["src/main.ts"],
    minify: { syntax: true, whitespace: true },
    define: { BUILT_FROM: JSON.stringify(built) },
    // Halves the time to the first answer for 5 MiB.
    bytecode: true,
    format: "esm",
    // What is loaded when first used takes neither time at the start nor memory before.
    splitting: true,
    compile: {
      outfile,
      assets: ["dist/migrations", "dist/web", "dist/legal"],
      // A planted .env or bunfig.toml in the working directory must have no effect.
      autoloadDotenv: false,
      autoloadBunfig: false,
      ...(target && { target }),
    },
  });
  if (!result.success) throw new AggregateError(result.logs, "The build failed.");
  console.log(`${outfile}  ${(Bun.file(outfile).size / 1024 ** 2).toFixed(0)} MiB`);
}

async function writeChecksums(names: readonly string[]) {
  const lines = await Promise.all(
    names.map(async (name) => {
      const bytes = await Bun.file(`dist/${name}`).bytes();
      return `${Bun.CryptoHasher.hash("sha256", bytes, "hex")}  ${name}\n`;
    }),
  );
  await Bun.write("dist/SHA256SUMS", lines.join(""));
}
