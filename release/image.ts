/** Writes container images as OCI archives, without a container engine: a few files of Debian, and the executable. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { debianPackages, type Architecture, libraryFolder } from "./debian.ts";
import { createTar, type TarEntry } from "./tar.ts";

type ImageSource = {
  architecture: Architecture;
  /** Path of the executable for Linux with glibc. */
  executable: string;
  /** Folder with the unpacked Debian packages; `/` for those of this machine. */
  debian: string;
  /** Bill of materials as JSON. */
  bill: string;
  commit: string | null;
  /** ISO 8601 time of the commit. */
  builtAt: string | null;
  /** Level of zstd. Releases use 12; tests use 1. */
  level: number;
};

/** Account of the process; the number that distroless images use for `nonroot`. */
export const imageUser = 65_532;

export const imageName = `signalbox:${manifest.version}`;

/** Where Docker and podman find the image's data. The appliance creates its own folder in it, with mode 0700. */
const volume = "/data";

/** https://github.com/opencontainers/image-spec/blob/main/media-types.md */
const mediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+zstd",
};

/**
 * Writes the archive of one architecture. It is an OCI layout, and also contains the `manifest.json` that
 * `docker load` requires.
 */
export async function writeImage(file: string, source: ImageSource) {
  const { architecture, level, builtAt } = source;
  const modifiedAt = builtAt === null ? 0 : Math.floor(Date.parse(builtAt) / 1_000);
  const blobs: TarEntry[] = [];
  const addBlob = (mediaType: string, content: Uint8Array) => {
    const digest = hash(content);
    blobs.push({ path: `blobs/sha256/${digest}`, content });
    return { mediaType, digest: `sha256:${digest}`, size: content.length };
  };
  const layers = [listBaseFiles(source), [await readExecutable(source)]].map((entries) => {
    const tar = createTar(entries, modifiedAt);
    const blob = addBlob(mediaTypes.layer, Bun.zstdCompressSync(tar, { level }));
    return { blob, uncompressed: `sha256:${hash(tar)}` };
  });
  const configuration = buildConfiguration(
    source,
    layers.map(({ uncompressed }) => uncompressed),
  );
  const config = addBlob(mediaTypes.config, toJson(configuration));
  const described = addBlob(
    mediaTypes.manifest,
    toJson({
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config,
      layers: layers.map(({ blob }) => blob),
      annotations: configuration.config.Labels,
    }),
  );
  const pathOf = ({ digest }: { digest: string }) => `blobs/${digest.replace(":", "/")}`;
  const image = {
    ...described,
    platform: { architecture, os: "linux" },
    annotations: {
      "io.containerd.image.name": `docker.io/library/${imageName}`,
      "org.opencontainers.image.ref.name": imageName,
    },
  };
  const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [image] };
  const forDocker = [
    {
      Config: pathOf(config),
      RepoTags: [imageName],
      Layers: layers.map(({ blob }) => pathOf(blob)),
    },
  ];
  const archive = createTar(
    [
      { path: "oci-layout", content: toJson({ imageLayoutVersion: "1.0.0" }) },
      { path: "index.json", content: toJson(index) },
      { path: "manifest.json", content: toJson(forDocker) },
      { path: "blobs/" },
      { path: "blobs/sha256/" },
      ...blobs,
    ],
    modifiedAt,
  );
  await Bun.write(file, archive);
}

const hash = (bytes: Uint8Array) => Bun.CryptoHasher.hash("sha256", bytes, "hex");
const toJson = (value: unknown) => Buffer.from(JSON.stringify(value));

const readExecutable = async ({ executable }: ImageSource): Promise<TarEntry> => ({
  path: "usr/bin/signalbox",
  content: await Bun.file(executable).bytes(),
  mode: 0o755,
});

/** The files without the executable: libc, ping, the account, and empty folders. They change rarely. */
function listBaseFiles({ architecture, debian, bill }: ImageSource): TarEntry[] {
  const libraries = libraryFolder[architecture];
  const files = new Map<string, TarEntry>();
  const add = (path: string, content: Uint8Array | string, mode?: number) =>
    files.set(path, { path, content: Buffer.from(content), ...(mode !== undefined && { mode }) });
  for (const [name, { loader = false, libs = [], programs = [] }] of Object.entries(
    debianPackages,
  )) {
    const read = (path: string) => readDebianFile(debian, path);
    for (const lib of libs) add(`lib/${libraries}/${lib}`, read(`lib/${libraries}/${lib}`), 0o755);
    for (const program of programs) add(`usr/bin/${program}`, read(`bin/${program}`), 0o755);
    if (loader) {
      const path = architecture === "amd64" ? "lib64" : "lib";
      const file = readdirSync(join(debian, "lib", libraries)).find((each) =>
        each.startsWith("ld-linux-"),
      );
      add(`${path}/${file}`, read(`lib/${libraries}/${file}`), 0o755);
    }
    const copyright = `usr/share/doc/${name}/copyright`;
    add(copyright, read(copyright));
  }
  add("etc/passwd", `root:x:0:0::/:/none\nsignalbox:x:${imageUser}:${imageUser}::/data:/none\n`);
  add("etc/group", `root:x:0:\nsignalbox:x:${imageUser}:\n`);
  // Without this file, libc asks DNS before it reads /etc/hosts.
  add("etc/nsswitch.conf", "hosts: files dns\n");
  add("usr/share/doc/signalbox/signalbox.cdx.json", bill);
  const folders = new Set(
    [...files.keys()].flatMap((path) =>
      path
        .split("/")
        .slice(0, -1)
        .map((_, index, parts) => `${parts.slice(0, index + 1).join("/")}/`),
    ),
  );
  return [
    ...[...folders, "proc/", "sys/", "dev/"].sort().map((path) => ({ path })),
    { path: "tmp/", mode: 0o1777 },
    { path: "data/", mode: 0o700, owner: imageUser },
    ...[...files.values()].sort((one, other) => (one.path < other.path ? -1 : 1)),
  ];
}

/** Reads a file of an unpacked package, in the folder in which Debian ships it or in `/usr`. */
function readDebianFile(root: string, path: string): Buffer {
  const found = [path, `usr/${path}`].map((each) => join(root, each)).find(existsSync);
  if (found === undefined) throw new Error(`${join(root, path)} is missing.`);
  return readFileSync(found);
}

/** https://github.com/opencontainers/image-spec/blob/main/config.md; `Healthcheck` is an extension of Docker. */
function buildConfiguration(
  { architecture, commit, builtAt }: ImageSource,
  layers: readonly string[],
) {
  const created = builtAt ?? new Date(0).toISOString();
  return {
    created,
    architecture,
    os: "linux",
    config: {
      User: `${imageUser}:${imageUser}`,
      ExposedPorts: { "3210/tcp": {} },
      Env: ["PATH=/usr/bin", `SIGNALBOX_DATA_DIR=${volume}/signalbox`],
      Entrypoint: ["signalbox"],
      Cmd: ["serve"],
      Volumes: { [volume]: {} },
      WorkingDir: volume,
      Labels: {
        "org.opencontainers.image.title": "Signalbox",
        "org.opencontainers.image.description": manifest.description,
        "org.opencontainers.image.version": manifest.version,
        "org.opencontainers.image.licenses": manifest.license,
        "org.opencontainers.image.created": created,
        ...(commit !== null && { "org.opencontainers.image.revision": commit }),
      },
      StopSignal: "SIGTERM",
      // In nanoseconds. An upgrade of the data can take minutes.
      Healthcheck: {
        Test: ["CMD", "signalbox", "healthcheck"],
        Interval: 30e9,
        Timeout: 10e9,
        StartPeriod: 60e9,
        Retries: 3,
      },
    },
    rootfs: { type: "layers", diff_ids: layers },
    history: layers.map(() => ({ created, created_by: "bun run build --image" })),
  };
}
