import { resolve } from "node:path";
import { existsSync } from "node:fs";
import { sharingOf } from "../../accounts/organizations/service.ts";
import type { Clock } from "../../core/time/clock.ts";
import { type Finding, problem, skipped } from "../../core/finding.ts";
import { targetGuard } from "../../core/security/target-guard.ts";
import { clusterOf, type DataPlace } from "../../database/data.ts";
import { type Data, openToRead } from "../../database/file/data-directory.ts";
import { examineCluster } from "../../database/examine-cluster.ts";
import { asTheOwner, examine } from "../../database/examine.ts";
import type { Store } from "../../database/store.ts";
import type { TrustedProxy } from "../../http/access/trusted-proxies.ts";
import { findSchedule } from "../backups/schedule-store.ts";
import { planOf } from "../backups/schedule-service.ts";
import { examineBackups, examineKept } from "./backups.ts";
import { examineClock } from "./clock.ts";
import { destinationsOf } from "./destinations.ts";
import { diskSpace, examineDisk } from "./disk.ts";
import { examineHost, examineNetwork } from "./hosts.ts";
import { examineEnvironment, examineMachine, examinePing } from "./machine.ts";
import { examineMailServer } from "./mail.ts";
import { examinePorts, examineProblems } from "./server.ts";
import { examineLinks, examineName, examineSettings } from "./settings.ts";

/** What `serve` would run with. */
export type Settings = {
  host: string;
  port: number;
  publicPort?: number | undefined;
  url?: string | undefined;
  trustProxy: readonly TrustedProxy[];
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
  metricsTokenFile?: string | undefined;
  allowCommands?: string | undefined;
  browser?: string | undefined;
  apply?: string | undefined;
  keepResults: number;
  keepHours: number;
} & DataPlace &
  TargetSettings;

type GuardOptions = NonNullable<Parameters<typeof targetGuard>[1]>;
type TargetSettings = {
  allowTarget: NonNullable<GuardOptions["allowed"]>;
  denyTarget: NonNullable<GuardOptions["denied"]>;
};

type Options = {
  migrations: string;
  clock: Clock;
  /** Names of variables that were taken out of the environment. */
  ignored?: readonly string[];
  /** Sentences about variables that look like settings and are none. */
  unknown?: readonly string[];
  /** A time server, with its port if that is not 123. */
  ntp?: string | undefined;
  /** Where other programs keep backups. */
  backups?: string | undefined;
  /** Skips all that leaves the machine. */
  offline?: boolean;
};

export type Report = ({ area: string } & Finding)[];

type Examination = {
  area: string;
  subject: string;
  goesOut?: boolean;
  examine: () => Promise<Finding[]>;
};

const atOnce = 8;
/** What has not begun by then is skipped; one examination takes 10 s at most. */
const budgetMs = 45_000;

/** Examines everything that `serve` needs, in the order of the report; changes nothing. */
export async function examineAppliance(settings: Settings, options: Options): Promise<Report> {
  const path = resolve(settings.dataDir);
  const { findings, data } = await examineData(path, settings, options);
  using _ = data;
  const examinations = [
    ...ofMachine(path, settings, options, data?.store ?? null),
    ...(data === null ? [] : await ofData(path, data, settings, options)),
  ];
  const isLeftOut = ({ goesOut }: Examination) => goesOut === true && options.offline === true;
  const found = await inTurn(examinations.filter((one) => !isLeftOut(one)));
  const leftOut = new Set(examinations.filter(isLeftOut).map(({ area }) => area)).difference(
    new Set(found.map(({ area }) => area)),
  );
  const report = [
    ...findings.map((finding) => ({ area: "Data", ...finding })),
    ...found,
    ...[...leftOut].map((area) => ({ area, ...skipped("--offline", "not examined") })),
    ...(data !== null
      ? []
      : [
          {
            area: "Alert channels",
            ...skipped("all of them", "not examined: the data can't be read as it is"),
          },
        ]),
  ];
  return areas.flatMap((area) => report.filter((finding) => finding.area === area));
}

type Readable = Pick<Data, "store" | "vault"> & Disposable;

/** What holds the data, in a file or on a cluster; null for data that can't be read. */
async function examineData(
  path: string,
  place: DataPlace,
  { migrations, clock, offline }: Options,
): Promise<{ findings: Finding[]; data: Readable | null }> {
  const isOnCluster = place.database !== undefined;
  if (isOnCluster && offline === true)
    return { findings: [skipped("--offline", "the cluster is not examined")], data: null };
  const cluster = clusterOf(place);
  if (cluster !== null) return examineCluster(path, cluster, { migrations, clock });
  const findings = examine(path, migrations);
  const isReadable = findings.every(
    ({ subject, verdict }) => verdict !== "unusable" && !(subject === "schema" && verdict !== "ok"),
  );
  return { findings, data: isReadable ? openToRead(path) : null };
}

const areas = [
  "Data",
  "Disk",
  "Backups",
  "Machine",
  "Server",
  "Settings",
  "Clock",
  "Network",
  "Mail",
  "Alert channels",
];

/** What can be examined without the data. */
function ofMachine(
  path: string,
  settings: Settings,
  { clock, ignored = [], unknown = [] }: Options,
  store: Store | null,
): Examination[] {
  const machine = async () => {
    if (!existsSync(path)) return [];
    const { monitors, pings } = store === null ? none : await monitorsIn(store);
    return [
      ...examineMachine(path, monitors),
      ...(await examinePing(pings)),
      ...examineEnvironment(ignored, unknown),
    ];
  };
  return [
    { area: "Machine", subject: "machine", examine: machine },
    { area: "Server", subject: "ports", examine: () => examinePorts(settings, path) },
    {
      area: "Settings",
      subject: "settings",
      examine: async () => examineSettings(settings, clock),
    },
    {
      area: "Settings",
      subject: "name of --url",
      goesOut: true,
      examine: () => examineName(settings),
    },
    ...(store === null && existsSync(path)
      ? [{ area: "Disk", subject: "disk space", examine: async () => [diskSpace(path)] }]
      : []),
  ];
}

const none = { monitors: 0, pings: 0 };

async function monitorsIn(store: Store): Promise<typeof none> {
  const [row] = await store.query<typeof none>(
    `select count(*) as monitors, coalesce(sum(m.type = 'ping'), 0) as pings
     from monitors m join monitor_states s
       on s.organization_id = m.organization_id and s.monitor_id = m.id
     where not s.paused`,
    [],
  );
  return row ?? none;
}

async function ofData(
  path: string,
  { store, vault }: Readable,
  settings: Settings,
  { clock, ntp, backups: folder }: Options,
): Promise<Examination[]> {
  const { host, port, publicPort = port, allowTarget: allowed, denyTarget: denied } = settings;
  const sharing = sharingOf(store);
  const listeners = [port, publicPort].map((one) => ({ host, port: one }));
  const targets = targetGuard(() => listeners, { allowed, denied, sharing });
  const reaching = { targets, clock };
  const looking = { store, vault, path, clock, targets };
  const { hosts, mailServers, sealed } = await destinationsOf(store, vault);
  const bucket = planOf(vault, await findSchedule(store)).s3;
  const names = [
    ...hosts.map(({ origin }) => origin.hostname),
    ...mailServers.flatMap(({ smtp }) => smtp?.host ?? []),
    ...(bucket === null ? [] : [new URL(bucket.endpoint).hostname]),
  ];
  const origins = hosts.map(({ origin }) => origin);
  const clockOf = async () => [await examineClock({ ntp, origins, targets })];
  return [
    {
      area: "Disk",
      subject: "disk space",
      examine: async () =>
        settings.database === undefined
          ? examineDisk(path, { store, clock, kept: settings })
          : [diskSpace(path)],
    },
    { area: "Backups", subject: "backup", examine: () => examineBackups({ ...looking, folder }) },
    {
      area: "Backups",
      subject: "backup bucket",
      goesOut: true,
      examine: () => examineKept(looking),
    },
    { area: "Server", subject: "problems", examine: () => examineProblems(store, clock) },
    { area: "Settings", subject: "links", examine: () => examineLinks(settings, store) },
    { area: "Clock", subject: "clock", goesOut: true, examine: clockOf },
    {
      area: "Network",
      subject: "network",
      goesOut: true,
      examine: () => examineNetwork([...new Set(names)]),
    },
    ...mailServers.map((server) => ({
      area: "Mail",
      subject: `mail server of ${server.organization}`,
      goesOut: server.smtp !== null,
      examine: () => examineMailServer(server, reaching),
    })),
    ...hosts.map((one) => ({
      area: "Alert channels",
      subject: one.origin.origin,
      goesOut: true,
      examine: async () => [await examineHost(one, reaching)],
    })),
    ...sealed.map((name) => ({
      area: "Alert channels",
      subject: "secrets",
      examine: async () => [
        problem(
          "secrets",
          `those of ${name} can't be opened`,
          "Enter them again in the admin page.",
        ),
      ],
    })),
  ];
}

/** Runs so many at once that a machine is not busy with it, and gives the findings in their order. */
export async function inTurn(
  examinations: readonly Examination[],
  timeMs = budgetMs,
): Promise<Report> {
  const results: Report[] = [];
  const deadline = performance.now() + timeMs;
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < examinations.length; index = next++) {
      const { area, subject, examine } = examinations[index] as Examination;
      const found =
        performance.now() < deadline
          ? await examine().catch((error: unknown) => [notExamined(subject, error)])
          : [skipped(subject, "not examined: the others took too long")];
      results[index] = found.map((finding) => ({ area, ...finding }));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results.flat();
}

function notExamined(subject: string, error: unknown): Finding {
  const { code, name } = error as NodeJS.ErrnoException;
  return problem(subject, `it could not be examined (${code ?? name})`, asTheOwner);
}
