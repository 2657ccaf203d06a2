ALTER TABLE `api_keys` ADD `mcp` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `audit_entries` ADD `tool` text;