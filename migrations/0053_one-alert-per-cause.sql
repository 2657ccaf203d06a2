ALTER TABLE `organization_settings` ADD `one_alert_per_cause` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `alert_memory` ADD `held_cause` text;--> statement-breakpoint
ALTER TABLE `alert_memory` ADD `joined_due_at` integer;