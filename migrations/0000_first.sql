CREATE TABLE `alert_channels` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`enabled` integer NOT NULL,
	`is_default` integer NOT NULL,
	`incidents` integer NOT NULL,
	`settings` text NOT NULL,
	`secrets` text NOT NULL,
	`last_delivery_at` text,
	`last_error` text,
	`failing_since` text,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `alert_memory` (
	`organization_id` text NOT NULL,
	`monitor_id` text NOT NULL,
	`changes` text NOT NULL,
	`flapping_since` integer,
	`remind_at` integer,
	`due_at` integer,
	`certificate_expires_at` text,
	`certificate_days` integer,
	PRIMARY KEY(`organization_id`, `monitor_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `alert_memory_due` ON `alert_memory` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE TABLE `alerts` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`type` text NOT NULL,
	`at` text NOT NULL,
	`monitor_id` text,
	`incident_id` text,
	`data` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `alerts_by_monitor` ON `alerts` (`organization_id`,`monitor_id`,`id`);--> statement-breakpoint
CREATE INDEX `alerts_by_incident` ON `alerts` (`organization_id`,`incident_id`,`id`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`scope` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` text NOT NULL,
	`expires_at` text,
	`revoked_at` text,
	`last_used_at` text,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "api_keys_scope" CHECK("api_keys"."scope" IN ('read', 'write'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash_unique` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE TABLE `audit_entries` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` text NOT NULL,
	`at` text NOT NULL,
	`actor_type` text NOT NULL,
	`actor_id` text,
	`actor_name` text NOT NULL,
	`action` text NOT NULL,
	`subject_id` text NOT NULL,
	`fields` text,
	`request_id` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `audit_entries_by_organization` ON `audit_entries` (`organization_id`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_entries_of_incidents` ON `audit_entries` (`organization_id`,`subject_id`,`seq`) WHERE action IN ('incident.opened', 'incident.updated', 'incident.resolved', 'incident.reopened');--> statement-breakpoint
CREATE TABLE `deliveries` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`receiver_type` text NOT NULL,
	`receiver_id` text NOT NULL,
	`notice_id` text,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`scheduled_attempts` integer NOT NULL,
	`due_at` integer,
	`leased_until` integer,
	`first_attempt_at` integer,
	`last_attempt_at` integer,
	`created_at` text NOT NULL,
	`delivered_at` text,
	`error` text,
	CONSTRAINT "deliveries_status" CHECK("deliveries"."status" IN ('gathering', 'sending', 'delivered', 'failed', 'skipped')),
	CONSTRAINT "deliveries_receiver" CHECK("deliveries"."receiver_type" IN ('channel', 'mailbox', 'webhook'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_by_id` ON `deliveries` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `deliveries_by_receiver` ON `deliveries` (`organization_id`,`receiver_id`,`seq`);--> statement-breakpoint
CREATE INDEX `deliveries_pending` ON `deliveries` (`receiver_type`,`organization_id`,`receiver_id`,`seq`,`due_at`,`attempts`) WHERE due_at is not null;--> statement-breakpoint
CREATE TABLE `delivery_alerts` (
	`organization_id` text NOT NULL,
	`delivery_id` text NOT NULL,
	`position` integer NOT NULL,
	`alert_id` text NOT NULL,
	`follows` text,
	`withheld` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `delivery_id`, `position`),
	FOREIGN KEY (`organization_id`,`delivery_id`) REFERENCES `deliveries`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`alert_id`) REFERENCES `alerts`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `delivery_alerts_by_alert` ON `delivery_alerts` (`organization_id`,`alert_id`);--> statement-breakpoint
CREATE TABLE `delivery_attempts` (
	`organization_id` text NOT NULL,
	`delivery_id` text NOT NULL,
	`number` integer NOT NULL,
	`at` text NOT NULL,
	`duration_ms` integer NOT NULL,
	`delivered` integer NOT NULL,
	`message` text NOT NULL,
	PRIMARY KEY(`organization_id`, `delivery_id`, `number`),
	FOREIGN KEY (`organization_id`,`delivery_id`) REFERENCES `deliveries`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `events` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` text NOT NULL,
	`at` text NOT NULL,
	`type` text NOT NULL,
	`subject_id` text NOT NULL,
	`data` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `events_of_states` ON `events` (`organization_id`,`subject_id`,`seq`) WHERE type IN ('monitor.pending', 'monitor.up', 'monitor.degraded', 'monitor.down', 'monitor.maintenance', 'monitor.paused', 'monitor.resumed');--> statement-breakpoint
CREATE TABLE `followers` (
	`name` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`version` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `guards` (
	`holds` integer NOT NULL,
	CONSTRAINT "guard" CHECK("guards"."holds" = 1)
) STRICT;
--> statement-breakpoint
CREATE TABLE `heartbeats` (
	`monitor_key` integer NOT NULL,
	`at` integer NOT NULL,
	`status` integer NOT NULL,
	`latency_ms` integer,
	`seconds` integer NOT NULL,
	`message` text,
	PRIMARY KEY(`monitor_key`, `at`),
	CONSTRAINT "heartbeats_status" CHECK("heartbeats"."status" BETWEEN 0 AND 4)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `idempotent_answers` (
	`organization_id` text NOT NULL,
	`actor_id` text NOT NULL,
	`route` text NOT NULL,
	`idempotency_key` text NOT NULL,
	`body_hash` text NOT NULL,
	`status` integer NOT NULL,
	`location` text,
	`etag` text NOT NULL,
	`body` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `actor_id`, `route`, `idempotency_key`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `idempotent_answers_by_age` ON `idempotent_answers` (`created_at`);--> statement-breakpoint
CREATE TABLE `incident_counts` (
	`organization_id` text NOT NULL,
	`status` text NOT NULL,
	`severity` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `status`, `severity`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `incident_updates` (
	`organization_id` text NOT NULL,
	`incident_id` text NOT NULL,
	`seq` integer NOT NULL,
	`id` text NOT NULL,
	`status` text NOT NULL,
	`message` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `incident_id`, `seq`),
	FOREIGN KEY (`organization_id`,`incident_id`) REFERENCES `incidents`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE TABLE `incidents` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`title` text NOT NULL,
	`status` text NOT NULL,
	`severity` text NOT NULL,
	`monitor_id` text,
	`origin` text NOT NULL,
	`public` integer NOT NULL,
	`resolved_at` text,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`monitor_id`) REFERENCES `monitors`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "incidents_status" CHECK("incidents"."status" IN ('investigating', 'identified', 'monitoring', 'resolved')),
	CONSTRAINT "incidents_severity" CHECK("incidents"."severity" IN ('minor', 'major', 'critical')),
	CONSTRAINT "incidents_origin" CHECK("incidents"."origin" IN ('manual', 'monitor'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `incidents_by_state` ON `incidents` (`organization_id`,`status`,`severity`,`id`);--> statement-breakpoint
CREATE INDEX `incidents_by_monitor` ON `incidents` (`organization_id`,`monitor_id`,`id`);--> statement-breakpoint
CREATE INDEX `incidents_open_by_monitor` ON `incidents` (`organization_id`,`monitor_id`) WHERE status <> 'resolved';--> statement-breakpoint
CREATE TABLE `invitations` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`role` text NOT NULL,
	`token_hash` text NOT NULL,
	`invited_by` text NOT NULL,
	`created_at` text NOT NULL,
	`expires_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "invitations_role" CHECK("invitations"."role" IN ('viewer', 'member', 'admin', 'owner'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_token_hash_unique` ON `invitations` (`token_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_by_email` ON `invitations` (`organization_id`,`email_key`);--> statement-breakpoint
CREATE TABLE `maintenance_groups` (
	`organization_id` text NOT NULL,
	`window_id` text NOT NULL,
	`group_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `window_id`, `group_id`),
	FOREIGN KEY (`organization_id`,`window_id`) REFERENCES `maintenance_windows`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`group_id`) REFERENCES `monitor_groups`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `maintenance_groups_by_group` ON `maintenance_groups` (`organization_id`,`group_id`);--> statement-breakpoint
CREATE TABLE `maintenance_monitors` (
	`organization_id` text NOT NULL,
	`window_id` text NOT NULL,
	`monitor_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `window_id`, `monitor_id`),
	FOREIGN KEY (`organization_id`,`window_id`) REFERENCES `maintenance_windows`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`monitor_id`) REFERENCES `monitors`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `maintenance_monitors_by_monitor` ON `maintenance_monitors` (`organization_id`,`monitor_id`);--> statement-breakpoint
CREATE TABLE `maintenance_windows` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`starts_at` text NOT NULL,
	`ends_at` text NOT NULL,
	`time_zone` text NOT NULL,
	`rrule` text,
	`counts_uptime` integer NOT NULL,
	`public` integer NOT NULL,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `memberships` (
	`organization_id` text NOT NULL,
	`person_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `person_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "memberships_role" CHECK("memberships"."role" IN ('viewer', 'member', 'admin', 'owner'))
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `memberships_by_person` ON `memberships` (`person_id`);--> statement-breakpoint
CREATE TABLE `monitor_channels` (
	`organization_id` text NOT NULL,
	`monitor_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `monitor_id`, `channel_id`),
	FOREIGN KEY (`organization_id`,`monitor_id`) REFERENCES `monitors`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`channel_id`) REFERENCES `alert_channels`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `monitor_channels_by_channel` ON `monitor_channels` (`organization_id`,`channel_id`);--> statement-breakpoint
CREATE TABLE `monitor_group_channels` (
	`organization_id` text NOT NULL,
	`group_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `group_id`, `channel_id`),
	FOREIGN KEY (`organization_id`,`group_id`) REFERENCES `monitor_groups`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`channel_id`) REFERENCES `alert_channels`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `monitor_group_channels_by_channel` ON `monitor_group_channels` (`organization_id`,`channel_id`);--> statement-breakpoint
CREATE TABLE `monitor_groups` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`color` text NOT NULL,
	`tags` text NOT NULL,
	`position` integer NOT NULL,
	`paused` integer NOT NULL,
	`muted` integer NOT NULL,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `monitor_groups_by_position` ON `monitor_groups` (`organization_id`,`position`,`id`);--> statement-breakpoint
CREATE TABLE `monitor_states` (
	`key` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` text NOT NULL,
	`monitor_id` text NOT NULL,
	`status` text NOT NULL,
	`since` text NOT NULL,
	`paused` integer NOT NULL,
	`failures` integer NOT NULL,
	`epoch` integer NOT NULL,
	`last_checked_at` text,
	`last_message` text,
	`latency_ms` integer,
	`certificate_expires_at` text,
	FOREIGN KEY (`organization_id`,`monitor_id`) REFERENCES `monitors`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "monitor_states_status" CHECK("monitor_states"."status" IN ('pending', 'up', 'degraded', 'down', 'maintenance'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `monitor_states_by_monitor` ON `monitor_states` (`organization_id`,`monitor_id`);--> statement-breakpoint
CREATE TABLE `monitors` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`description` text NOT NULL,
	`group_id` text,
	`position` integer NOT NULL,
	`tags` text NOT NULL,
	`interval_seconds` integer NOT NULL,
	`timeout_seconds` integer NOT NULL,
	`retries` integer NOT NULL,
	`retry_interval_seconds` integer NOT NULL,
	`degraded_after_ms` integer,
	`paused` integer NOT NULL,
	`muted` integer NOT NULL,
	`auto_incident_severity` text,
	`reminder_interval_seconds` integer,
	`settings` text NOT NULL,
	`secrets` text NOT NULL,
	`push_token_hash` text,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`group_id`) REFERENCES `monitor_groups`(`organization_id`,`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `monitors_push_token_hash_unique` ON `monitors` (`push_token_hash`);--> statement-breakpoint
CREATE INDEX `monitors_by_group` ON `monitors` (`organization_id`,`group_id`,`position`,`id`);--> statement-breakpoint
CREATE TABLE `notices` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`page_id` text NOT NULL,
	`type` text NOT NULL,
	`at` text NOT NULL,
	`data` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`,`page_id`) REFERENCES `status_pages`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `notices_by_time` ON `notices` (`at`);--> statement-breakpoint
CREATE TABLE `open_alerts` (
	`organization_id` text NOT NULL,
	`subject_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`since` text NOT NULL,
	`tellings` text NOT NULL,
	PRIMARY KEY(`organization_id`, `subject_id`, `channel_id`),
	FOREIGN KEY (`organization_id`,`channel_id`) REFERENCES `alert_channels`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `open_alerts_by_channel` ON `open_alerts` (`organization_id`,`channel_id`);--> statement-breakpoint
CREATE TABLE `organization_settings` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`smtp` text,
	`secrets` text NOT NULL,
	`time_zone` text NOT NULL,
	`version` integer NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`created_at` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `organizations_slug_unique` ON `organizations` (`slug`);--> statement-breakpoint
CREATE TABLE `people` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`password_hash` text NOT NULL,
	`totp_secret` text,
	`totp_pending` text,
	`totp_step` integer NOT NULL,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `people_email_key_unique` ON `people` (`email_key`);--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`person_id` text NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`person_id`, `hash`),
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `removed_monitors` (
	`key` integer PRIMARY KEY NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`stage` text NOT NULL,
	`wrong_codes` integer NOT NULL,
	`address` text NOT NULL,
	`user_agent` text NOT NULL,
	`created_at` text NOT NULL,
	`last_seen_at` text NOT NULL,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "sessions_stage" CHECK("sessions"."stage" IN ('two-factor', 'signed-in'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_token_hash_unique` ON `sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `sessions_by_person` ON `sessions` (`person_id`);--> statement-breakpoint
CREATE TABLE `status_page_hosts` (
	`host` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`page_id` text NOT NULL,
	`position` integer NOT NULL,
	FOREIGN KEY (`organization_id`,`page_id`) REFERENCES `status_pages`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `status_page_hosts_by_page` ON `status_page_hosts` (`organization_id`,`page_id`);--> statement-breakpoint
CREATE TABLE `status_page_monitors` (
	`organization_id` text NOT NULL,
	`page_id` text NOT NULL,
	`section` integer NOT NULL,
	`position` integer NOT NULL,
	`monitor_id` text NOT NULL,
	`public_name` text,
	PRIMARY KEY(`organization_id`, `page_id`, `section`, `monitor_id`),
	FOREIGN KEY (`organization_id`,`page_id`) REFERENCES `status_pages`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`monitor_id`) REFERENCES `monitors`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `status_page_monitors_by_monitor` ON `status_page_monitors` (`organization_id`,`monitor_id`);--> statement-breakpoint
CREATE TABLE `status_page_sections` (
	`organization_id` text NOT NULL,
	`page_id` text NOT NULL,
	`position` integer NOT NULL,
	`name` text,
	`group_id` text,
	PRIMARY KEY(`organization_id`, `page_id`, `position`),
	FOREIGN KEY (`organization_id`,`page_id`) REFERENCES `status_pages`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`,`group_id`) REFERENCES `monitor_groups`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `status_page_sections_by_group` ON `status_page_sections` (`organization_id`,`group_id`);--> statement-breakpoint
CREATE TABLE `status_pages` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`slug` text NOT NULL,
	`is_default` integer NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`accent_color` text,
	`theme` text NOT NULL,
	`visibility` text NOT NULL,
	`password_hash` text,
	`show_latency` integer NOT NULL,
	`history_days` integer NOT NULL,
	`time_zone` text NOT NULL,
	`logo_type` text,
	`logo_data` text,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `status_pages_slug_unique` ON `status_pages` (`slug`);--> statement-breakpoint
CREATE TABLE `subscribers` (
	`organization_id` text NOT NULL,
	`id` text NOT NULL,
	`page_id` text NOT NULL,
	`type` text NOT NULL,
	`address` text NOT NULL,
	`address_key` text NOT NULL,
	`secrets` text NOT NULL,
	`confirmed_at` text,
	`heard_from` integer,
	`asked` integer NOT NULL,
	`asked_at` integer,
	`last_delivery_at` text,
	`last_error` text,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`,`page_id`) REFERENCES `status_pages`(`organization_id`,`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "subscribers_type" CHECK("subscribers"."type" IN ('email', 'webhook'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `subscribers_by_address` ON `subscribers` (`organization_id`,`page_id`,`type`,`address_key`);--> statement-breakpoint
CREATE INDEX `subscribers_by_page` ON `subscribers` (`organization_id`,`page_id`,`id`);--> statement-breakpoint
CREATE INDEX `subscribers_unconfirmed` ON `subscribers` (`asked_at`) WHERE confirmed_at is null;--> statement-breakpoint
CREATE TABLE `uptime_days` (
	`day` integer NOT NULL,
	`monitor_key` integer NOT NULL,
	`up_seconds` integer NOT NULL,
	`degraded_seconds` integer NOT NULL,
	`down_seconds` integer NOT NULL,
	`unknown_seconds` integer NOT NULL,
	`maintenance_seconds` integer NOT NULL,
	`latency_count` integer NOT NULL,
	`latency_sum` integer NOT NULL,
	`latency_min` integer,
	`latency_max` integer,
	PRIMARY KEY(`day`, `monitor_key`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `uptime_hours` (
	`hour` integer NOT NULL,
	`monitor_key` integer NOT NULL,
	`up_seconds` integer NOT NULL,
	`degraded_seconds` integer NOT NULL,
	`down_seconds` integer NOT NULL,
	`unknown_seconds` integer NOT NULL,
	`maintenance_seconds` integer NOT NULL,
	`latency_count` integer NOT NULL,
	`latency_sum` integer NOT NULL,
	`latency_min` integer,
	`latency_max` integer,
	PRIMARY KEY(`hour`, `monitor_key`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TRIGGER incidents_counted_on_insert AFTER INSERT ON incidents BEGIN
	INSERT INTO incident_counts (organization_id, status, severity, count)
	VALUES (new.organization_id, new.status, new.severity, 1)
	ON CONFLICT (organization_id, status, severity) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER incidents_counted_on_delete AFTER DELETE ON incidents BEGIN
	UPDATE incident_counts SET count = count - 1
	WHERE organization_id = old.organization_id AND status = old.status AND severity = old.severity;
END;
--> statement-breakpoint
CREATE TRIGGER incidents_counted_on_update AFTER UPDATE OF status, severity ON incidents BEGIN
	UPDATE incident_counts SET count = count - 1
	WHERE organization_id = old.organization_id AND status = old.status AND severity = old.severity;
	INSERT INTO incident_counts (organization_id, status, severity, count)
	VALUES (new.organization_id, new.status, new.severity, 1)
	ON CONFLICT (organization_id, status, severity) DO UPDATE SET count = count + 1;
END;
