DROP INDEX `people_email_key_unique`;--> statement-breakpoint
ALTER TABLE `people` ADD `administrator` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `people` ADD `wrong_codes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `people` ADD `wrong_code_at` text;--> statement-breakpoint
CREATE INDEX `people_by_email` ON `people` (`email_key`);--> statement-breakpoint
CREATE INDEX `administrators` ON `people` (`id`) WHERE administrator;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `created_by_id` text;--> statement-breakpoint
ALTER TABLE `invitations` ADD `invited_by_id` text;--> statement-breakpoint
ALTER TABLE `organizations` ADD `deleted_at` text;--> statement-breakpoint
-- By the rule that held before: whoever owns every organization.
UPDATE people SET administrator = 1 WHERE EXISTS (SELECT 1 FROM organizations)
  AND NOT EXISTS (SELECT 1 FROM organizations o WHERE NOT EXISTS (SELECT 1 FROM memberships m
    WHERE m.organization_id = o.id AND m.person_id = people.id AND m.role = 'owner'));
--> statement-breakpoint
-- Else the first owner of the oldest organization that has one; where nobody owns anything, whoever came first.
UPDATE people SET administrator = 1 WHERE NOT EXISTS (SELECT 1 FROM people WHERE administrator)
  AND id = (SELECT p.id FROM people p ORDER BY
    (SELECT min(o.created_at || o.id) FROM memberships m JOIN organizations o ON o.id = m.organization_id
      WHERE m.person_id = p.id AND m.role = 'owner') NULLS LAST,
    p.created_at, p.id LIMIT 1);
--> statement-breakpoint
UPDATE invitations SET invited_by_id = a.actor_id FROM (SELECT organization_id, subject_id, actor_id
    FROM audit_entries WHERE action = 'invitation.created' AND actor_type = 'person') a
  WHERE a.organization_id = invitations.organization_id AND a.subject_id = invitations.id;
--> statement-breakpoint
-- Nobody knows whether whoever made these may still make them.
DELETE FROM invitations WHERE invited_by_id IS NULL;
--> statement-breakpoint
UPDATE api_keys SET created_by_id = a.actor_id FROM (SELECT organization_id, subject_id, actor_id
    FROM audit_entries WHERE action = 'api-key.created' AND actor_type = 'person') a
  WHERE a.organization_id = api_keys.organization_id AND a.subject_id = api_keys.id;
