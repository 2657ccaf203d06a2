DROP INDEX `deliveries_pending`;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `quiet` integer;--> statement-breakpoint
CREATE INDEX `deliveries_quiet` ON `deliveries` (`organization_id`,`receiver_id`) WHERE due_at is not null and quiet;--> statement-breakpoint
CREATE INDEX `deliveries_pending` ON `deliveries` (`receiver_type`,`organization_id`,`receiver_id`,`seq`,`due_at`,`attempts`,`held_until`,`quiet`) WHERE due_at is not null;--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `notify_on` text;--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `quiet_hours` text;