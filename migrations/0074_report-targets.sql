ALTER TABLE `deliveries` ADD `report` text;--> statement-breakpoint
ALTER TABLE `monitor_groups` ADD `sla_target` real;--> statement-breakpoint
ALTER TABLE `status_pages` ADD `sla_target` real;