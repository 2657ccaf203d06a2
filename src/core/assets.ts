import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };

export const version: string = manifest.version;

declare const BUILT_FROM: { commit: string | null; builtAt: string | null } | undefined;

/** Commit of the build and its time (ISO 8601); null if the build did not run in a Git repository. */
export const buildInfo =
  typeof BUILT_FROM === "undefined" ? { commit: null, builtAt: null } : BUILT_FROM;

const root = Bun.isStandaloneExecutable ? import.meta.dir : join(import.meta.dir, "..", "..");

/** Folders that are embedded in the executable. */
export const assets = {
  migrations: join(root, "migrations"),
  legal: join(root, Bun.isStandaloneExecutable ? "legal" : "dist/legal"),
  web: Bun.isStandaloneExecutable ? join(root, "web") : join(root, "dist", "web"),
};

/** Files of the public pages: their names with a hash, and their contents. */
export const listPublicAssets = () =>
  readPublicAssets().map((name) => ({
    name,
    /** Reads the file, which the build gzipped. */
    read: () => Bun.gunzipSync(readFileSync(join(assets.web, "assets/public", name))),
  }));

let publicNames: Map<string, string> | undefined;

/** Returns the path of a file of the public pages, such as `status.css`. The build adds a hash to the file name. */
export function resolvePublicAsset(name: string): string {
  publicNames ??= new Map(
    readPublicAssets().map((hashed) => [hashed.replace(/-[0-9a-z]+(?=\.\w+$)/, ""), hashed]),
  );
  return `/assets/public/${publicNames.get(name) ?? name}`;
}

function readPublicAssets(): string[] {
  const folder = join(assets.web, "assets/public");
  return existsSync(folder) ? readdirSync(folder) : [];
}
