/** Builds `.deb` and `.rpm` packages of the executable with its systemd unit. Installing one starts no service. */
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { renderSystemdUnit, settingsTemplate } from "../src/cli/support/service-unit.ts";
import { type Architecture, run } from "./debian.ts";

type PackageSource = {
  architecture: Architecture;
  /** Path of the executable for Linux with glibc. */
  executable: string;
  /** Licenses of all components. */
  licenses: string;
  /** ISO 8601 time of the commit. */
  builtAt: string | null;
  /** Temporary folder, which is emptied. */
  folder: string;
  /** Larger packages in a fraction of the time, for tests. */
  isQuick?: boolean;
};

const settings = "/etc/signalbox/signalbox.env";
const unit = "/usr/lib/systemd/system/signalbox.service";
const summary = manifest.description;
const address = "Signalbox <signalbox@localhost>";
const description = "Data in /var/lib/signalbox stays when the package is removed.";

/** Commands of both package formats. `systemctl` acts only where systemd runs. */
const scripts = {
  reload: "systemctl daemon-reload || true",
  restart: "systemctl try-restart signalbox.service || true",
  stop: "systemctl disable --now --quiet signalbox.service || true",
};

/** Writes the files of the package below a folder. */
function layOut({ folder, executable, licenses }: PackageSource, root: string) {
  rmSync(folder, { recursive: true, force: true });
  const write = (path: string, text: string) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    writeFileSync(file, text, { mode: 0o644 });
  };
  const service = renderSystemdUnit({
    executable: "/usr/bin/signalbox",
    dataDir: "/var/lib/signalbox",
    options: [`--config=${settings}`],
    credentials: [],
    user: null,
    capabilities: [],
    // The target machine is unknown, so the unit grants the capability for pings.
    mayPing: false,
  });
  write(unit, service);
  write(settings, settingsTemplate);
  write("/usr/share/doc/signalbox/copyright", licenses);
  mkdirSync(join(root, "usr/bin"), { recursive: true, mode: 0o755 });
  copyFileSync(executable, join(root, "usr/bin/signalbox"));
  chmodSync(join(root, "usr/bin/signalbox"), 0o755);
}

const epochOf = ({ builtAt }: PackageSource) => ({
  SOURCE_DATE_EPOCH: String(builtAt === null ? 0 : Math.floor(Date.parse(builtAt) / 1_000)),
});

/** The control files of the Debian package. */
function listControlFiles({ architecture, executable }: PackageSource) {
  return {
    control: `Package: signalbox
Version: ${manifest.version}
Architecture: ${architecture}
Maintainer: ${address}
Section: net
Priority: optional
Depends: libc6 (>= 2.17)
Recommends: iputils-ping
Installed-Size: ${Math.ceil(Bun.file(executable).size / 1024)}
Description: ${summary}
 ${description}
`,
    conffiles: `${settings}\n`,
    postinst: `#!/bin/sh
set -e
# The second argument is the previous version. A stopped service stays stopped.
if [ "$1" = configure ] && [ -d "$DPKG_ROOT/run/systemd/system" ]; then
  ${scripts.reload}
  [ -z "$2" ] || ${scripts.restart}
fi
`,
    prerm: `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d "$DPKG_ROOT/run/systemd/system" ]; then
  ${scripts.stop}
fi
`,
    postrm: `#!/bin/sh
set -e
if [ -d "$DPKG_ROOT/run/systemd/system" ]; then
  ${scripts.reload}
fi
`,
  };
}

/** Builds a Debian package. Needs dpkg-deb. */
export function buildDeb(file: string, source: PackageSource) {
  const { folder, isQuick = false } = source;
  layOut(source, folder);
  mkdirSync(join(folder, "DEBIAN"), { mode: 0o755 });
  for (const [name, text] of Object.entries(listControlFiles(source)))
    writeFileSync(join(folder, "DEBIAN", name), text, {
      mode: name.startsWith("p") ? 0o755 : 0o644,
    });
  // xz saves 10 % and takes ten times as long.
  const compression = isQuick ? ["-Znone"] : ["-Zzstd", "-z12"];
  run(
    ["dpkg-deb", "--root-owner-group", ...compression, "--build", folder, resolve(file)],
    ".",
    epochOf(source),
  );
}

const runIfSystemd = (commands: string) => `if [ -d /run/systemd/system ]; then ${commands}; fi`;

const spec = `Name: signalbox
Version: ${manifest.version}
Release: 1
Summary: ${summary}
License: ${manifest.license}
AutoReqProv: no
Requires: glibc >= 2.17
Recommends: iputils

%description
${description}

%post
${runIfSystemd(scripts.reload)}

# The argument is the number of remaining versions.
%preun
if [ "$1" = 0 ]; then ${runIfSystemd(scripts.stop)}; fi

%postun
${runIfSystemd(scripts.reload)}
if [ "$1" -ge 1 ]; then ${runIfSystemd(scripts.restart)}; fi

%files
%attr(755, root, root) /usr/bin/signalbox
%attr(644, root, root) ${unit}
%attr(644, root, root) /usr/share/doc/signalbox/copyright
%dir %attr(755, root, root) /etc/signalbox
%config(noreplace) %attr(644, root, root) ${settings}
`;

/** Builds an RPM package. Needs rpmbuild, on any distribution. */
export function buildRpm(file: string, source: PackageSource) {
  const { folder, architecture, isQuick = false } = source;
  const root = resolve(folder, "files");
  layOut(source, root);
  writeFileSync(join(folder, "signalbox.spec"), spec);
  const target = { amd64: "x86_64", arm64: "aarch64" }[architecture];
  // Stripping would remove the program that Bun appends to its executable.
  const macros = {
    _topdir: resolve(folder, "rpm"),
    _rpmdir: resolve(folder, "rpm"),
    _rpmfilename: "signalbox.rpm",
    _binary_payload: isQuick ? "w1.zstdio" : "w12.zstdio",
    _build_id_links: "none",
    _buildhost: "localhost",
    use_source_date_epoch_as_buildtime: "1",
    clamp_mtime_to_source_date_epoch: "1",
    __os_install_post: "%{nil}",
    debug_package: "%{nil}",
  };
  const defines = Object.entries(macros).flatMap(([name, value]) => [
    "--define",
    `${name} ${value}`,
  ]);
  run(
    [
      "rpmbuild",
      "-bb",
      "--quiet",
      `--target=${target}-linux`,
      ...defines,
      "--buildroot",
      root,
      "signalbox.spec",
    ],
    folder,
    epochOf(source),
  );
  copyFileSync(join(folder, "rpm/signalbox.rpm"), file);
}
