import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ClusterStatus } from "../../src/cluster/schema.ts";
import { runSignalbox } from "../support/binary.ts";
import { expectSuccess } from "../support/machine.ts";
import { hasRqlite } from "../support/rqlite.ts";

const program = join(import.meta.dir, "..", "local-cluster", "main.ts");

describe.skipIf(!hasRqlite)("bun run cluster", () => {
  let trial: Bun.Subprocess<"ignore", "pipe", "inherit"> | undefined;
  afterAll(() => trial?.kill("SIGTERM"));

  test("starts machines that find each other, prints their addresses, and leaves nothing behind", async () => {
    const group = { detached: true } as const;
    trial = Bun.spawn([process.execPath, program], { ...group, stdout: "pipe", stderr: "inherit" });
    let output = "";
    for await (const chunk of trial.stdout.pipeThrough(new TextDecoderStream())) {
      output += chunk;
      if (output.includes("Ctrl+C stops")) break;
    }
    const urls = output.match(/http:\/\/127\.0\.0\.1:\d+\b(?=[ \n])/g) ?? [];
    expect(urls).toHaveLength(5);
    const servers = urls.slice(3);
    for (const url of servers) expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(output).toMatch(/Set it up +http:\/\/127\.0\.0\.1:\d+\/set-up#\w{43}\n/);

    const [, command = ""] = /Commands +\.\/dist\/signalbox (.*)/.exec(output) ?? [];
    const args = command.split(" ");
    // Each server takes its shards at a heartbeat.
    const readSharedStatus = async (): Promise<ClusterStatus> => {
      const { stdout, exitCode } = await runSignalbox([...args, "--json"]);
      const status: ClusterStatus | null = exitCode === 0 ? JSON.parse(stdout) : null;
      const isShared = status?.nodes.every(
        ({ shards, alive, eventLag }) => shards === 32 && alive && eventLag === 0,
      );
      return status !== null && isShared ? status : readSharedStatus();
    };
    const { databases, nodes } = await readSharedStatus();
    expect(databases).toHaveLength(3);
    expect(databases.filter(({ leader }) => leader)).toHaveLength(1);
    expect(nodes).toHaveLength(2);
    const text = await expectSuccess(runSignalbox(args));
    expect(text).toMatch(/^database +role +state\n/);
    expect(text).toMatch(/^signalbox +version +state +shards +events behind +clock/m);
    // Both servers have the clock of this machine.
    expect(text.match(/ <1 s /g)).toHaveLength(2);

    // A terminal sends the signal to all of them at once.
    process.kill(-trial.pid, "SIGINT");
    expect(await trial.exited).toBe(0);
    const folder = args[args.indexOf("--data-dir") + 1] ?? "";
    expect(existsSync(join(folder, ".."))).toBe(false);
    for (const url of urls) expect(fetch(url)).rejects.toThrow();
  });
});
