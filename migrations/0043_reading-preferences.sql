ALTER TABLE `people` ADD `hour_cycle` text DEFAULT 'h23' NOT NULL;--> statement-breakpoint
ALTER TABLE `status_pages` ADD `show_paused` integer DEFAULT true NOT NULL;