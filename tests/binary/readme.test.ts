import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { binary, runSignalbox, startServer } from "../support/binary.ts";
import { createMachine, expectSuccess } from "../support/machine.ts";
import { replyWith, startTarget } from "../support/target.ts";

/** The shell commands below a heading of the README. */
async function readCommands(heading: string): Promise<string> {
  const text = await Bun.file(join(import.meta.dir, "../../README.md")).text();
  const section = text.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return [...section.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block]) => block).join("\n");
}

test("the commands “From a script” work as the README shows them, one after the other", async () => {
  await using box = createMachine();
  await using site = await startTarget(replyWith(200));
  symlinkSync(binary, join(box.directory, "signalbox"));
  const dataDir = join(box.directory, "signalbox-data");
  await expectSuccess(runSignalbox(["orgs", "create", "Acme", "--data-dir", dataDir]));
  const server = await startServer({ dataDir });
  try {
    const commands = (await readCommands("From a script"))
      .replaceAll("http://localhost:3210", server.url)
      .replaceAll("http://intranet.lan/health", site.at("/health"));
    // A person reads for longer than the first check takes; the script polls.
    const script = `set -eu\n${commands.replace(/^curl \S+monitors -H .*$/m, 'until $& | grep \'"status":"up"\'; do :; done')}`;
    const child = Bun.spawn(["bash", "-c", script], {
      cwd: box.directory,
      stdout: "pipe",
      stderr: "pipe",
    });
    const output = await new Response(child.stdout).text();
    expect(await child.exited).toBe(0);
    expect(output).toContain("acme");
    expect(output).toContain('"status":"up"');
    expect(output).toContain('"title":"Checkout is slow"');
  } finally {
    await server.stop();
  }
});
