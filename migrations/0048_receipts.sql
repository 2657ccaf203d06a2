CREATE TABLE `alert_receipts` (
	`organization_id` text NOT NULL,
	`delivery_id` text NOT NULL,
	`receipt` text NOT NULL,
	`polled_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `delivery_id`),
	FOREIGN KEY (`organization_id`,`delivery_id`) REFERENCES `deliveries`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
ALTER TABLE `deliveries` ADD `case_change` text;--> statement-breakpoint
ALTER TABLE `open_cases` ADD `acknowledged` integer;