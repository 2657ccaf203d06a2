ALTER TABLE `status_pages` ADD `look` text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE `status_pages` ADD `font_data` text;--> statement-breakpoint
ALTER TABLE `status_pages` ADD `favicon_type` text;--> statement-breakpoint
ALTER TABLE `status_pages` ADD `favicon_data` text;--> statement-breakpoint
ALTER TABLE `status_pages` ADD `stylesheet` text;