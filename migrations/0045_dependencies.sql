CREATE TABLE `monitor_dependencies` (
	`organization_id` text NOT NULL,
	`monitor_id` text NOT NULL,
	`parent_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `monitor_id`, `parent_id`),
	FOREIGN KEY (`organization_id`,`monitor_id`) REFERENCES `monitors`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`parent_id`) REFERENCES `monitors`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `monitor_dependencies_by_parent` ON `monitor_dependencies` (`organization_id`,`parent_id`);--> statement-breakpoint
CREATE TABLE `monitor_group_dependencies` (
	`organization_id` text NOT NULL,
	`group_id` text NOT NULL,
	`parent_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `group_id`, `parent_id`),
	FOREIGN KEY (`organization_id`,`group_id`) REFERENCES `monitor_groups`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`parent_id`) REFERENCES `monitors`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `monitor_group_dependencies_by_parent` ON `monitor_group_dependencies` (`organization_id`,`parent_id`);--> statement-breakpoint
ALTER TABLE `alert_memory` ADD `held_since` integer;--> statement-breakpoint
ALTER TABLE `alert_memory` ADD `held_behind` text;--> statement-breakpoint
ALTER TABLE `alert_memory` ADD `held_until` integer;--> statement-breakpoint
CREATE INDEX `alert_memory_held` ON `alert_memory` (`organization_id`,`held_behind`) WHERE held_behind is not null;