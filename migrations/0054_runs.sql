ALTER TABLE `alert_records` ADD `runs` text;--> statement-breakpoint
CREATE INDEX `deliveries_quiet_due` ON `deliveries` (`due_at`) WHERE due_at is not null and quiet;