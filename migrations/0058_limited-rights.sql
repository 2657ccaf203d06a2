ALTER TABLE `api_keys` ADD `group_ids` text;--> statement-breakpoint
ALTER TABLE `invitations` ADD `group_ids` text;--> statement-breakpoint
ALTER TABLE `memberships` ADD `group_ids` text;