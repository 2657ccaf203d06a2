import { mkdir, readdir, rm } from "node:fs/promises";
import { basename } from "node:path";

const targets = {
  "bun-linux-x64": "signalbox-linux-x64",
  "bun-linux-arm64": "signalbox-linux-arm64",
  "bun-darwin-x64": "signalbox-macos-x64",
  "bun-darwin-arm64": "signalbox-macos-arm64",
  "bun-windows-x64": "signalbox-windows-x64.exe",
} as const;

const all = process.argv.includes("--all");

async function compile(outfile: string, target?: keyof typeof targets) {
  const result = await Bun.build({
    entrypoints: ["src/main.ts"],
    minify: { syntax: true, whitespace: true },
    sourcemap: "none",
    compile: {
      outfile,
      assets: ["migrations", "dist/web"],
      // A planted .env or bunfig.toml in the working directory must have no effect.
      autoloadDotenv: false,
      autoloadBunfig: false,
      ...(target && { target }),
    },
  });
  if (!result.success) throw new AggregateError(result.logs, "The build failed.");
  const size = (Bun.file(outfile).size / 1024 ** 2).toFixed(0);
  console.log(`${outfile}  ${size} MiB`);
}

await rm("dist", { recursive: true, force: true });
await mkdir("dist/web", { recursive: true });
await Bun.write("dist/web/.keep", "");

if (all) {
  for (const [target, name] of Object.entries(targets))
    await compile(`dist/${name}`, target as keyof typeof targets);
  const files = (await readdir("dist")).filter((name) => name.startsWith("signalbox-")).sort();
  const sums = await Promise.all(
    files.map(async (name) => {
      const hash = new Bun.CryptoHasher("sha256").update(await Bun.file(`dist/${name}`).bytes());
      return `${hash.digest("hex")}  ${basename(name)}`;
    }),
  );
  await Bun.write("dist/SHA256SUMS", `${sums.join("\n")}\n`);
} else {
  await compile(process.platform === "win32" ? "dist/signalbox.exe" : "dist/signalbox");
}
