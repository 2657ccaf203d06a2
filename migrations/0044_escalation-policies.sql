CREATE TABLE `escalation_policies` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`repeat` integer NOT NULL,
	`is_default` integer NOT NULL,
	`incident_severities` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `escalation_targets` (
	`organization_id` text NOT NULL,
	`policy_id` text NOT NULL,
	`step` integer NOT NULL,
	`position` integer NOT NULL,
	`after_minutes` integer NOT NULL,
	`person_id` text,
	`schedule_id` text,
	`channel_id` text,
	PRIMARY KEY(`organization_id`, `policy_id`, `step`, `position`),
	FOREIGN KEY (`organization_id`,`policy_id`) REFERENCES `escalation_policies`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`person_id`) REFERENCES `memberships`(`organization_id`,`person_id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`schedule_id`) REFERENCES `schedules`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`channel_id`) REFERENCES `alert_channels`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "escalation_targets_target" CHECK(("escalation_targets"."person_id" IS NOT NULL) + ("escalation_targets"."schedule_id" IS NOT NULL) + ("escalation_targets"."channel_id" IS NOT NULL) = 1)
) STRICT;
--> statement-breakpoint
CREATE INDEX `escalation_targets_by_person` ON `escalation_targets` (`organization_id`,`person_id`);--> statement-breakpoint
CREATE INDEX `escalation_targets_by_schedule` ON `escalation_targets` (`organization_id`,`schedule_id`);--> statement-breakpoint
CREATE INDEX `escalation_targets_by_channel` ON `escalation_targets` (`organization_id`,`channel_id`);--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `person_id` text;--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `position` integer;--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `after_minutes` integer;--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `critical_after_minutes` integer;--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `verified_at` text;--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `code_hash` text;--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `code_expires_at` integer;--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `code_attempts` integer;--> statement-breakpoint
CREATE INDEX `alert_channels_by_person` ON `alert_channels` (`organization_id`,`person_id`,`position`) WHERE person_id is not null;--> statement-breakpoint
ALTER TABLE `monitor_groups` ADD `escalation_policy_id` text;--> statement-breakpoint
CREATE INDEX `monitor_groups_by_policy` ON `monitor_groups` (`organization_id`,`escalation_policy_id`) WHERE escalation_policy_id is not null;--> statement-breakpoint
ALTER TABLE `monitors` ADD `escalation_policy_id` text;--> statement-breakpoint
ALTER TABLE `monitors` ADD `priority` text DEFAULT 'normal' NOT NULL;--> statement-breakpoint
CREATE INDEX `monitors_by_policy` ON `monitors` (`organization_id`,`escalation_policy_id`) WHERE escalation_policy_id is not null;