import { expect, test } from "bun:test";
import { Glob } from "bun";
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { generate } from "./docs/generate.ts";
import manifest from "../package.json" with { type: "json" };

const root = join(import.meta.dir, "..");
const documents = ["README.md", "CHANGELOG.md", ...new Glob("docs/**/*.md").scanSync(root)].sort();
const read = (file: string) => Bun.file(join(root, file)).text();

/** A document without its code blocks. */
const readProse = async (file: string) => (await read(file)).replace(/^```[^]*?^```/gm, "");

/** The anchors that GitHub creates for headings. */
async function listAnchors(file: string): Promise<Set<string>> {
  const headings = (await readProse(file)).matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) =>
      heading
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replace(/\s/g, "-")
        .toLowerCase(),
    ),
  );
}

async function listLinks(file: string): Promise<string[]> {
  const links = (await readProse(file)).matchAll(
    /\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"/g,
  );
  return [...links].map(([, text, attribute]) => text ?? attribute ?? "");
}

test("every link between the documents has a target", async () => {
  const broken: string[] = [];
  let count = 0;
  for (const file of documents)
    for (const link of await listLinks(file)) {
      if (/^[a-z]+:/.test(link)) continue;
      count++;
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? file : relative(root, join(root, dirname(file), path));
      if (!existsSync(join(root, target))) broken.push(`${file}: ${link}`);
      else if (anchor !== undefined && !(await listAnchors(target)).has(anchor))
        broken.push(`${file}: ${link} has no such heading`);
    }
  expect(broken).toEqual([]);
  expect(count).toBeGreaterThan(40);
});

test("every document is reachable from the README", async () => {
  const found = new Set(["README.md"]);
  for (const file of found)
    for (const link of await listLinks(file)) {
      const target = relative(root, join(root, dirname(file), link.split("#")[0] ?? ""));
      if (documents.includes(target)) found.add(target);
    }
  expect(documents.filter((file) => !found.has(file))).toEqual([]);
});

test("every source path that the documents name exists", async () => {
  const missing: string[] = [];
  let count = 0;
  for (const file of documents.filter((name) => name !== "CHANGELOG.md"))
    for (const [, path = ""] of (await read(file)).matchAll(
      /`((?:src|web|tests|docs|migrations)\/[\w./-]*)`/g,
    )) {
      count++;
      if (!existsSync(join(root, path))) missing.push(`${file}: ${path}`);
    }
  expect(missing).toEqual([]);
  expect(count).toBeGreaterThan(10);
});

test("every source file that the documents name without its folder exists", async () => {
  const names = new Set(
    [...new Glob("{src,web,tests,docs}/**/*.{ts,tsx}").scanSync(root)].map((file) =>
      basename(file),
    ),
  );
  const missing: string[] = [];
  for (const file of documents.filter((name) => name !== "CHANGELOG.md"))
    for (const [, name = ""] of (await read(file)).matchAll(/`([\w-]+\.tsx?)`/g))
      if (!names.has(name) && !existsSync(join(root, name))) missing.push(`${file}: ${name}`);
  expect(missing).toEqual([]);
});

test("the index of test helpers lists each helper and each function by its name", async () => {
  const index = await read("tests/support/README.md");
  const helpers = [...new Glob("**/*.ts").scanSync(join(root, "tests/support"))];
  const listed = [...index.matchAll(/`([\w/-]+\.ts)`/g)].map(([, name = ""]) => name);
  expect(listed.filter((name) => !helpers.includes(name))).toEqual([]);
  // The fakes of monitor types are listed in `fakes/all.ts`.
  const needed = helpers.filter((name) => !name.startsWith("fakes/"));
  expect(needed.filter((name) => !listed.includes(name))).toEqual([]);
  const code = (await Promise.all(helpers.map((name) => read(`tests/support/${name}`)))).join("\n");
  const functions = [...index.matchAll(/`(\w+)\(/g)].map(([, name = ""]) => name);
  expect(functions.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
});

test("the generated parts of the documents are up to date (bun run docs)", async () => {
  for (const [name, text] of Object.entries(await generate()))
    expect(await read(`docs/${name}`)).toBe(text);
});

test("the documents give a reason for each dependency, and name no removed one", async () => {
  const text = await read("docs/development/dependencies.md");
  const [used = ""] = text.split("## Not used");
  const reasoned = [...used.matchAll(/^- (.*?):/gms)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  const named = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  expect(named.filter((name) => !reasoned.includes(name))).toEqual([]);
  expect(reasoned.filter((name) => !named.includes(name ?? ""))).toEqual([]);
});

test("the README is short", async () => {
  const text = await read("README.md");
  expect(Buffer.byteLength(text)).toBeLessThan(16_000);
});

test("pictures are at most 200 kB", () => {
  const pictures = [...new Glob("docs/**/*.png").scanSync(root)];
  expect(pictures.length).toBeGreaterThan(0);
  for (const file of pictures)
    expect([file, statSync(join(root, file)).size <= 200_000]).toEqual([file, true]);
});
