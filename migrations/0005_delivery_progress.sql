CREATE TABLE `open_cases` (
	`organization_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`subject_id` text NOT NULL,
	`problem` text NOT NULL,
	`key` text NOT NULL,
	`alert_id` text NOT NULL,
	PRIMARY KEY(`organization_id`, `channel_id`, `subject_id`, `problem`),
	FOREIGN KEY (`organization_id`,`channel_id`) REFERENCES `alert_channels`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`alert_id`) REFERENCES `alerts`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `open_cases_by_subject` ON `open_cases` (`organization_id`,`subject_id`);--> statement-breakpoint
DROP INDEX `deliveries_pending`;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `doubtful_since` integer;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `held_until` integer;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `progress` text;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `bytes` integer;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `case_key` text;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `closes_case` integer;--> statement-breakpoint
CREATE INDEX `deliveries_pending` ON `deliveries` (`receiver_type`,`organization_id`,`receiver_id`,`seq`,`due_at`,`attempts`,`held_until`) WHERE due_at is not null;--> statement-breakpoint
ALTER TABLE `followers` ADD `part` text;--> statement-breakpoint
INSERT INTO `open_cases` (`organization_id`, `channel_id`, `subject_id`, `problem`, `key`, `alert_id`)
SELECT o.organization_id, o.channel_id, o.subject_id,
	coalesce(i.severity, json_extract(o.tellings, '$[#-1][1]')), 'signalbox-' || o.subject_id, t.alert_id
FROM `open_alerts` o
JOIN `alert_channels` c ON c.organization_id = o.organization_id AND c.id = o.channel_id
	AND c.type IN ('pagerduty', 'opsgenie')
JOIN `delivery_alerts` t ON t.organization_id = o.organization_id
	AND t.delivery_id = json_extract(o.tellings, '$[#-1][0]') AND t.position = 0
LEFT JOIN `incidents` i ON i.organization_id = o.organization_id AND i.id = o.subject_id;
