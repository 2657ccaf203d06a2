CREATE TABLE `incident_monitors` (
	`organization_id` text NOT NULL,
	`incident_id` text NOT NULL,
	`monitor_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `incident_id`, `monitor_id`),
	FOREIGN KEY (`organization_id`,`incident_id`) REFERENCES `incidents`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`monitor_id`) REFERENCES `monitors`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `incident_monitors_by_monitor` ON `incident_monitors` (`organization_id`,`monitor_id`,`incident_id`);--> statement-breakpoint
ALTER TABLE `incidents` ADD `monitor_ids` text;--> statement-breakpoint
INSERT INTO incident_monitors (organization_id, incident_id, monitor_id, position)
SELECT organization_id, id, monitor_id, 0 FROM incidents WHERE monitor_id IS NOT NULL;
