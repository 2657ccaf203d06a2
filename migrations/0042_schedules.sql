CREATE TABLE `schedule_overrides` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`schedule_id` text NOT NULL,
	`person_id` text NOT NULL,
	`starts_at` text NOT NULL,
	`ends_at` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`,`schedule_id`) REFERENCES `schedules`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`person_id`) REFERENCES `memberships`(`organization_id`,`person_id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `schedule_overrides_by_schedule` ON `schedule_overrides` (`organization_id`,`schedule_id`,`ends_at`);--> statement-breakpoint
CREATE INDEX `schedule_overrides_by_person` ON `schedule_overrides` (`organization_id`,`person_id`,`ends_at`);--> statement-breakpoint
CREATE INDEX `schedule_overrides_by_end` ON `schedule_overrides` (`ends_at`);--> statement-breakpoint
CREATE TABLE `schedule_people` (
	`organization_id` text NOT NULL,
	`schedule_id` text NOT NULL,
	`person_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `schedule_id`, `person_id`),
	FOREIGN KEY (`organization_id`,`schedule_id`) REFERENCES `schedules`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`person_id`) REFERENCES `memberships`(`organization_id`,`person_id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `schedule_people_by_person` ON `schedule_people` (`organization_id`,`person_id`);--> statement-breakpoint
CREATE TABLE `schedules` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`time_zone` text NOT NULL,
	`layers` text NOT NULL,
	`secrets` text NOT NULL,
	`calendar_token_hash` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `schedules_calendar_token_hash_unique` ON `schedules` (`calendar_token_hash`);