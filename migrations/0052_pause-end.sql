ALTER TABLE `monitors` ADD `paused_until` text;--> statement-breakpoint
CREATE INDEX `monitors_by_pause_end` ON `monitors` (`organization_id`,`paused_until`) WHERE paused_until is not null;