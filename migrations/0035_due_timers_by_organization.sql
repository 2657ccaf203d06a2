DROP INDEX `alert_memory_due`;--> statement-breakpoint
CREATE INDEX `alert_memory_due_of_organization` ON `alert_memory` (`organization_id`,`due_at`) WHERE due_at is not null;