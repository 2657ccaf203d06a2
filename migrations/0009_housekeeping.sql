CREATE TABLE `housekeeping` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `open_cases_by_alert` ON `open_cases` (`organization_id`,`alert_id`);