CREATE TABLE `screenshots` (
	`organization_id` text NOT NULL,
	`monitor_id` text NOT NULL,
	`at` integer NOT NULL,
	`image` text NOT NULL,
	PRIMARY KEY(`organization_id`, `monitor_id`),
	FOREIGN KEY (`organization_id`,`monitor_id`) REFERENCES `monitors`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
