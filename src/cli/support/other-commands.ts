import type { Command } from "commander";
import { addApply, addExport } from "../apply.ts";
import { addAuditLog } from "../audit-log.ts";
import { addBackup } from "../backup.ts";
import { addCluster } from "../cluster.ts";
import { addCompact } from "../compact.ts";
import { addCompletion } from "../completion.ts";
import { addDoctor } from "../doctor.ts";
import { addHealthcheck } from "../healthcheck.ts";
import { addImport } from "../import.ts";
import { addDeleted } from "../deleted.ts";
import { addIncident } from "../incident.ts";
import { addKeys } from "../keys.ts";
import { addLogin } from "../login.ts";
import { addMaintenance } from "../maintenance.ts";
import { addMigrate } from "../migrate.ts";
import { addMonitor } from "../monitor.ts";
import { addOrgs } from "../orgs.ts";
import { addRestore } from "../restore.ts";
import { addService } from "../service.ts";
import { addStatus } from "../status.ts";
import { addUsers } from "../users.ts";
import { addWatch } from "../watch.ts";
import { addLicenses, addVersion } from "../version.ts";

/** Adds all commands except `serve`. */
export function addOtherCommands(program: Command, ignoredVariables: readonly string[]) {
  for (const add of [
    addService,
    addOrgs,
    addKeys,
    addUsers,
    addAuditLog,
    addMigrate,
    addImport,
    addBackup,
    addRestore,
    addCluster,
    addCompact,
    (command: Command) => addDoctor(command, ignoredVariables),
    addHealthcheck,
    addLogin,
    addStatus,
    addIncident,
    addDeleted,
    addMonitor,
    addMaintenance,
    addApply,
    addExport,
    addWatch,
    addVersion,
    addLicenses,
    addCompletion,
  ])
    add(program);
}
