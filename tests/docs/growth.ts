/** Lists every database table with its retention or its bound, for docs/operations.md and its tests. */
import { sourceRequestDays } from "../../src/alerting/sources/retention.ts";
import { deliveryDays } from "../../src/alerting/sending/retention.ts";
import { parseConfig } from "../../src/config.ts";
import {
  accountBounds,
  alertBounds,
  deletedBounds,
  escalationBounds,
  type Bound,
  importBounds,
  incidentBounds,
  jobBounds,
  maintenanceBounds,
  monitorBounds,
  organizationBounds,
  requestBounds,
  scheduleBounds,
  signUpBounds,
  sourceBounds,
  singleSignOnBounds,
  statusPageBounds,
} from "../../src/core/limits.ts";
import { eventDays } from "../../src/events/retention.ts";
import { rowBytes } from "../../src/operations/retention/growth.ts";
import { noticeDays } from "../../src/status-pages/subscribers/rules.ts";
import { tableOf } from "./table.ts";

const { keepResults, keepHours, keepAudit } = parseConfig({}, {});

type Configured = {
  by: string;
  tables: readonly string[];
  /** Bounds per organization. Empty if only administrators add rows. */
  bounds: readonly Bound[];
};

/** Tables whose size depends on the configuration, by the setting that bounds them. */
export const configured: readonly Configured[] = [
  {
    by: "`--limit monitors` and `monitor-groups`",
    tables: ["monitors", "monitor_states", "monitor_groups"],
    bounds: [
      organizationBounds.monitors,
      organizationBounds["monitor-groups"],
      monitorBounds.totalSize,
    ],
  },
  {
    by: "`--limit alert-channels` and `monitors`",
    tables: [
      "alert_channels",
      "monitor_channels",
      "monitor_dependencies",
      "monitor_group_dependencies",
      "monitor_group_channels",
      "alert_memory",
      "open_alerts",
      "open_cases",
    ],
    bounds: [
      organizationBounds["alert-channels"],
      organizationBounds["alert-channels-of-a-monitor"],
      organizationBounds.monitors,
    ],
  },
  {
    by: "`--limit escalation-policies`",
    tables: ["escalation_policies", "escalation_targets"],
    bounds: [
      organizationBounds["escalation-policies"],
      escalationBounds.steps,
      escalationBounds.targets,
    ],
  },
  {
    by: "`--limit alert-sources`",
    tables: ["alert_sources", "alert_source_channels", "source_alerts"],
    bounds: [organizationBounds["alert-sources"], sourceBounds.knownAlerts],
  },
  {
    by: "`--limit status-pages`",
    tables: [
      "status_pages",
      "status_page_hosts",
      "status_page_sections",
      "status_page_monitors",
      "status_page_tokens",
      "status_page_publishing",
      "published_places",
    ],
    bounds: [
      organizationBounds["status-pages"],
      organizationBounds["status-page-hosts"],
      statusPageBounds.monitorsInSections,
      statusPageBounds.accessTokens,
      statusPageBounds.publishedIncidents,
      statusPageBounds.publishedMonths,
      statusPageBounds.publishedPlaces,
    ],
  },
  {
    by: "`--limit subscribers`",
    tables: ["subscribers"],
    bounds: [organizationBounds.subscribers, signUpBounds.unconfirmed],
  },
  {
    by: "`--limit people`",
    tables: ["people", "memberships", "recovery_codes", "passkeys", "sign_in_links", "invitations"],
    bounds: [organizationBounds.people, accountBounds.passkeys],
  },
  {
    by: "`--limit api-keys`, plus keys revoked within `--keep-audit`",
    tables: ["api_keys"],
    bounds: [organizationBounds["api-keys"]],
  },
  {
    by: "`--limit incident-templates`",
    tables: ["incident_templates"],
    bounds: [organizationBounds["incident-templates"]],
  },
  {
    by: "`--limit schedules`",
    tables: ["schedules", "schedule_people", "schedule_overrides", "schedule_notices"],
    bounds: [
      organizationBounds.schedules,
      scheduleBounds.layers,
      scheduleBounds.people,
      scheduleBounds.overrides,
    ],
  },
  {
    by: "the number of organizations",
    tables: ["organizations", "organization_settings", "organization_usage", "incident_counts"],
    bounds: [],
  },
  {
    by: "the machines of a [cluster](cluster.md)",
    tables: ["nodes", "leases", "forwarded_requests"],
    bounds: [],
  },
  {
    by: "imports and the records that they created",
    tables: ["imports", "external_records"],
    bounds: [importBounds.uploads, organizationBounds.monitors],
  },
  {
    by: "the number of sign-in providers, and of people's accounts there",
    tables: ["identity_providers", "identity_provider_organizations", "identities"],
    bounds: [
      singleSignOnBounds.providers,
      singleSignOnBounds.organizations,
      singleSignOnBounds.identities,
    ],
  },
  {
    by: "the program itself",
    tables: [
      "followers",
      "housekeeping",
      "backup_schedule",
      "problems",
      "guards",
      "__drizzle_migrations",
    ],
    bounds: [],
  },
];

type GrowingTable = {
  content: string;
  tables: readonly string[];
  bytes: number;
  each: string;
  /** Rows per day with 1,000 monitors every 60 s. */
  daily: number;
  /** Retention in days, or in words. */
  retention: number | string;
  /** The option of `serve` that sets the retention. */
  option?: string;
  /** Bounds on the rows that an organization can add. */
  bounds: readonly Bound[];
};

/** Tables that grow with time, with their retention. */
export const growingTables: readonly GrowingTable[] = [
  {
    content: "Check results",
    bounds: [organizationBounds.monitors],
    tables: ["heartbeats"],
    bytes: rowBytes.result,
    each: "per check",
    daily: 1_440_000,
    retention: keepResults,
    option: "keep-results",
  },
  {
    content: "Last reports of jobs",
    bounds: [organizationBounds.monitors, jobBounds.reports, jobBounds.body],
    tables: ["push_reports"],
    bytes: rowBytes.pushReport,
    each: "per report, and its body",
    daily: 0,
    retention: `the last ${jobBounds.reports.value} of each push monitor`,
  },
  {
    content: "Screenshots",
    bounds: [organizationBounds.monitors],
    tables: ["screenshots"],
    bytes: rowBytes.screenshot,
    each: "per failed `browser` monitor",
    daily: 0,
    retention: keepResults,
    option: "keep-results",
  },
  {
    content: "Hourly sums",
    bounds: [organizationBounds.monitors],
    tables: ["uptime_hours", "number_hours"],
    bytes: rowBytes.hour,
    each: "per monitor and hour",
    daily: 24_000,
    retention: keepHours,
    option: "keep-hours",
  },
  {
    content: "Daily sums",
    bounds: [organizationBounds.monitors],
    tables: ["uptime_days", "number_days"],
    bytes: rowBytes.day,
    each: "per monitor and day",
    daily: 1_000,
    retention: "as long as the monitor exists",
  },
  {
    content: "Results of deleted monitors that can't be restored",
    bounds: [organizationBounds.monitors],
    tables: ["removed_monitors"],
    bytes: rowBytes.removedMonitor,
    each: "per deleted monitor",
    daily: 0,
    retention: "minutes",
  },
  {
    content: "State changes of monitors",
    bounds: [organizationBounds.monitors],
    tables: ["events"],
    bytes: rowBytes.stateChange,
    each: "per change",
    daily: 130,
    retention: keepHours,
    option: "keep-hours",
  },
  {
    content: "Other events",
    bounds: [requestBounds.perPerson],
    tables: ["events"],
    bytes: rowBytes.event,
    each: "per change by a person",
    daily: 200,
    retention: eventDays,
  },
  {
    content: "Audit log",
    bounds: [requestBounds.perPerson],
    tables: ["audit_entries"],
    bytes: rowBytes.auditEntry,
    each: "per change by a person",
    daily: 200,
    retention: keepAudit,
    option: "keep-audit",
  },
  {
    content: "Alerts and deliveries",
    bounds: [organizationBounds["alert-channels"], alertBounds.alertsPerMessage],
    tables: [
      "alerts",
      "alert_records",
      "alert_acknowledgments",
      "alert_timeline",
      "alert_notifications",
      "alert_receipts",
      "deliveries",
      "delivery_alerts",
      "delivery_attempts",
    ],
    bytes: rowBytes.delivery,
    each: "per alert and channel",
    daily: 130,
    retention: deliveryDays,
  },
  {
    content: "Requests to alert sources",
    bounds: [sourceBounds.loggedRequests, sourceBounds.loggedBytes],
    tables: ["alert_source_requests"],
    bytes: rowBytes.sourceRequest,
    each: "per request, with its body",
    daily: 0,
    retention: sourceRequestDays,
  },
  {
    content: "Notices to subscribers",
    bounds: [organizationBounds["status-pages"]],
    tables: ["notices"],
    bytes: rowBytes.notice,
    each: "per incident update and page",
    daily: 0,
    retention: noticeDays,
  },
  {
    content: "Responses stored for an `Idempotency-Key`",
    bounds: [requestBounds.idempotentResponses, requestBounds.idempotentBodies],
    tables: ["idempotent_answers"],
    bytes: rowBytes.idempotentAnswer,
    each: "per POST or PATCH with a key",
    daily: 0,
    retention: 1,
  },
  {
    content: "Changes with `hold`, and their outcomes",
    bounds: [requestBounds.heldChanges],
    tables: ["held_changes"],
    bytes: rowBytes.heldChange,
    each: "per change",
    daily: 0,
    retention: 1,
  },
  {
    content: "Deleted records",
    bounds: [deletedBounds.records, deletedBounds.bytes],
    tables: ["deleted_records", "deleted_rows"],
    bytes: rowBytes.deletedRecord,
    each: "per record",
    daily: 1,
    retention: "30 days (the setting `keepDeletedDays`)",
  },
  {
    content: "Sessions",
    bounds: [requestBounds.wrongPasswords],
    tables: ["sessions"],
    bytes: rowBytes.session,
    each: "per sign-in",
    daily: 0,
    retention: "12 hours after the last request, 30 days at most",
  },
  {
    content: "Incidents",
    bounds: [
      incidentBounds.incidents,
      incidentBounds.entries,
      incidentBounds.text,
      incidentBounds.affectedMonitors,
      incidentBounds.impactChanges,
    ],
    tables: [
      "incidents",
      "incident_updates",
      "incident_monitors",
      "incident_notes",
      "incident_update_revisions",
      "incident_postmortems",
    ],
    bytes: rowBytes.incident,
    each: "per incident with two updates",
    daily: 6,
    retention: "until you delete them",
  },
  {
    content: "Maintenance windows",
    bounds: [organizationBounds["maintenance-windows"], maintenanceBounds.windows],
    tables: ["maintenance_windows", "maintenance_monitors", "maintenance_groups"],
    bytes: rowBytes.maintenanceWindow,
    each: "per window",
    daily: 0,
    retention: "until you delete them",
  },
];

/** The retention table of docs/operations.md. */
export function renderGrowthTable(): string {
  const rows = growingTables.map(({ content, bytes, each, daily, retention, option }) => {
    const days =
      typeof retention === "number"
        ? `${retention} ${retention === 1 ? "day" : "days"}`
        : retention;
    return [
      content,
      `${bytes.toLocaleString("en")} bytes ${each}`,
      daily === 0 ? "" : sizeOf(bytes * daily),
      option === undefined ? days : `${days} (\`--${option}\`)`,
    ];
  });
  return tableOf(["Data", "Size", "Per day", "Kept for"], rows);
}

function sizeOf(bytes: number): string {
  const [size, unit] = bytes >= 1e6 ? [bytes / 1e6, "MB"] : [bytes / 1e3, "kB"];
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`;
}

/** The list of bounded tables of docs/operations.md. */
export function renderConfiguredList(): string {
  return configured
    .map(({ by, tables }) => `- ${by}: ${tables.map((name) => `\`${name}\``).join(", ")}`)
    .join("\n");
}
