import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };

export const version: string = manifest.version;

const root = Bun.isStandaloneExecutable ? import.meta.dir : join(import.meta.dir, "..", "..");

/** Folders that the executable carries inside itself. */
export const assets = {
  migrations: join(root, "migrations"),
  web: Bun.isStandaloneExecutable ? join(root, "web") : join(root, "dist", "web"),
};
