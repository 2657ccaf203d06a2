import type { Command } from "commander";
import { version } from "../core/assets.ts";

export function addVersion(program: Command) {
  program
    .command("version")
    .description("print the version")
    .option("--json", "print JSON for machines")
    .action(({ json }: { json?: boolean }) => {
      const facts = { version, bun: Bun.version, platform: `${process.platform}-${process.arch}` };
      process.stdout.write(json ? `${JSON.stringify(facts)}\n` : `${version}\n`);
    });
}
