import { expect, test } from "bun:test";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

/**
 * Runs in a separate process with an empty heap. Prints how many of 63 MiB remain before the last
 * discard, and exits once they are collected.
 */
const script = `
  import { countReleased } from "./src/core/system/garbage-collection.ts";
  const MiB = 1024 * 1024;
  const buffers = Array.from({ length: 63 }, () => new WeakRef(new ArrayBuffer(MiB)));
  async function countLeft() {
    // A dereferenced target stays alive until the end of the turn.
    await Bun.sleep(0);
    return buffers.filter((buffer) => buffer.deref() !== undefined).length;
  }
  for (const _ of buffers) countReleased(MiB);
  const before = await countLeft();
  await Bun.sleep(0);
  countReleased(MiB);
  // A register or the stack can still point to some of them, so that another 64 MiB collect the rest.
  while ((await countLeft()) >= 10) {
    await Bun.sleep(1);
    countReleased(64 * MiB);
  }
  console.log(before);
`;

test("released bytes are collected once there are 64 MiB of them", async () => {
  const child = Bun.spawn([process.execPath, "-e", script], {
    cwd: root,
    // Turns off all other collections: the engine's timer and heap growth.
    env: { ...process.env, BUN_GC_TIMER_DISABLE: "1" },
    stdout: "pipe",
  });
  expect(Number(await new Response(child.stdout).text())).toBeGreaterThan(50);
});
