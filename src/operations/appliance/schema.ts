/** Schemas of the appliance: administrators, organizations, figures, and the About page. */
import { z } from "zod";
import { ClusterStatus } from "../../cluster/schema.ts";
import { Id, Timestamp } from "../../core/fields.ts";
import { logLevels } from "../../core/log.ts";
import { problemNames, problemSeverities } from "../../core/problems.ts";

/** An administrator of the whole appliance. */
export const Administrator = z.object({ id: Id, name: z.string(), email: z.string() });
export type Administrator = z.infer<typeof Administrator>;

export const NewAdministrator = z.strictObject({ personId: Id });

/** An organization as shown to administrators: with record counts, but without records. */
export const OrganizationEntry = z.object({
  id: Id,
  slug: z.string(),
  name: z.string(),
  createdAt: Timestamp,
  people: z.int(),
  monitors: z.int(),
  statusPages: z.int(),
});
export type OrganizationEntry = z.infer<typeof OrganizationEntry>;

const ApplianceProblem = z.object({
  name: z.enum(problemNames),
  title: z.string(),
  message: z.string(),
  severity: z.enum(problemSeverities),
  since: Timestamp,
});

/** The process that serves the request: its data directory, and its workload. */
const Runtime = z.object({
  /** Path of the data directory; null for a database on other machines. */
  dataDirectory: z.string().nullable(),
  memoryBytes: z.int(),
  logLevel: z.enum(logLevels),
  /** Waiting work by queue. */
  waiting: z.object({ checks: z.int(), results: z.int(), pages: z.int(), passwords: z.int() }),
});
export type Runtime = z.infer<typeof Runtime>;

/** Totals of the appliance, and its open problems. */
export const ApplianceFigures = z.object({
  /** Size of the whole database in bytes. */
  dataBytes: z.int(),
  organizations: z.int(),
  people: z.int(),
  monitors: z.int(),
  /** Checks that the intervals of all monitors require per second, without retries. */
  checksPerSecond: z.number(),
  /** Alerts and notices that are not delivered yet. */
  pendingDeliveries: z.int(),
  runtime: Runtime,
  problems: z.array(ApplianceProblem),
  cluster: ClusterStatus,
});
export type ApplianceFigures = z.infer<typeof ApplianceFigures>;

/** The program's version, and the record counts of the organization. */
export const About = z.object({
  version: z.string(),
  startedAt: Timestamp,
  smtpPort: z
    .int()
    .nullable()
    .meta({ description: "Port for mails to alert sources. Null without `serve --smtp-port`." }),
  counts: z.object({
    monitors: z.int(),
    monitorGroups: z.int(),
    incidents: z.int(),
    alertChannels: z.int(),
    statusPages: z.int(),
    people: z.int(),
    apiKeys: z.int(),
  }),
});
export type About = z.infer<typeof About>;
