CREATE TABLE `deleted_records` (
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
	CONSTRAINT "deleted_records_noun" CHECK("deleted_records"."noun" IN ('monitor', 'group', 'alert-channel', 'status-page', 'incident', 'maintenance'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `deleted_records_by_time` ON `deleted_records` (`organization_id`,`deleted_at`,`bytes`);--> statement-breakpoint
CREATE INDEX `deleted_records_of_monitors` ON `deleted_records` (`monitor_key`) WHERE monitor_key is not null;--> statement-breakpoint
CREATE TABLE `deleted_rows` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` text NOT NULL,
	`record_id` text NOT NULL,
	`table_name` text NOT NULL,
	`content` text NOT NULL,
	FOREIGN KEY (`organization_id`,`record_id`) REFERENCES `deleted_records`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `deleted_rows_of_record` ON `deleted_rows` (`organization_id`,`record_id`,`table_name`);--> statement-breakpoint
ALTER TABLE `organization_settings` ADD `keep_deleted_days` integer DEFAULT 30 NOT NULL;
