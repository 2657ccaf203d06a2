CREATE TABLE `alert_source_channels` (
	`organization_id` text NOT NULL,
	`source_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `source_id`, `channel_id`),
	FOREIGN KEY (`organization_id`,`source_id`) REFERENCES `alert_sources`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`channel_id`) REFERENCES `alert_channels`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `alert_source_channels_by_channel` ON `alert_source_channels` (`organization_id`,`channel_id`);--> statement-breakpoint
CREATE TABLE `alert_source_requests` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` text NOT NULL,
	`source_id` text NOT NULL,
	`id` text NOT NULL,
	`at` text NOT NULL,
	`path` text NOT NULL,
	`headers` text NOT NULL,
	`body` text,
	`bytes` integer NOT NULL,
	`status` integer NOT NULL,
	`outcome` text NOT NULL,
	`replay_of` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `alert_source_requests_by_source` ON `alert_source_requests` (`organization_id`,`source_id`,`id`);--> statement-breakpoint
CREATE TABLE `alert_sources` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`enabled` integer NOT NULL,
	`priority` text,
	`escalation_policy_id` text,
	`incident_severity` text,
	`resolve_after_minutes` integer,
	`mapping` text,
	`secrets` text NOT NULL,
	`token_hash` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `alert_sources_token_hash_unique` ON `alert_sources` (`token_hash`);--> statement-breakpoint
CREATE INDEX `alert_sources_by_policy` ON `alert_sources` (`organization_id`,`escalation_policy_id`) WHERE escalation_policy_id is not null;--> statement-breakpoint
CREATE TABLE `source_alerts` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`source_id` text NOT NULL,
	`key` text NOT NULL,
	`status` text NOT NULL,
	`content` text NOT NULL,
	`episode` text,
	`opened_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`incident_id` text,
	`due_at` integer,
	`version` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`,`source_id`) REFERENCES `alert_sources`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "source_alerts_status" CHECK("source_alerts"."status" IN ('open', 'acknowledged', 'resolved'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `source_alerts_due` ON `source_alerts` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `source_alerts_by_key` ON `source_alerts` (`organization_id`,`source_id`,`key`);--> statement-breakpoint
CREATE INDEX `source_alerts_by_status` ON `source_alerts` (`organization_id`,`source_id`,`status`,`updated_at`);--> statement-breakpoint
CREATE INDEX `source_alerts_by_incident` ON `source_alerts` (`organization_id`,`incident_id`) WHERE incident_id is not null;--> statement-breakpoint
CREATE TABLE `__new_alert_records` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`family` text NOT NULL,
	`subject_id` text NOT NULL,
	`type` text NOT NULL,
	`at` text NOT NULL,
	`data` text NOT NULL,
	`priority` text NOT NULL,
	`since` text NOT NULL,
	`resolved_at` text,
	`resolved_because` text,
	`acknowledged_at` text,
	`snoozed_until` integer,
	`policy_id` text,
	`step` integer NOT NULL,
	`round` integer NOT NULL,
	`due_at` integer,
	`escalated_from` integer,
	`runs` text,
	`link_key` text NOT NULL,
	`version` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "alert_records_family" CHECK("__new_alert_records"."family" IN ('state', 'certificate', 'incident', 'channel', 'problem', 'drill', 'source')),
	CONSTRAINT "alert_records_priority" CHECK("__new_alert_records"."priority" IN ('low', 'normal', 'critical'))
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_alert_records`("organization_id", "id", "family", "subject_id", "type", "at", "data", "priority", "since", "resolved_at", "resolved_because", "acknowledged_at", "snoozed_until", "policy_id", "step", "round", "due_at", "escalated_from", "runs", "link_key", "version") SELECT "organization_id", "id", "family", "subject_id", "type", "at", "data", "priority", "since", "resolved_at", "resolved_because", "acknowledged_at", "snoozed_until", "policy_id", "step", "round", "due_at", "escalated_from", "runs", "link_key", "version" FROM `alert_records`;--> statement-breakpoint
DROP TABLE `alert_records`;--> statement-breakpoint
ALTER TABLE `__new_alert_records` RENAME TO `alert_records`;--> statement-breakpoint
CREATE UNIQUE INDEX `alert_records_open` ON `alert_records` (`organization_id`,`subject_id`,`family`) WHERE resolved_at is null;--> statement-breakpoint
CREATE INDEX `alert_records_by_subject` ON `alert_records` (`organization_id`,`subject_id`,`id`);--> statement-breakpoint
CREATE INDEX `alert_records_due_of_organization` ON `alert_records` (`organization_id`,`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX `alert_records_drills` ON `alert_records` (`organization_id`,`subject_id`,`id`) WHERE family = 'drill';--> statement-breakpoint
CREATE INDEX `alert_records_resolved` ON `alert_records` (`resolved_at`) WHERE resolved_at is not null;--> statement-breakpoint
CREATE TABLE `__new_deleted_records` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`noun` text NOT NULL,
	`name` text NOT NULL,
	`deleted_at` integer NOT NULL,
	`actor_name` text NOT NULL,
	`monitor_key` integer,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "deleted_records_noun" CHECK("__new_deleted_records"."noun" IN ('monitor', 'group', 'alert-channel', 'alert-source', 'status-page', 'incident', 'maintenance'))
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_deleted_records`("organization_id", "id", "noun", "name", "deleted_at", "actor_name", "monitor_key", "bytes") SELECT "organization_id", "id", "noun", "name", "deleted_at", "actor_name", "monitor_key", "bytes" FROM `deleted_records`;--> statement-breakpoint
DROP TABLE `deleted_records`;--> statement-breakpoint
ALTER TABLE `__new_deleted_records` RENAME TO `deleted_records`;--> statement-breakpoint
CREATE INDEX `deleted_records_by_time` ON `deleted_records` (`organization_id`,`deleted_at`,`bytes`);--> statement-breakpoint
CREATE INDEX `deleted_records_of_monitors` ON `deleted_records` (`monitor_key`) WHERE monitor_key is not null;