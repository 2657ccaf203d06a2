CREATE TABLE `status_page_tokens` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`page_id` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`,`page_id`) REFERENCES `status_pages`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `status_page_tokens_hash_unique` ON `status_page_tokens` (`hash`);--> statement-breakpoint
CREATE INDEX `status_page_tokens_by_page` ON `status_page_tokens` (`organization_id`,`page_id`);--> statement-breakpoint
ALTER TABLE `status_page_sections` ADD `audience` text DEFAULT 'everyone' NOT NULL;--> statement-breakpoint
ALTER TABLE `status_pages` ADD `allowed_roles` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `status_pages` ADD `allowed_addresses` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `status_pages` ADD `indexing` integer DEFAULT true NOT NULL;