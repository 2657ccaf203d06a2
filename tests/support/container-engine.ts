/**
 * A stand-in for `docker`, as a program: unpacks an image into a folder, and starts it there by chroot with a read-only root.
 * It supports the commands of docs/install.md. Containers share the network and the processes of this machine.
 */
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Configuration = {
  config: { Env: string[]; Entrypoint: string[]; Cmd: string[]; User: string };
};

const state = process.env["ENGINE_STATE"] ?? "";
const root = join(state, "root");
const buildStatePath = (name: string) => join(state, name);
const [command = "", ...args] = process.argv.slice(2);

if (import.meta.main) {
  if (command === "load") loadArchive(args[1] ?? "");
  if (command === "run") await startContainer(args);
  if (command === "exec") executeInContainer(args.slice(1));
}

/** Unpacks the layers as tar would: with their owners and modes. */
function loadArchive(archive: string) {
  const folder = buildStatePath("archive");
  for (const each of [folder, root]) mkdirSync(each, { recursive: true });
  unpackLayer(folder, readFileSync(archive));
  const [image] = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  for (const layer of image.Layers)
    unpackLayer(root, Bun.zstdDecompressSync(readFileSync(join(folder, layer))));
  writeFileSync(buildStatePath("config.json"), readFileSync(join(folder, image.Config)));
}

function unpackLayer(folder: string, stdin: Uint8Array) {
  const options = ["-x", "--same-owner", "--numeric-owner", "-p", "-C", folder];
  const { success, stderr } = Bun.spawnSync(["tar", ...options], { stdin });
  if (!success) throw new Error(stderr.toString());
}

function readConfiguration() {
  return (JSON.parse(readFileSync(buildStatePath("config.json"), "utf8")) as Configuration).config;
}

/** `run -d --name NAME --read-only --tmpfs /tmp -v VOLUME:/data -p PORT:3210 IMAGE`. */
async function startContainer(options: string[]) {
  const { Entrypoint, Cmd, Env } = readConfiguration();
  const port = options[options.indexOf("-p") + 1]?.split(":")[0];
  const mounts = `mount --bind "$0" "$0" && mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/tmp" &&
    mount --bind "$0/data" "$0/data" && mount -o remount,ro,bind "$0" && exec "$@"`;
  const log = openSync(buildStatePath("log"), "w");
  const child = Bun.spawn(
    [
      "unshare",
      "--mount",
      "sh",
      "-c",
      mounts,
      root,
      ...buildInsideCommand(
        [...Entrypoint, ...Cmd],
        [...Env, `SIGNALBOX_PORT=${port}`, "SIGNALBOX_HOST=127.0.0.1"],
      ),
    ],
    { stdio: ["ignore", log, log], detached: true },
  );
  child.unref();
  writeFileSync(buildStatePath("pid"), String(child.pid));
  while (!readFileSync(buildStatePath("log"), "utf8").includes("API reference"))
    if (child.exitCode === null) await Bun.sleep(5);
    else throw new Error(readFileSync(buildStatePath("log"), "utf8"));
}

function buildInsideCommand(words: readonly string[], variables: readonly string[]): string[] {
  const user = readConfiguration().User;
  const chroot = Bun.which("chroot") ?? "/usr/sbin/chroot";
  return ["/usr/bin/env", "-i", ...variables, chroot, `--userspec=${user}`, root, ...words];
}

function executeInContainer(words: string[]) {
  const pid = readFileSync(buildStatePath("pid"), "utf8");
  const { exitCode } = Bun.spawnSync(
    [
      "nsenter",
      "--mount",
      `--target=${pid}`,
      ...buildInsideCommand(words, readConfiguration().Env),
    ],
    { stdio: ["inherit", "inherit", "inherit"] },
  );
  process.exitCode = exitCode;
}
