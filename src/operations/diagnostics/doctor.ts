/** Runs all diagnostics for the `doctor` command, without changing anything. */
import { resolve } from "node:path";
import { existsSync } from "node:fs";
import { createSharing } from "../../accounts/organizations/service.ts";
import type { Clock } from "../../core/time/clock.ts";
import { type Finding, createSkippedFinding } from "../../core/finding.ts";
import { createTargetGuard } from "../../core/security/target-guard.ts";
import { resolveCluster, type DataLocation } from "../../database/data.ts";
import { type Data, openToRead } from "../../database/file/data-directory.ts";
import { examineCluster } from "../../database/examine-cluster.ts";
import { examineDirectory } from "../../database/examine.ts";
import type { Store } from "../../database/store.ts";
import { findSchedule } from "../backups/schedule-store.ts";
import { openPlan } from "../backups/schedule-service.ts";
import { findDestinations } from "./destinations.ts";
import { areas, type Diagnostic, type Report, runDiagnostics } from "./diagnostic.ts";
import { measureDisk } from "./disk.ts";
import {
  type DataContext,
  dataDiagnostics,
  createDestinationDiagnostics,
  directoryDiagnostics,
  type MachineContext,
  settingsDiagnostics,
} from "./list.ts";
import { readCertificateExpiry, type Settings } from "./settings.ts";

type GuardOptions = NonNullable<Parameters<typeof createTargetGuard>[1]>;

/** The settings of `serve` to examine. */
type DoctorSettings = Settings &
  DataLocation & {
    allowTarget: NonNullable<GuardOptions["allowed"]>;
    denyTarget: NonNullable<GuardOptions["denied"]>;
  };

type Options = {
  migrations: string;
  clock: Clock;
  /** Names of environment variables that `serve` ignores and removes. */
  ignored?: readonly string[];
  /** Sentences about environment variables that look like settings but are unknown. */
  unknown?: readonly string[];
  /** A time server, with its port if that is not 123. */
  ntp?: string | undefined;
  /** Folder into which another program writes backups. */
  backups?: string | undefined;
  /** Skips diagnostics that contact other machines. */
  offline?: boolean;
};

export async function examineAppliance(
  settings: DoctorSettings,
  options: Options,
): Promise<Report> {
  const { clock, ignored = [], unknown = [], offline = false } = options;
  const path = resolve(settings.dataDir);
  const { findings, data } = await examineData(path, settings, options);
  using _ = data;
  const context: MachineContext = {
    settings,
    path,
    clock,
    diskOf: () => measureDisk(path),
    certificateExpiresAt: () => readCertificateExpiry(settings),
    isOpen: () => false,
    ...(data === null ? { monitors: 0, pings: 0 } : await countMonitors(data.store)),
    ignored,
    unknown,
  };
  const report: Report = findings.map((finding) => ({ area: "Data", ...finding }));
  const examined = [...(existsSync(path) ? directoryDiagnostics : []), ...settingsDiagnostics];
  report.push(...(await runAllowed(examined, context, offline)));
  if (data === null)
    report.push({
      area: "Alert channels",
      ...createSkippedFinding("all of them", "not examined: the data can't be read as it is"),
    });
  else {
    const dataContext = await createContext(data, context, settings, options);
    const allDataDiagnostics = [
      ...dataDiagnostics,
      ...createDestinationDiagnostics(dataContext.destinations),
    ];
    report.push(...(await runAllowed(allDataDiagnostics, dataContext, offline)));
  }
  return areas.flatMap((area) => report.filter((finding) => finding.area === area));
}

/** Runs the allowed diagnostics. An area without any allowed one gets a finding that it was skipped. */
async function runAllowed<C>(diagnostics: readonly Diagnostic<C>[], context: C, offline: boolean) {
  const isAllowed = ({ leavesMachine }: Diagnostic<C>) => !(offline && leavesMachine === true);
  const report = await runDiagnostics(diagnostics.filter(isAllowed), context);
  const skippedAreas = new Set(
    diagnostics.filter((one) => !isAllowed(one)).map(({ area }) => area as string),
  ).difference(new Set(report.map(({ area }) => area)));
  return [
    ...report,
    ...[...skippedAreas].map((area) => ({
      area,
      ...createSkippedFinding("--offline", "not examined"),
    })),
  ];
}

type ReadableData = Pick<Data, "store" | "vault"> & Disposable;

/** Examines the database, in a file or on a cluster. `data` is null if it can't be read. */
async function examineData(
  path: string,
  location: DataLocation,
  { migrations, clock, offline }: Options,
): Promise<{ findings: Finding[]; data: ReadableData | null }> {
  const isOnCluster = location.database !== undefined;
  if (isOnCluster && offline === true)
    return {
      findings: [createSkippedFinding("--offline", "the cluster is not examined")],
      data: null,
    };
  const cluster = resolveCluster(location);
  if (cluster !== null) return examineCluster(path, cluster, { migrations, clock });
  const findings = examineDirectory(path, migrations);
  const isReadable = findings.every(
    ({ subject, verdict }) => verdict !== "unusable" && !(subject === "schema" && verdict !== "ok"),
  );
  return { findings, data: isReadable ? openToRead(path) : null };
}

async function countMonitors(store: Store): Promise<{ monitors: number; pings: number }> {
  const [row] = await store.query<{ monitors: number; pings: number }>(
    `select count(*) as monitors, coalesce(sum(m.type = 'ping'), 0) as pings
     from monitors m join monitor_states s
       on s.organization_id = m.organization_id and s.monitor_id = m.id
     where not s.paused`,
    [],
  );
  return row ?? { monitors: 0, pings: 0 };
}

async function createContext(
  { store, vault }: ReadableData,
  context: MachineContext,
  settings: DoctorSettings,
  { ntp, backups }: Options,
): Promise<DataContext> {
  const { host, port, publicPort = port, smtpPort = port } = settings;
  const { allowTarget: allowed, denyTarget: denied } = settings;
  const listeners = [port, publicPort, smtpPort].map((one) => ({ host, port: one }));
  const destinations = await findDestinations(store, vault);
  const bucket = openPlan(vault, await findSchedule(store)).s3;
  return {
    ...context,
    store,
    vault,
    targets: createTargetGuard(() => listeners, { allowed, denied, sharing: createSharing(store) }),
    progress: [],
    destinations,
    hosts: [
      ...new Set([
        ...destinations.hosts.map(({ origin }) => origin.hostname),
        ...destinations.mailServers.flatMap(({ smtp }) => smtp?.host ?? []),
        ...(bucket === null ? [] : [new URL(bucket.endpoint).hostname]),
      ]),
    ],
    ntp,
    folder: backups,
  };
}
