/** Renders the service definitions for systemd and launchd. */
import { basename, dirname } from "node:path";

export type ServiceOptions = {
  /** Absolute path of the executable. */
  executable: string;
  /** Absolute path of the data directory. */
  dataDir: string;
  /** Options of `serve`, as on a command line. */
  options: readonly string[];
  /**
   * Options with secret files, as absolute paths. systemd reads these files, so the service's
   * account needs no access.
   */
  credentials: readonly { option: string; file: string }[];
  /** An account of this machine; null lets systemd create one for the service. */
  user: string | null;
  /** Capabilities such as CAP_NET_BIND_SERVICE. */
  capabilities: readonly string[];
  /** Whether the account can send pings without a capability. */
  mayPing: boolean;
};

/** Content of a new settings file. */
export const settingsTemplate = `# Settings of the service, such as SIGNALBOX_PUBLIC_PORT=8080; see signalbox serve --help.
# Options of the unit take precedence. After a change: systemctl reload signalbox
# Everyone on this machine can read this file: store passwords in separate files.
`;

const lifetime = `# Restarts a process whose event loop is stalled. Exit codes above 1 need a person.
WatchdogSec=60
WatchdogSignal=SIGKILL
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2 3 4 5
# An upgrade copies the database first.
TimeoutStartSec=15min
TimeoutStopSec=20
LimitCORE=0
LimitNOFILE=65536
MemoryHigh=768M
MemoryMax=1G
TasksMax=256
`;

/**
 * Restrictions of the service. The network and executable memory stay allowed; the JavaScript
 * engine needs the latter. See systemd.exec(5).
 */
const confinement = `NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProcSubset=pid
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
PrivateDevices=yes
DevicePolicy=closed
PrivateTmp=yes
PrivateIPC=yes
RemoveIPC=yes
KeyringMode=private
LockPersonality=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
# System calls with which ping drops its privileges.
SystemCallFilter=capset setuid
SystemCallErrorNumber=EPERM
`;

/** Renders the systemd unit with the fewest privileges that monitoring needs. */
export function renderSystemdUnit({
  executable,
  dataDir,
  options,
  credentials,
  user,
  capabilities,
  mayPing,
}: ServiceOptions): string {
  // StateDirectory= can't express a quote, a backslash or a colon.
  const isStateDirectory = dirname(dataDir) === "/var/lib" && /^[^"'\\:]+$/.test(dataDir);
  const command = [executable, "serve", "--data-dir", dataDir, ...options].map(quoteWord);
  const namedCredentials = credentials.map((each) => ({
    ...each,
    name: /^--(.*)-file$/.exec(each.option)?.[1],
  }));
  for (const { option, name } of namedCredentials)
    command.push(`${option}=\${CREDENTIALS_DIRECTORY}/${name}`);
  // A ping with the file capability does not start if the bounding set lacks it.
  const bounding = [...capabilities, "CAP_NET_RAW"];
  const ambient = mayPing ? capabilities : bounding;
  return `[Unit]
Description=Signalbox: monitoring, incidents and status pages
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
ExecStart=${command.join(" ")}${namedCredentials
    .map(({ name, file }) => `\nLoadCredential=${name}:${escapePercent(file)}`)
    .join("")}
ExecReload=/bin/kill -HUP $MAINPID
UnsetEnvironment=BUN_OPTIONS BUN_BE_BUN
${user === null ? "DynamicUser=yes" : `User=${user}`}
${isStateDirectory ? `StateDirectory="${escapePercent(basename(dataDir))}"\nStateDirectoryMode=0700` : `ReadWritePaths=${quoteWord(dataDir)}`}
UMask=0077

${lifetime}
CapabilityBoundingSet=${bounding.join(" ")}
AmbientCapabilities=${ambient.join(" ")}
${confinement}
[Install]
WantedBy=multi-user.target
`;
}

/** Quotes a word of a systemd command line, so that specifiers and variables are plain text. */
function quoteWord(word: string): string {
  const text = escapePercent(word).replaceAll("$", "$$$$");
  return /^[\w@%+=:,./*$-]+$/.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function escapePercent(text: string): string {
  return text.replaceAll("%", "%%");
}

/** Renders the property list of a launchd daemon for the whole machine. See launchd.plist(5). */
export function renderLaunchdPlist({
  executable,
  dataDir,
  options,
  credentials,
  user,
}: ServiceOptions): string {
  const command = [executable, "serve", "--data-dir", dataDir, ...options];
  for (const { option, file } of credentials) command.push(`${option}=${file}`);
  const strings = command.map((word) => `    <string>${Bun.escapeHTML(word)}</string>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>signalbox</string>
  <key>ProgramArguments</key>
  <array>
${strings.join("\n")}
  </array>${
    user === null
      ? ""
      : `
  <key>UserName</key>
  <string>${Bun.escapeHTML(user)}</string>`
  }
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>20</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardOutPath</key>
  <string>/Library/Logs/signalbox.log</string>
  <key>StandardErrorPath</key>
  <string>/Library/Logs/signalbox.log</string>
</dict>
</plist>
`;
}
