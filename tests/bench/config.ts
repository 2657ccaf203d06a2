import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatCount } from "../../src/core/text/formatting.ts";
import { binary, runSignalbox, startServer } from "../support/binary.ts";

const monitors = 1_000;
const groups = 20;

/** Measures how long 1,000 monitors take to be applied from a configuration, and to be compared without a change. */
export async function benchConfig() {
  const directory = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  const data = ["--data-dir", join(directory, "data")];
  await runSignalbox(["orgs", "create", "Acme", ...data]);
  const { stdout } = await runSignalbox([
    "keys",
    "create",
    "--org",
    "acme",
    "--name",
    "Bench",
    ...data,
  ]);
  const file = join(directory, "config.yaml");
  writeFileSync(file, buildText());
  const server = await startServer({ dataDir: join(directory, "data") });
  try {
    const env = { ...process.env, SIGNALBOX_URL: server.url, SIGNALBOX_KEY: stdout.trim() };
    console.log(
      `config: ${formatCount(monitors)} monitors in ${groups} groups, through a server\n`,
    );
    for (const [words, goal] of [
      ["apply", 3],
      ["no change", 0.5],
      ["no change", 0.5],
      ["no change", 0.5],
    ] as const) {
      const since = performance.now();
      const child = Bun.spawn([binary, "apply", "-f", file], {
        env,
        stdout: "ignore",
        stderr: "inherit",
      });
      const code = await child.exited;
      const seconds = (performance.now() - since) / 1_000;
      const cpu = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
      console.log(
        `${words}: exit ${code}, ${seconds.toFixed(2)} s (goal ≤ ${goal}), ${cpu.toFixed(2)} s of the processor in the client`,
      );
    }
  } finally {
    await server.stop("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  }
}

function buildText(): string {
  const lines = [
    "alertChannels:",
    "  oncall: { type: webhook, url: http://127.0.0.1:9/ }",
    "groups:",
  ];
  for (let index = 0; index < groups; index++)
    lines.push(`  g${index}: { name: Group ${index}, alertChannels: [oncall] }`);
  lines.push("monitors:");
  for (let index = 0; index < monitors; index++)
    lines.push(
      `  m${index}:`,
      "    type: http",
      `    name: Monitor ${index}`,
      `    url: http://127.0.0.1:9/${index}`,
      "    interval: 300",
      "    paused: true",
      "    tags: [production, eu]",
      `    group: g${index % groups}`,
      "    bearerToken: token",
    );
  return `${lines.join("\n")}\n`;
}
