CREATE TABLE `incident_update_revisions` (
	`organization_id` text NOT NULL,
	`incident_id` text NOT NULL,
	`id` text NOT NULL,
	`update_id` text NOT NULL,
	`message` text NOT NULL,
	`edited_at` text NOT NULL,
	`author_type` text NOT NULL,
	`author_id` text,
	`author_name` text NOT NULL,
	PRIMARY KEY(`organization_id`, `incident_id`, `id`),
	FOREIGN KEY (`organization_id`,`incident_id`) REFERENCES `incidents`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
ALTER TABLE `incident_updates` ADD `edited_at` text;