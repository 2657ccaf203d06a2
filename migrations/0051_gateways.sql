ALTER TABLE `alert_channels` ADD `gateway_id` text;--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `sent_on` text;--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `sent_messages` integer;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `receipt` text;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `receipt_at` text;