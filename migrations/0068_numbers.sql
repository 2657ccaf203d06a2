CREATE TABLE `number_days` (
	`day` integer NOT NULL,
	`monitor_key` integer NOT NULL,
	`count` integer NOT NULL,
	`sum` real NOT NULL,
	`min` real NOT NULL,
	`max` real NOT NULL,
	PRIMARY KEY(`day`, `monitor_key`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `number_hours` (
	`hour` integer NOT NULL,
	`monitor_key` integer NOT NULL,
	`count` integer NOT NULL,
	`sum` real NOT NULL,
	`min` real NOT NULL,
	`max` real NOT NULL,
	PRIMARY KEY(`hour`, `monitor_key`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `heartbeats` ADD `number` real;--> statement-breakpoint
ALTER TABLE `monitor_states` ADD `number` real;--> statement-breakpoint
ALTER TABLE `monitor_states` ADD `number_level` text;