ALTER TABLE `incident_updates` ADD `automatic` text;--> statement-breakpoint
ALTER TABLE `incidents` ADD `automatic` text;--> statement-breakpoint
CREATE INDEX `incidents_by_change` ON `incidents` (`organization_id`,`updated_at`);--> statement-breakpoint
UPDATE incidents SET automatic = '{"kind":"down"}'
WHERE origin = 'monitor' AND coalesce(title = (
	SELECT a.actor_name || ' is down' FROM audit_entries a
	WHERE a.organization_id = incidents.organization_id AND a.subject_id = incidents.id
		AND a.action IN ('incident.opened', 'incident.updated', 'incident.resolved', 'incident.reopened')
		AND a.action = 'incident.opened' AND a.actor_type = 'monitor'
	LIMIT 1), true);
--> statement-breakpoint
UPDATE incident_updates SET automatic = CASE WHEN seq = 1 THEN '{"kind":"down"}' ELSE (
	SELECT CASE
		WHEN a.action = 'incident.resolved' THEN '{"kind":"up","downSeconds":null}'
		WHEN substr(message, 1, length(a.actor_name) + 15) = a.actor_name || ' is down again.' THEN '{"kind":"down-again"}'
		ELSE '{"kind":"degraded"}'
	END
	FROM audit_entries a
	WHERE a.organization_id = incident_updates.organization_id AND a.subject_id = incident_updates.incident_id
		AND a.action IN ('incident.opened', 'incident.updated', 'incident.resolved', 'incident.reopened')
		AND a.actor_type = 'monitor' AND a.at = incident_updates.created_at
	LIMIT 1) END
WHERE EXISTS (
	SELECT 1 FROM incidents i WHERE i.organization_id = incident_updates.organization_id
		AND i.id = incident_updates.incident_id AND i.origin = 'monitor');
