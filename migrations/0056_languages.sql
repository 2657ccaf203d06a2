ALTER TABLE `incident_updates` ADD `translations` text;--> statement-breakpoint
ALTER TABLE `status_pages` ADD `language` text DEFAULT 'en' NOT NULL;--> statement-breakpoint
ALTER TABLE `status_pages` ADD `languages` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `subscribers` ADD `language` text;--> statement-breakpoint
DROP TRIGGER incident_updates_counted_on_insert;--> statement-breakpoint
DROP TRIGGER incident_updates_counted_on_delete;--> statement-breakpoint
DROP TRIGGER incident_updates_counted_on_update;--> statement-breakpoint
CREATE TRIGGER incident_updates_counted_on_insert AFTER INSERT ON incident_updates BEGIN
	UPDATE incidents SET entries = entries + 1, text_bytes = text_bytes
		+ octet_length(new.message) + coalesce(octet_length(new.translations), 0)
	WHERE organization_id = new.organization_id AND id = new.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_updates_counted_on_delete AFTER DELETE ON incident_updates BEGIN
	UPDATE incidents SET entries = entries - 1, text_bytes = text_bytes
		- octet_length(old.message) - coalesce(octet_length(old.translations), 0)
	WHERE organization_id = old.organization_id AND id = old.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_updates_counted_on_update AFTER UPDATE OF message, translations ON incident_updates BEGIN
	UPDATE incidents SET text_bytes = text_bytes
		+ octet_length(new.message) + coalesce(octet_length(new.translations), 0)
		- octet_length(old.message) - coalesce(octet_length(old.translations), 0)
	WHERE organization_id = new.organization_id AND id = new.incident_id;
END;
