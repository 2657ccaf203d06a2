CREATE TABLE `status_page_publishing` (
	`organization_id` text NOT NULL,
	`page_id` text NOT NULL,
	`settings` text NOT NULL,
	`secrets` text NOT NULL,
	`place` text,
	`files` text DEFAULT '{}' NOT NULL,
	`published_at` text,
	`failing_since` text,
	`last_error` text,
	`version` integer NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `page_id`),
	FOREIGN KEY (`organization_id`,`page_id`) REFERENCES `status_pages`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
