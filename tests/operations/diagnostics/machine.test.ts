import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  examineEnvironment,
  examineMachine,
  examinePing,
  examineFileSystem,
  findListener,
} from "../../../src/operations/diagnostics/machine.ts";
import { createScratch } from "../../support/scratch-directories.ts";

const newDirectory = createScratch();

/** A machine whose `/` contains these files. */
function createRoot(files: Record<string, string>): string {
  const root = newDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

function judge(subject: string, files: Record<string, string>, monitors = 0) {
  const root = createRoot(files);
  const found = examineMachine(root, monitors, root).find((one) => one.subject === subject);
  return found && [found.verdict, found.message, found.advice];
}

const buildLimits = (count: number) => ({
  "proc/self/limits": `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${count}                 4096                 files\n`,
});

describe("open files", () => {
  test.each([
    [1024, 512, "ok"],
    [1024, 513, "warning"],
  ])("of %i, for %i monitors: %s", (count, monitors, verdict) => {
    const [found, message, advice] = judge("open files", buildLimits(count), monitors) ?? [];
    expect([found, message?.includes(String(512 + monitors))]).toEqual([verdict, true]);
    expect(advice?.includes("LimitNOFILE=65536") ?? false).toBe(verdict === "warning");
  });
});

describe("memory", () => {
  const buildVersion2 = (bytes: string) => ({
    "proc/self/cgroup": "0::/system.slice/signalbox.service\n",
    "sys/fs/cgroup/memory.max": "max\n",
    "sys/fs/cgroup/system.slice/memory.max": bytes,
    "sys/fs/cgroup/system.slice/signalbox.service/memory.max": "max\n",
  });
  const buildVersion1 = (bytes: string) => ({
    "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/docker/1\n0::/\n",
    "sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": bytes,
  });
  test.each([
    ["a version 2 cgroup above the service", buildVersion2("268435456\n"), "warning"],
    ["a version 2 cgroup", buildVersion2("1073741824\n"), "ok"],
    ["a version 1 container", buildVersion1("268435456\n"), "warning"],
    ["version 1 without a limit", buildVersion1("9223372036854771712\n"), undefined],
    ["version 2 without a limit", buildVersion2("max\n"), undefined],
  ])("%s", (_what, files, verdict) => {
    expect(judge("memory", files)?.[0]).toBe(verdict);
  });
});

test.each([
  [0x6969, "problem", "NFS"],
  [0xfe534d42 | 0, "problem", "SMB"],
  [0x01021994, "warning", "tmpfs"],
  [0x794c7630, "warning", "overlayfs"],
  [0xef53, "ok", "a disk of this machine"],
])("a file system of type %i: %s", (type, verdict, name) => {
  const [found] = examineFileSystem("/data", type);
  expect(found).toMatchObject({ verdict, message: expect.stringContaining(name) });
  expect(found?.advice === null).toBe(verdict === "ok");
});

describe("ping", () => {
  test("is required only with ping monitors", async () => {
    expect(await examinePing(0, null)).toEqual([]);
    expect(await examinePing(2, null)).toMatchObject([
      { verdict: "problem", advice: expect.stringContaining("iputils-ping") },
    ]);
  });

  test.each([
    ["true", "ok"],
    ["false", "problem"],
  ])("that exits like `%s`: %s", async (command, verdict) => {
    expect(await examinePing(1, Bun.which(command))).toMatchObject([{ verdict }]);
  });
});

test("a proxy in the environment is reported as ineffective", () => {
  expect(examineEnvironment(["HTTP_PROXY"])).toMatchObject([
    { verdict: "ok", message: expect.stringContaining("HTTP_PROXY is set and has no effect") },
  ]);
});

test("the program on a port is found by its socket", () => {
  const root = createRoot({
    "proc/net/tcp": [
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
      "   0: 0100007F:0C8A 00000000:0000 01 00000000:00000000 00:00000000 00000000     0        0 11 1 0",
      "   1: 00000000:0C8A 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 22 1 0",
    ].join("\n"),
    "proc/41/comm": "other\n",
    "proc/812/comm": "nginx\n",
  });
  for (const [pid, socket] of [
    ["41", "socket:[11]"],
    ["812", "socket:[22]"],
  ] as const) {
    mkdirSync(join(root, "proc", pid, "fd"));
    symlinkSync(socket, join(root, "proc", pid, "fd", "3"));
  }
  expect([findListener(3210, root), findListener(3211, root)]).toEqual(["nginx (pid 812)", null]);
});
