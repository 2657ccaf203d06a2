CREATE TABLE `backup_schedule` (
	`id` integer PRIMARY KEY NOT NULL,
	`settings` text NOT NULL,
	`secrets` text NOT NULL,
	`version` integer NOT NULL,
	`updated_at` text NOT NULL,
	`tried_for` integer NOT NULL,
	`retry_at` integer,
	`last_success_at` text,
	`last_file` text,
	`last_bytes` integer,
	`failing_since` text,
	`last_error` text,
	CONSTRAINT "backup_schedule_row" CHECK("backup_schedule"."id" = 1)
) STRICT;
