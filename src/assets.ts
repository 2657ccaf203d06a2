import { join } from "node:path";

const root = Bun.isStandaloneExecutable ? import.meta.dir : join(import.meta.dir, "..");

/** Folders that the executable carries inside itself. */
export const assets = {
  migrations: join(root, "migrations"),
  web: Bun.isStandaloneExecutable ? join(root, "web") : join(root, "dist", "web"),
};
