ALTER TABLE `alert_source_requests` ADD `count` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `alert_source_requests` ADD `last_at` text;