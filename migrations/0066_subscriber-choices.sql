CREATE TABLE `__new_subscribers` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`page_id` text NOT NULL,
	`type` text NOT NULL,
	`address` text NOT NULL,
	`address_key` text NOT NULL,
	`language` text,
	`secrets` text NOT NULL,
	`incidents` integer DEFAULT true NOT NULL,
	`minimum_severity` text DEFAULT 'minor' NOT NULL,
	`maintenance` integer DEFAULT true NOT NULL,
	`components` text,
	`frequency` text DEFAULT 'immediately' NOT NULL,
	`quarantined_at` text,
	`confirmed_at` text,
	`heard_from` integer,
	`by_visitor` integer DEFAULT false NOT NULL,
	`asked` integer NOT NULL,
	`asked_at` integer,
	`last_delivery_at` text,
	`last_error` text,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`,`page_id`) REFERENCES `status_pages`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "subscribers_type" CHECK("__new_subscribers"."type" IN ('email', 'webhook', 'slack', 'teams', 'discord'))
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_subscribers`("organization_id", "id", "page_id", "type", "address", "address_key", "language", "secrets", "confirmed_at", "heard_from", "by_visitor", "asked", "asked_at", "last_delivery_at", "last_error", "version", "created_at") SELECT "organization_id", "id", "page_id", "type", "address", "address_key", "language", "secrets", "confirmed_at", "heard_from", "by_visitor", "asked", "asked_at", "last_delivery_at", "last_error", "version", "created_at" FROM `subscribers`;--> statement-breakpoint
DROP TABLE `subscribers`;--> statement-breakpoint
ALTER TABLE `__new_subscribers` RENAME TO `subscribers`;--> statement-breakpoint
CREATE UNIQUE INDEX `subscribers_by_address` ON `subscribers` (`organization_id`,`page_id`,`type`,`address_key`);--> statement-breakpoint
CREATE INDEX `subscribers_by_page` ON `subscribers` (`organization_id`,`page_id`,`id`);--> statement-breakpoint
CREATE INDEX `subscribers_waiting` ON `subscribers` (`organization_id`,`page_id`,`asked_at`) WHERE confirmed_at is null and by_visitor;--> statement-breakpoint
CREATE INDEX `subscribers_unconfirmed` ON `subscribers` (`asked_at`) WHERE confirmed_at is null;--> statement-breakpoint
ALTER TABLE `maintenance_windows` ADD `reminder_hours` integer;--> statement-breakpoint
ALTER TABLE `maintenance_windows` ADD `progress_notices` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `maintenance_windows` ADD `reminded_for` integer;--> statement-breakpoint
ALTER TABLE `notices` ADD `scope` text;