CREATE TABLE `forwarded_requests` (
	`id` text PRIMARY KEY NOT NULL,
	`lease` text NOT NULL,
	`request` text NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `leases` (
	`name` text PRIMARY KEY NOT NULL,
	`owner` text,
	`epoch` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `nodes` (
	`id` text PRIMARY KEY NOT NULL,
	`run` text NOT NULL,
	`name` text NOT NULL,
	`version` text NOT NULL,
	`started_at` text NOT NULL,
	`beats` integer NOT NULL,
	`beat_at` integer NOT NULL,
	`clock_offset_ms` integer
) STRICT;
