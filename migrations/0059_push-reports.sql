CREATE TABLE `push_reports` (
	`monitor_key` integer NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	`run_id` text,
	`duration_ms` integer,
	`exit_status` integer,
	`body` text,
	`address` text,
	`user_agent` text,
	PRIMARY KEY(`monitor_key`, `at`),
	CONSTRAINT "push_reports_kind" CHECK("push_reports"."kind" IN ('success', 'failure', 'start', 'log'))
) STRICT;
--> statement-breakpoint
CREATE TABLE `__new_api_keys` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`scope` text NOT NULL,
	`mcp` integer DEFAULT false NOT NULL,
	`group_ids` text,
	`hash` text NOT NULL,
	`created_by_id` text,
	`created_at` text NOT NULL,
	`expires_at` text,
	`revoked_at` text,
	`last_used_at` text,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "api_keys_scope" CHECK("__new_api_keys"."scope" IN ('read', 'write', 'ping'))
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_api_keys`("organization_id", "id", "name", "scope", "mcp", "group_ids", "hash", "created_by_id", "created_at", "expires_at", "revoked_at", "last_used_at") SELECT "organization_id", "id", "name", "scope", "mcp", "group_ids", "hash", "created_by_id", "created_at", "expires_at", "revoked_at", "last_used_at" FROM `api_keys`;--> statement-breakpoint
DROP TABLE `api_keys`;--> statement-breakpoint
ALTER TABLE `__new_api_keys` RENAME TO `api_keys`;--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash_unique` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `monitors_by_slug` ON `monitors` (`organization_id`,settings ->> 'slug') WHERE type = 'push';