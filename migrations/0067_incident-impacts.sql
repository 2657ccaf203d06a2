ALTER TABLE `incidents` ADD `impacts` text;--> statement-breakpoint
ALTER TABLE `status_page_monitors` ADD `link` text;--> statement-breakpoint
ALTER TABLE `status_page_sections` ADD `nested` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `status_page_sections` ADD `folding` text DEFAULT 'auto' NOT NULL;--> statement-breakpoint
ALTER TABLE `status_pages` ADD `count_impacts` integer DEFAULT false NOT NULL;