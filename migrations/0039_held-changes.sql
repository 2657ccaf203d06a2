CREATE TABLE `held_changes` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`operation` text NOT NULL,
	`params` text NOT NULL,
	`change` text NOT NULL,
	`subject_id` text,
	`title` text,
	`actor_type` text NOT NULL,
	`actor_id` text,
	`actor_name` text NOT NULL,
	`request_id` text,
	`state` text NOT NULL,
	`created_at` text NOT NULL,
	`due_at` text NOT NULL,
	`sent_at` text,
	`error` text,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "held_changes_state" CHECK("held_changes"."state" IN ('waiting', 'sent', 'failed'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `held_changes_waiting` ON `held_changes` (`due_at`) WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX `held_changes_by_age` ON `held_changes` (`created_at`);--> statement-breakpoint
CREATE INDEX `deliveries_by_notice` ON `deliveries` (`organization_id`,`notice_id`,`status`) WHERE notice_id is not null;