DROP INDEX `audit_entries_of_incidents`;--> statement-breakpoint
ALTER TABLE `audit_entries` ADD `changes` text;--> statement-breakpoint
CREATE INDEX `audit_entries_by_subject` ON `audit_entries` (`organization_id`,`subject_id`,`seq`);