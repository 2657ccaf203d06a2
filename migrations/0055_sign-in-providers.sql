CREATE TABLE `identities` (
	`id` text PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`subject` text NOT NULL,
	`email` text,
	`granted_organizations` text NOT NULL,
	`created_at` text NOT NULL,
	`last_used_at` text NOT NULL,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `identity_providers`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `identities_by_subject` ON `identities` (`provider_id`,`subject`);--> statement-breakpoint
CREATE INDEX `identities_by_person` ON `identities` (`person_id`);--> statement-breakpoint
CREATE TABLE `identity_provider_organizations` (
	`provider_id` text NOT NULL,
	`organization_id` text NOT NULL,
	`default_role` text,
	`group_roles` text NOT NULL,
	PRIMARY KEY(`provider_id`, `organization_id`),
	FOREIGN KEY (`provider_id`) REFERENCES `identity_providers`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "identity_provider_organizations_role" CHECK("identity_provider_organizations"."default_role" IN ('viewer', 'member', 'admin', 'owner'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `identity_providers_by_organization` ON `identity_provider_organizations` (`organization_id`);--> statement-breakpoint
CREATE TABLE `identity_providers` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`enabled` integer NOT NULL,
	`settings` text NOT NULL,
	`secrets` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
) STRICT;
--> statement-breakpoint
ALTER TABLE `people` ADD `has_password` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `sessions` ADD `provider_id` text REFERENCES identity_providers(id) ON DELETE cascade;--> statement-breakpoint
CREATE INDEX `sessions_by_provider` ON `sessions` (`provider_id`) WHERE provider_id is not null;