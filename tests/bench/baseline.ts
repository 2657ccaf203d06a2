import { Database } from "bun:sqlite";

// The baseline: the same machine with the same rows and only Bun.serve, a prepared
// statement and Response.json. No authentication, no routing, no validation, no ETag.
const [file = "", port = "0", organizationId = ""] = process.argv.slice(2);
const database = new Database(file);
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = FULL");

const columns = `id, title, status, severity, monitor_id AS monitorId, origin, public,
  resolved_at AS resolvedAt, created_at AS createdAt, updated_at AS updatedAt`;
const list = database.query(
  `SELECT ${columns} FROM incidents WHERE organization_id = ? ORDER BY id DESC LIMIT 20 OFFSET ?`,
);
const one = database.query(`SELECT ${columns} FROM incidents WHERE organization_id = ? AND id = ?`);
const updates = database.query(
  `SELECT id, status, message, created_at AS createdAt FROM incident_updates
   WHERE organization_id = ? AND incident_id = ? ORDER BY seq`,
);
const insert = database.query(
  `INSERT INTO incidents (organization_id, id, title, status, severity, origin, public, version,
   created_at, updated_at) VALUES (?, ?, ?, 'investigating', 'minor', 'manual', 1, 1, ?, ?)`,
);
const change = database.query(
  "UPDATE incidents SET status = ?, version = version + 1 WHERE organization_id = ? AND id = ?",
);

Bun.serve({
  port: Number(port),
  async fetch(request) {
    const id = request.url.split("/")[6];
    const page = Number(request.url.split("page=")[1] ?? 1);
    if (request.method === "POST") {
      const { title } = (await request.json()) as { title: string };
      const at = new Date().toISOString();
      const text = Bun.randomUUIDv7();
      insert.run(organizationId, text, title, at, at);
      return Response.json({ data: { id: text, title } }, { status: 201 });
    }
    if (request.method === "PATCH" && id !== undefined) {
      const { status } = (await request.json()) as { status: string };
      change.run(status, organizationId, id);
      return Response.json({ data: { id, status } });
    }
    if (id === undefined)
      return Response.json({
        data: list.all(organizationId, (page - 1) * 20),
        meta: { page, per_page: 20, total: 1000 },
      });
    const incident = one.get(organizationId, id) as object;
    return Response.json({ data: { ...incident, updates: updates.all(organizationId, id) } });
  },
});
