CREATE TABLE `external_records` (
	`organization_id` text NOT NULL,
	`source` text NOT NULL,
	`noun` text NOT NULL,
	`external_id` text NOT NULL,
	`record_id` text NOT NULL,
	`import_id` text NOT NULL,
	`adopted` integer NOT NULL,
	`secrets` text NOT NULL,
	PRIMARY KEY(`organization_id`, `source`, `noun`, `external_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `external_records_by_external_id` ON `external_records` (`noun`,`external_id`);--> statement-breakpoint
CREATE INDEX `external_records_by_import` ON `external_records` (`organization_id`,`import_id`);--> statement-breakpoint
CREATE TABLE `imports` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`source` text NOT NULL,
	`status` text NOT NULL,
	`report` text,
	`first_key` integer NOT NULL,
	`last_key` integer NOT NULL,
	`touched_at` integer NOT NULL,
	`actor_name` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "imports_status" CHECK("imports"."status" IN ('running', 'done', 'undone'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `imports_running` ON `imports` (`touched_at`) WHERE status = 'running';