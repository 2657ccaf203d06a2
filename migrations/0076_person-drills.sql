ALTER TABLE `memberships` ADD `drill` text;--> statement-breakpoint
ALTER TABLE `memberships` ADD `drill_due_at` integer;--> statement-breakpoint
CREATE INDEX `memberships_drill_due` ON `memberships` (`drill_due_at`) WHERE drill_due_at is not null;