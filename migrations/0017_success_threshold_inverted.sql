ALTER TABLE `monitor_states` ADD `successes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `monitors` ADD `success_threshold` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `monitors` ADD `inverted` integer DEFAULT false NOT NULL;