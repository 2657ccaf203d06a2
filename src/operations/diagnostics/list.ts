/** Lists all diagnostics. The doctor runs all of them; the running appliance runs `watched`. */
import { createProblemFinding } from "../../core/finding.ts";
import type { ProblemName } from "../../core/problems.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import type { Clock } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import { examineBackups, examineBucket, examineSchedule } from "./backups.ts";
import { examineCertificate } from "./certificate.ts";
import { examineClock } from "./clock.ts";
import { type Destinations, formatOrigin } from "./destinations.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { type Disk, examineDiskSpace, examineDatabaseSize } from "./disk.ts";
import { examineEvents, type Progress } from "./events.ts";
import { examineHost, examineNetwork } from "./hosts.ts";
import { examineEnvironment, examineMachine, examinePing } from "./machine.ts";
import { examineMailServer } from "./mail.ts";
import { examineDrills, examineOnCall } from "./on-call.ts";
import { examinePublishing } from "./publishing.ts";
import { examinePorts, examineProblems } from "./server.ts";
import { examineLinks, examineName, examineSettings, type Settings } from "./settings.ts";
import { examineTimeZones, listUsedZones } from "./time-zones.ts";

/** Context of diagnostics that the doctor and the running appliance share. */
export type WatchContext = {
  clock: Clock;
  store: Store;
  vault: Vault;
  /** Reads the space on the file system of the data directory. */
  diskOf: () => Promise<Disk>;
  /** Expiry of the certificate of `--tls-cert` in Unix milliseconds; null if there is none or it is unusable. */
  certificateExpiresAt: () => number | null;
  /** Whether the problem is open. Some problems end at another threshold than they start. */
  isOpen: (name: ProblemName) => boolean;
  /** Progress of the followers; empty outside of the running appliance. */
  progress: readonly Progress[];
};

type SharedContext = Pick<WatchContext, "clock" | "diskOf" | "certificateExpiresAt" | "isOpen">;

/** Context of diagnostics that need no data. */
export type MachineContext = SharedContext & {
  settings: Settings;
  /** Path of the data directory. */
  path: string;
  /** Number of active monitors. */
  monitors: number;
  pings: number;
  /** Names of environment variables that `serve` ignores and removes. */
  ignored: readonly string[];
  /** Sentences about environment variables that look like settings but are unknown. */
  unknown: readonly string[];
};

export type DataContext = WatchContext &
  MachineContext & {
    targets: TargetGuard;
    destinations: Destinations;
    /** Host names and addresses of channels, mail servers and the bucket. */
    hosts: readonly string[];
    /** A time server, with its port if that is not 123. */
    ntp?: string | undefined;
    /** Folder into which another program writes backups. */
    folder?: string | undefined;
  };

const diskSpace: Diagnostic<SharedContext> = {
  id: "disk space",
  area: "Disk",
  examine: async ({ diskOf, isOpen }) => [examineDiskSpace(await diskOf(), isOpen("disk"))],
};

const certificate: Diagnostic<SharedContext> = {
  id: "TLS certificate",
  area: "Settings",
  examine: ({ certificateExpiresAt, clock }) => examineCertificate(certificateExpiresAt(), clock()),
};

/** Diagnostics that also run at an interval, by the name of the problem that they open. */
export const watchedDiagnostics = {
  disk: diskSpace,
  certificate,
  events: { id: "events", area: "Server", examine: ({ progress }) => examineEvents(progress) },
  backup: { id: "backup", area: "Backups", examine: examineSchedule },
  "on-call": { id: "people on call", area: "On call", examine: examineOnCall },
  publishing: { id: "publishing", area: "Status pages", examine: examinePublishing },
  drill: { id: "drills", area: "On call", examine: examineDrills },
} as const satisfies Partial<Record<ProblemName, Diagnostic<WatchContext>>>;

/** Diagnostics that need an existing data directory. */
export const directoryDiagnostics: readonly Diagnostic<MachineContext>[] = [
  diskSpace,
  {
    id: "machine",
    area: "Machine",
    examine: ({ path, monitors }) => examineMachine(path, monitors),
  },
  { id: "ping", area: "Machine", examine: ({ pings }) => examinePing(pings) },
  {
    id: "environment",
    area: "Machine",
    examine: ({ ignored, unknown }) => examineEnvironment(ignored, unknown),
  },
];

/** Diagnostics that need no data directory. */
export const settingsDiagnostics: readonly Diagnostic<MachineContext>[] = [
  { id: "ports", area: "Server", examine: ({ settings, path }) => examinePorts(settings, path) },
  certificate,
  { id: "settings", area: "Settings", examine: ({ settings }) => examineSettings(settings) },
  {
    id: "name of --url",
    area: "Settings",
    leavesMachine: true,
    examine: ({ settings }) => examineName(settings),
  },
];

/** Diagnostics that need readable data. */
export const dataDiagnostics: readonly Diagnostic<DataContext>[] = [
  { id: "database size", area: "Disk", examine: examineDatabaseSize },
  { id: "backup", area: "Backups", examine: examineBackups },
  { id: "backup bucket", area: "Backups", leavesMachine: true, examine: examineBucket },
  { id: "problems", area: "Server", examine: ({ store, clock }) => examineProblems(store, clock) },
  {
    id: "links",
    area: "Settings",
    examine: ({ settings, store }) => examineLinks(settings, store),
  },
  { id: "clock", area: "Clock", leavesMachine: true, examine: examineClock },
  {
    id: "time zones",
    area: "Clock",
    examine: async ({ store, clock }) => examineTimeZones(await listUsedZones(store), clock()),
  },
  {
    id: "network",
    area: "Network",
    leavesMachine: true,
    examine: ({ hosts }) => examineNetwork(hosts),
  },
  watchedDiagnostics["on-call"],
  watchedDiagnostics.drill,
  watchedDiagnostics.publishing,
];

/** Creates one diagnostic per mail server and per host of alert channels. */
export const createDestinationDiagnostics = ({
  hosts,
  mailServers,
  sealed,
}: Destinations): Diagnostic<DataContext>[] => [
  ...mailServers.map((server) => ({
    id: `mail server of ${server.organization}`,
    area: "Mail" as const,
    leavesMachine: server.smtp !== null,
    examine: (context: DataContext) => examineMailServer(server, context),
  })),
  ...hosts.map((host) => ({
    id: formatOrigin(host.origin),
    area: "Alert channels" as const,
    leavesMachine: true,
    examine: async (context: DataContext) => [await examineHost(host, context)],
  })),
  ...sealed.map((name) => ({
    id: "secrets",
    area: "Alert channels" as const,
    examine: () => [
      createProblemFinding(
        "secrets",
        `those of ${name} can't be opened`,
        "Enter them again in the admin page.",
      ),
    ],
  })),
];
