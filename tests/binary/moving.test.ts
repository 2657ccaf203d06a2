import { expect } from "bun:test";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, getFreePort, waitUntilHealthy } from "../support/binary.ts";
import { inflateFixture } from "../support/kuma-fixtures.ts";
import { defineTestWith } from "../support/real-targets.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

/** The commands of a document, in order. */
async function readCommands(document: string): Promise<string[]> {
  const text = await Bun.file(join(import.meta.dir, "..", "..", "docs", document)).text();
  return [...text.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block = ""]) =>
    block.trim().split("\n"),
  );
}

const names = { SLUG: "acme-public", TOKEN: "FAKEpushTokenAcmeNightly00000001", ID: "6" };

defineTestWith(
  ["curl"],
  "the commands of the document on moving, run in order, preserve pages, badges and push jobs",
  async () => {
    const directory = newDirectory();
    symlinkSync(binary, join(directory, "signalbox"));
    mkdirSync(join(directory, "uptime-kuma-data"));
    copyFileSync(inflateFixture("kuma-2-acme.db"), join(directory, "uptime-kuma-data", "kuma.db"));
    writeFileSync(
      join(directory, "config.yaml"),
      "endpoints: [{ name: one, url: 'http://one.example' }]",
    );
    const port = getFreePort();
    const started: Bun.Subprocess[] = [];
    const responses = new Map<string, string>();
    try {
      for (const line of await readCommands("moving-from-uptime-kuma.md")) {
        const command = line
          .replaceAll("3001", String(port))
          .replace(/\b(SLUG|TOKEN|ID)\b/g, (name) => names[name as keyof typeof names]);
        const child = Bun.spawn(["sh", "-c", `exec ${command}`], {
          cwd: directory,
          stdout: "pipe",
          stderr: "pipe",
          env: { PATH: process.env["PATH"] },
        });
        if (line.includes(" serve ")) {
          started.push(child);
          await waitUntilHealthy(`http://localhost:${port}`);
          continue;
        }
        const [out, error] = await Promise.all([
          new Response(child.stdout).text(),
          new Response(child.stderr).text(),
        ]);
        // An export reports what has no equivalent there.
        const isExpected =
          error === "" ||
          error.startsWith("Created the data directory ") ||
          line.includes(" --as ");
        expect([line, await child.exited, isExpected || error]).toEqual([line, 0, true]);
        responses.set(line, out);
      }
    } finally {
      for (const child of started) {
        child.kill();
        await child.exited;
      }
    }
    const readText = (part: string) =>
      [...responses].find(([line]) => line.includes(part))?.[1] ?? "";
    expect(readText("--org acme --dry-run")).toContain("Nothing was changed.");
    expect(readText("/status/SLUG")).toContain("Acme Status");
    expect(JSON.parse(readText("/api/push/"))).toEqual({ ok: true, paused: true });
    expect(readText("/api/badge/")).toContain("<svg");
    expect(Object.keys(JSON.parse(readText("heartbeat/SLUG")).heartbeatList)).toContain("6");
    expect(
      [...responses].filter(([line]) => line.includes("import uptime-kuma")).at(-1)?.[1],
    ).toContain("Changed: paused.");
  },
);
