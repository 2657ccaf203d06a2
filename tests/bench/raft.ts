import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RqliteNode } from "../support/rqlite.ts";

type Status = { store: { raft: { last_log_index: number } } };
type Counters = { proto: { num_compressed_bytes: number; num_uncompressed_bytes: number } };

const request = async <T>({ host }: RqliteNode, path: string) =>
  (await (await fetch(`http://${host}${path}`)).json()) as T;

/** Entries and bytes that the leader has appended to the Raft log. */
export async function readRaftLog(leader: RqliteNode): Promise<{ entries: number; bytes: number }> {
  const { store } = await request<Status>(leader, "/status");
  const { proto } = await request<Counters>(leader, "/debug/vars");
  return {
    entries: store.raft.last_log_index,
    bytes: proto.num_compressed_bytes + proto.num_uncompressed_bytes,
  };
}

/** Counts the syncs of a process with strace; returns a function that stops and returns the count. */
export async function countSyncs(pid: number): Promise<() => Promise<number | null>> {
  const strace = Bun.which("strace");
  if (strace === null) return async () => null;
  const directory = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  const file = join(directory, "calls");
  const only = "trace=fsync,fdatasync";
  const run = Bun.spawn([strace, "-f", "-e", only, "-o", file, "-p", String(pid)], {
    stderr: "pipe",
  });
  const saying = run.stderr.getReader();
  let text = "";
  while (!text.includes("attached")) {
    const { value, done } = await saying.read();
    // Tracing can be forbidden on this machine.
    if (done) return async () => null;
    text += new TextDecoder().decode(value);
  }
  return async () => {
    run.kill("SIGINT");
    await run.exited;
    const calls = readFileSync(file, "utf8").match(/ (fsync|fdatasync)\(/g) ?? [];
    rmSync(directory, { recursive: true });
    return calls.length;
  };
}
