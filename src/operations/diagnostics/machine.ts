/** Examines the limits, file system, ping command and environment of this machine. */
import { existsSync, readdirSync, readFileSync, readlinkSync, statfsSync } from "node:fs";
import { join } from "node:path";
import {
  createOkFinding,
  type Finding,
  createProblemFinding,
  createWarningFinding,
} from "../../core/finding.ts";
import { findPingCommand } from "../../core/system/ping-command.ts";
import { formatBytes, excerptText, pluralize } from "../../core/text/formatting.ts";

/** Open files that HTTP clients and the database need, in addition to one per monitor. */
const filesBesideChecks = 512;
/** Recommended memory limit. Signalbox uses less than 400 MB under any load; see `docs/promises.md`. */
const memoryBytes = 512 * 1024 * 1024;

/** Examines the limits and the file system. `root` replaces `/` in tests. */
export function examineMachine(path: string, checks: number, root = "/"): Finding[] {
  return [...openFiles(checks, root), ...examineMemory(root), ...examineFileSystem(path)];
}

function openFiles(checks: number, root: string): Finding[] {
  const [, found] = /^Max open files +(\d+)/m.exec(readTextOrEmpty(root, "proc/self/limits")) ?? [];
  if (found === undefined) return [];
  const needed = filesBesideChecks + checks;
  const message = `${found} may be open at once, ${needed} are enough for ${pluralize(checks, "monitor")}`;
  if (Number(found) >= needed) return [createOkFinding("open files", message)];
  return [
    createWarningFinding(
      "open files",
      message,
      "`systemctl edit signalbox` with LimitNOFILE=65536 under [Service], or `ulimit -n 65536` before `serve`.",
    ),
  ];
}

function examineMemory(root: string): Finding[] {
  const limit = readMemoryLimit(root);
  if (limit === null) return [];
  const message = `its control group may use ${formatBytes(limit)}`;
  if (limit >= memoryBytes) return [createOkFinding("memory", message)];
  return [
    createWarningFinding(
      "memory",
      `${message}; ${formatBytes(memoryBytes)} are recommended`,
      "Give it more: `MemoryMax=` in the unit, `--memory` of a container.",
    ),
  ];
}

/** Returns the lowest memory limit of the control groups of this process, version 1 or 2; null for no limit. */
function readMemoryLimit(root: string): number | null {
  const limits = readTextOrEmpty(root, "proc/self/cgroup")
    .split("\n")
    .flatMap((line) => {
      const [, controllers = "", group = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      const isFirst = controllers.split(",").includes("memory");
      if (!isFirst && (controllers !== "" || line === "")) return [];
      const parts = group.split("/").filter(Boolean);
      const groups = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
      const [at, file] = isFirst ? ["memory", "memory.limit_in_bytes"] : ["", "memory.max"];
      return ["", ...groups].map((one) =>
        readTextOrEmpty(root, join("sys/fs/cgroup", at, one, file)),
      );
    })
    .map((text) => Number.parseInt(text, 10))
    // Version 1 represents “no limit” by a number larger than any memory.
    .filter((bytes) => bytes > 0 && bytes < 2 ** 50);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** File systems that are unsuitable for a database, by their magic numbers in statfs(2). */
const fileSystems = new Map<number, [name: string, sort: "network" | "memory" | "container"]>([
  [0x6969, ["NFS", "network"]],
  [0x517b, ["SMB", "network"]],
  [0xff534d42, ["SMB", "network"]],
  [0xfe534d42, ["SMB", "network"]],
  [0x01021997, ["9P", "network"]],
  [0x00c36400, ["Ceph", "network"]],
  [0x5346414f, ["AFS", "network"]],
  [0x01021994, ["tmpfs", "memory"]],
  [0x858458f6, ["ramfs", "memory"]],
  [0x794c7630, ["overlayfs", "container"]],
]);

/** Examines whether the file system is suitable for a database. */
export function examineFileSystem(path: string, type = statfsSync(path).type): Finding[] {
  const [name = "", sort = ""] = fileSystems.get(type >>> 0) ?? [];
  const subject = "file system";
  if (sort === "network")
    return [
      createProblemFinding(
        subject,
        `${path} is on ${name}, over the network: SQLite's log is not safe there`,
        "Move the data directory to a disk of this machine: stop the server, copy it, and name it with --data-dir.",
      ),
    ];
  if (sort === "memory")
    return [
      createWarningFinding(
        subject,
        `${path} is in memory (${name}): it is lost with the next restart of the machine`,
        "Name a directory on a disk with --data-dir.",
      ),
    ];
  if (sort === "container")
    return [
      createWarningFinding(
        subject,
        `${path} is in a container's own layer (${name}): it is lost with the container`,
        `Mount a volume there: \`-v signalbox:${path}\`.`,
      ),
    ];
  return [createOkFinding(subject, `${path} is on a disk of this machine`)];
}

/** Examines whether this user can run `ping`, by pinging this machine. */
export async function examinePing(monitors: number, ping = findPingCommand()): Promise<Finding[]> {
  if (monitors === 0) return [];
  if (ping === null)
    return [
      createProblemFinding(
        "ping",
        `there is no \`ping\` on this machine, and ${monitors} ping monitors need it`,
        "Install it, such as with `apt install iputils-ping`.",
      ),
    ];
  const { exited } = Bun.spawn([ping, "-c", "1", "127.0.0.1"], {
    stdio: ["ignore", "ignore", "ignore"],
    timeout: 5_000,
  });
  if ((await exited) === 0) return [createOkFinding("ping", "this user may ping")];
  return [
    createProblemFinding(
      "ping",
      "this user may not ping",
      'setcap cap_net_raw+ep "$(command -v ping)", or `sysctl net.ipv4.ping_group_range="0 2147483647"`.',
    ),
  ];
}

/** Reports proxy variables, which have no effect, and unknown variables. */
export function examineEnvironment(
  ignored: readonly string[],
  unknown: readonly string[] = [],
): Finding[] {
  return [
    ...ignored.map((name) =>
      createOkFinding(
        "environment",
        `${name} is set and has no effect: every connection is a direct one`,
      ),
    ),
    ...unknown.map((sentence) =>
      createWarningFinding("environment", sentence, "Correct its name, or remove it."),
    ),
  ];
}

/** Returns the program that listens on a port, such as `nginx (pid 812)`; null if it can't be determined. */
export function findListener(port: number, root = "/"): string | null {
  const inodes = ["proc/net/tcp", "proc/net/tcp6"].flatMap((file) =>
    readTextOrEmpty(root, file)
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local = "", , state]) => state === "0A" && parsePort(local) === port)
      .map((columns) => `socket:[${columns[9]}]`),
  );
  if (inodes.length === 0) return null;
  for (const pid of listFolder(join(root, "proc")).filter((name) => /^\d+$/.test(name)))
    for (const handle of listFolder(join(root, "proc", pid, "fd")))
      if (inodes.includes(readLinkOrEmpty(join(root, "proc", pid, "fd", handle))))
        return `${excerptText(readTextOrEmpty(root, `proc/${pid}/comm`).trim())} (pid ${pid})`;
  return null;
}

const parsePort = (address: string) => Number.parseInt(address.split(":")[1] ?? "", 16);

/** Reads a file. Returns an empty text if it can't be read, such as on other systems or for an ended process. */
function readTextOrEmpty(root: string, path: string): string {
  const file = join(root, path);
  try {
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readLinkOrEmpty(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return "";
  }
}
