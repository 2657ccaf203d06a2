CREATE TABLE `problems` (
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`stage` text NOT NULL,
	`severity` text NOT NULL,
	`message` text NOT NULL,
	`since` text NOT NULL,
	`until` integer,
	PRIMARY KEY(`organization_id`, `name`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
