/** Lists the packages in the executable, their licenses, and the bill of materials. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../package.json" with { type: "json" };

type Package = {
  name: string;
  version: string;
  /** SPDX license expression. */
  license: string;
  /** License text in the package; null if the package only names the license. */
  text: string | null;
};

/** Licenses under which packages can be part of the executable. */
export const allowedLicenses =
  "MIT MIT-0 ISC 0BSD BSD-2-Clause BSD-3-Clause Apache-2.0 Unlicense CC0-1.0 OFL-1.1".split(" ");

/** Development dependencies whose files are embedded in the executable. */
const embedded = ["@fontsource-variable/inter", "@scalar/api-reference"];

const root = join(import.meta.dir, "..");

/** Returns all packages in the executable with their dependencies, sorted by name. */
export function listShippedPackages(): Package[] {
  const found = new Map<string, Package>();
  const add = (name: string, from: string) => {
    const folder = folderOf(name, from);
    if (folder === null) return;
    const { version, license, dependencies = {} } = manifestOf(folder);
    const key = `${name}@${version}`;
    if (found.has(key)) return;
    const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
    const text = file === undefined ? null : readFileSync(join(folder, file), "utf8").trim();
    found.set(key, { name, version, license, text });
    for (const dependency of Object.keys(dependencies)) add(dependency, folder);
  };
  for (const name of [...Object.keys(manifest.dependencies), ...embedded]) add(name, root);
  return [...found].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

/** Returns the folder to which Node.js would resolve a package; null for an optional package that is not installed. */
function folderOf(name: string, from: string): string | null {
  const folder = join(from, "node_modules", name);
  if (existsSync(join(folder, "package.json"))) return folder;
  return from === root ? null : folderOf(name, dirname(from));
}

function manifestOf(folder: string) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    version: string;
    license: string;
    dependencies?: Record<string, string>;
  };
}

/** Returns all licenses with their texts, each text once. */
export function renderLicenses(packages: readonly Package[]): string {
  const runtime = readFileSync(
    join(root, "node_modules/bun-types/docs/project/license.mdx"),
    "utf8",
  );
  const groups = Map.groupBy(packages, ({ license, text }) => text ?? license);
  const sections = [...groups].map(([text, members]) => {
    const names = members.map(({ name, version, license }) => `${name} ${version} (${license})`);
    return `${names.join("\n")}\n\n${text}`;
  });
  const rule = `\n\n${"-".repeat(80)}\n\n`;
  const heading = `Signalbox ${manifest.version} contains Bun ${Bun.version} and these packages.`;
  return [heading, `Bun\n\n${runtime.replace(/^---[^]*?---\s*/, "").trim()}`, ...sections].join(
    rule,
  );
}

/** Debian packages of a container image, and their versions. */
type SystemPackages = { architecture: string; versions: Readonly<Record<string, string>> };

/** Returns a software bill of materials: CycloneDX 1.6 (ECMA-424) as JSON. */
export function buildBillOfMaterials(
  packages: readonly Package[],
  timestamp: string | null,
  system?: SystemPackages,
): string {
  const buildComponent = (type: string, name: string, version: string, license: string) => {
    const purl = type === "library" ? `pkg:npm/${name.replace("@", "%40")}@${version}` : undefined;
    const licenses = /[()\s]/.test(license)
      ? [{ expression: license }]
      : [{ license: { id: license } }];
    return { type, "bom-ref": `${name}@${version}`, name, version, licenses, purl };
  };
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      ...(timestamp !== null && { timestamp }),
      component: {
        type: "application",
        "bom-ref": "signalbox",
        name: "signalbox",
        version: manifest.version,
      },
    },
    components: [
      buildComponent("platform", "bun", Bun.version, "MIT"),
      ...packages.map(({ name, version, license }) =>
        buildComponent("library", name, version, license),
      ),
      ...listSystemComponents(system),
    ],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

const listSystemComponents = (system?: SystemPackages) =>
  Object.entries(system?.versions ?? {}).map(([name, version]) => ({
    type: "library",
    "bom-ref": `deb:${name}@${version}`,
    name,
    version,
    purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${system?.architecture}`,
  }));
