import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Registers the loader of the modules that `build.ts` compresses into the executable. Sources need none. */
export function registerCompressedModules(): void {
  if (!Bun.isStandaloneExecutable) return;
  Bun.plugin({
    name: "compressed-modules",
    setup(builder) {
      // In the folder of the other modules, so that imports of those find the same instances.
      builder.onResolve({ filter: /./, namespace: "compressed" }, ({ path }) => ({
        path: join(import.meta.dir, path),
      }));
      builder.onLoad({ filter: /\.js$/ }, ({ path }) => ({
        contents: Bun.zstdDecompressSync(readFileSync(`${path}.zst`)),
        loader: "js",
      }));
    },
  });
}
