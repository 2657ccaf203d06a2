/** The Debian packages whose files are in container images, and how a build obtains them. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

export type Architecture = "amd64" | "arm64";

/** Folder of the libraries below `/lib`. */
export const libraryFolder = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" } as const;

type Contents = { loader?: boolean; libs?: readonly string[]; programs?: readonly string[] };

/** The used files by package: the libraries of the executable, and the ping command with its own. */
export const debianPackages: Record<string, Contents> = {
  libc6: { loader: true, libs: ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"] },
  "iputils-ping": { programs: ["ping"] },
  libcap2: { libs: ["libcap.so.2"] },
  "libidn2-0": { libs: ["libidn2.so.0"] },
  libunistring2: { libs: ["libunistring.so.2"] },
};

// The executable needs glibc 2.17 or later. Security updates of this Debian end in June 2028.
const suite = "bookworm";
const sources = `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian ${suite} main
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian-security ${suite}-security main
`;

/**
 * Downloads the current version of each package for an architecture with apt, which verifies them, and unpacks them into
 * `folder`. Needs Debian or Ubuntu, but not root. Returns their versions.
 */
export function downloadPackages(folder: string, architecture: Architecture) {
  rmSync(folder, { recursive: true, force: true });
  const state = resolve(folder, "apt");
  for (const name of ["lists/partial", "cache/archives/partial", "root"])
    mkdirSync(join(state, name), { recursive: true });
  writeFileSync(join(state, "sources.list"), sources);
  writeFileSync(join(state, "status"), "");
  const options = [
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    `Dir::State=${state}`,
    `Dir::State::status=${state}/status`,
    `Dir::Cache=${state}/cache`,
    `Dir::Etc::SourceList=${state}/sources.list`,
    "Dir::Etc::SourceParts=/dev/null",
    "Acquire::Languages=none",
    "APT::Sandbox::User=",
  ].flatMap((option) => ["-o", option]);
  const names = Object.keys(debianPackages);
  run(["apt-get", "-qq", ...options, "update"], state);
  run(["apt-get", "-qq", ...options, "download", ...names], state);
  const root = join(state, "root");
  const versions: Record<string, string> = {};
  for (const file of readdirSync(state).filter((name) => name.endsWith(".deb"))) {
    run(["dpkg-deb", "-x", file, root], state);
    const [name = "", version = ""] = file.split("_");
    versions[name] = decodeURIComponent(version);
  }
  return { root, versions };
}

export function run(command: readonly string[], cwd: string, env?: Record<string, string>) {
  const { success, stdout, stderr } = Bun.spawnSync([...command], {
    cwd,
    env: { ...process.env, ...env },
  });
  if (!success) throw new Error(`${command.join(" ")} failed: ${stderr.toString().trim()}`);
  return stdout.toString();
}
