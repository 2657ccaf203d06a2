CREATE TABLE `alert_acknowledgments` (
	`organization_id` text NOT NULL,
	`record_id` text NOT NULL,
	`actor_type` text NOT NULL,
	`actor_id` text NOT NULL,
	`actor_name` text NOT NULL,
	`at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `record_id`, `actor_type`, `actor_id`),
	FOREIGN KEY (`organization_id`,`record_id`) REFERENCES `alert_records`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE TABLE `alert_notifications` (
	`organization_id` text NOT NULL,
	`record_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`person_id` text,
	`step` integer NOT NULL,
	`round` integer NOT NULL,
	`due_at` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `record_id`, `channel_id`, `step`, `round`),
	FOREIGN KEY (`organization_id`,`record_id`) REFERENCES `alert_records`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`channel_id`) REFERENCES `alert_channels`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `alert_notifications_due_of_organization` ON `alert_notifications` (`organization_id`,`due_at`);--> statement-breakpoint
CREATE INDEX `alert_notifications_by_channel` ON `alert_notifications` (`organization_id`,`channel_id`);--> statement-breakpoint
CREATE TABLE `alert_records` (
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
	`link_key` text NOT NULL,
	`version` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "alert_records_family" CHECK("alert_records"."family" IN ('state', 'certificate', 'incident', 'channel', 'problem')),
	CONSTRAINT "alert_records_priority" CHECK("alert_records"."priority" IN ('low', 'normal', 'critical'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `alert_records_open` ON `alert_records` (`organization_id`,`subject_id`,`family`) WHERE resolved_at is null;--> statement-breakpoint
CREATE INDEX `alert_records_by_subject` ON `alert_records` (`organization_id`,`subject_id`,`id`);--> statement-breakpoint
CREATE INDEX `alert_records_due_of_organization` ON `alert_records` (`organization_id`,`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX `alert_records_resolved` ON `alert_records` (`resolved_at`) WHERE resolved_at is not null;--> statement-breakpoint
CREATE TABLE `alert_timeline` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` text NOT NULL,
	`record_id` text NOT NULL,
	`at` text NOT NULL,
	`type` text NOT NULL,
	`actor_type` text,
	`actor_id` text,
	`actor_name` text,
	`message` text,
	FOREIGN KEY (`organization_id`,`record_id`) REFERENCES `alert_records`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `alert_timeline_by_record` ON `alert_timeline` (`organization_id`,`record_id`,`seq`);--> statement-breakpoint
ALTER TABLE `alerts` ADD `record_id` text;--> statement-breakpoint
CREATE INDEX `alerts_by_record` ON `alerts` (`organization_id`,`record_id`,`id`) WHERE record_id is not null;