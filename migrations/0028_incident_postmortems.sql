CREATE TABLE `incident_postmortems` (
	`organization_id` text NOT NULL,
	`incident_id` text NOT NULL,
	`message` text NOT NULL,
	`published_at` text,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `incident_id`),
	FOREIGN KEY (`organization_id`,`incident_id`) REFERENCES `incidents`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
