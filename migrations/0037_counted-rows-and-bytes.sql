CREATE TABLE `organization_usage` (
	`organization_id` text NOT NULL,
	`table_name` text NOT NULL,
	`row_count` integer NOT NULL,
	`byte_count` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `table_name`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
ALTER TABLE `incidents` ADD `entries` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `incidents` ADD `text_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE TRIGGER incident_updates_counted_on_insert AFTER INSERT ON incident_updates BEGIN
	UPDATE incidents SET entries = entries + 1, text_bytes = text_bytes + octet_length(new.message)
	WHERE organization_id = new.organization_id AND id = new.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_updates_counted_on_delete AFTER DELETE ON incident_updates BEGIN
	UPDATE incidents SET entries = entries - 1, text_bytes = text_bytes - octet_length(old.message)
	WHERE organization_id = old.organization_id AND id = old.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_updates_counted_on_update AFTER UPDATE OF message ON incident_updates BEGIN
	UPDATE incidents SET text_bytes = text_bytes + octet_length(new.message) - octet_length(old.message)
	WHERE organization_id = new.organization_id AND id = new.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_update_revisions_counted_on_insert AFTER INSERT ON incident_update_revisions BEGIN
	UPDATE incidents SET entries = entries + 1, text_bytes = text_bytes + octet_length(new.message)
	WHERE organization_id = new.organization_id AND id = new.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_update_revisions_counted_on_delete AFTER DELETE ON incident_update_revisions BEGIN
	UPDATE incidents SET entries = entries - 1, text_bytes = text_bytes - octet_length(old.message)
	WHERE organization_id = old.organization_id AND id = old.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_update_revisions_counted_on_update AFTER UPDATE OF message ON incident_update_revisions BEGIN
	UPDATE incidents SET text_bytes = text_bytes + octet_length(new.message) - octet_length(old.message)
	WHERE organization_id = new.organization_id AND id = new.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_notes_counted_on_insert AFTER INSERT ON incident_notes BEGIN
	UPDATE incidents SET entries = entries + 1, text_bytes = text_bytes + octet_length(new.message)
	WHERE organization_id = new.organization_id AND id = new.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_notes_counted_on_delete AFTER DELETE ON incident_notes BEGIN
	UPDATE incidents SET entries = entries - 1, text_bytes = text_bytes - octet_length(old.message)
	WHERE organization_id = old.organization_id AND id = old.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_notes_counted_on_update AFTER UPDATE OF message ON incident_notes BEGIN
	UPDATE incidents SET text_bytes = text_bytes + octet_length(new.message) - octet_length(old.message)
	WHERE organization_id = new.organization_id AND id = new.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_postmortems_counted_on_insert AFTER INSERT ON incident_postmortems BEGIN
	UPDATE incidents SET text_bytes = text_bytes + octet_length(new.message)
	WHERE organization_id = new.organization_id AND id = new.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_postmortems_counted_on_delete AFTER DELETE ON incident_postmortems BEGIN
	UPDATE incidents SET text_bytes = text_bytes - octet_length(old.message)
	WHERE organization_id = old.organization_id AND id = old.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER incident_postmortems_counted_on_update AFTER UPDATE OF message ON incident_postmortems BEGIN
	UPDATE incidents SET text_bytes = text_bytes + octet_length(new.message) - octet_length(old.message)
	WHERE organization_id = new.organization_id AND id = new.incident_id;
END;
--> statement-breakpoint
CREATE TRIGGER monitors_counted_on_insert AFTER INSERT ON monitors BEGIN
	INSERT INTO organization_usage (organization_id, table_name, row_count, byte_count)
	VALUES (new.organization_id, 'monitors', 1, octet_length(new.description) + octet_length(new.settings) + octet_length(new.secrets))
	ON CONFLICT (organization_id, table_name) DO UPDATE
	SET row_count = row_count + 1, byte_count = byte_count + excluded.byte_count;
END;
--> statement-breakpoint
CREATE TRIGGER monitors_counted_on_delete AFTER DELETE ON monitors BEGIN
	UPDATE organization_usage SET row_count = row_count - 1, byte_count = byte_count - (octet_length(old.description) + octet_length(old.settings) + octet_length(old.secrets))
	WHERE organization_id = old.organization_id AND table_name = 'monitors';
	DELETE FROM organization_usage
	WHERE organization_id = old.organization_id AND table_name = 'monitors' AND row_count = 0;
END;
--> statement-breakpoint
CREATE TRIGGER monitors_counted_on_update AFTER UPDATE OF description, settings, secrets ON monitors BEGIN
	UPDATE organization_usage SET byte_count = byte_count + (octet_length(new.description) + octet_length(new.settings) + octet_length(new.secrets)) - (octet_length(old.description) + octet_length(old.settings) + octet_length(old.secrets))
	WHERE organization_id = new.organization_id AND table_name = 'monitors';
END;
--> statement-breakpoint
INSERT INTO organization_usage (organization_id, table_name, row_count, byte_count)
SELECT organization_id, 'monitors', count(*), sum(octet_length(description) + octet_length(settings) + octet_length(secrets))
FROM monitors GROUP BY organization_id;
--> statement-breakpoint
CREATE TRIGGER idempotent_answers_counted_on_insert AFTER INSERT ON idempotent_answers BEGIN
	INSERT INTO organization_usage (organization_id, table_name, row_count, byte_count)
	VALUES (new.organization_id, 'idempotent_answers', 1, octet_length(new.route) + octet_length(new.body))
	ON CONFLICT (organization_id, table_name) DO UPDATE
	SET row_count = row_count + 1, byte_count = byte_count + excluded.byte_count;
END;
--> statement-breakpoint
CREATE TRIGGER idempotent_answers_counted_on_delete AFTER DELETE ON idempotent_answers BEGIN
	UPDATE organization_usage SET row_count = row_count - 1, byte_count = byte_count - (octet_length(old.route) + octet_length(old.body))
	WHERE organization_id = old.organization_id AND table_name = 'idempotent_answers';
	DELETE FROM organization_usage
	WHERE organization_id = old.organization_id AND table_name = 'idempotent_answers' AND row_count = 0;
END;
--> statement-breakpoint
CREATE TRIGGER idempotent_answers_counted_on_update AFTER UPDATE OF route, body ON idempotent_answers BEGIN
	UPDATE organization_usage SET byte_count = byte_count + (octet_length(new.route) + octet_length(new.body)) - (octet_length(old.route) + octet_length(old.body))
	WHERE organization_id = new.organization_id AND table_name = 'idempotent_answers';
END;
--> statement-breakpoint
INSERT INTO organization_usage (organization_id, table_name, row_count, byte_count)
SELECT organization_id, 'idempotent_answers', count(*), sum(octet_length(route) + octet_length(body))
FROM idempotent_answers GROUP BY organization_id;
--> statement-breakpoint
UPDATE incidents SET entries = found.entries, text_bytes = found.bytes
FROM (
	SELECT organization_id, incident_id, sum(entry) AS entries, sum(octet_length(message)) AS bytes
	FROM (
		SELECT organization_id, incident_id, 1 AS entry, message FROM incident_updates
		UNION ALL SELECT organization_id, incident_id, 1, message FROM incident_update_revisions
		UNION ALL SELECT organization_id, incident_id, 1, message FROM incident_notes
		UNION ALL SELECT organization_id, incident_id, 0, message FROM incident_postmortems
	)
	GROUP BY organization_id, incident_id
) found
WHERE incidents.organization_id = found.organization_id AND incidents.id = found.incident_id;
