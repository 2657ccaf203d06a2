CREATE TABLE `schedule_notices` (
	`organization_id` text NOT NULL,
	`schedule_id` text NOT NULL,
	`person_id` text NOT NULL,
	`starts_at` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `schedule_id`, `starts_at`, `person_id`),
	FOREIGN KEY (`organization_id`,`schedule_id`) REFERENCES `schedules`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `schedule_notices_by_start` ON `schedule_notices` (`starts_at`);--> statement-breakpoint
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
	`link_key` text NOT NULL,
	`version` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "alert_records_family" CHECK("__new_alert_records"."family" IN ('state', 'certificate', 'incident', 'channel', 'problem', 'drill')),
	CONSTRAINT "alert_records_priority" CHECK("__new_alert_records"."priority" IN ('low', 'normal', 'critical'))
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_alert_records`("organization_id", "id", "family", "subject_id", "type", "at", "data", "priority", "since", "resolved_at", "resolved_because", "acknowledged_at", "snoozed_until", "policy_id", "step", "round", "due_at", "escalated_from", "link_key", "version") SELECT "organization_id", "id", "family", "subject_id", "type", "at", "data", "priority", "since", "resolved_at", "resolved_because", "acknowledged_at", "snoozed_until", "policy_id", "step", "round", "due_at", "escalated_from", "link_key", "version" FROM `alert_records`;--> statement-breakpoint
DROP TABLE `alert_records`;--> statement-breakpoint
ALTER TABLE `__new_alert_records` RENAME TO `alert_records`;--> statement-breakpoint
CREATE UNIQUE INDEX `alert_records_open` ON `alert_records` (`organization_id`,`subject_id`,`family`) WHERE resolved_at is null;--> statement-breakpoint
CREATE INDEX `alert_records_by_subject` ON `alert_records` (`organization_id`,`subject_id`,`id`);--> statement-breakpoint
CREATE INDEX `alert_records_due_of_organization` ON `alert_records` (`organization_id`,`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX `alert_records_drills` ON `alert_records` (`organization_id`,`subject_id`,`id`) WHERE family = 'drill';--> statement-breakpoint
CREATE INDEX `alert_records_resolved` ON `alert_records` (`resolved_at`) WHERE resolved_at is not null;--> statement-breakpoint
ALTER TABLE `escalation_policies` ADD `drill` text;--> statement-breakpoint
ALTER TABLE `escalation_policies` ADD `drill_due_at` integer;--> statement-breakpoint
CREATE INDEX `escalation_policies_drill_due` ON `escalation_policies` (`drill_due_at`) WHERE drill_due_at is not null;--> statement-breakpoint
ALTER TABLE `schedules` ADD `notice_hours` integer;--> statement-breakpoint
ALTER TABLE `schedules` ADD `notice_due_at` integer;--> statement-breakpoint
CREATE INDEX `schedules_notice_due` ON `schedules` (`notice_due_at`) WHERE notice_due_at is not null;