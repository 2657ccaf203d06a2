import type { Command } from "commander";
import { assets } from "../core/assets.ts";
import { readSystemClock } from "../core/time/clock.ts";
import { DataError } from "../core/errors.ts";
import { invalidFieldError } from "../core/validation.ts";
import { parseConfig, listUnknownVariables } from "../config.ts";
import { summarizeReport, formatReport } from "../operations/diagnostics/report.ts";
import { printJson } from "./support/output.ts";
import { serveOptions } from "./serve.ts";
import { warnOfPassword } from "./support/with-data.ts";

type DoctorFlags = Record<string, unknown> & {
  database?: string;
  json?: boolean;
  offline?: boolean;
  ntp?: string;
  backups?: string;
};

/** Adds `doctor`. `ignored` are the environment variables that were removed. */
export function addDoctor(program: Command, ignored: readonly string[]) {
  serveOptions(program.command("doctor"))
    .description(
      "examine data, disk, backups, machine, network, mail server and alert channels, and give advice; changes nothing",
    )
    .option("--offline", "skip everything that leaves this machine")
    .option("--ntp <host>", "time server to compare the clock with, instead of those of the system")
    .option("--backups <dir>", "folder with backups by another program, to check their age")
    .option("--json", "print JSON")
    .action(async ({ json, offline = false, ntp, backups, ...flags }: DoctorFlags) => {
      if (ntp !== undefined && !URL.canParse(`ntp://${ntp}`))
        throw invalidFieldError("--ntp", "must be a host, such as time.lan or 10.0.0.1:123");
      const { examineAppliance } = await import("../operations/diagnostics/doctor.ts");
      const config = parseConfig(flags);
      warnOfPassword(flags.database);
      const report = await examineAppliance(config, {
        migrations: assets.migrations,
        clock: readSystemClock,
        ignored,
        unknown: listUnknownVariables(),
        offline,
        ntp,
        backups,
      });
      if (json) printJson(report);
      else process.stdout.write(formatReport(report));
      const summary = summarizeReport(report);
      if (report.some(({ verdict }) => verdict === "unusable"))
        throw new DataError("DATA_UNUSABLE", "This data can't be used as it is; see above.");
      if (summary !== null) throw new Error(`${summary}: see above what to do.`);
      if (!json) process.stdout.write("\nNo problems found.\n");
    });
}
